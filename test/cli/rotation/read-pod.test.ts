// Every part of a Pod's spec that can name a Secret or a ConfigMap is found, and nothing else is.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Use } from "../../../src/cli/holding/using-pod.ts";
import { readPod } from "../../../src/cli/rotation/read-pod.ts";

type Fields = Readonly<Record<string, unknown>>;

function pod(spec: Fields, status: Fields = {}, metadata: Fields = {}): Fields {
  return { metadata: { namespace: "team-a", name: "web", ...metadata }, spec, status };
}

const DB = (namespace: string, name: string): boolean => namespace === "team-a" && name === "db";

function usesOf(spec: Fields, kind: "Secret" | "ConfigMap" = "Secret"): readonly string[] {
  const uses = readPod(pod(spec), kind, DB)?.uses ?? [];
  return uses.map(({ by, container }) => `${by} ${container ?? ""}`.trim());
}

const env = (name: string): Fields => ({
  env: [
    { name: "A", value: "x" },
    { name: "B", valueFrom: { secretKeyRef: { name, key: "k" } } },
  ],
});
const files = { name: "v", secret: { secretName: "db" } };
const projected = {
  name: "v",
  projected: { sources: [{ configMap: { name: "x" } }, { secret: { name: "db" } }] },
};
const mounted = (mount: Fields, volume: Fields): Fields => ({
  containers: [{ name: "app", volumeMounts: [{ name: "v", mountPath: "/v", ...mount }] }],
  volumes: [{ name: "other", emptyDir: {} }, volume],
});

const SPECS: readonly (readonly [what: string, spec: Fields, uses: readonly string[]])[] = [
  ["a variable", { containers: [{ name: "app", ...env("db") }] }, ["environment app"]],
  ["a variable of another Secret", { containers: [{ name: "app", ...env("db2") }] }, []],
  [
    "a variable of an init container",
    { initContainers: [{ name: "init", ...env("db") }] },
    ["environment init"],
  ],
  [
    "a variable of an ephemeral container",
    { ephemeralContainers: [{ name: "debug", ...env("db") }] },
    ["environment debug"],
  ],
  [
    "all variables",
    {
      containers: [
        {
          name: "app",
          envFrom: [
            { configMapRef: { name: "db" } },
            { prefix: "P", secretRef: { name: "db", optional: true } },
          ],
        },
      ],
    },
    ["environment app"],
  ],
  ["a volume", mounted({}, files), ["volume app"]],
  ["a volume that no container mounts", { volumes: [files] }, ["volume"]],
  ["a subPath", mounted({ subPath: "k" }, files), ["subPath app"]],
  ["an empty subPath", mounted({ subPath: "" }, files), ["volume app"]],
  ["a subPathExpr", mounted({ subPathExpr: "$(K)" }, files), ["subPath app"]],
  ["a projected volume", mounted({}, projected), ["volume app"]],
  ["a subPath of a projected volume", mounted({ subPath: "k" }, projected), ["subPath app"]],
  ["a pull secret", { imagePullSecrets: [{ name: "x" }, { name: "db" }] }, ["pull"]],
  [
    "a CSI volume",
    { volumes: [{ name: "v", csi: { driver: "d", nodePublishSecretRef: { name: "db" } } }] },
    ["mount"],
  ],
  [
    "an Azure file share",
    { volumes: [{ name: "v", azureFile: { secretName: "db", shareName: "s" } }] },
    ["mount"],
  ],
  [
    "a flexVolume",
    { volumes: [{ name: "v", flexVolume: { driver: "d", secretRef: { name: "db" } } }] },
    ["mount"],
  ],
];

for (const [what, spec, uses] of SPECS)
  test(`${what} is ${uses.join(" and ") || "no use"}`, () => assert.deepEqual(usesOf(spec), uses));

test("two ways in one Pod are two uses, and one way twice is one", () => {
  const spec = {
    containers: [
      {
        name: "app",
        ...env("db"),
        envFrom: [{ secretRef: { name: "db" } }],
        volumeMounts: [
          { name: "v", mountPath: "/a" },
          { name: "v", mountPath: "/b", subPath: "k" },
        ],
      },
    ],
    volumes: [files],
  };
  assert.deepEqual(usesOf(spec), ["environment app", "volume app", "subPath app"]);
});

test("ConfigMaps are found by their own fields, and have no pull secrets", () => {
  const spec = {
    imagePullSecrets: [{ name: "db" }],
    containers: [
      {
        name: "app",
        env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "db", key: "k" } } }],
      },
      { name: "from", envFrom: [{ configMapRef: { name: "db" } }] },
      { name: "secret", ...env("db") },
      {
        name: "files",
        volumeMounts: [
          { name: "v", mountPath: "/v" },
          { name: "w", mountPath: "/w", subPath: "k" },
        ],
      },
    ],
    volumes: [
      { name: "v", configMap: { name: "db" } },
      { name: "w", projected: { sources: [{ configMap: { name: "db" } }] } },
    ],
  };
  assert.deepEqual(usesOf(spec, "ConfigMap"), [
    "environment app",
    "environment from",
    "volume files",
    "subPath files",
  ]);
});

function startOf(statuses: Fields, container = "app"): Use["start"] | undefined {
  const spec = { containers: [{ name: container, ...env("db") }] };
  return readPod(pod(spec, statuses), "Secret", DB)?.uses[0]?.start;
}

test("a container starts when its state says so, and an unclear state is not reported", () => {
  const state = (of: Fields): Fields => ({ containerStatuses: [{ name: "app", state: of }] });
  const at = (startedAt: unknown): Fields => ({ startedAt });
  assert.deepEqual(startOf(state({ running: at("2026-01-01T00:00:10Z") })), {
    kind: "started",
    at: 1767225610,
  });
  assert.deepEqual(startOf(state({ terminated: at("2026-01-01T00:00:10Z") })), {
    kind: "started",
    at: 1767225610,
  });
  assert.deepEqual(startOf(state({ waiting: { reason: "CrashLoopBackOff" } })), {
    kind: "waiting",
  });
  for (const unclear of [
    state({}),
    state({ running: at(null) }),
    state({ running: at("soon"), waiting: {} }),
    {},
  ])
    assert.deepEqual(startOf(unclear), { kind: "unreported" });
});

test("a Pod that has finished is dropped, and one on a lost node is not", () => {
  const spec = { containers: [{ name: "app", ...env("db") }] };
  const read = (phase: string) => readPod(pod(spec, { phase }), "Secret", DB);
  assert.equal(read("Succeeded"), undefined);
  assert.equal(read("Failed"), undefined);
  assert.equal(read("Unknown")?.isRunning, true);
  assert.equal(read("Pending")?.isRunning, false);
});

test("the owner is the one that controls the Pod", () => {
  const spec = { containers: [{ name: "app", ...env("db") }] };
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", uid: "1" };
  const ownerReferences = [
    { ...owner, kind: "Node" },
    { ...owner, controller: true },
  ];
  const { apiVersion, kind, name } = owner;
  assert.deepEqual(readPod(pod(spec, {}, { ownerReferences }), "Secret", DB)?.owner, {
    apiVersion,
    kind,
    name,
  });
  assert.equal(
    readPod(pod(spec, {}, { ownerReferences: [owner] }), "Secret", DB)?.owner,
    undefined,
  );
});

test("anything else than a Pod is dropped, whatever it holds", () => {
  for (const raw of [
    undefined,
    null,
    1,
    "x",
    [],
    {},
    { spec: [] },
    pod({
      containers: [null, 1, { env: "x", envFrom: {} }],
      volumes: "x",
      imagePullSecrets: [{ name: 3 }],
    }),
  ])
    assert.equal(
      readPod(raw, "Secret", () => true),
      undefined,
    );
});
