import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { systemClock } from "../time/clock.ts";
import { EventRecorder } from "./event-recorder.ts";
import { watched } from "../testing/queue-takers.ts";
import { about, details, EventFault, NO_ANSWER, recording } from "../testing/event-server.ts";
import { answer, bodyOf, serve } from "../testing/http-server.ts";
import { clientFor } from "../testing/client-for.ts";
import { createEventClient } from "./event-writer.ts";

test("EV-01 recording does not wait: nothing is sent before the caller has gone on", async () => {
  const { clock, server, recorder } = recording();
  recorder.record(details());
  assert.deepEqual(server.requests, []);
  await clock.advance(0);
  assert.deepEqual(server.requests, ["create"]);
});

test("EV-01 a thousand events wait for a server that hangs, the rest are dropped and reported", async () => {
  const { clock, server, recorder, drops } = recording();
  server.hang = true;
  recorder.record(details({ regarding: about("first") }));
  await clock.advance(0);
  for (let i = 0; i < 1500; i++) recorder.record(details({ regarding: about(`secret-${i}`) }));
  assert.equal(drops.length, 500);
  assert.deepEqual(new Set(drops), new Set(["queue full"]));
  server.hang = false;
  await clock.advance(60_000);
  assert.equal(server.events.length, 1001);
});

test("EV-07 no answer: 12 tries, the first wait random within 10 s, the others 10 s", async () => {
  const { clock, server, recorder, drops } = recording();
  clock.chance = () => 0.3;
  server.faults.push(...Array.from({ length: 12 }, () => NO_ANSWER));
  recorder.record(details());
  await clock.advance(2999);
  assert.equal(server.requests.length, 1);
  await clock.advance(1);
  assert.equal(server.requests.length, 2);
  await clock.advance(9999);
  assert.equal(server.requests.length, 2);
  await clock.advance(1);
  assert.equal(server.requests.length, 3);
  await clock.advance(9 * 10_000);
  assert.equal(server.requests.length, 12);
  assert.deepEqual(drops, ["unreachable"]);
  await clock.advance(60_000);
  assert.equal(server.requests.length, 12);
});

test("EV-07 no answer for a while: the event arrives, and those behind it", async () => {
  const { clock, server, recorder, drops } = recording();
  server.faults.push(NO_ANSWER, NO_ANSWER);
  recorder.record(details());
  recorder.record(details({ note: "behind it" }));
  await clock.advance(20_000);
  assert.deepEqual(
    server.events.map((event) => event.note),
    ["copied to 12 namespaces", "behind it"],
  );
  assert.deepEqual(drops, []);
});

test("EV-07 RF-36 the end of an outage, whoever finds it, sends what waits at once", async () => {
  const { clock, server, reachability, recorder } = recording();
  server.faults.push(NO_ANSWER);
  recorder.record(details());
  await clock.advance(0);
  reachability.unanswered();
  await clock.advance(1000);
  assert.equal(server.events.length, 0);
  reachability.answered();
  await clock.advance(0);
  assert.equal(server.events.length, 1);
});

test("EV-07 an answer of the server is final, whatever its status", async () => {
  for (const status of [400, 403, 422, 429, 500, 503]) {
    const { clock, server, recorder, drops } = recording();
    server.faults.push(new EventFault("forbidden", status));
    recorder.record(details());
    await clock.advance(60_000);
    assert.deepEqual(server.requests, ["create"]);
    assert.deepEqual(drops, ["refused"]);
  }
});

test("RF-37 a 429 with Retry-After is retried twelve times at most", async () => {
  const { clock, server, recorder, drops } = recording();
  const refused = new EventFault("throttled", 429, 3000);
  server.faults.push(refused, refused);
  recorder.record(details({ regarding: about("first") }));
  recorder.record(details({ regarding: about("second") }));
  await clock.advance(5999);
  assert.equal(server.requests.length, 2);
  await clock.advance(1);
  assert.equal(server.requests.length, 4);
  assert.equal(server.events.length, 2);
  server.faults.push(...Array.from({ length: 12 }, () => refused));
  recorder.record(details({ regarding: about("third") }));
  await clock.advance(60_000);
  assert.equal(server.requests.length, 16);
  assert.deepEqual(drops, ["unreachable"]);
});

test("EV-07 an event that exists already, or whose namespace is ending, is no failure", async () => {
  for (const fault of [new EventFault("alreadyExists", 409), new EventFault("terminating", 403)]) {
    const { clock, server, recorder, drops } = recording();
    server.faults.push(fault);
    recorder.record(details());
    await clock.advance(60_000);
    assert.deepEqual(server.requests, ["create"]);
    assert.deepEqual(drops, []);
  }
});

test("EV-07 a create whose answer was lost is not seen twice", async () => {
  const { clock, server, recorder, drops } = recording();
  const create = server.create.bind(server);
  server.create = async (event, signal) => {
    await create(event, signal);
    server.create = create;
    throw NO_ANSWER;
  };
  recorder.record(details());
  await clock.advance(20_000);
  assert.equal(server.events.length, 1);
  assert.deepEqual(drops, []);
});

test("EV-13 closing writes what is queued and the open counts of series", async () => {
  const { clock, server, recorder } = recording();
  for (let i = 0; i < 5; i++) recorder.record(details());
  recorder.record(details({ regarding: about("other") }));
  const closed = watched(recorder.close());
  await clock.advance(0);
  assert.equal(await closed.value(), undefined);
  assert.equal(server.events.length, 2);
  assert.equal(server.events[0]?.series?.count, 5);
  assert.equal(clock.timers, 0);
});

test("EV-13 closing ends in time though the server hangs; what is queued is lost and reported", async () => {
  const { clock, server, recorder, drops } = recording();
  server.hang = true;
  recorder.record(details());
  recorder.record(details({ regarding: about("other") }));
  await clock.advance(0);
  const closed = watched(recorder.close({ timeoutMs: 2000 }));
  await clock.advance(1999);
  assert.equal(await closed.value(), "pending");
  await clock.advance(1);
  assert.equal(await closed.value(), undefined);
  assert.equal(drops.length, 2);
  assert.equal(clock.timers, 0);
});

test("EV-13 closing does not wait between tries", async () => {
  const { clock, server, recorder, drops } = recording();
  server.faults.push(NO_ANSWER, NO_ANSWER);
  recorder.record(details());
  await clock.advance(1);
  assert.deepEqual(server.requests, ["create"]);
  const closed = watched(recorder.close());
  await clock.advance(0);
  assert.equal(await closed.value(), undefined);
  assert.deepEqual(server.requests, ["create", "create"]);
  assert.deepEqual(drops, ["unreachable"]);
});

test("EV-13 after closing nothing is taken, sent or waited for", async () => {
  const { clock, server, recorder, drops } = recording();
  await recorder.close();
  recorder.record(details());
  await clock.advance(1000);
  assert.deepEqual([server.requests, drops, clock.timers], [[], ["closed"], 0]);
});

test("EV-08 the recorder's requests create and merge-patch events of events.k8s.io/v1", async (t) => {
  const { recorder, seen } = await overHttp(t);
  recorder.record(details());
  recorder.record(details());
  await recorder.close();
  const path = "/apis/events.k8s.io/v1/namespaces/team-a/events";
  const [created, patched] = seen;
  assert.equal(created?.line, `POST ${path}`);
  assert.equal(patched?.line, `PATCH ${path}/${created?.body.metadata?.name}`);
  assert.equal(patched?.contentType, "application/merge-patch+json");
  assert.deepEqual(Object.keys(patched?.body ?? {}), ["series"]);
  assert.equal(seen.length, 2);
});

type Seen = {
  readonly line: string;
  readonly contentType: string | undefined;
  readonly body: { readonly metadata?: { readonly name?: string } };
};

async function overHttp(t: TestContext): Promise<{ recorder: EventRecorder; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = await serve(t, (request, response) => {
    void bodyOf(request).then((body) => {
      const contentType = request.headers["content-type"];
      seen.push({
        line: `${request.method} ${request.url}`,
        contentType,
        body: body as Seen["body"],
      });
      answer(response, 200, body);
    });
  });
  const api = clientFor(t, server.url);
  const reporter = { controller: "secretcast", instance: "pod-1" };
  const recorder = new EventRecorder({
    client: createEventClient(api),
    clock: systemClock,
    reporter,
  });
  return { recorder, seen };
}

test("EV-01 namespaces take turns: a thousand Events of one keep nobody else's back", async () => {
  const { clock, server, recorder } = recording();
  for (let i = 0; i < 1000; i++)
    recorder.record(details({ regarding: about(`spam-${i}`, "tenant") }));
  recorder.record(details({ regarding: about("registry", "platform") }));
  await clock.advance(0);
  const sent = server.events.map(({ metadata }) => metadata.namespace);
  assert.deepEqual(sent.slice(0, 2), ["tenant", "platform"]);
  assert.equal(sent.length, 1000);
});

test("EV-01 a full queue drops the newest of whoever has the most waiting, and tells it", async () => {
  const { clock, server, recorder, drops } = recording();
  server.hang = true;
  recorder.record(details({ regarding: about("first", "tenant") }));
  await clock.advance(0);
  for (let i = 0; i < 6000; i++)
    recorder.record(details({ regarding: about(`spam-${i}`, "tenant") }));
  for (let i = 0; i < 30; i++)
    recorder.record(details({ regarding: about(`own-${i}`, "platform") }));
  assert.equal(drops.length, 5030);
  server.hang = false;
  await clock.advance(60_000);
  const of = (name: string) =>
    server.events
      .filter(({ metadata }) => metadata.namespace === name)
      .map(({ regarding }) => regarding.name);
  assert.equal(of("platform").length, 30);
  assert.equal(of("tenant").length, 971);
  assert.ok(of("tenant").includes("spam-969") && !of("tenant").includes("spam-970"));
});

test("EV-01 a queue that is full of Normal Events drops no Warning", async () => {
  const { clock, server, recorder, drops } = recording();
  for (let i = 0; i < 1500; i++) recorder.record(details({ regarding: about(`secret-${i}`) }));
  for (let i = 0; i < 10; i++)
    recorder.record(details({ type: "Warning", regarding: about(`refused-${i}`) }));
  await clock.advance(0);
  const warned = server.events.flatMap(({ type }, at) => (type === "Warning" ? [at] : []));
  assert.deepEqual([warned.length, server.events.length, drops.length], [10, 1010, 500]);
  assert.ok(
    (warned.at(-1) ?? Infinity) < 20,
    `the last Warning was sent as number ${warned.at(-1)}`,
  );
});
