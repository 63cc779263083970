// Receipts of the program itself, on the sandbox and on a real API server: each kind of change, changes by
// others, a process that is killed. Replayed, they are the copies that exist.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { FlagValues } from "../../src/controller/settings/config.ts";
import { spawnController, type ControllerProcess } from "../support/programs/controller-process.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import {
  parseReceipts,
  replayReceipts,
  type ReceiptLine,
} from "../support/receipts/replay-receipts.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { folderOf } from "../../packages/kube/testing/folder.ts";

const VALUES = ["correct-horse", "battery-staple"];
const ONE = { password: "correct-horse", user: "ada" };
const TWO = { password: "battery-staple", user: "ada" };

type Stage = {
  readonly scene: Scene;
  readonly path: string;
  /** Starts a process that writes its receipts to the one file. */
  readonly start: (flags?: FlagValues) => Promise<ControllerProcess>;
  /** The lines of this scene's places. */
  readonly lines: () => readonly ReceiptLine[];
  /** Waits for a line. */
  readonly line: (receipt: string, place: string) => Promise<ReceiptLine>;
};

async function stage(t: TestContext): Promise<Stage> {
  const scene = await openScene(t);
  const folder = folderOf(t);
  const path = join(folder, "receipts.jsonl");
  const { kubeconfig: _, ...flags } = scene.flags();
  const start = async (own: FlagValues = {}): Promise<ControllerProcess> => {
    const given = { ...flags, "log-level": "info", receipts: path, ...own };
    const child = spawnController(t, scene.kubeconfig, given);
    await eventually("it works", () =>
      child.log.some((line) => field(line, "msg") === "started worker"),
    );
    return child;
  };
  const all = (): readonly ReceiptLine[] =>
    statSync(path, { throwIfNoEntry: false }) ? parseReceipts(readFileSync(path, "utf8")) : [];
  const lines = (): readonly ReceiptLine[] =>
    all().filter(({ place }) => place === undefined || place.startsWith(scene.prefix));
  const line = (receipt: string, place: string): Promise<ReceiptLine> =>
    eventually(`${receipt} of ${place}`, () =>
      lines().findLast((each) => each.receipt === receipt && each.place === place),
    );
  return { scene, path, start, lines, line };
}

/** The receipts of the scene are its copies: places, UIDs, sources, versions and names of entries. */
async function assertReplayed({ scene, lines }: Stage): Promise<void> {
  await eventually("the replay is what exists", async () => {
    const { holdings, complete } = replayReceipts(lines());
    assert.ok(complete);
    const secrets = (await scene.api.secrets()).filter(
      ({ metadata }) =>
        metadata.namespace?.startsWith(scene.prefix) &&
        (metadata.labels?.["app.kubernetes.io/managed-by"] === "secretcast" ||
          metadata.annotations?.["secretcast.io/source-version"] !== undefined),
    );
    const actual = secrets.map(({ metadata, data = {} }) => {
      const { annotations = {} } = metadata;
      return [
        `Secret ${metadata.namespace}/${metadata.name}`,
        metadata.uid,
        annotations["secretcast.io/source"] ?? annotations["secretcast.io/from"],
        annotations["secretcast.io/source-uid"],
        annotations["secretcast.io/source-version"],
        Object.keys(data).toSorted().join(),
      ].join(" ");
    });
    const said = Array.from(holdings, ([slot, { after, source, sourceUid, sourceVersion, keys }]) =>
      [slot, after?.uid, source, sourceUid, sourceVersion, keys?.toSorted().join()].join(" "),
    );
    assert.deepEqual(said.toSorted(), actual.toSorted());
    return true;
  });
}

test("each change of a copy has a receipt without a value", async (t) => {
  const own = await stage(t);
  const { scene, path, start, line } = own;
  const [a, b] = [await scene.namespace("team-a"), await scene.namespace("team-b")];
  const child = await start();
  const { metadata: source } = await scene.api.createSecret(scene.source, "db", {
    annotations: { "secretcast.io/to": a },
    data: ONE,
  });
  const made = await line("create", `${a}/db`);
  const copy = (await scene.api.secret(a, "db"))?.metadata;
  assert.deepEqual(
    {
      source: made.source,
      sourceUid: made.sourceUid,
      sourceVersion: made.sourceVersion,
      before: made.before,
      after: made.after,
      keys: made.keys?.toSorted(),
      code: made.code,
      found: made.found,
    },
    {
      source: `${scene.source}/db`,
      sourceUid: source.uid,
      sourceVersion: source.resourceVersion,
      before: undefined,
      after: { uid: copy?.uid, version: copy?.resourceVersion },
      keys: ["password", "user"],
      code: "NoCopyYet",
      found: undefined,
    },
  );
  assert.equal(made.by?.["trigger"], "Source");
  assert.equal(made.by?.["version"], source.resourceVersion);

  // Times of field managers have whole seconds.
  const madeAt = Math.floor(Date.now() / 1000);
  await eventually("another second", () => Math.floor(Date.now() / 1000) > madeAt + 1);
  await scene.api.client.request({
    method: "PATCH",
    path: `/api/v1/namespaces/${scene.source}/secrets/db`,
    query: { fieldManager: "rotation-robot" },
    body: { stringData: TWO },
    contentType: "application/merge-patch+json",
    what: "rotate",
  });
  const updated = await line("update", `${a}/db`);
  assert.deepEqual(updated.before, made.after);
  assert.equal(updated.after?.uid, made.after?.uid);
  assert.deepEqual(
    [updated.code, updated.by?.["trigger"], updated.by?.["manager"]],
    ["SourceChanged", "Source", "rotation-robot"],
  );

  // Others edit and delete it.
  await scene.api.setData(a, "db", { forged: "by-a-tenant" });
  const repaired = await eventually("the repair", async () => {
    const last = await line("update", `${a}/db`);
    return last.code === "CopyEdited" && last;
  });
  assert.equal(repaired.by?.["trigger"], "EditOfCopy");
  assert.equal(repaired.by?.["manager"], "secretcast-test");
  await scene.api.deleteSecret(a, "db");
  const gone = await line("gone", `${a}/db`);
  assert.deepEqual([gone.code, gone.found, gone.holds], ["DeletedByOthers", true, false]);
  await eventually("it is made again", async () => {
    const last = await line("create", `${a}/db`);
    return last.code === "CopyDeleted" && last.by?.["trigger"] === "DeletionOfCopy";
  });

  // A namespace gets a label, another one an existing Secret that it offers.
  await scene.api.createSecret(scene.source, "gold", {
    annotations: { "secretcast.io/to-selector": `tier=${scene.name("gold")}` },
    data: ONE,
  });
  await scene.api.patchNamespace(b, { labels: { tier: scene.name("gold") } });
  const labelled = await line("create", `${b}/gold`);
  assert.deepEqual(labelled.by, { trigger: "NamespaceLabels", labels: ["tier"] });
  const offered = await scene.api.createSecret(b, "db", {
    annotations: { "secretcast.io/adopt": `${scene.source}/db` },
    data: { mine: "x" },
  });
  await scene.api.annotate(scene.source, "db", { "secretcast.io/to": `${a},${b}` });
  const adopted = await line("adopt", `${b}/db`);
  assert.equal(adopted.before?.uid, offered.metadata.uid);
  assert.equal(adopted.after?.uid, offered.metadata.uid);
  assert.equal(adopted.by?.["trigger"], "AdoptOffer");

  // A pulling Secret is filled and emptied.
  await scene.api.createSecret(scene.source, "pulled", {
    annotations: { "secretcast.io/allow": a },
    data: ONE,
  });
  await scene.api.createSecret(a, "mine", {
    annotations: { "secretcast.io/from": `${scene.source}/pulled` },
    data: {},
  });
  const filled = await line("fill", `${a}/mine`);
  assert.deepEqual([filled.pulling, filled.keys?.toSorted()], [true, ["password", "user"]]);
  await assertReplayed(own);
  await scene.api.annotate(scene.source, "pulled", { "secretcast.io/allow": "nobody" });
  const cleared = await line("clear", `${a}/mine`);
  assert.deepEqual([cleared.holds, cleared.source], [false, `${scene.source}/pulled`]);

  // The API allows no change of a type or of what is immutable.
  await scene.api.patchSecret(scene.source, "gold", { immutable: true });
  await line("update", `${b}/gold`);
  await scene.api.deleteSecret(scene.source, "gold");
  await scene.api.createSecret(scene.source, "gold", {
    annotations: {
      "secretcast.io/to-selector": `tier=${scene.name("gold")}`,
      "secretcast.io/on-delete": "keep",
    },
    data: TWO,
  });
  const replaced = await line("replace", `${b}/gold`);
  assert.notEqual(replaced.after?.uid, replaced.before?.uid);

  // Its end: released, and deleted.
  await scene.api.annotate(scene.source, "gold", {
    "secretcast.io/to-selector": "tier=none",
  });
  const released = await line("release", `${b}/gold`);
  assert.deepEqual([released.holds, released.after?.uid], [false, replaced.after?.uid]);
  await scene.api.annotate(scene.source, "db", { "secretcast.io/to": a });
  const deleted = await line("delete", `${b}/db`);
  assert.deepEqual(
    [deleted.holds, deleted.after, deleted.before?.uid],
    [false, undefined, adopted.after?.uid],
  );
  await assertReplayed(own);
  assert.equal(await child.metric("secretcast_receipts_lost_total"), 0);
  assert.equal(await child.stop(), 0);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const text = readFileSync(path, "utf8");
  for (const value of VALUES)
    for (const secret of [value, Buffer.from(value).toString("base64").replaceAll("=", "")])
      assert.ok(!text.includes(secret), `the receipts contain ${value}`);
});

test("another source that gets a copy is a takeover, with the source that had it", async (t) => {
  const own = await stage(t);
  const { scene, start, line } = own;
  const first = await scene.namespace("first");
  const team = await scene.namespace("team-a");
  const child = await start({ "source-namespaces": `${first},${scene.source}` });
  await scene.api.createSecret(scene.source, "db", {
    annotations: { "secretcast.io/to": team },
    data: ONE,
  });
  const made = await line("create", `${team}/db`);
  await scene.api.createSecret(first, "db", {
    annotations: { "secretcast.io/to": team },
    data: TWO,
  });
  const taken = await line("takeover", `${team}/db`);
  assert.deepEqual(taken.before, {
    ...made.after,
    source: `${scene.source}/db`,
    sourceUid: made.sourceUid,
  });
  assert.deepEqual([taken.source, taken.code], [`${first}/db`, "SourceReplaced"]);
  await assertReplayed(own);
  assert.equal(await child.stop(), 0);
});

test("the next process states what one that was killed wrote, and what others deleted meanwhile", async (t) => {
  const own = await stage(t);
  const { scene, start, line, lines } = own;
  const teams = await Promise.all(
    ["team-a", "team-b", "team-c"].map((name) => scene.namespace(name)),
  );
  const killed = await start();
  await scene.api.createSecret(scene.source, "db", {
    annotations: { "secretcast.io/to": scene.name("team-*") },
    data: ONE,
  });
  for (const team of teams) await scene.holds(team, "db", ONE);
  await killed.kill();
  const [a = "", b = ""] = teams;
  await scene.api.deleteSecret(a, "db");
  const next = await start({ "source-namespaces": "nothing-here" });
  const stated = await line("found", `${b}/db`);
  assert.deepEqual(
    [stated.code, stated.found, stated.source],
    ["Present", true, `${scene.source}/db`],
  );
  await assertReplayed(own);
  assert.equal(replayReceipts(lines()).holdings.size, 2, "the deleted copy is not there");
  assert.equal(await next.stop(), 0);
});

test("with --receipts stdout the log is on stderr, and both are whole", async (t) => {
  const own = await stage(t);
  const { scene } = own;
  const team = await scene.namespace("team-a");
  await scene.api.createSecret(scene.source, "db", {
    annotations: { "secretcast.io/to": team },
    data: ONE,
  });
  const said: string[] = [];
  const { kubeconfig: _, ...flags } = scene.flags();
  const child = spawnController(
    t,
    scene.kubeconfig,
    { ...flags, receipts: "stdout", once: true },
    { onLine: (line) => said.push(line) },
  );
  assert.equal(await child.ended, 0);
  await eventually("its output is read", () =>
    said.some((line) => line.includes('"msg":"stopped"')),
  );
  const receipts = child.log.filter((line) => field(line, "receipt") !== undefined);
  assert.equal(receipts.length, child.log.length, "stdout has receipts alone");
  const made = parseReceipts(said.join("\n")).find(({ receipt }) => receipt === "create");
  assert.equal(made?.place, `${team}/db`);
});
