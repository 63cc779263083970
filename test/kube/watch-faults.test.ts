// The informer on real sockets: client, proxy, API server. Time is stepped, so a dead connection takes
// no five minutes here; waits before a reconnect are stepped over as they come.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { createClient } from "../../src/kube/client.ts";
import type { ApiClient } from "../../src/kube/client.ts";
import { systemClock } from "../../src/kube/clock.ts";
import { Informer } from "../../src/kube/informer.ts";
import { isKubeObject, resourcePath, SECRETS } from "../../src/kube/resource.ts";
import { startSandbox } from "../../src/sandbox/server.ts";
import type { Sandbox } from "../../src/sandbox/server.ts";
import { FakeClock } from "../support/clock.ts";
import { eventually } from "../support/eventually.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import type { Fault, FaultProxy, ProxyRequest } from "../support/fault-proxy.ts";
import { item, recorder } from "../support/informer.ts";
import type { Item } from "../support/informer.ts";
import { kubeConfigFor } from "../support/kubeconfig.ts";

type World = {
  readonly sandbox: Sandbox;
  readonly proxy: FaultProxy;
  readonly clock: FakeClock;
  /** Through the proxy. */
  readonly client: ApiClient;
  readonly informer: Informer<Item>;
  readonly heard: string[];
  readonly errors: string[];
  /** Writes a Secret past the proxy. */
  readonly put: (name: string, value: string) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
  /** The store equals the server, waits stepped over. */
  readonly converged: () => Promise<void>;
};

async function world(t: TestContext): Promise<World> {
  const sandbox = await startSandbox({});
  t.after(() => sandbox.stop());
  const direct = createClient(kubeConfigFor(sandbox.url), {
    clock: systemClock,
    userAgent: "test",
  });
  t.after(() => direct.close());
  const proxy = await startFaultProxy(t, { url: sandbox.url });
  const clock = new FakeClock();
  const client = createClient(kubeConfigFor(proxy.url), { clock, userAgent: "informer" });
  const heard: string[] = [];
  const errors: string[] = [];
  const informer = new Informer<Item>({
    client,
    resource: SECRETS,
    namespace: "default",
    transform: item,
    clock,
    onError: (error) => errors.push(error.message),
  });
  informer.addHandler(recorder(heard));
  t.after(async () => {
    await informer.stop();
    assert.equal(clock.timers, 0, "timers left behind");
    await client.close();
    await eventually("every connection is closed", () => proxy.connections === 0);
  });
  const at = (name?: string): string => resourcePath(SECRETS, "default", name);
  const ask = (
    method: "POST" | "PUT" | "DELETE" | "GET",
    path: string,
    body?: unknown,
  ): Promise<unknown> => direct.request({ method, path, body, what: `${method} ${path}` });
  const truth = async (): Promise<readonly string[]> => {
    const list = (await ask("GET", at())) as { readonly items: readonly unknown[] };
    return list.items
      .filter(isKubeObject)
      .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
      .toSorted();
  };
  const put = async (name: string, value: string): Promise<void> => {
    const body = { metadata: { name }, stringData: { value } };
    await ask("POST", at(), body).catch(() => ask("PUT", at(name), body));
  };
  const converged = async (): Promise<void> => {
    const expected = await truth();
    await eventually(`the store is ${expected.join()}`, async () => {
      const due = informer.scheduledReconnect;
      if (due !== undefined) await clock.advance(due - clock.monotonic());
      const shown = informer.store.list().map((o) => `${o.name}@${o.resourceVersion}`);
      return informer.hasSynced && shown.toSorted().join() === expected.join();
    });
  };
  const remove = async (name: string): Promise<void> => void (await ask("DELETE", at(name)));
  return { sandbox, proxy, clock, client, informer, heard, errors, put, remove, converged };
}

/** A rule that applies its fault to the first `times` requests of a kind. */
function first(times: number, kind: ProxyRequest["kind"], fault: Fault): FaultProxy["rule"] {
  let left = times;
  return (request) => (request.kind === kind && left-- > 0 ? fault : undefined);
}

async function filled(t: TestContext): Promise<World> {
  const w = await world(t);
  await w.put("one", "1");
  await w.put("two", "2");
  w.informer.start();
  await w.converged();
  w.heard.length = 0;
  return w;
}

/** The informer has sent these requests, in this order, and no more. */
async function sent(w: World, ...expected: readonly ProxyRequest["kind"][]): Promise<void> {
  const own = (): readonly string[] => kinds(w.proxy).filter((kind) => kind !== "other");
  await eventually("the last request is sent", () => own().length >= expected.length);
  assert.deepEqual(own(), expected);
}

const kinds = (proxy: FaultProxy): readonly string[] => proxy.seen.map(({ kind }) => kind);
const watchEnded = (w: World): Promise<boolean> =>
  eventually("the watch has ended", () => w.informer.scheduledReconnect !== undefined);

test("a watch through real sockets brings the first list and every change", async (t) => {
  const w = await filled(t);
  await w.put("one", "3");
  await w.remove("two");
  await w.put("three", "4");
  await w.converged();
  await sent(w, "stream");
  assert.deepEqual(
    w.heard.map((line) => line.split("@")[0]),
    ["update default/one", "delete default/two", "add default/three"],
  );
});

test("cut in the middle of a line: nothing is lost, nothing is listed again", async (t) => {
  const w = await world(t);
  await w.put("one", "1");
  w.informer.start();
  await w.converged();
  w.proxy.rule = first(3, "watch", { kind: "cut", afterBytes: 100 });
  w.proxy.resetAll();
  await watchEnded(w);
  await w.put("two", "2");
  await w.put("three", "3");
  await w.converged();
  await sent(w, "stream", "watch", "watch", "watch", "watch");
  assert.equal(w.heard.filter((line) => line.startsWith("delete")).length, 0);
});

test("a first list that is cut in the middle of a line is no list", async (t) => {
  const w = await world(t);
  await w.put("one", "1");
  await w.put("two", "2");
  w.proxy.rule = first(2, "stream", { kind: "cut", afterBytes: 700 });
  w.informer.start();
  await watchEnded(w);
  assert.equal(w.informer.store.size, 0);
  await w.converged();
  await sent(w, "stream", "stream", "list", "watch");
});

test("L1 a reset is recovered from, with what was missed", async (t) => {
  const w = await filled(t);
  w.proxy.resetAll();
  await watchEnded(w);
  await w.put("three", "3");
  await w.remove("one");
  await w.converged();
  await sent(w, "stream", "watch");
  assert.match(w.errors[0] ?? "", /^watch secrets in default: (?:UND_ERR_SOCKET|ECONNRESET), /);
});

test("RF-39 silence without FIN: found within five minutes, and requests on dead connections end by their limit", async (t) => {
  const w = await filled(t);
  await w.client.request({ method: "GET", path: "/version", what: "get version" });
  w.proxy.freeze();
  await w.put("three", "3");
  const asked = w.client
    .request({ method: "GET", path: "/version", what: "get version", timeoutMs: 30_000 })
    .then(
      () => "answered",
      (error: Error) => error.message,
    );
  await w.clock.advance(30_000);
  assert.match(await asked, /did not answer within 30000 ms$/);
  await w.client.request({ method: "GET", path: "/version", what: "get version" });
  assert.equal(w.informer.scheduledReconnect, undefined);
  // A watch of 235 s and 15 s of grace.
  await w.clock.advance(250_000 - w.clock.monotonic());
  await w.converged();
  assert.ok(w.clock.monotonic() < 300_000);
  assert.match(w.errors[0] ?? "", /DeadConnection/);
  await sent(w, "stream", "watch");
});

test("silence in the middle of the first list is given up after 30 s for a list in pages", async (t) => {
  const w = await world(t);
  await w.put("one", "1");
  w.proxy.rule = first(1, "stream", { kind: "silence", afterBytes: 100 });
  w.informer.start();
  await eventually(
    "the stream is read",
    () => w.informer.lastActivityMs === 0 && kinds(w.proxy).length === 1,
  );
  await eventually("the bound is armed", () => w.clock.timers === 2);
  await w.clock.advance(30_000);
  await w.converged();
  await sent(w, "stream", "list", "watch");
});

test("410 at opening and 410 in-stream are followed by a list, and nothing seems deleted meanwhile", async (t) => {
  const w = await filled(t);
  const gone = { kind: "Status", status: "Failure", reason: "Expired", code: 410 };
  w.proxy.rule = first(1, "watch", { kind: "answer", status: 410, body: gone });
  w.proxy.resetAll();
  await watchEnded(w);
  await w.put("three", "3");
  await w.converged();
  w.proxy.inject(`${JSON.stringify({ type: "ERROR", object: gone })}\n`);
  await watchEnded(w);
  await w.remove("three");
  await w.converged();
  await sent(w, "stream", "watch", "stream", "stream");
  assert.deepEqual(
    w.heard.map((line) => line.replace(/@\d+/, "")),
    ["add default/three", "delete default/three?"],
  );
});

test("the server's own compaction is recovered from", async (t) => {
  const w = await filled(t);
  w.proxy.rule = first(1, "watch", { kind: "reset" });
  w.proxy.resetAll();
  await watchEnded(w);
  await w.put("three", "3");
  await w.remove("one");
  w.sandbox.compact();
  await w.converged();
  assert.equal(kinds(w.proxy).at(-1), "stream");
});

test("429 with Retry-After is obeyed without a list", async (t) => {
  const w = await filled(t);
  w.proxy.rule = first(1, "watch", {
    kind: "answer",
    status: 429,
    headers: { "retry-after": "40" },
  });
  w.proxy.resetAll();
  await watchEnded(w);
  const due = w.informer.scheduledReconnect ?? 0;
  await w.clock.advance(due - w.clock.monotonic());
  const again = await eventually(
    "it waits for the second time",
    () => (w.informer.scheduledReconnect ?? 0) > due && w.informer.scheduledReconnect,
  );
  assert.equal(again - w.clock.monotonic(), 40_000);
  await w.put("three", "3");
  await w.converged();
  await sent(w, "stream", "watch", "watch");
});

test("a burst of 500s, on watches and lists alike, ends with the server's state", async (t) => {
  const w = await filled(t);
  let left = 12;
  w.proxy.rule = (): Fault | undefined =>
    left-- > 0 ? { kind: "answer", status: 500, body: "oops" } : undefined;
  w.proxy.resetAll();
  await watchEnded(w);
  await w.put("three", "3");
  await w.converged();
  assert.equal(w.heard.filter((line) => line.startsWith("delete")).length, 0);
});

test("bodies that come in single bytes are read whole", async (t) => {
  const w = await world(t);
  await w.put("one", "1");
  w.proxy.rule = () => ({ kind: "slow", bytes: 1 });
  w.informer.start();
  await w.converged();
  await w.put("two", "2");
  await w.converged();
  await sent(w, "stream");
});

test("W3 garbage in the stream is reported and followed by a list", async (t) => {
  const w = await filled(t);
  w.proxy.inject("<html>secret-of-a-tenant\n");
  await watchEnded(w);
  await w.converged();
  await sent(w, "stream", "stream");
  assert.deepEqual(w.errors, ["watch secrets in default: 200 BadEvent, a line is no JSON object"]);
  assert.deepEqual(w.heard, []);
});

test("L3 a login page for every answer changes nothing in the store", async (t) => {
  const w = await filled(t);
  let pages = 0;
  const headers = { "content-type": "text/html" };
  w.proxy.rule = () =>
    ++pages <= 8 ? { kind: "answer", status: 200, headers, body: "<html>" } : undefined;
  w.proxy.resetAll();
  await watchEnded(w);
  await w.remove("two");
  await w.put("three", "3");
  await w.converged();
  assert.ok(kinds(w.proxy).includes("list"));
  assert.deepEqual(w.heard.map((line) => line.replace(/@\d+/, "")).toSorted(), [
    "add default/three",
    "delete default/two?",
  ]);
});

test("RF-55 a server that ignores sendInitialEvents is listed in pages", async (t) => {
  const w = await world(t);
  await w.put("one", "1");
  const query = {
    sendInitialEvents: undefined,
    resourceVersionMatch: undefined,
    allowWatchBookmarks: undefined,
  };
  w.proxy.rule = ({ kind }) => (kind === "stream" ? { kind: "rewrite", query } : undefined);
  w.informer.start();
  await eventually("the bound is armed", () => w.clock.timers === 2);
  await w.put("live", "2");
  await w.clock.advance(30_000);
  await w.converged();
  await sent(w, "stream", "list", "watch");
  await w.put("two", "3");
  await w.converged();
});

test("RF-06 a page that expires is followed by the whole list", async (t) => {
  const w = await world(t);
  for (let at = 0; at < 5; at++) await w.put(`s${at}`, "x");
  const gone = { kind: "Status", status: "Failure", reason: "Expired", code: 410 };
  w.proxy.rule = ({ kind, query }) => {
    if (kind === "stream") return { kind: "answer", status: 422 };
    if (query.has("continue")) return { kind: "answer", status: 410, body: gone };
    return query.has("limit") ? { kind: "rewrite", query: { limit: "2" } } : undefined;
  };
  w.informer.start();
  await w.converged();
  await sent(w, "stream", "list", "list", "list", "watch");
  assert.equal(w.informer.store.size, 5);
});

test("L5 stop while a body is on its way leaves no connection", async (t) => {
  const w = await filled(t);
  w.proxy.freeze();
  await w.informer.stop();
  await w.client.close();
  await eventually("every connection is closed", () => w.proxy.connections === 0);
});
