// One action at a time against a client that answers as the test says: which requests are sent, with
// which preconditions and time limits, and what each answer is taken for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Apply } from "../../../src/controller/writes/apply.ts";
import { SecretData } from "../../../src/controller/model/secret-data.ts";
import { DataCache } from "../../../src/controller/state/data-cache.ts";
import { CopyObject, type SourcePayload } from "../../../src/controller/model/cluster.ts";
import { ApiError, statusError, type ApiErrorKind } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { isKubeObject } from "../../../packages/kube/rest/resource.ts";
import type * as outcomes from "../../../src/controller/writes/outcome.ts";
import { settle } from "../../../packages/kube/testing/fake-clock.ts";
import { field } from "../../../packages/sandbox/testing/http.ts";
import { refusal } from "../../support/controller/memory-api.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";
import { refText } from "../../../src/text/names.ts";
import type { Action } from "../../../src/controller/model/actions.ts";
import { KINDS } from "../../../src/controller/model/kinds.ts";

const PAYLOAD: SourcePayload = {
  data: new SecretData(KINDS.Secret, { again: "cmVhZA==" }),
  labels: {},
  annotations: {},
  copiedKeys: "",
};

type Answer = object | ApiErrorKind | "hang" | "bug";

/** Of the sources of every action below. */
const data = new DataCache(2 ** 20);

/** Each request gets the next of `answers`. */
function open(
  answers: readonly Answer[],
  writeDeadlineMs: () => number = () => Infinity,
  cache = data,
) {
  const sent: ApiRequest[] = [];
  const counted: string[] = [];
  const heard: outcomes.LookupResult["kind"][] = [];
  const remembered: unknown[] = [];
  const reserved: string[] = [];
  const request = async (asked: ApiRequest): Promise<unknown> => {
    const answer = answers[sent.length];
    if (asked.mayStillSend?.() === false) throw refusal(asked, "cancelled");
    sent.push(asked);
    if (answer === "hang") return until(asked);
    if (answer === "bug") throw new TypeError("cannot read hunter2");
    if (answer instanceof ApiError) throw answer;
    if (typeof answer === "string") throw refusal(asked, answer);
    return answer;
  };
  const client = { server: "http://test", request, open: request, close: async () => {} };
  const apply = new Apply({
    client: client as unknown as ApiClient,
    writeDeadlineMs,
    onWrite: (verb, result) => void counted.push(`${verb} ${result}`),
    onLiveRead: (_, { kind }) => void heard.push(kind),
    isReserved: (_, { name }) => name === "reserved",
    onReplace: ({ place }) => void reserved.push(`${refText(place)} before ${sent.length + 1}`),
    forget: (_, place) => void reserved.push(`${refText(place)} forgotten after ${sent.length}`),
    remember: (_, raw) => void remembered.push(raw),
    read: () => undefined,
    sources: {
      cache,
      read: (raw) => (isKubeObject(raw) ? PAYLOAD : undefined),
      onRead: () => void counted.push("read"),
    },
  });
  return { apply, sent, counted, heard, remembered, reserved };
}

function until(asked: ApiRequest): Promise<never> {
  return new Promise((_, reject) => {
    asked.signal?.addEventListener("abort", () => reject(refusal(asked, "cancelled")));
  });
}

function action(kind: Action["kind"]): Action {
  const cluster = new Cluster({ deleteGraceMs: 0 }).withNamespaces("shared", "team-a");
  cluster.secret("shared/registry", { to: "team-*" });
  if (kind !== "create") cluster.settle();
  if (kind === "update") cluster.secret("shared/registry", { to: "team-*" }, { data: { a: "b" } });
  if (kind === "replace") cluster.secret("shared/registry", { to: "team-*" }, { type: "a/b" });
  if (kind === "delete") cluster.delete("shared/registry");
  cluster.now += 10_000;
  if (kind === "confirm") {
    cluster.delete("shared/registry");
    cluster.plan();
  }
  const found = kind === "confirm" ? cluster.plan().actions[0] : cluster.due().actions[0];
  assert.equal(found?.kind, kind);
  if ("content" in found) {
    const { source } = found.content;
    data.put(source, cluster.payload(source));
  }
  return found;
}

const methods = (sent: readonly ApiRequest[]): readonly string[] =>
  sent.map(({ method }) => method);

test("every write to an object that is there names its UID and version", async () => {
  for (const kind of ["update", "replace", "delete"] as const) {
    const { apply, sent } = open([{ metadata: {} }, { metadata: {} }, { metadata: {} }]);
    const wanted = action(kind);
    await apply.perform(wanted);
    const first = JSON.stringify(sent.find(({ query }) => !query)?.body);
    assert.match(first, /uid","value":"uid-\d+"|"uid":"uid-\d+"/, kind);
    assert.match(first, /resourceVersion","value":"\d+"|"resourceVersion":"\d+"/, kind);
  }
});

test("nothing is written where nothing is ever to be written, whatever was planned", async () => {
  for (const kind of ["create", "update", "replace", "delete"] as const) {
    const planned = action(kind);
    const { apply, sent } = open([]);
    const place = { namespace: planned.place.namespace, name: "reserved" };
    const outcome = await apply.perform({ ...planned, place });
    assert.equal(outcome.kind, "failed");
    assert.equal(sent.length, 0, kind);
  }
});

test("LV-12 a live read is one GET, and only the object's own 404 means absent", async () => {
  const asking = action("confirm");
  for (const [answer, heard] of [
    ["notFound", "absent"],
    [{ metadata: { name: "registry", uid: "another", resourceVersion: "1" } }, "found"],
    ["forbidden", "unreadable"],
    ["unavailable", "unreadable"],
    ["bug", "unreadable"],
    [new ApiError("get", { kind: "notFound", status: 404, reason: "NotFound" }), "unreadable"],
    [statusError("get", 404, notFound("namespaces", "shared")), "unreadable"],
    [statusError("get", 404, notFound("secrets", "another")), "unreadable"],
    [statusError("get", 404, { ...notFound("secrets", "registry"), message: "no" }), "unreadable"],
    [statusError("get", 404, notFound("secrets", "registry")), "absent"],
  ] as const) {
    const asked = open([answer]);
    assert.equal((await asked.apply.perform(asking)).kind, "answered");
    assert.deepEqual(methods(asked.sent), ["GET"]);
    assert.deepEqual(asked.heard, [heard]);
  }
});

test("LV-12 a live read without an answer ends the batch", async () => {
  const asking = action("confirm");
  assert.ok(asking.kind === "confirm");
  const liveReads = [...asking.liveReads, ...asking.liveReads, ...asking.liveReads];
  const silent = open(["unavailable"]);
  await silent.apply.perform({ ...asking, liveReads });
  assert.deepEqual(silent.heard, ["unreadable", "unreadable", "unreadable"]);
  assert.equal(silent.sent.length, 1);
});

function notFound(kind: string, name: string) {
  const message = `${kind} "${name}" not found`;
  return { kind: "Status", code: 404, reason: "NotFound", message, details: { name, kind } };
}

test("a copy that another client removes during a conflict of ours is gone", async () => {
  const gone = new ApiError("get", { kind: "notFound", status: 404, reason: "NotFound" });
  const { apply, sent, remembered } = open(["conflict", gone]);
  assert.equal((await apply.perform(action("delete"))).kind, "removed");
  assert.deepEqual(methods(sent), ["DELETE", "GET"]);
  assert.deepEqual(remembered, []);
});

test("LE-12 no write is sent without permission or beyond its rest", async () => {
  const none = open([], () => 0);
  assert.equal((await none.apply.perform(action("create"))).kind, "stopped");
  assert.deepEqual(none.sent, []);
  const little = open([{}], () => 700);
  await little.apply.perform(action("create"));
  assert.equal(little.sent[0]?.timeoutMs, 700);
  const plenty = open([{}]);
  await plenty.apply.perform(action("create"));
  assert.equal(plenty.sent[0]?.timeoutMs, 30_000);
});

test("LE-12 permission that ends between the two requests of a replace stops the second", async () => {
  // Asked twice a request: before it, and when it has a connection.
  let left = 280;
  const { apply, sent } = open([{}, {}, {}], () => (left -= 60));
  assert.equal((await apply.perform(action("replace"))).kind, "stopped");
  assert.deepEqual(methods(sent), ["POST", "DELETE"]);
});

test("LE-12 permission that ends during a wait for a connection stops the write", async () => {
  let left = 160;
  const { apply, sent, counted } = open([{}], () => (left -= 100));
  assert.equal((await apply.perform(action("update"))).kind, "stopped");
  assert.deepEqual(sent, []);
  assert.deepEqual(counted, []);
});

test("CL-24 cancel ends what is under way, and nothing begins after it", async () => {
  const { apply, sent } = open(["hang", {}]);
  const under = apply.perform(action("create"));
  await settle();
  apply.cancel();
  assert.equal((await under).kind, "stopped");
  assert.equal((await apply.perform(action("create"))).kind, "stopped");
  assert.equal(sent.length, 1);
});

test("what an answer is taken for", async () => {
  const cases: readonly (readonly [Action["kind"], Answer, outcomes.Outcome["kind"]])[] = [
    ["create", { metadata: {} }, "done"],
    ["update", "conflict", "moved"],
    ["update", "notFound", "moved"],
    ["create", "notFound", "moved"],
    ["create", "terminating", "moved"],
    ["create", "forbidden", "failed"],
    ["create", "invalid", "failed"],
    ["update", "throttled", "failed"],
    ["update", "timeout", "failed"],
    ["update", "malformed", "failed"],
    ["update", "bug", "failed"],
  ];
  for (const [kind, answer, expected] of cases) {
    const outcome = await open([answer]).apply.perform(action(kind));
    assert.equal(outcome.kind, expected, `${kind}: ${JSON.stringify(answer)}`);
    assert.doesNotMatch(JSON.stringify(outcome), /hunter2/);
  }
});

const unlimited = (): number => Infinity;

/** As the API server has the source of an action, or, with `changes`, another. */
function sourceOf(wanted: Action, changes: object = {}): object {
  assert.ok("content" in wanted);
  const { namespace, name, uid, resourceVersion } = wanted.content.source;
  return { metadata: { namespace, name, uid, resourceVersion, ...changes } };
}

test("data that are not in memory are read once for all waiting writes", async () => {
  const wanted = action("create");
  const answers = [sourceOf(wanted), { metadata: {} }, { metadata: {} }, {}];
  const { apply, sent, counted } = open(answers, unlimited, new DataCache(2 ** 20));
  const outcomes = await Promise.all([apply.perform(wanted), apply.perform(wanted)]);
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ["done", "done"],
  );
  await apply.perform(wanted);
  assert.deepEqual(methods(sent), ["GET", "POST", "POST", "POST"]);
  assert.deepEqual(counted.slice(0, 1), ["read"]);
  assert.equal(sent[0]?.path, "/api/v1/namespaces/shared/secrets/registry");
  assert.deepEqual(field(sent[1]?.body, "data"), { again: "cmVhZA==" });
});

test("an update of a copy with a long record reads it first", async () => {
  const wanted = action("update");
  assert.equal(wanted.kind, "update");
  const { namespace, name, uid, resourceVersion } = wanted.target;
  const template = { ...wanted.target.template, copiedKeys: undefined };
  const target = new CopyObject(wanted.target, template);
  const annotations = { "secretcast.io/copied-keys": "label:old,annotation:a/b" };
  const metadata = { namespace, name, uid, resourceVersion, annotations };
  const { apply, sent } = open([{ metadata }, {}]);
  assert.equal((await apply.perform({ ...wanted, target })).kind, "done");
  assert.deepEqual(methods(sent), ["GET", "PATCH"]);
  for (const path of ["/metadata/labels/old", "/metadata/annotations/a~1b"])
    assert.ok(JSON.stringify(sent[1]?.body).includes(`{"op":"remove","path":"${path}"}`), path);
  const moved = open([{ metadata: { ...metadata, resourceVersion: "9999" } }]);
  assert.equal((await moved.apply.perform({ ...wanted, target })).kind, "moved");
  assert.deepEqual(methods(moved.sent), ["GET"]);
});

test("what has no room at all is read for each write", async () => {
  const wanted = action("create");
  const source = sourceOf(wanted);
  const { apply, sent } = open([source, {}, source, {}], unlimited, new DataCache(0));
  await apply.perform(wanted);
  await apply.perform(wanted);
  assert.deepEqual(methods(sent), ["GET", "POST", "GET", "POST"]);
});

test("a source with another version is not written, and the sync starts again", async () => {
  const wanted = action("update");
  for (const changes of [{ resourceVersion: "9999" }, { uid: "another" }]) {
    const found = sourceOf(wanted, changes);
    const { apply, sent, remembered } = open([found], unlimited, new DataCache(0));
    assert.equal((await apply.perform(wanted)).kind, "moved");
    assert.deepEqual(methods(sent), ["GET"]);
    assert.deepEqual(remembered, [found]);
  }
  const ahead = new DataCache(2 ** 20);
  assert.ok("content" in wanted);
  ahead.put({ ...wanted.content.source, resourceVersion: "9999" }, PAYLOAD);
  const newer = open([], unlimited, ahead);
  assert.equal((await newer.apply.perform(wanted)).kind, "moved");
  assert.deepEqual(newer.sent, [], "the cache knows a newer one");
});

test("a source read for another entry of the list is read again unchanged", async () => {
  const wanted = action("create");
  assert.ok("content" in wanted);
  const { source } = wanted.content;
  const cache = new DataCache(2 ** 20);
  cache.put({ ...source, entry: { key: "before" } }, PAYLOAD);
  const { apply, sent } = open([sourceOf(wanted), {}], unlimited, cache);
  assert.equal((await apply.perform(wanted)).kind, "done");
  assert.deepEqual(methods(sent), ["GET", "POST"]);
});

test("an unreadable source fails the write, and a missing one does not", async () => {
  for (const [answer, kind] of [
    ["notFound", "moved"],
    ["forbidden", "failed"],
    ["unavailable", "failed"],
  ] as const) {
    const wanted = action("create");
    const { apply } = open([answer], unlimited, new DataCache(0));
    assert.equal((await apply.perform(wanted)).kind, kind, answer);
  }
});

test("a pulling Secret that is found full already is not written, and that is remembered", async () => {
  const made = new Cluster().withNamespaces("shared", "team-a");
  made.secret("shared/db", { allow: "*" });
  made.secret("team-a/app", { from: "shared/db" }, { data: {} });
  const [wanted] = made.plan().actions;
  assert.equal(wanted?.kind, "fill");
  const { source } = wanted.content;
  const cache = new DataCache(2 ** 20);
  cache.put(source, made.payload(source));
  made.settle();
  const { uid, resourceVersion } = wanted.target;
  const full = structuredClone(made.get("team-a/app"));
  const found = { ...full, metadata: { ...full.metadata, resourceVersion } };
  const { apply, sent } = open([found], unlimited, cache);
  const outcome = await apply.perform(wanted);
  assert.equal(outcome.kind, "resolved");
  const pullResult = { uid, resourceVersion, decisionKey: wanted.decisionKey, conflict: undefined };
  assert.deepEqual(outcome.pullResult, pullResult);
  assert.deepEqual(methods(sent), ["GET"]);
});

test("LV-06 a create that finds its place taken looks who is there", async () => {
  const unmanaged = { metadata: { name: "registry" } };
  const taken = await open(["alreadyExists", unmanaged]).apply.perform(action("create"));
  assert.deepEqual({ ...taken, action: 0 }, { kind: "found", action: 0, object: unmanaged });
  const free = await open(["alreadyExists", "notFound"]).apply.perform(action("create"));
  assert.deepEqual({ ...free, action: 0 }, { kind: "found", action: 0, object: undefined });
  const dark = await open(["alreadyExists", "unavailable"]).apply.perform(action("create"));
  assert.equal(dark.kind, "failed");
});

test("a delete that finds nothing has reached its goal, also as half of a replace", async () => {
  const removed = open(["notFound", "notFound"]);
  assert.equal((await removed.apply.perform(action("delete"))).kind, "removed");
  const replaced = open([{ metadata: {} }, "notFound", { metadata: {} }]);
  assert.equal((await replaced.apply.perform(action("replace"))).kind, "done");
  assert.deepEqual(methods(replaced.sent), ["POST", "DELETE", "POST"]);
});

test("CL-17 each answered write is counted by its verb and result", async () => {
  const { apply, counted } = open([{}, "conflict", "throttled"]);
  await apply.perform(action("create"));
  await apply.perform(action("update"));
  await apply.perform(action("update"));
  assert.deepEqual(counted, ["create ok", "patch conflict", "patch throttled"]);
});

const SUCCESSOR = "registry";
const status = (code: number, reason: string, message: string, name = SUCCESSOR) =>
  statusError("dry-run create", code, {
    kind: "Status",
    code,
    reason,
    message,
    details: { name, kind: "secrets" },
  });
const TAKEN = `secrets "${SUCCESSOR}" already exists`;
const full = (figures: string) =>
  `secrets "${SUCCESSOR}" is forbidden: exceeded quota: q, ${figures}`;

test("a copy is deleted for its successor only when the API server would take that", async () => {
  for (const yes of [
    { metadata: {} },
    status(409, "AlreadyExists", TAKEN),
    status(403, "Forbidden", full("requested: secrets=1, used: secrets=5, limited: secrets=5")),
    status(
      403,
      "Forbidden",
      full(
        "requested: count/secrets=1,secrets=1, used: count/secrets=5,secrets=5, limited: count/secrets=5,secrets=5",
      ),
    ),
  ]) {
    const { apply, sent, reserved } = open([yes, {}, { metadata: {} }]);
    assert.equal((await apply.perform(action("replace"))).kind, "done");
    assert.deepEqual(methods(sent), ["POST", "DELETE", "POST"]);
    assert.deepEqual(sent[0]?.query, { dryRun: "All" });
    assert.deepEqual([sent[1]?.query, sent[2]?.query], [undefined, undefined]);
    assert.deepEqual(reserved, ["team-a/registry before 2", "team-a/registry forgotten after 2"]);
  }
});

test("a copy stays if the API server refuses its successor, whatever the refusal", async () => {
  for (const no of [
    "invalid",
    "forbidden",
    "unavailable",
    "timeout",
    "badRequest",
    "conflict",
    new ApiError("create", { kind: "alreadyExists", status: 409, reason: "AlreadyExists" }),
    status(409, "AlreadyExists", `admission webhook "x.y" denied the request: ${TAKEN}`),
    status(409, "AlreadyExists", `${TAKEN} `),
    status(409, "AlreadyExists", 'secrets "other" already exists', "other"),
    status(409, "Conflict", TAKEN),
    status(422, "AlreadyExists", TAKEN),
    status(400, "BadRequest", 'admission webhook "x.y" does not support dry run'),
    status(403, "Forbidden", full("requested: secrets=1, used: secrets=6, limited: secrets=5")),
    status(403, "Forbidden", full("requested: pods=1, used: pods=5, limited: pods=5")),
    status(403, "Forbidden", full("requested: secrets=1, used: secrets=5")),
    status(403, "Forbidden", full("requested: secrets=1, used: secrets=1k, limited: secrets=1k")),
    status(
      403,
      "Forbidden",
      `admission webhook "x.y" denied the request: ${full("requested: secrets=1, used: secrets=5, limited: secrets=5")}`,
    ),
  ] as const) {
    const { apply, sent, reserved, counted } = open([no]);
    assert.equal((await apply.perform(action("replace"))).kind, "failed");
    assert.deepEqual(methods(sent), ["POST"]);
    assert.deepEqual([reserved, counted], [[], []]);
  }
});

test("a copy stays without a failure if its namespace is ending", async () => {
  for (const answer of [
    "terminating",
    statusError("dry-run create", 404, notFound("namespaces", "team-a")),
    statusError("dry-run create", 404, notFound("secrets", SUCCESSOR)),
  ] as const) {
    const { apply, sent, reserved } = open([answer]);
    assert.equal((await apply.perform(action("replace"))).kind, "moved");
    assert.deepEqual([methods(sent), reserved], [["POST"], []]);
  }
});

test("an object with a finalizer is leaving without a failure or a successor", async () => {
  const identity = { namespace: "team-a", name: "registry", uid: "u", resourceVersion: "9" };
  const leaving = { metadata: { ...identity, deletionTimestamp: "2026-01-02T00:00:00Z" } };
  const deleted = await open([leaving]).apply.perform(action("delete"));
  assert.deepEqual({ ...deleted, action: 0 }, { kind: "leaving", action: 0, object: leaving });
  const { apply, sent } = open([{ metadata: {} }, leaving]);
  const replaced = await apply.perform(action("replace"));
  assert.deepEqual({ ...replaced, action: 0 }, { kind: "leaving", action: 0, object: leaving });
  assert.deepEqual(methods(sent), ["POST", "DELETE"]);
});
