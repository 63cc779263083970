// How many large answers a client holds at a time.
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { LargeAnswers } from "./large-answers.ts";
import { resourcePath, SECRETS } from "./resource.ts";
import { answer, serve } from "../testing/http-server.ts";
import { failure } from "../testing/failure.ts";
import { clientFor } from "../testing/client-for.ts";
import { eventually } from "../testing/eventually.ts";
import { FakeClock } from "../testing/fake-clock.ts";

const MIB = 2 ** 20;

/** A server whose answers are large, but for their ends, which the test sends. */
async function slowServer(t: TestContext) {
  const open = new Map<string, ServerResponse>();
  const server = await serve(t, (request, response) => {
    const name = String(request.url).split("/").at(-1) ?? "";
    if (name === "small") {
      answer(response, 200, { kind: "Secret", name });
      return;
    }
    response.writeHead(200, { "Content-Type": "application/json" });
    response.write(`{"name":"${name}","text":"${"x".repeat(8 * MIB)}`);
    open.set(name, response);
  });
  const clock = new FakeClock();
  const client = clientFor(t, server.url, { clock });
  const get = (name: string) =>
    client.request<{ readonly name: string }>({
      method: "GET",
      path: resourcePath(SECRETS, "team-a", name),
      what: `get secret team-a/${name}`,
    });
  return { open, clock, get };
}

test("one answer of 8 MiB is read at a time, and small ones pass it", async (t) => {
  const { open, get } = await slowServer(t);
  const names = ["a", "b", "c", "d", "e"];
  const answers = names.map(async (name) => (await get(name)).name);
  await eventually("all are asked", () => open.size === names.length);
  // What the client does not take stays in the buffer of the server.
  const waiting = (): readonly string[] =>
    [...open].filter(([, response]) => response.writableLength > MIB).map(([name]) => name);
  await eventually("one is read", () => waiting().length === names.length - 1);
  assert.equal((await get("small")).name, "small");
  assert.equal(waiting().length, names.length - 1, "the others are not read meanwhile");
  for (const response of open.values()) response.end('"}');
  assert.deepEqual((await Promise.all(answers)).toSorted(), names);
});

test("a large answer that is given up leaves its place to another", async (t) => {
  const { open, clock, get } = await slowServer(t);
  const failures = ["a", "b", "c"].map(async (name) => (await failure(get(name))).kind);
  await eventually("all are asked", () => open.size === 3);
  await clock.advance(30_000);
  assert.deepEqual(await Promise.all(failures), ["timeout", "timeout", "timeout"]);
  const last = get("d");
  await eventually("it is asked", () => open.has("d"));
  open.get("d")?.end('"}');
  assert.equal((await last).name, "d");
});

test("whoever waits for a turn gets it in order, and a turn is released once", () => {
  const answers = new LargeAnswers();
  const begun: number[] = [];
  const turns = Array.from({ length: 5 }, () => answers.slot());
  const taken = turns.map((turn, at) => turn.take(() => begun.push(at), MIB));
  assert.deepEqual(taken, [true, true, false, false, false]);
  turns[2]?.release();
  turns[0]?.release();
  turns[0]?.release();
  assert.deepEqual(begun, [3]);
  turns[3]?.release();
  turns[1]?.release();
  assert.deepEqual(begun, [3, 4]);
  turns[4]?.release();
  assert.equal(
    answers.slot().take(() => {}, MIB),
    true,
  );
});

test("whatever arrives, beside one answer at most 4 MiB are held of all others", () => {
  const answers = new LargeAnswers();
  const sizes = [7, 1, 6, 0.5, 0.5, 3, 9, 2, 2, 5].map((size) => size * MIB);
  const flows = sizes.map((size) => ({ size, slot: answers.slot(), held: 0, isPaused: false }));
  const chunk = MIB / 4;
  const done = new Set<(typeof flows)[number]>();
  const end = (flow: (typeof flows)[number]): void => {
    done.add(flow);
    flow.held = 0;
    flow.slot.release();
  };
  for (let rounds = 0; done.size < flows.length; rounds++) {
    assert.ok(rounds < 1000, "all answers are read to their ends");
    for (const flow of flows) {
      if (flow.isPaused || done.has(flow)) continue;
      flow.held += chunk;
      const begin = (): void => {
        flow.isPaused = false;
        if (flow.held >= flow.size) end(flow);
      };
      flow.isPaused = !flow.slot.take(begin, flow.held);
      if (!flow.isPaused && flow.held >= flow.size) end(flow);
      // Of each one that has not begun, the first chunk has arrived.
      const held = flows.map((one) => one.held).filter((bytes) => bytes > chunk);
      const others = held.reduce((sum, bytes) => sum + bytes, 0) - Math.max(0, ...held);
      assert.ok(others <= 4 * MIB + chunk, `${others / MIB} MiB`);
    }
  }
});
