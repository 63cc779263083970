// Events in namespaces where the account may not write them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { newEvent } from "./event-record.ts";
import { EventsDeniedError, permittedEvents } from "./permitted-events.ts";
import type { EventClient } from "./event-writer.ts";
import { statusError } from "../rest/api-error.ts";
import { about, details } from "../testing/event-server.ts";
import { FakeClock } from "../testing/fake-clock.ts";

const REPORTER = { controller: "secretcast", instance: "pod-1" };
const eventIn = (namespace: string) =>
  newEvent(details({ regarding: about("s", namespace) }), REPORTER, 1n);
const refusal = (message: string): Error =>
  statusError("create event", 403, { kind: "Status", code: 403, reason: "Forbidden", message });
const MISSING_RIGHT =
  'events.events.k8s.io is forbidden: User "u" cannot create resource "events" in API group "events.k8s.io" in the namespace "team-a"';

function stage(refused: ReadonlyMap<string, Error>) {
  const clock = new FakeClock();
  const requests: string[] = [];
  const heard: string[] = [];
  const ask = async (namespace: string): Promise<void> => {
    requests.push(namespace);
    const error = refused.get(namespace);
    if (error) throw error;
  };
  const server: EventClient = {
    create: (event) => ask(event.metadata.namespace),
    patchSeries: (event) => ask(event.metadata.namespace),
  };
  const client = permittedEvents(server, clock, {
    onDenied: (namespace) => void heard.push(`denied ${namespace}`),
    onAllowed: (namespace) => void heard.push(`allowed ${namespace}`),
  });
  const { signal } = new AbortController();
  const send = (namespace: string): Promise<unknown> => client.create(eventIn(namespace), signal);
  return { clock, requests, heard, send };
}

test("an Event that RBAC refuses is followed by none in its namespace for ten minutes", async () => {
  const refused = new Map([["team-a", refusal(MISSING_RIGHT)]]);
  const { clock, requests, heard, send } = stage(refused);
  for (let i = 0; i < 100; i++) await assert.rejects(send("team-a"), EventsDeniedError);
  await send("team-b");
  assert.deepEqual(requests, ["team-a", "team-b"]);
  await clock.advance(10 * 60_000);
  for (let i = 0; i < 3; i++) await assert.rejects(send("team-a"), EventsDeniedError);
  assert.deepEqual(requests, ["team-a", "team-b", "team-a"]);
  assert.deepEqual(heard, ["denied team-a"], "reported once");
  refused.clear();
  await clock.advance(10 * 60_000);
  await send("team-a");
  await send("team-a");
  assert.deepEqual(heard, ["denied team-a", "allowed team-a"]);
  assert.equal(requests.length, 5);
});

test("an Event that a policy or a webhook refuses stops no other Event", async () => {
  const { requests, heard, send } = stage(
    new Map([["team-a", refusal('admission webhook "w.example" denied the request: no')]]),
  );
  for (let i = 0; i < 3; i++)
    await assert.rejects(send("team-a"), (error) => !(error instanceof EventsDeniedError));
  assert.deepEqual([requests.length, heard], [3, []]);
});
