// An API server that takes nothing is left alone by the whole client, whoever uses it, whatever they ask
// for: twenty answers in a row were 429, and Retry-After says for how long.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { ApiClient, ApiRequest } from "./api-client.ts";
import type { ClientOptions } from "./client.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { EVENTS, NAMESPACES, resourcePath, SECRETS } from "./resource.ts";
import { FakeClock, settle } from "../testing/fake-clock.ts";
import { eventually } from "../testing/eventually.ts";
import { failure } from "../testing/failure.ts";
import { answer, serve } from "../testing/http-server.ts";
import { clientFor } from "../testing/client-for.ts";
import { createEventClient } from "../events/event-writer.ts";

type Refusal = { readonly seconds?: number; readonly inBody?: number };

const PATHS = {
  secret: resourcePath(SECRETS, "team-a", "registry"),
  secrets: resourcePath(SECRETS, "team-a"),
  namespaces: resourcePath(NAMESPACES),
};
const get: ApiRequest = { method: "GET", path: PATHS.secret, what: "get secret team-a/registry" };
const create: ApiRequest = {
  method: "POST",
  path: PATHS.secrets,
  body: {},
  what: "create secret team-a/registry",
};

const IN_A_ROW = 20;

/** A server that refuses as often as it is told to, and two clients of it. */
async function open(t: TestContext, options: Partial<ClientOptions> = {}) {
  const clock = new FakeClock();
  const refusals: Refusal[] = [];
  const server = await serve(t, (_, response) => {
    const refusal = refusals.shift();
    if (!refusal) return answer(response, 200, {});
    const { seconds, inBody } = refusal;
    const headers = seconds === undefined ? undefined : { "retry-after": `${seconds}` };
    const details = inBody === undefined ? undefined : { retryAfterSeconds: inBody };
    return answer(response, 429, { reason: "TooManyRequests", details }, headers);
  });
  const made = (): ApiClient => clientFor(t, server.url, { clock, ...options });
  const refuse = async (client: ApiClient, refusal: Refusal): Promise<void> => {
    for (let n = 0; n < IN_A_ROW; n++) {
      refusals.push(refusal);
      assert.equal((await failure(client.request(get))).status, 429);
    }
    refused = server.requests.length;
  };
  let refused = 0;
  /** What arrived after the refusals. */
  const arrived = (): readonly string[] => server.requests.slice(refused);
  return { clock, server, refuse, arrived, api: made(), other: made() };
}

test("API-51 no request of the client begins while the server refuses everything", async (t) => {
  const { clock, refuse, arrived, api } = await open(t);
  const events = new EventRecorder({
    client: createEventClient(api),
    clock,
    reporter: { controller: "secretcast", instance: "i" },
    onDrop: (reason) => assert.fail(`dropped: ${reason}`),
  });
  await refuse(api, { seconds: 5 });
  const regarding = { apiVersion: "v1", kind: "Secret", namespace: "team-a", name: "registry" };
  events.record({
    regarding: { ...regarding, uid: "u1" },
    type: "Normal",
    reason: "Copied",
    action: "Copy",
    note: "copied",
  });
  const work = [api.request(get), api.request(create)];
  const watch = api.open({ method: "GET", path: PATHS.namespaces, what: "watch namespaces" });
  await clock.advance(4999);
  assert.deepEqual(arrived(), []);
  await clock.advance(1);
  await Promise.all(work);
  (await watch).close();
  await eventually("all arrived", () => arrived().length === 4);
  const expected = [
    `GET ${PATHS.secret}`,
    `POST ${PATHS.secrets}`,
    `GET ${PATHS.namespaces}`,
    `POST ${resourcePath(EVENTS, "team-a")}`,
  ];
  assert.deepEqual(arrived().toSorted(), expected.toSorted());
  await events.close({ timeoutMs: 1000 });
});

test("API-51 a 429 holds back nobody else while anything is taken", async (t) => {
  const clock = new FakeClock();
  let count = 0;
  const server = await serve(t, (_, response) =>
    ++count % 2 === 0
      ? answer(response, 200, {})
      : answer(response, 429, {}, { "retry-after": "60" }),
  );
  const api = clientFor(t, server.url, { clock });
  for (let n = 0; n < 2 * IN_A_ROW; n++) {
    assert.equal((await failure(api.request(get))).retryAfterMs, 60_000);
    await api.request(get);
  }
  assert.equal(clock.monotonic(), 0);
});

test("a pause is one client's: another of the same server goes on", async (t) => {
  const { refuse, api, other, clock } = await open(t);
  await refuse(api, { seconds: 5 });
  await other.request(get);
  assert.equal(clock.monotonic(), 0);
});

test("a client that never pauses, as the Lease's, goes on after its own 429", async (t) => {
  const { refuse, api, clock } = await open(t, { neverPauses: true });
  await refuse(api, { seconds: 60 });
  await api.request(get);
  assert.equal(clock.monotonic(), 0);
});

test("retryAfterSeconds of the Status counts as the header does; 429s without either pause nobody", async (t) => {
  const { clock, refuse, arrived, api } = await open(t);
  await refuse(api, {});
  await api.request(get);
  await refuse(api, { inBody: 2 });
  const work = api.request(get);
  await clock.advance(1999);
  assert.deepEqual(arrived(), []);
  await clock.advance(1);
  await work;
});

test("the longest pause asked for counts, and what is taken ends none", async (t) => {
  const clock = new FakeClock();
  const slow: ((seconds?: number) => void)[] = [];
  const busy = await serve(t, (_, response) => {
    slow.push((seconds) =>
      seconds === undefined
        ? answer(response, 200, {})
        : answer(response, 429, {}, { "retry-after": `${seconds}` }),
    );
  });
  const client = clientFor(t, busy.url, { clock });
  const taken = client.request(get);
  await eventually("it arrived", () => slow.length === 1);
  const refused = Array.from({ length: IN_A_ROW }, () => failure(client.request(get)));
  await eventually("all arrived", () => slow.length === 1 + IN_A_ROW);
  for (const [n, end] of slow.slice(1).entries()) end(n === 3 ? 9 : 1);
  await Promise.all(refused);
  slow[0]?.();
  await taken;
  const work = client.request(get);
  await clock.advance(8999);
  assert.equal(slow.length, 1 + IN_A_ROW);
  await clock.advance(1);
  await eventually("it begins", () => slow.length === 2 + IN_A_ROW);
  slow.at(-1)?.();
  await work;
});

test("a request whose time would be over by then is refused and not sent", async (t) => {
  const answers: string[] = [];
  const onAnswer = (method: string, code: string): void => void answers.push(`${method} ${code}`);
  const { clock, refuse, arrived, api } = await open(t, { onAnswer });
  await refuse(api, { seconds: 20 });
  answers.length = 0;
  await clock.advance(8000);
  const error = await failure(api.request({ ...create, timeoutMs: 12_000 }));
  assert.deepEqual([error.kind, error.status, error.retryAfterMs], ["throttled", 0, 12_000]);
  assert.equal(
    error.message,
    "create secret team-a/registry: TooManyRequests, not sent, because the server asks for a longer pause than this may wait",
  );
  assert.deepEqual(arrived(), []);
  assert.deepEqual(answers, [], "nobody answered what was not sent");
  assert.equal(clock.timers, 0);
});

test("the wait counts against the request's time limit", async (t) => {
  const clock = new FakeClock();
  let sent = 0;
  const server = await serve(t, (_, response) => {
    if (++sent <= IN_A_ROW) answer(response, 429, {}, { "retry-after": "4" });
  });
  const api = clientFor(t, server.url, { clock });
  for (let n = 0; n < IN_A_ROW; n++) await failure(api.request(get));
  const work = failure(api.request({ ...get, timeoutMs: 5000 }));
  await clock.advance(4000);
  await eventually("it begins", () => sent === IN_A_ROW + 1);
  await clock.advance(1000);
  assert.equal((await work).kind, "timeout");
});

test("its signal and close() end the wait at once", async (t) => {
  const { clock, refuse, arrived, api } = await open(t);
  await refuse(api, { seconds: 20 });
  const stop = new AbortController();
  const signalled = failure(api.request({ ...get, signal: stop.signal }));
  const watch = failure(api.open(get));
  await settle();
  stop.abort();
  assert.equal((await signalled).kind, "cancelled");
  await api.close();
  assert.equal((await watch).kind, "cancelled");
  assert.equal(clock.timers, 0);
  assert.deepEqual(arrived(), []);
});

test("a webhook's refusal concerns its object, whatever code it has", async (t) => {
  const clock = new FakeClock();
  let code = 429;
  const server = await serve(t, (_, response) =>
    answer(
      response,
      code,
      { message: 'admission webhook "no.example.com" denied the request: no', reason: "Any" },
      { "retry-after": "60" },
    ),
  );
  const api = clientFor(t, server.url, { clock });
  const codes = [...Array.from({ length: IN_A_ROW }, () => 429), 401, 404, 409, 410, 500, 504];
  for (const chosen of codes) {
    code = chosen;
    const { kind, status } = await failure(api.request(create));
    assert.deepEqual({ kind, status }, { kind: "forbidden", status: chosen });
  }
  assert.equal(server.requests.length, codes.length);
});
