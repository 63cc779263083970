// A sandbox after a copy, for `rotation`: sources, copies that the program made, and Pods as a test wants them.
// Its copies have just been written, so a Pod from before started an hour ago, and one from afterwards in ten
// minutes.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { startSandbox, type Sandbox } from "../../../packages/sandbox/server.ts";
import type { JsonObject } from "../../../packages/sandbox/storage/object.ts";
import { openHttp, type Http } from "../../../packages/sandbox/testing/http.ts";
import { withLeader } from "./sandbox-cluster.ts";
import { commandLine, type Said, type Surroundings } from "../programs/command-line.ts";

const OLD_VALUE = "hunter2";
const NEW_VALUE = "correct-horse";

export type RotationCluster = {
  readonly sandbox: Sandbox;
  readonly http: Http;
  readonly run: (args: readonly string[], around?: Surroundings) => Promise<Said>;
  /** `rotation registry -n secretcast`, with `more`. */
  readonly rotation: (...more: readonly string[]) => Promise<Said>;
  /** As the controller does: once, with `flags`. */
  readonly copy: (...flags: readonly string[]) => Promise<void>;
  readonly create: (collection: string, object: JsonObject) => Promise<void>;
  readonly patch: (path: string, change: JsonObject) => Promise<void>;
  /** A Pod with that start. */
  readonly pod: (place: string, spec: JsonObject, status?: JsonObject) => Promise<void>;
};

type Texts = Readonly<Record<string, string>>;

export function namespaceObject(name: string, annotations: Texts = {}): JsonObject {
  return { kind: "Namespace", metadata: { name, annotations } };
}

export function secretObject(
  place: string,
  annotations: Texts = {},
  data: Texts = { password: NEW_VALUE },
): JsonObject {
  const [namespace = "", name = ""] = place.split("/");
  const encoded = Object.entries(data).map(
    ([key, value]) => [key, Buffer.from(value).toString("base64")] as const,
  );
  return {
    kind: "Secret",
    metadata: { namespace, name, annotations },
    data: Object.fromEntries(encoded),
  };
}

export const BEFORE = timeFromNow(-3600);
export const AFTERWARDS = timeFromNow(600);

function timeFromNow(seconds: number): string {
  return `${new Date(Date.now() + seconds * 1000).toISOString().slice(0, 19)}Z`;
}

/** A container with a variable of the Secret. */
export function withVariable(secret: string): JsonObject {
  const env = [{ name: "A", valueFrom: { secretKeyRef: { name: secret, key: "password" } } }];
  return { containers: [{ name: "app", image: "x", env }] };
}

export function withVolume(secret: string, mount: JsonObject = {}): JsonObject {
  const volumeMounts = [{ name: "v", mountPath: "/v", ...mount }];
  return {
    containers: [{ name: "app", image: "x", volumeMounts }],
    volumes: [{ name: "v", secret: { secretName: secret } }],
  };
}

export async function rotationCluster(
  t: TestContext,
  objects: readonly JsonObject[] = [
    ...["secretcast", "team-a", "team-b"].map((name) => namespaceObject(name)),
    secretObject("secretcast/registry", { "secretcast.io/to": "team-*" }),
  ],
): Promise<RotationCluster> {
  const sandbox = await startSandbox({ shallowKinds: true });
  sandbox.load(withLeader(objects));
  const folder = mkdtempSync(join(tmpdir(), "secretcast-rotation-"));
  const kubeconfig = join(folder, "config");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  const http = openHttp({ url: sandbox.url });
  t.after(async () => {
    await http.close();
    await sandbox.stop();
    rmSync(folder, { recursive: true });
  });
  const run: RotationCluster["run"] = (args, around = {}) =>
    commandLine(args, { ...around, env: { KUBECONFIG: kubeconfig, ...around.env } });
  const send = async (method: "POST" | "PATCH", path: string, body: JsonObject): Promise<void> => {
    const contentType = method === "POST" ? "application/json" : "application/merge-patch+json";
    const { status } = await http.send(method, path, { body, contentType });
    assert.ok(status === 200 || status === 201, `${method} ${path}: ${status}`);
  };
  const create: RotationCluster["create"] = (collection, object) =>
    send("POST", collection, object);
  const patch: RotationCluster["patch"] = (path, change) => send("PATCH", path, change);
  const cluster: RotationCluster = {
    sandbox,
    http,
    run,
    rotation: (...more) => run(["rotation", "registry", "-n", "secretcast", ...more]),
    copy: async (...flags) => {
      const ports = ["--http-address=127.0.0.1:0", "--status-address=127.0.0.1:0"];
      const own = ["--kubeconfig", kubeconfig, "--delete-grace=0", "--log-level=error", ...ports];
      const { stderr } = await run(["run", "--once", "--lease-name=once", ...own, ...flags]);
      assert.doesNotMatch(stderr, /^secretcast: /m);
    },
    create,
    patch,
    pod: async (place, spec, status = { phase: "Running", startTime: BEFORE }) => {
      const [namespace = "", name = ""] = place.split("/");
      const path = `/api/v1/namespaces/${namespace}/pods`;
      await create(path, { apiVersion: "v1", kind: "Pod", metadata: { name }, spec });
      await patch(`${path}/${name}/status`, { status });
    },
  };
  await cluster.copy();
  return cluster;
}

export type RotationItem = {
  readonly namespace: string;
  readonly name: string;
  readonly role: string;
  readonly value: string;
  readonly since?: string;
  readonly verdict: string;
  readonly code?: string;
  readonly podsRead: boolean;
  readonly holders: readonly {
    readonly pod: string;
    readonly owner?: { readonly kind: string; readonly name: string };
    readonly holds: readonly { readonly by: string; readonly code: string }[];
    readonly restart: string;
  }[];
  readonly pulls: readonly string[];
};
export type RotationAnswer = {
  readonly kind: string;
  readonly apiVersion: string;
  readonly safe: boolean;
  readonly blockers: readonly { readonly code: string; readonly count: number }[];
  readonly items: readonly RotationItem[];
};

export async function answered(
  running: Promise<Said>,
): Promise<RotationAnswer & Pick<Said, "code" | "stderr">> {
  const { code, stdout, stderr } = await running;
  for (const value of [OLD_VALUE, NEW_VALUE])
    for (const text of [value, Buffer.from(value).toString("base64")])
      assert.ok(!`${stdout}${stderr}`.includes(text), "no value is printed");
  assert.notEqual(stdout, "", stderr);
  const answer: RotationAnswer = JSON.parse(stdout);
  assert.equal(answer.safe, code === 0);
  return { ...answer, code, stderr };
}

export function rotated(cluster: RotationCluster, ...more: readonly string[]) {
  return answered(cluster.rotation("-o", "json", ...more));
}

export function at({ items }: RotationAnswer, place: string): RotationItem {
  const item = items.find(({ namespace, name }) => `${namespace}/${name}` === place);
  return item ?? assert.fail(`${place} is not listed`);
}
