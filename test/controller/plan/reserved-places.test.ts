// During a replace the place belongs to its source. A copy is replaced only where a create would be made as well.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Action } from "../../../src/controller/model/actions.ts";
import { actionsAt, Cluster, globs, verdictAt } from "../../support/planner/planner-cluster.ts";
import { reasonAt } from "../../support/planner/publishers.ts";
import type { PlannerSettings } from "../../../src/controller/model/cluster.ts";
import { refText } from "../../../src/text/names.ts";

type Replace = Action & { kind: "replace" };

const PLACE = "team-a/ca";
const FAILURE = { reason: "no", cause: "withheld", error: "unavailable" };

/** trusted/ca has a copy, an older evil/ca wants the same place; then the settings change. */
function published(changes: Partial<PlannerSettings> = {}): Cluster {
  const made = new Cluster({ sourceNamespaces: globs("*") }).withNamespaces(
    "trusted",
    "evil",
    "first",
    "team-a",
  );
  made.secret("trusted/ca", { to: "team-*" });
  made.settle();
  made.secret("evil/ca", { to: "team-*" });
  made.get("evil/ca").metadata.creationTimestamp = "2020-01-01T00:00:00Z";
  made.settings = { ...made.settings, ...changes };
  made.reread();
  made.now += 60_000;
  return made;
}

function begin(made: Cluster, { objectKind: kind, place, source }: Replace): void {
  made.memories.shared.reservations.note({ kind, place, source });
}

function isReserved(made: Cluster): boolean {
  return made.memories.shared.reservations.of("Secret").length > 0;
}

function sourceOf(made: Cluster, place = PLACE): string | undefined {
  return made.secrets.get(place)?.metadata.annotations["secretcast.io/source"];
}

/** The delete of a replace is made and its create fails. */
function replacedHalf(made: Cluster): Replace {
  made.secret("trusted/ca", { to: "team-*" }, { type: "a/b" });
  for (let round = 0; round < 5; round++) {
    const replace = made.plan().actions.find(({ kind }) => kind === "replace");
    if (replace?.kind === "replace") {
      assert.equal(refText(replace.place), PLACE);
      begin(made, replace);
      made.delete(PLACE);
      made.memory.failed(replace, FAILURE, made.now, 0.5);
      return replace;
    }
    made.sync();
    made.now += 1000;
  }
  throw new Error("test: no replace was planned");
}

test("a failed replace reserves the place for its source within its rank", () => {
  const made = published();
  replacedHalf(made);
  const waiting = made.plan();
  assert.equal(verdictAt(waiting, PLACE, "evil/ca"), "conflict");
  assert.match(reasonAt(waiting, PLACE, "evil/ca"), /reserved for source trusted\/ca/);
  made.settle();
  assert.equal(sourceOf(made), "trusted/ca");
  assert.equal(made.get(PLACE).type, "a/b");
  assert.equal(isReserved(made), false);
});

test("after a process died within a replace, precedence decides", () => {
  const made = published();
  replacedHalf(made);
  made.restart();
  made.now += 5000;
  made.settle();
  assert.equal(sourceOf(made), "evil/ca");
});

test("a source of a stronger rank still takes a reserved place", () => {
  const made = published({ sourceNamespaces: globs("first,*") });
  replacedHalf(made);
  made.secret("first/ca", { to: "team-*" });
  made.now += 5000;
  const result = made.sync();
  assert.deepEqual(actionsAt(result, PLACE), ["create"]);
  assert.equal(sourceOf(made), "first/ca");
  assert.equal(verdictAt(result, PLACE, "trusted/ca"), "conflict");
  assert.equal(verdictAt(result, PLACE, "evil/ca"), "conflict");
});

test("the source list comes before the source of a reserved place", () => {
  const made = published();
  replacedHalf(made);
  made.list({ ca: "secret: evil/ca\nto: team-*" });
  made.reread();
  made.now += 5000;
  made.settle();
  assert.equal(sourceOf(made), "evil/ca");
});

const ENDS: Readonly<Record<string, (made: Cluster) => void>> = {
  "does not want the place": (made) => made.annotate("trusted/ca", { to: "nowhere" }),
  "is refused": (made) => made.annotate("trusted/ca", { to: "team-*", "to-selecter": "a=b" }),
  "no longer exists": (made) => made.delete("trusted/ca"),
  "may not publish any more": (made) => {
    made.settings = { ...made.settings, sourceNamespaces: globs("evil") };
    made.reread();
  },
};

for (const [what, change] of Object.entries(ENDS))
  test(`a reserved place goes to another source at once when its own ${what}`, () => {
    const made = published();
    replacedHalf(made);
    change(made);
    made.now += 5000;
    assert.deepEqual(actionsAt(made.sync(), PLACE), ["create"]);
    assert.equal(sourceOf(made), "evil/ca");
    assert.equal(isReserved(made), false);
  });

test("a paused source keeps its reserved place, and gets it afterwards", () => {
  const made = published();
  replacedHalf(made);
  made.annotate("trusted/ca", { to: "team-*", paused: "true" });
  made.now += 300_000;
  const waiting = made.sync();
  assert.equal(verdictAt(waiting, PLACE, "trusted/ca"), "paused");
  assert.equal(verdictAt(waiting, PLACE, "evil/ca"), "conflict");
  made.annotate("trusted/ca", { paused: undefined });
  made.now += 5000;
  made.settle();
  assert.equal(sourceOf(made), "trusted/ca");
});

test("an object at the place, or the deletion of the namespace, ends the reservation", () => {
  const changes: readonly ((made: Cluster) => void)[] = [
    (made) => made.secret(PLACE),
    (made) => void made.namespaces.delete("team-a"),
    (made) => made.namespace("team-a", { accept: "false" }),
  ];
  for (const change of changes) {
    const made = published();
    replacedHalf(made);
    change(made);
    made.now += 5000;
    made.plan();
    assert.equal(isReserved(made), false);
  }
});

test("a copy that a finalizer holds while it is replaced comes back after it", () => {
  const made = published();
  made.secret("trusted/ca", { to: "team-*" }, { type: "a/b" });
  const replace = made.plan().actions.find(({ kind }) => kind === "replace");
  assert.ok(replace?.kind === "replace");
  begin(made, replace);
  made.edit(PLACE, ({ metadata }) => (metadata.deletionTimestamp = "2026-01-02T00:00:00Z"));
  made.now += 300_000;
  assert.equal(verdictAt(made.sync(), PLACE, "trusted/ca"), "wait");
  made.delete(PLACE);
  made.settle();
  assert.equal(made.get(PLACE).type, "a/b");
  assert.equal(sourceOf(made), "trusted/ca");
});

test("a namespace that only keeps its copy has it updated, and never replaced", () => {
  const made = published({ namespacePolicy: "opt-in" });
  made.secret("trusted/ca", { to: "team-*" }, { type: "a/b" });
  made.now += 5000;
  const plan = made.settle();
  assert.equal(verdictAt(plan, PLACE, "trusted/ca"), "frozen");
  assert.match(
    reasonAt(plan, PLACE, "trusted/ca"),
    /kubectl annotate namespace NAMESPACE secretcast\.io\/accept=trusted\/ca$/,
  );
  assert.notEqual(made.get(PLACE).type, "a/b");
  made.namespace("team-a", { accept: "trusted/ca" });
  made.now += 5000;
  made.settle();
  assert.equal(made.get(PLACE).type, "a/b");
});

test("a frozen copy that is only kept is removed when it is unwanted", () => {
  const made = published({ namespacePolicy: "opt-in" });
  made.secret("trusted/ca", { to: "team-*" }, { type: "a/b" });
  made.now += 5000;
  assert.equal(verdictAt(made.settle(), PLACE), "frozen");
  made.annotate("trusted/ca", { to: "!*" });
  made.settle(40);
  assert.equal(made.secrets.has(PLACE), false);
});

/** A tenant keeps 50 immutable copies in each of four namespaces by finalizers, and recreates their sources. */
function withFinalizers(policy: PlannerSettings["namespacePolicy"]): Cluster {
  const made = new Cluster({ sourceNamespaces: globs("*") }).withNamespaces("platform", "tenant");
  const own = ["own-1", "own-2", "own-3", "own-4"];
  for (const name of own) made.namespace(name, { accept: "tenant/*" });
  made.namespace("team-b", { accept: "platform/*" });
  made.secret("platform/ca", { to: "team-b" }, { immutable: true });
  for (let index = 0; index < 50; index++)
    made.secret(`tenant/of-${index}`, { to: "own-*" }, { immutable: true });
  made.settle(40);
  made.settings = { ...made.settings, namespacePolicy: policy };
  for (let index = 0; index < 50; index++) {
    for (const name of own)
      made.edit(`${name}/of-${index}`, ({ metadata }) =>
        Object.assign(metadata, { finalizers: ["tenant/stays"] }),
      );
    made.delete(`tenant/of-${index}`);
    made.secret(`tenant/of-${index}`, { to: "own-*" }, { type: "a/b" });
  }
  return made;
}

for (const policy of ["opt-in", "opt-out"] as const)
  test(`finalizers of one tenant delay no replace elsewhere and have a reason, under ${policy}`, () => {
    const made = withFinalizers(policy);
    for (let round = 0; round < 5; round++) {
      for (const action of made.plan().actions) {
        if (action.kind === "replace") begin(made, action);
        if (action.kind === "replace" && action.source.namespace === "tenant")
          made.edit(refText(action.place), ({ metadata }) => {
            metadata.deletionTimestamp = "2026-01-02T00:00:00Z";
          });
        else made.apply(action);
      }
      made.now += 5000;
    }
    made.delete("platform/ca");
    made.secret("platform/ca", { to: "team-b" }, { type: "a/b" });
    const [replace] = made.plan().actions.filter(({ source }) => source.namespace === "platform");
    assert.equal(replace?.kind, "replace");
    made.apply(replace);
    const plan = made.plan();
    assert.equal(verdictAt(plan, "team-b/ca"), undefined, "it is current");
    assert.equal(verdictAt(plan, "own-1/of-0"), "wait");
    assert.match(reasonAt(plan, "own-1/of-0"), /tenant\/stays/);
  });

test("where the fan-out limit holds the creates of a source, it replaces no copy", () => {
  const made = published();
  made.secret("trusted/ca", { to: "team-*" }, { type: "a/b" });
  made.settings = { ...made.settings, fanoutLimitBytes: 1 };
  made.now += 5000;
  const plan = made.sync();
  assert.equal(verdictAt(plan, PLACE, "trusted/ca"), "held");
  assert.match(reasonAt(plan, PLACE, "trusted/ca"), /--fanout-limit/);
  assert.deepEqual(actionsAt(plan, PLACE), []);
});
