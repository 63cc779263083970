// What the cache promises while lists fail and while it lags behind our own writes: nothing is done on
// the strength of half an answer, and no unmanaged object is overwritten. scenarios-many.test.ts has long lists.
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { all, copied, crews, ONE, source, TWO } from "../support/scenes/crews.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import type { Fault, FaultProxy } from "../../packages/kube/testing/fault-proxy.ts";
import { inGap, isWatch, openStage, refusal } from "../support/scenes/proxied.ts";

// Copies come before their source in a list: what breaks off here shows copies without a source.
const BETWEEN = 1500;

test("a list that fails or breaks off deletes nothing and writes nothing", async (t) => {
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
});

test("a new list that breaks off leaves what the cache had", async (t) => {
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
  // A sync on what the cache shows now, which must still be everything.
  await scene.namespace("crew-late");
  await scene.holds(scene.name("crew-late"), "registry", ONE);
  for (const namespace of namespaces)
    assert.equal(
      (await scene.api.secret(namespace, "registry"))?.metadata.resourceVersion,
      before.get(`${namespace}/registry`),
    );
  proxy.rule = () => undefined;
});

test("a create whose answer is lost ends as the one copy it made", async (t) => {
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
});

test("an update on an older version of a copy overwrites nobody", async (t) => {
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
});

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
