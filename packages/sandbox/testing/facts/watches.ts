// What the API server sends on watches: initial events, history, bookmarks, ends.
import assert from "node:assert/strict";
import { field } from "../http.ts";
import {
  alone,
  assertFailure,
  causes,
  given,
  listNotOlder,
  ok,
  secret,
  test,
  version,
} from "./place.ts";
import type { Place } from "./place.ts";

const MERGE = "application/merge-patch+json";
const END_OF_LIST = "k8s.io/initial-events-end";
const STREAMING_LIST =
  "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

/** What has happened comes at once; a busy machine may take a second for it. */
const LONG_ENOUGH_S = 3;

/** `TYPE name` of each event of a watch that the server closes after some seconds. */
async function watched(place: Place, query: string): Promise<readonly string[]> {
  const seen = await events(place, query);
  return seen.map((event) => {
    const name = field(event, "object", "metadata", "name");
    return typeof name === "string" ? `${typeOf(event)} ${name}` : typeOf(event);
  });
}

async function events(place: Place, query: string): Promise<readonly unknown[]> {
  const path = `${place.secrets}?watch=1&timeoutSeconds=${LONG_ENOUGH_S}&${query}`;
  const seen: unknown[] = [];
  for await (const event of place.http.lines(path)) seen.push(event);
  return seen;
}

const typeOf = (event: unknown): string => String(field(event, "type"));

async function patch(place: Place, name: string, body: unknown): Promise<unknown> {
  const options = { body, contentType: MERGE };
  return ok(await place.http.send("PATCH", `${place.secrets}/${name}`, options), 200);
}

/** Two Secrets out of order, and the version before, between and after. */
async function givenTwo(place: Place): Promise<readonly [string, string]> {
  const first = version(await given(place, "b", { data: { k: "dg==" } }));
  const second = version(await given(place, "a", { data: { k: "dg==" } }));
  await listNotOlder(place, second);
  return [first, second];
}

test("a watch without a version begins with an ADDED of everything, by name", async (place) => {
  await givenTwo(place);
  assert.deepEqual(await watched(place, ""), ["ADDED a", "ADDED b"]);
  assert.deepEqual(await watched(place, "resourceVersion=0"), ["ADDED a", "ADDED b"]);
});

test("with bookmarks the end of that is marked", async (place) => {
  const [, last] = await givenTwo(place);
  const seen = await events(place, "allowWatchBookmarks=true");
  // More bookmarks may follow: there is one before a watch's time is up.
  assert.deepEqual(seen.slice(0, 3).map(typeOf), ["ADDED", "ADDED", "BOOKMARK"]);
  assertMarked(seen[2], last);
});

test("a streaming list is everything, the mark, then what happens", async (place) => {
  const [, last] = await givenTwo(place);
  const path = `${place.secrets}?watch=1&timeoutSeconds=30&${STREAMING_LIST}`;
  const seen: unknown[] = [];
  for await (const event of place.http.lines(path)) {
    const isBookmark = field(event, "type") === "BOOKMARK";
    const isFirst = isBookmark && !seen.some((one) => field(one, "type") === "BOOKMARK");
    // More bookmarks may follow the mark at any time.
    if (isFirst || !isBookmark) seen.push(event);
    if (isFirst) await given(place, "c");
    if (field(event, "object", "metadata", "name") === "c") break;
  }
  assert.deepEqual(seen.map(typeOf), ["ADDED", "ADDED", "BOOKMARK", "ADDED"]);
  assertMarked(seen[2], last);
});

test("a streaming list without resourceVersionMatch is Invalid", async (place) => {
  const path = `${place.secrets}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true`;
  const answer = await place.http.send("GET", path);
  assertFailure(
    answer,
    "Invalid",
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
  );
  assert.deepEqual(causes(answer), ["FieldValueForbidden resourceVersionMatch"]);
});

test("resourceVersionMatch on an ordinary watch is Invalid", async (place) => {
  const path = `${place.secrets}?watch=1&resourceVersionMatch=NotOlderThan`;
  assertFailure(
    await place.http.send("GET", path),
    "Invalid",
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
  );
});

// The server's version may have gone on since by what happens in other namespaces.
function assertMarked(event: unknown, last: string): void {
  assert.equal(field(event, "object", "metadata", "annotations", END_OF_LIST), "true");
  assert.ok(BigInt(version(field(event, "object"))) >= BigInt(last), "the mark is not older");
  assert.equal(field(event, "object", "kind"), "Secret");
}

test("a watch from a version of the past shows every change since, in order", async (place) => {
  const [first, second] = await givenTwo(place);
  await patch(place, "b", { data: { k: "eA==" } });
  await place.http.send("DELETE", `${place.secrets}/a`);
  await given(place, "a");
  assert.deepEqual(await watched(place, `resourceVersion=${first}`), [
    "ADDED a",
    "MODIFIED b",
    "DELETED a",
    "ADDED a",
  ]);
  const since = await events(place, `resourceVersion=${second}`);
  const versions = since.map((event) => BigInt(version(field(event, "object"))));
  assert.deepEqual(
    versions,
    versions.toSorted((x, y) => (x < y ? -1 : 1)),
  );
});

test("DELETED shows the last state under the version of the deletion", async (place) => {
  const made = version(await given(place, "a", { data: { k: "dg==" } }));
  await place.http.send("DELETE", `${place.secrets}/a`);
  const [event] = await events(place, `resourceVersion=${made}`);
  assert.equal(field(event, "type"), "DELETED");
  assert.deepEqual(field(event, "object", "data"), { k: "dg==" });
  assert.ok(BigInt(version(field(event, "object"))) > BigInt(made));
});

test("an object that leaves a selector is DELETED there, one that enters ADDED", async (place) => {
  const made = version(await given(place, "a", {}, { labels: { app: "x" } }));
  await patch(place, "a", { metadata: { labels: { app: "y" } } });
  await patch(place, "a", { metadata: { labels: { app: "x" } } });
  const query = `resourceVersion=${made}&labelSelector=app%3Dx`;
  assert.deepEqual(await watched(place, query), ["DELETED a", "ADDED a"]);
});

test("a field selector holds on a watch", async (place) => {
  const made = version(await given(place, "a"));
  await given(place, "b", { type: "example.com/one" });
  await given(place, "c", { type: "example.com/two" });
  const selector = encodeURIComponent("type!=example.com/one,type!=example.com/none");
  const query = `resourceVersion=${made}&fieldSelector=${selector}`;
  assert.deepEqual(await watched(place, query), ["ADDED c"]);
});

test("a watch from a version of the future is silent and closed in time", async (place) => {
  await given(place, "a");
  const began = performance.now();
  assert.deepEqual(await watched(place, "resourceVersion=999999999"), []);
  const lasted = performance.now() - began;
  assert.ok(lasted > 2500 && lasted < 9000, `closed after ${lasted} ms`);
});

test("a write without a change makes no event", async (place) => {
  const made = version(await given(place, "a", { data: { k: "dg==" } }));
  ok(await place.http.send("PUT", `${place.secrets}/a`, { body: secret("a") }), 200);
  assert.deepEqual(await watched(place, `resourceVersion=${made}`), []);
});

alone(
  "once history is forgotten a watch from then answers 200 and says Expired inside",
  async (place) => {
    if (place.forgetHistory === undefined) throw new Error("this server cannot forget");
    const made = version(await given(place, "a"));
    await given(place, "b");
    await place.forgetHistory();
    const seen = await events(place, `resourceVersion=${made}`);
    assert.equal(seen.length, 1);
    const status = field(seen[0], "object");
    assert.equal(field(seen[0], "type"), "ERROR");
    assert.equal(field(status, "code"), 410);
    assert.equal(field(status, "reason"), "Expired");
    assert.match(String(field(status, "message")), /^too old resource version: \d+ \(\d+\)$/);
  },
);

test("a quiet watch waits a minute or two for its first bookmark", async (place) => {
  const made = version(await given(place, "a"));
  const query = `resourceVersion=${made}&allowWatchBookmarks=true&timeoutSeconds=180`;
  const began = performance.now();
  for await (const event of place.http.lines(`${place.secrets}?watch=1&${query}`)) {
    assert.equal(field(event, "type"), "BOOKMARK");
    assert.deepEqual(Object.keys(Object(field(event, "object", "metadata"))), ["resourceVersion"]);
    break;
  }
  const lasted = performance.now() - began;
  const expected = place.quietBookmarkMs;
  assert.ok(lasted > expected * 0.4 && lasted < expected * 1.4, `after ${lasted} ms`);
});
