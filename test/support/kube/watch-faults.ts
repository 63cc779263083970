// What networks and servers do to a watch, as cases for any API server.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import type { Fault } from "../../../packages/kube/testing/fault-proxy.ts";
import { filled, first, kinds, opened, sent, reported, watchEnded, world } from "./fault-world.ts";
import type { Served } from "./fault-world.ts";

type Case = {
  readonly name: string;
  /** `served` belongs to this case alone. */
  readonly run: (t: TestContext, served: Served) => Promise<void>;
};

export const FAULTS: Case[] = [];

function fault(name: string, run: Case["run"]): void {
  FAULTS.push({ name, run });
}

fault("a watch through real sockets brings the first list and every change", async (t, served) => {
  const w = await filled(t, served);
  await w.put("one", "3");
  await w.remove("two");
  await w.put("three", "4");
  await w.converged();
  await sent(w, "stream");
  assert.deepEqual(reported(w), ["update one", "delete two", "add three"]);
});

fault(
  "cut in the middle of a line: nothing is lost, nothing is listed again",
  async (t, served) => {
    const w = await world(t, served);
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
  },
);

fault("a first list that is cut in the middle of a line is no list", async (t, served) => {
  const w = await world(t, served);
  await w.put("one", "1");
  await w.put("two", "2");
  w.proxy.rule = first(2, "stream", { kind: "cut", afterBytes: 700 });
  w.informer.start();
  await watchEnded(w);
  assert.equal(w.informer.store.size, 0);
  await w.converged();
  await sent(w, "stream", "stream", "list", "watch");
});

fault("L1 a reset is recovered from, with what was missed", async (t, served) => {
  const w = await filled(t, served);
  w.proxy.resetAll();
  await watchEnded(w);
  await w.put("three", "3");
  await w.remove("one");
  await w.converged();
  await sent(w, "stream", "watch");
  assert.match(w.errors[0] ?? "", /^watch secrets in .*: (?:UND_ERR_SOCKET|ECONNRESET), /);
});

fault(
  "RF-39 silence without FIN: found within five minutes, and requests on dead connections end by their limit",
  async (t, served) => {
    const w = await filled(t, served);
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
  },
);

fault(
  "silence in the middle of the first list is given up after 30 s for a list in pages",
  async (t, served) => {
    const w = await world(t, served);
    await w.put("one", "1");
    w.proxy.rule = first(1, "stream", { kind: "silence", afterBytes: 100 });
    await opened(w);
    await w.clock.advance(30_000);
    await w.converged();
    await sent(w, "stream", "list", "watch");
  },
);

fault(
  "410 at opening and 410 in-stream are followed by a list, and nothing seems deleted meanwhile",
  async (t, served) => {
    const w = await filled(t, served);
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
    assert.deepEqual(reported(w), ["add three", "delete three?"]);
  },
);

fault("429 with Retry-After is obeyed without a list", async (t, served) => {
  const w = await filled(t, served);
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

fault(
  "a burst of 500s, on watches and lists alike, ends with the server's state",
  async (t, served) => {
    const w = await filled(t, served);
    let left = 12;
    w.proxy.rule = (): Fault | undefined =>
      left-- > 0 ? { kind: "answer", status: 500, body: "oops" } : undefined;
    w.proxy.resetAll();
    await watchEnded(w);
    await w.put("three", "3");
    await w.converged();
    assert.equal(w.heard.filter((line) => line.startsWith("delete")).length, 0);
  },
);

fault("bodies that come in single bytes are read whole", async (t, served) => {
  const w = await world(t, served);
  await w.put("one", "1");
  w.proxy.rule = () => ({ kind: "slow", bytes: 1 });
  w.informer.start();
  await w.converged();
  await w.put("two", "2");
  await w.converged();
  await sent(w, "stream");
});

fault("W3 garbage in the stream is reported and followed by a list", async (t, served) => {
  const w = await filled(t, served);
  w.proxy.inject("<html>secret-of-a-tenant\n");
  await watchEnded(w);
  await w.converged();
  await sent(w, "stream", "stream");
  assert.match(
    w.errors.join(),
    /^watch secrets in [\w-]+: 200 BadEvent, a line is no JSON object$/,
  );
  assert.deepEqual(w.heard, []);
});

fault("L3 a login page for every answer changes nothing in the store", async (t, served) => {
  const w = await filled(t, served);
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
  assert.deepEqual(reported(w).toSorted(), ["add three", "delete two?"]);
});

fault("RF-55 a server that ignores sendInitialEvents is listed in pages", async (t, served) => {
  const w = await world(t, served);
  await w.put("one", "1");
  const query = {
    sendInitialEvents: undefined,
    resourceVersionMatch: undefined,
    allowWatchBookmarks: undefined,
  };
  w.proxy.rule = ({ kind }) => (kind === "stream" ? { kind: "rewrite", query } : undefined);
  await opened(w);
  await w.put("live", "2");
  await w.clock.advance(30_000);
  await w.converged();
  await sent(w, "stream", "list", "watch");
  await w.put("two", "3");
  await w.converged();
});

fault("RF-06 a page that expires is followed by the pages from the first on", async (t, served) => {
  const w = await world(t, served);
  for (let at = 0; at < 5; at++) await w.put(`s${at}`, "x");
  const gone = { kind: "Status", status: "Failure", reason: "Expired", code: 410 };
  let expired = false;
  w.proxy.rule = ({ kind, query }) => {
    if (kind === "stream") return { kind: "answer", status: 422 };
    if (query.has("continue")) {
      if (expired) return undefined;
      expired = true;
      return { kind: "answer", status: 410, body: gone };
    }
    return query.has("limit") ? { kind: "rewrite", query: { limit: "2" } } : undefined;
  };
  w.informer.start();
  await w.converged();
  await sent(w, "stream", "list", "list", "list", "list", "watch");
  assert.equal(w.informer.store.size, 5);
});

fault("L5 stop while a body is on its way leaves no connection", async (t, served) => {
  const w = await filled(t, served);
  w.proxy.freeze();
  await w.informer.stop();
  await w.client.close();
  await eventually("every connection is closed", () => w.proxy.connections === 0);
});
