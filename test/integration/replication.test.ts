// The main job on a real HTTP API: what happens to copies when sources, copies and namespaces change,
// and what never happens to Secrets that are not ours. Runs on the sandbox and on a real API server.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { eventually } from "../support/time/eventually.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";

const TEAMS = ["team-a", "team-b", "team-c"];

/** Three team namespaces, one other, and a source for the teams. */
async function teams(scene: Scene): Promise<readonly string[]> {
  const namespaces = await Promise.all(TEAMS.map((team) => scene.namespace(team)));
  await scene.namespace("legacy");
  await scene.api.createSecret(scene.source, "registry", {
    annotations: { "secretcast.io/to": scene.name("team-*") },
    data: { user: "ada", password: "one" },
  });
  return namespaces;
}

const FIRST = { user: "ada", password: "one" };

test("a Secret annotated once is in every namespace that it names, and in no other", async (t) => {
  const scene = await openScene(t);
  const namespaces = await teams(scene);
  const running = scene.start();
  for (const namespace of namespaces) await scene.holds(namespace, "registry", FIRST);
  assert.equal(await scene.api.secret(scene.name("legacy"), "registry"), undefined);
  const copy = await scene.api.secret(scene.name("team-a"), "registry");
  const source = await scene.api.secret(scene.source, "registry");
  assert.equal(copy?.metadata.labels?.["app.kubernetes.io/managed-by"], "secretcast");
  assert.deepEqual(copy?.metadata.annotations, {
    "secretcast.io/source": `${scene.source}/registry`,
    "secretcast.io/source-uid": source?.metadata.uid,
    "secretcast.io/source-version": source?.metadata.resourceVersion,
    "secretcast.io/placed-at": `${scene.name("team-a")}/registry`,
  });
  await running.stop();
  const plan = await scene.finish();
  assert.equal(plan.states.current, 3);
});

test("a changed source changes its copies", async (t) => {
  const scene = await openScene(t);
  const namespaces = await teams(scene);
  const running = scene.start();
  for (const namespace of namespaces) await scene.holds(namespace, "registry", FIRST);
  await scene.api.setData(scene.source, "registry", { password: "two", user: null, token: "t" });
  const changed = { password: "two", token: "t" };
  for (const namespace of namespaces) await scene.holds(namespace, "registry", changed);
  await running.stop();
  await scene.finish();
});

test("a deleted source takes its copies with it, and no stranger", async (t) => {
  const scene = await openScene(t);
  const namespaces = await teams(scene);
  const other = await scene.namespace("team-other");
  await scene.unmanaged(other, "registry", { data: { mine: "x" } });
  const running = scene.start();
  for (const namespace of namespaces) await scene.holds(namespace, "registry", FIRST);
  await scene.api.deleteSecret(scene.source, "registry");
  for (const namespace of namespaces) await scene.absent(namespace, "registry");
  await running.stop();
  await scene.finish();
});

test("a source deleted and created again within the grace updates its copies in place", async (t) => {
  const scene = await openScene(t);
  const namespaces = await teams(scene);
  const running = scene.start({ "delete-grace": "30s" });
  for (const namespace of namespaces) await scene.holds(namespace, "registry", FIRST);
  const uids = await uidsOf(scene, namespaces);
  await scene.api.deleteSecret(scene.source, "registry");
  await scene.api.createSecret(scene.source, "registry", {
    annotations: { "secretcast.io/to": scene.name("team-*") },
    data: { password: "three" },
  });
  for (const namespace of namespaces)
    await scene.holds(namespace, "registry", { password: "three" });
  assert.deepEqual(await uidsOf(scene, namespaces), uids, "the copies are the same objects");
  await running.stop();
  await scene.finish();
});

test("a copy edited by hand is restored, and what others put on it stays", async (t) => {
  const scene = await openScene(t);
  const [namespace = ""] = await teams(scene);
  const running = scene.start();
  await scene.holds(namespace, "registry", FIRST);
  await scene.api.patchSecret(namespace, "registry", {
    metadata: { labels: { team: "a" }, annotations: { "example.com/note": "kept" } },
    data: { password: Buffer.from("edited").toString("base64"), extra: "eA==" },
  });
  await scene.holds(namespace, "registry", FIRST);
  const copy = await scene.api.secret(namespace, "registry");
  assert.equal(copy?.metadata.labels?.["team"], "a");
  assert.equal(copy?.metadata.annotations?.["example.com/note"], "kept");
  await running.stop();
  await scene.finish();
});

test("a copy deleted by hand comes back", async (t) => {
  const scene = await openScene(t);
  const [namespace = ""] = await teams(scene);
  const running = scene.start();
  await scene.holds(namespace, "registry", FIRST);
  const [before] = await uidsOf(scene, [namespace]);
  await scene.api.deleteSecret(namespace, "registry");
  await eventually("the copy is a new object", async () => {
    const copy = await scene.api.secret(namespace, "registry");
    return copy !== undefined && copy.metadata.uid !== before;
  });
  await scene.holds(namespace, "registry", FIRST);
  await running.stop();
  await scene.finish();
});

test("a namespace created later gets its copy, and one deleted is let go", async (t) => {
  const scene = await openScene(t);
  await teams(scene);
  const running = scene.start();
  await scene.holds(scene.name("team-a"), "registry", FIRST);
  const late = await scene.namespace("team-late");
  await scene.holds(late, "registry", FIRST);
  await scene.api.deleteNamespace(late);
  await scene.api.namespaceGone(late);
  await running.stop();
  await scene.finish();
  assert.deepEqual(
    running.outcomes.filter(({ kind }) => kind === "failed"),
    [],
    "a namespace on its way out is not written to",
  );
});

test("a namespace relabelled in gets its copy, relabelled out loses it", async (t) => {
  const scene = await openScene(t);
  const namespace = await scene.namespace("shop", { labels: { env: "dev" } });
  await scene.api.createSecret(scene.source, "wildcard", {
    annotations: { "secretcast.io/to-selector": `tls=wanted,${scene.prefix}!=x` },
    data: { key: "k" },
  });
  const running = scene.start();
  await eventually("the controller has seen it all", () => running.settled() !== undefined);
  assert.equal(await scene.api.secret(namespace, "wildcard"), undefined);
  await scene.api.patchNamespace(namespace, { labels: { tls: "wanted" } });
  await scene.holds(namespace, "wildcard", { key: "k" });
  await scene.api.patchNamespace(namespace, { labels: { tls: null } });
  await scene.absent(namespace, "wildcard");
  await running.stop();
  await scene.finish();
});

test("an unowned Secret of the same name is never touched, on any path", async (t) => {
  const scene = await openScene(t);
  const taken = await scene.namespace("team-taken");
  await scene.unmanaged(taken, "registry", { data: { mine: "untouched" } });
  await teams(scene);
  const running = scene.start();
  await scene.holds(scene.name("team-a"), "registry", FIRST);
  const { source, api } = scene;
  await api.setData(source, "registry", { password: "two" });
  await scene.holds(scene.name("team-a"), "registry", { ...FIRST, password: "two" });
  await api.patchNamespace(taken, { labels: { some: "label" } });
  await api.annotate(source, "registry", { "secretcast.io/to": scene.name("team-a") });
  await scene.absent(scene.name("team-b"), "registry");
  await api.annotate(source, "registry", { "secretcast.io/to": scene.name("team-*") });
  await scene.holds(scene.name("team-b"), "registry", { ...FIRST, password: "two" });
  await eventually("the conflict is told", () => running.settled()?.states.conflict === 1);
  await api.deleteSecret(source, "registry");
  for (const team of TEAMS) await scene.absent(scene.name(team), "registry");
  await running.stop();
  await scene.finish();
});

test("when the stranger in the way goes, the copy appears without a restart", async (t) => {
  const scene = await openScene(t);
  const taken = await scene.namespace("team-taken");
  await scene.unmanaged(taken, "registry", { data: { mine: "x" } });
  await teams(scene);
  const running = scene.start();
  await eventually("the conflict is told", () => running.settled()?.states.conflict === 1);
  scene.release(taken, "registry");
  await scene.api.deleteSecret(taken, "registry");
  await scene.holds(taken, "registry", FIRST);
  await running.stop();
  await scene.finish();
});

test("a bad annotation refuses its own source with a reason, and others go on", async (t) => {
  const scene = await openScene(t);
  await scene.namespace("team-a");
  const bad: readonly (readonly [string, Record<string, string>])[] = [
    ["bad-glob", { "secretcast.io/to": "team-[a]" }],
    ["bad-selector", { "secretcast.io/to-selector": "env in (a" }],
    ["bad-name", { "secretcast.io/to": scene.name("team-*"), "secretcast.io/name": "No_Name" }],
    ["unknown-key", { "secretcast.io/to": scene.name("*"), "secretcast.io/to-selecter": "a=b" }],
    ["empty", { "secretcast.io/to": "" }],
  ];
  for (const [name, annotations] of bad)
    await scene.api.createSecret(scene.source, name, { annotations, data: { a: "b" } });
  await scene.api.createSecret(scene.source, "good", {
    annotations: { "secretcast.io/to": scene.name("team-*") },
    data: { a: "b" },
  });
  const running = scene.start();
  await scene.holds(scene.name("team-a"), "good", { a: "b" });
  await running.stop();
  const refused = running.log.filter((line) => line.includes("source refused"));
  for (const [name] of bad)
    assert.equal(
      refused.filter((line) => line.includes(`/${name}"`)).length,
      1,
      `${name} is told once`,
    );
  const plan = await scene.finish();
  assert.equal(plan.sources.filter(({ state }) => state === "refused").length, bad.length);
  assert.deepEqual(
    (await scene.api.secrets(scene.name("team-a")))
      .map(({ metadata }) => metadata.name)
      .filter((name) => name !== "kube-root-ca.crt"),
    ["good"],
  );
});

test("killed with SIGKILL during the fan-out and started again, it ends in the right state", async (t) => {
  const scene = await openScene(t);
  const count = 40;
  const all = Array.from({ length: count }, (_, n) => `team-${n}`);
  await Promise.all(all.map((team) => scene.namespace(team)));
  const taken = await scene.namespace("team-taken");
  await scene.unmanaged(taken, "registry", { data: { mine: "x" } });
  await scene.api.createSecret(scene.source, "registry", {
    annotations: { "secretcast.io/to": scene.name("team-*") },
    data: FIRST,
  });
  for (const some of [1, 10, 25]) {
    const child = spawn(
      process.execPath,
      ["bin/secretcast.js", "run", ...argsOf(scene), "--concurrency=2"],
      {
        stdio: "ignore",
      },
    );
    t.after(() => child.kill("SIGKILL"));
    await eventually(`${some} copies are there`, async () => (await copies(scene)) >= some, 60_000);
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  const running = scene.start();
  await eventually("all copies are there", async () => (await copies(scene)) === count);
  await running.stop();
  const plan = await scene.finish();
  assert.equal(plan.states.current, count);
});

test("on SIGTERM the program finishes what is in flight and exits 0", async (t) => {
  const scene = await openScene(t);
  await teams(scene);
  const child = spawn(process.execPath, ["bin/secretcast.js", "run", ...argsOf(scene)], {
    stdio: "ignore",
  });
  t.after(() => child.kill("SIGKILL"));
  await scene.holds(scene.name("team-a"), "registry", FIRST);
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
  await scene.start({ once: true }).ended;
  await scene.finish();
});

test("a quiet controller makes no write over resyncs and restarts", async (t) => {
  const scene = await openScene(t);
  const namespaces = await teams(scene);
  const first = scene.start();
  for (const namespace of namespaces) await scene.holds(namespace, "registry", FIRST);
  await first.stop();
  const before = await scene.versions();
  const second = scene.start({ resync: "20ms" });
  let passes = 0;
  await eventually("many passes", () => (second.settled() && ++passes > 30) || undefined);
  await second.stop();
  assert.deepEqual(second.outcomes, []);
  assert.deepEqual(await scene.versions(), before);
  await scene.finish();
});

test("a dry run says what it would write and writes nothing", async (t) => {
  const scene = await openScene(t);
  await teams(scene);
  const before = await scene.versions();
  const running = scene.start({ "dry-run": true });
  await eventually("it has planned", () => running.settled() !== undefined);
  await running.stop();
  assert.deepEqual(await scene.versions(), before);
  const told = running.log.filter((line) => line.includes("would write"));
  assert.equal(told.length, 3);
});

async function uidsOf(scene: Scene, namespaces: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(namespaces.map((ns) => scene.api.secret(ns, "registry")));
  return found.map((secret) => secret?.metadata.uid ?? "");
}

async function copies(scene: Scene): Promise<number> {
  const all = await scene.api.secrets();
  return all.filter(
    ({ metadata }) =>
      metadata.namespace?.startsWith(scene.prefix) &&
      metadata.labels?.["app.kubernetes.io/managed-by"] === "secretcast",
  ).length;
}

function argsOf(scene: Scene): string[] {
  return Object.entries(scene.flags()).map(([flag, value]) => `--${flag}=${value}`);
}
