// One action at a time against a client that answers as the test says: which requests are sent, with
// which preconditions and time limits, and what each answer is taken for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Apply } from "../src/apply.ts";
import type { Action } from "../src/core/verdicts.ts";
import type { ApiErrorKind } from "../src/kube/api-error.ts";
import type { ApiClient, ApiRequest } from "../src/kube/client.ts";
import type { Absence, Outcome } from "../src/outcome.ts";
import { refusal } from "./support/memory-api.ts";
import { Cluster } from "./support/world.ts";

type Answer = object | ApiErrorKind | "hang" | "bug";

/** Each request gets the next of `answers`. */
function open(answers: readonly Answer[], permission: () => number = () => Infinity) {
  const sent: ApiRequest[] = [];
  const counted: string[] = [];
  const absences: Absence["kind"][] = [];
  const request = async (asked: ApiRequest): Promise<unknown> => {
    const answer = answers[sent.length];
    sent.push(asked);
    if (answer === "hang") return until(asked);
    if (answer === "bug") throw new TypeError("cannot read hunter2");
    if (typeof answer === "string") throw refusal(asked, answer);
    return answer;
  };
  const client = { server: "http://test", request, open: request, close: async () => {} };
  const apply = new Apply({
    client: client as unknown as ApiClient,
    permission,
    onWrite: (verb, result) => void counted.push(`${verb} ${result}`),
    onAbsence: (_, { kind }) => void absences.push(kind),
  });
  return { apply, sent, counted, absences };
}

function until(asked: ApiRequest): Promise<never> {
  return new Promise((_, reject) => {
    asked.signal?.addEventListener("abort", () => reject(refusal(asked, "cancelled")));
  });
}

function action(kind: Action["kind"]): Action {
  const cluster = new Cluster({ deleteGraceMs: 0 });
  cluster.namespace("shared");
  cluster.namespace("team-a");
  cluster.secret("shared/registry", { to: "team-*" });
  if (kind !== "create") cluster.settle();
  if (kind === "update") cluster.secret("shared/registry", { to: "team-*" }, { data: { a: "b" } });
  if (kind === "replace") cluster.secret("shared/registry", { to: "team-*" }, { type: "a/b" });
  if (kind === "delete") cluster.delete("shared/registry");
  cluster.now += 10_000;
  const found = cluster.plan().actions[0];
  assert.equal(found?.kind, kind);
  return found;
}

const methods = (sent: readonly ApiRequest[]): readonly string[] =>
  sent.map(({ method }) => method);

test("every write to an object that is there names its UID and version", async () => {
  for (const kind of ["update", "replace", "delete"] as const) {
    const { apply, sent } = open([{ metadata: {} }, { metadata: {} }, { metadata: {} }]);
    const wanted = action(kind);
    await apply.perform({ ...wanted, confirm: undefined } as unknown as Action);
    const first = JSON.stringify(sent[0]?.body);
    assert.match(first, /"uid":"uid-\d+"/, kind);
    assert.match(first, /"resourceVersion":"\d+"/, kind);
  }
});

test("LV-12 a removal asks for the source first, once for all its copies, and goes only without it", async () => {
  const gone = open(["notFound", {}, {}]);
  assert.equal((await gone.apply.perform(action("delete"))).kind, "removed");
  assert.equal((await gone.apply.perform(action("delete"))).kind, "removed");
  assert.deepEqual(methods(gone.sent), ["GET", "DELETE", "DELETE"]);
  assert.deepEqual(gone.absences, ["gone"]);
  for (const [answer, absence] of [
    ["forbidden", "unreadable"],
    ["unavailable", "unreadable"],
    ["bug", "unreadable"],
  ] as const) {
    const kept = open([answer]);
    assert.equal((await kept.apply.perform(action("delete"))).kind, "unconfirmed");
    assert.deepEqual(methods(kept.sent), ["GET"]);
    assert.deepEqual(kept.absences, [absence]);
  }
});

test("LV-12 a source of the same UID is there, of another is gone", async () => {
  const removal = action("delete");
  const there = open([
    { metadata: { name: "registry", uid: removal.confirm?.uid, resourceVersion: "1" } },
  ]);
  assert.equal((await there.apply.perform(removal)).kind, "unconfirmed");
  const other = open([
    { metadata: { name: "registry", uid: "another", resourceVersion: "1" } },
    {},
  ]);
  assert.equal((await other.apply.perform(removal)).kind, "removed");
});

test("LE-12 no write is sent without permission, and none is given longer than is left of it", async () => {
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
  let left = 100;
  const { apply, sent } = open([{}, {}], () => (left -= 60));
  assert.equal((await apply.perform(action("replace"))).kind, "stopped");
  assert.deepEqual(methods(sent), ["DELETE"]);
});

test("CL-24 cancel ends what is under way, and nothing begins after it", async () => {
  const { apply, sent } = open(["hang", {}]);
  const under = apply.perform(action("create"));
  apply.cancel();
  assert.equal((await under).kind, "stopped");
  assert.equal((await apply.perform(action("create"))).kind, "stopped");
  assert.equal(sent.length, 1);
});

test("what an answer is taken for", async () => {
  const cases: readonly (readonly [Action["kind"], Answer, Outcome["kind"]])[] = [
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

test("LV-06 a create that finds its place taken looks who is there", async () => {
  const stranger = { metadata: { name: "registry" } };
  const taken = await open(["alreadyExists", stranger]).apply.perform(action("create"));
  assert.deepEqual({ ...taken, action: 0 }, { kind: "found", action: 0, object: stranger });
  const free = await open(["alreadyExists", "notFound"]).apply.perform(action("create"));
  assert.deepEqual({ ...free, action: 0 }, { kind: "found", action: 0, object: undefined });
  const dark = await open(["alreadyExists", "unavailable"]).apply.perform(action("create"));
  assert.equal(dark.kind, "failed");
});

test("a delete that finds nothing has reached its goal, also as half of a replace", async () => {
  const removed = open(["notFound", "notFound"]);
  assert.equal((await removed.apply.perform(action("delete"))).kind, "removed");
  const replaced = open(["notFound", { metadata: {} }]);
  assert.equal((await replaced.apply.perform(action("replace"))).kind, "done");
  assert.deepEqual(methods(replaced.sent), ["DELETE", "POST"]);
});

test("CL-17 each answered write is counted by its verb and result", async () => {
  const { apply, counted } = open([{}, "conflict", "throttled"]);
  await apply.perform(action("create"));
  await apply.perform(action("update"));
  await apply.perform(action("update"));
  assert.deepEqual(counted, ["create ok", "patch conflict", "patch throttled"]);
});
