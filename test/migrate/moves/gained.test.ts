// A move grants only what a copy has today, whatever rules, stores, accounts and workloads of others say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { planMove } from "../../../src/migrate/command/plan-move.ts";
import type { Migration } from "../../../src/migrate/moves/migration.ts";
import { OLD_TOOL } from "../../../src/migrate/oldtools/old-tools.ts";
import type { OldToolName } from "../../../src/migrate/oldtools/old-tool.ts";
import { custom, namespace, plainSecret } from "../../support/worlds/custom-objects.ts";
import { moveSettings } from "../../support/worlds/migration.ts";
import { commandLine, type Said } from "../../support/programs/command-line.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

const REFLECTOR = "reflector.v1.k8s.emberstack.com/";
const VALUES = { token: "made up" };
const NAMESPACES = ["platform", "payroll", "good", "evil"].map((name) => namespace(name));

function write(
  tool: OldToolName,
  objects: readonly object[],
  flags: Readonly<Record<string, string>> = {},
): Promise<Migration> {
  const settings = { ...moveSettings(), mayGain: () => false };
  const given = { flag: (flag: string) => flags[flag] };
  return planMove(OLD_TOOL[tool], [...NAMESPACES, ...objects], given, settings);
}

const writes = ({ sources }: Migration): readonly string[] => sources.map((one) => one.write);
const gained = ({ sources }: Migration): readonly string[] => sources.flatMap((one) => one.gained);

const PUSHED = {
  annotations: {
    [`${REFLECTOR}reflection-allowed`]: "true",
    [`${REFLECTOR}reflection-auto-enabled`]: "true",
    [`${REFLECTOR}reflection-auto-namespaces`]: "good,evil",
  },
};
const SOURCE = plainSecret("platform/cred", VALUES, PUSHED);
const mirrored = {
  [`${REFLECTOR}reflects`]: "platform/cred",
  [`${REFLECTOR}auto-reflects`]: "true",
};

test("a namespace without a copy of now is gained, and the source waits for --gain", async () => {
  const copy = plainSecret("good/cred", VALUES, { annotations: mirrored });
  const refused = await write("reflector", [SOURCE, copy]);
  assert.deepEqual([writes(refused), gained(refused)], [["refused"], ["evil"]]);
  assert.match(refused.problems.join(), /would also serve evil, .* without --gain platform\/cred/);
  assert.ok(refused.copies.every(({ state }) => state !== "adoptable"));
});

for (const [what, object] of [
  ["another Secret with its values", plainSecret("evil/other", { ...VALUES, more: "x" })],
  [
    "a copy with former values",
    plainSecret("evil/cred", { token: "old" }, { annotations: mirrored }),
  ],
] as const) {
  test(`a namespace with ${what} keeps what it has`, async () => {
    const copy = plainSecret("good/cred", VALUES, { annotations: mirrored });
    const migration = await write("reflector", [SOURCE, copy, object]);
    assert.deepEqual([writes(migration), gained(migration)], [["annotate"], []]);
  });
}

const REPLICATOR = "replicator.v1.mittwald.de/";
const BANK = plainSecret("payroll/bank", VALUES, {
  annotations: {
    [`${REPLICATOR}replication-allowed`]: "true",
    [`${REPLICATOR}replication-allowed-namespaces`]: "good",
  },
});

test("a Secret that pulls already is gained unless it holds the values", async () => {
  const pulling = (values: Readonly<Record<string, string>>): object =>
    plainSecret("evil/mine", values, {
      annotations: {
        [`${REPLICATOR}replicate-from`]: "payroll/bank",
        "secretcast.io/from": "payroll/bank",
      },
    });
  const flags = { "allow-all": "true" };
  assert.deepEqual(gained(await write("replicator", [BANK, pulling({ x: "" })], flags)), ["evil"]);
  assert.deepEqual(gained(await write("replicator", [BANK, pulling(VALUES)], flags)), []);
});

const VERSION = "external-secrets.io/v1";
const STORE = custom(VERSION, "SecretStore", "evil/mine", {
  provider: { kubernetes: { remoteNamespace: "payroll", auth: { serviceAccount: { name: "x" } } } },
});
const WISH = {
  ...custom(VERSION, "ExternalSecret", "evil/bank", {
    secretStoreRef: { kind: "SecretStore", name: "mine" },
    dataFrom: [{ extract: { key: "bank" } }],
  }),
  status: { conditions: [{ type: "Ready", status: "False", reason: "SecretSyncedError" }] },
};

test("an ExternalSecret that was refused moves nothing and is named with its reason", async () => {
  const migration = await write("external-secrets", [BANK, STORE, WISH]);
  assert.deepEqual(migration.sources, []);
  assert.match(
    migration.problems.join(),
    /ExternalSecret evil\/bank: it is not ready \(SecretSyncedError\), .* it does not move/,
  );
});

test("a Ready status, which a tenant may write, is no proof", async () => {
  const ready = { ...WISH, status: { conditions: [{ type: "Ready", status: "True" }] } };
  assert.deepEqual((await write("external-secrets", [BANK, STORE, ready])).sources, []);
});

test("an ExternalSecret whose target holds the source's data moves", async () => {
  const owner = {
    apiVersion: VERSION,
    kind: "ExternalSecret",
    name: "bank",
    uid: "uid of evil/bank",
  };
  const target = plainSecret("evil/bank", VALUES, {
    labels: { "reconcile.external-secrets.io/managed": "true" },
    ownerReferences: [owner],
  });
  const migration = await write("external-secrets", [BANK, STORE, WISH, target]);
  assert.deepEqual([writes(migration), gained(migration)], [["annotate"], []]);
});

test("a forged copy of a rule that is stalled does not keep its namespace", async () => {
  const store = custom(VERSION, "ClusterSecretStore", "here", {
    provider: { kubernetes: { remoteNamespace: "payroll" } },
  });
  const spec = {
    secretStoreRef: { kind: "ClusterSecretStore", name: "here" },
    dataFrom: [{ extract: { key: "bank" } }],
  };
  const owner = { apiVersion: VERSION, kind: "ClusterExternalSecret", name: "bank", uid: "u" };
  const rule = custom(VERSION, "ClusterExternalSecret", "bank", {
    namespaces: ["evil"],
    externalSecretSpec: spec,
  });
  const child = {
    ...custom(VERSION, "ExternalSecret", "evil/bank", spec, { ownerReferences: [owner] }),
    status: WISH.status,
  };
  const forged = plainSecret(
    "evil/bank",
    { token: "forged" },
    {
      labels: { "reconcile.external-secrets.io/managed": "true" },
      ownerReferences: [{ ...owner, kind: "ExternalSecret", uid: "uid of evil/bank" }],
    },
  );
  const migration = await write("external-secrets", [BANK, store, rule, child, forged]);
  assert.deepEqual([writes(migration), gained(migration)], [["refused"], ["evil"]]);
});

async function migrated(objects: readonly object[], ...more: readonly string[]): Promise<Said> {
  const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  return commandLine(["migrate", "--from", "reflector", "-f", "-", ...more], { stdin });
}

test("the plan shows what would be gained with exit code 2, and --gain accepts it", async () => {
  const objects = [
    ...NAMESPACES,
    SOURCE,
    plainSecret("good/cred", VALUES, { annotations: mirrored }),
  ];
  const { code, stdout, stderr } = await migrated(objects);
  assert.equal(code, 2);
  assert.match(stdout, /platform\/cred gains evil\n/);
  assert.match(stdout, /1 to adopt/);
  assert.match(stderr, /--write leaves it out without --gain platform\/cred\n/);
  assert.equal((await migrated(objects, "--gain", "platform/cred")).code, 0);
  const unknown = await migrated(objects, "--gain", "platform/cred,platform/none");
  assert.match(unknown.stderr, /--gain platform\/none: no source of the move is there/);
  assert.match((await migrated(objects, "--gain", "cred")).stderr, /--gain: "cred" is not NAMESP/);
});

test("manifests contain no copies, so nothing of them is gained", async (t) => {
  const manifest = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "platform", name: "x" },
  };
  const metadata = { ...manifest.metadata, ...PUSHED };
  const folder = folderOf(t, { "all.json": JSON.stringify({ ...manifest, metadata }) });
  const { code, stderr } = await commandLine(["migrate", "--from", "reflector", "-f", folder]);
  assert.equal(code, 0, stderr);
});

test("the right of a store's account to read the source decides", async () => {
  const asked: string[] = [];
  const plan = (allowed: boolean): Promise<Migration> =>
    planMove(
      OLD_TOOL["external-secrets"],
      [...NAMESPACES, BANK, STORE, WISH],
      { flag: () => undefined },
      { ...moveSettings(), mayGain: () => false },
      ({ user, secret }) => {
        asked.push(`${user} ${secret.namespace}/${secret.name}`);
        return Promise.resolve(allowed);
      },
    );
  assert.deepEqual((await plan(false)).sources, []);
  const migration = await plan(true);
  assert.deepEqual([writes(migration), gained(migration)], [["annotate"], []]);
  assert.equal(asked[0], "system:serviceaccount:evil:x payroll/bank");
});
