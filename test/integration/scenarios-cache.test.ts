// What the cache promises while lists fail and while it lags behind our own writes: nothing is done on
// the strength of half an answer, no stranger is overwritten, memory and pages stay bounded.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { all, copied, crews, ONE, over, source, TWO } from "../support/scenes/crews.ts";
import { runWords } from "../support/programs/controller-process.ts";
import { skippedInMode } from "../support/scenes/named-mode.ts";
import { eventually } from "../support/time/eventually.ts";
import type { Fault, FaultProxy, ProxyRequest } from "../support/api-server/fault-proxy.ts";
import { inGap, isWatch, openStage, refusal } from "../support/scenes/proxied.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";

const IN_PAGES = skippedInMode("a list of one name is one page");

// Copies come before their source in a list: what breaks off here shows copies without a source.
const LARGE = 300;
const BETWEEN = 1500;

test("S03 the first list of many and large Secrets fits into a heap smaller than they are", async (t) => {
  const scene = await openScene(t);
  const namespaces = await crews(scene);
  const large = { blob: "x".repeat(200_000) };
  await many(scene, 2000);
  await many(scene, LARGE, large);
  const child = spawnRun(t, scene, ["--max-old-space-size=96"]);
  const [first = ""] = namespaces;
  await eventually("there are copies", () => scene.api.secret(first, "registry"), 60_000);
  await all(scene, namespaces, ONE);
  assert.equal(child.exitCode, null);
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
  await scene.finish();
});

test("S04 a list that fails or breaks off deletes nothing and writes nothing", async (t) => {
  const { scene, proxy, clock } = await openStage(t);
  const namespaces = await copied(scene);
  await source(scene, "late");
  const before = await scene.versions();
  const faults: readonly Fault[] = [
    refusal(500, "InternalError"),
    refusal(429, "TooManyRequests"),
    { kind: "cut", afterBytes: BETWEEN },
  ];
  let asked = 0;
  proxy.rule = ({ path, kind }) => {
    if (!path.endsWith(scene.collection) || kind === "other") return undefined;
    return faults[asked++ % faults.length];
  };
  clock.run(50);
  const running = scene.start();
  await eventually("each fault was met twice", () => asked > 6, 30_000);
  assert.equal(running.ready(), false);
  assert.deepEqual(await scene.versions(), before);
  proxy.rule = () => undefined;
  for (const namespace of namespaces) await scene.holds(namespace, "late", ONE);
  await over(scene, running);
});

test("S04 a new list that breaks off leaves what the cache had", async (t) => {
  const { scene, proxy } = await openStage(t);
  const namespaces = await copied(scene);
  const running = scene.start();
  await eventually("the controller has seen it all", () => running.settled());
  const before = await scene.versions();
  let cuts = 0;
  await inGap(proxy, refusal(410, "Expired"), () => Promise.resolve());
  const gone = proxy.rule;
  proxy.rule = (request) => {
    const lists = request.kind === "stream" || request.kind === "list";
    if (!lists || !request.path.endsWith(scene.collection)) return gone(request);
    cuts++;
    return { kind: "cut", afterBytes: BETWEEN };
  };
  await eventually("lists have broken off", () => cuts >= 2);
  // A pass on what the cache shows now, which must still be everything.
  await scene.namespace("crew-late");
  await scene.holds(scene.name("crew-late"), "registry", ONE);
  for (const namespace of namespaces)
    assert.equal(
      (await scene.api.secret(namespace, "registry"))?.metadata.resourceVersion,
      before.get(`${namespace}/registry`),
    );
  proxy.rule = () => undefined;
  await over(scene, running);
});

test(
  "S04 a list in pages that breaks off after the first page counts for nothing",
  IN_PAGES,
  async (t) => {
    const { scene, proxy } = await openStage(t);
    await copied(scene);
    await many(scene, 600);
    const before = await scene.versions();
    proxy.rule = pagesOnly({ kind: "cut", afterBytes: 1000 });
    const running = scene.start();
    await eventually("two lists have broken off", () => rest(proxy).length >= 2);
    assert.equal(running.ready(), false);
    assert.deepEqual(await scene.versions(), before);
    proxy.rule = pagesOnly(undefined);
    await eventually("the controller has seen it all", () => running.settled());
    assert.deepEqual(await scene.versions(), before);
    await over(scene, running);
  },
);

test("S04 nothing is written before the namespaces are known as well", async (t) => {
  const { scene, proxy } = await openStage(t);
  const namespaces = await crews(scene);
  const before = await scene.versions();
  let asked = 0;
  proxy.rule = ({ path }) =>
    path.endsWith("/namespaces") && asked++ < 3 ? refusal(503, "ServiceUnavailable") : undefined;
  const running = scene.start();
  await eventually("namespaces were asked for twice", () => asked >= 2);
  assert.equal(running.ready(), false);
  assert.deepEqual(await scene.versions(), before);
  await all(scene, namespaces, ONE);
  await over(scene, running);
});

test("S08 a create that meets a Secret the cache does not show leaves it alone", async (t) => {
  const { scene, proxy } = await openStage(t);
  const [taken = "", free = ""] = await crews(scene);
  let refused = 0;
  let there = false;
  proxy.rule = blind(({ method, path }) => {
    const theirs = method === "POST" && path.includes(`/${taken}/`);
    if (!theirs || there) return undefined;
    refused++;
    return refusal(500, "InternalError");
  });
  const running = scene.start();
  await scene.holds(free, "registry", ONE);
  await eventually("the first create has failed", () => refused > 0);
  await scene.unmanaged(taken, "registry", { data: { mine: "x" } });
  there = true;
  await eventually("it is a conflict", () => running.settled()?.states.conflict === 1);
  see(proxy);
  scene.release(taken, "registry");
  await scene.api.deleteSecret(taken, "registry");
  await scene.holds(taken, "registry", ONE);
  await over(scene, running);
});

test("S08 a create whose answer is lost ends as the one copy it made", async (t) => {
  const { scene, proxy } = await openStage(t);
  const namespaces = await crews(scene);
  let lost = 0;
  proxy.rule = blind(({ method, path }) =>
    method === "POST" && path.endsWith(scene.collection) && lost++ < 2
      ? { kind: "cut", afterBytes: 1 }
      : undefined,
  );
  const running = scene.start();
  await all(scene, namespaces, ONE);
  await eventually("both answers are lost", () => lost >= 2);
  await eventually("it has looked again", () => running.settled());
  see(proxy);
  await eventually("they are seen as ours", () => running.settled()?.states.current === 2);
  await over(scene, running);
});

test("S08 an update on an older version of a copy overwrites nobody", async (t) => {
  const { scene, proxy } = await openStage(t);
  const [a = "", b = ""] = await copied(scene);
  await scene.api.setData(scene.source, "registry", TWO);
  let failed = 0;
  let met = 0;
  let isTaken = false;
  proxy.rule = blind(({ method, path }) => {
    if (method !== "PATCH" || !path.includes(`/${a}/`)) return undefined;
    if (isTaken) met++;
    else failed++;
    // None gets through before the owner has it, however busy the machine is.
    return isTaken ? undefined : refusal(500, "InternalError");
  });
  const running = scene.start();
  await scene.holds(b, "registry", TWO);
  await eventually("an update has failed", () => failed > 0);
  // Its owner takes the copy over while the controller cannot see it.
  await scene.api.patchSecret(a, "registry", {
    metadata: { labels: { "app.kubernetes.io/managed-by": null } },
  });
  isTaken = true;
  await eventually("later updates met the new version", () => met > 2);
  await scene.holds(a, "registry", ONE);
  see(proxy);
  await eventually("it is a conflict", () => running.settled()?.states.conflict === 1);
  await scene.holds(a, "registry", ONE);
  await over(scene, running);
});

test("S09 the first list names no version, so that it comes in pages", IN_PAGES, async (t) => {
  const { scene, proxy } = await openStage(t);
  const namespaces = await crews(scene);
  await many(scene, 1100);
  proxy.rule = pagesOnly(undefined);
  const running = scene.start();
  await all(scene, namespaces, ONE);
  const pages = proxy.seen.filter(
    ({ kind, path, query }) =>
      kind === "list" && path.endsWith(scene.collection) && !isSourceList(query),
  );
  assert.ok(pages.length >= 3, `${pages.length} pages of more than 1,100 Secrets`);
  for (const { query } of pages) {
    assert.equal(query.get("resourceVersion"), null);
    assert.equal(query.get("limit"), "500");
  }
  assert.equal(rest(proxy).length, pages.length - 1, "each page but the first continues one");
  await over(scene, running);
});

/** The one ConfigMap that is read whatever the flags say. */
function isSourceList(query: URLSearchParams): boolean {
  return query.get("fieldSelector")?.startsWith("metadata.name=") === true;
}

/** A server that knows no streaming lists; later pages of a list meet `fault`. */
function pagesOnly(fault: Fault | undefined): FaultProxy["rule"] {
  return ({ kind, query }) => {
    if (kind === "stream") return refusal(400, "BadRequest");
    return kind === "list" && query.has("continue") ? fault : undefined;
  };
}

/** Lists are true, and their watches never say a word: the cache stays as it was at the start. */
function blind(rule: FaultProxy["rule"]): FaultProxy["rule"] {
  return (request) => {
    if (request.kind === "stream") return refusal(400, "BadRequest");
    return isWatch(request) ? { kind: "silence", afterBytes: 0 } : rule(request);
  };
}

/** The watches are alive again. */
function see(proxy: FaultProxy): void {
  proxy.rule = () => undefined;
  proxy.resetAll();
}

const rest = (proxy: FaultProxy): readonly ProxyRequest[] =>
  proxy.seen.filter(({ query }) => query.has("continue"));

type Data = Readonly<Record<string, string>>;

/** So many Secrets that are nothing to us, before the source in a list. */
async function many({ api, sandbox, source: namespace }: Scene, amount: number, data: Data = {}) {
  const names = Array.from({ length: amount }, (_, at) => `any-${at}${Object.keys(data).join()}`);
  if (sandbox)
    sandbox.load(
      names.map((name) => {
        return { kind: api.kind, metadata: { namespace, name }, data: api.encode(data) };
      }),
    );
  else await Promise.all(names.map((name) => api.createSecret(namespace, name, { data })));
}

function spawnRun(t: TestContext, scene: Scene, nodeFlags: readonly string[]): ChildProcess {
  const words = runWords(scene.kubeconfig, scene.flags());
  const child = spawn(process.execPath, [...nodeFlags, "bin/secretcast.js", ...words], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  return child;
}
