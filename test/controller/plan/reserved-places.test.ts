// A place whose copy was deleted for its successor belongs to the source that the copy named, until the
// successor exists or the source no longer wants the place.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Action } from "../../../src/controller/model/actions.ts";
import {
  parseReservations,
  reservationText,
} from "../../../src/controller/writes/reservation-record.ts";
import { actionsAt, Cluster, globs, verdictAt } from "../../support/planner/planner-cluster.ts";
import type { PlannerSettings } from "../../../src/controller/model/cluster.ts";
import { refText } from "../../../src/text/names.ts";

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

/** The delete of a replace is made and its create fails. */
function replacedHalf(made: Cluster): Action & { kind: "replace" } {
  made.secret("trusted/ca", { to: "team-*" }, { type: "a/b" });
  for (let round = 0; round < 5; round++) {
    const replace = made.plan().actions.find(({ kind }) => kind === "replace");
    if (replace?.kind === "replace") {
      assert.equal(refText(replace.place), PLACE);
      made.memories.shared.reservations.reserve(replace.reservation, made.now);
      made.delete(PLACE);
      made.memory.failed(replace, FAILURE, made.now, 0.5);
      return replace;
    }
    made.pass();
    made.now += 1000;
  }
  throw new Error("test: no replace was planned");
}

/** What a new process reads from the Lease. */
function crash(made: Cluster): void {
  const text = reservationText(made.memories.shared.reservations.lasting());
  made.restart();
  for (const reservation of parseReservations(text))
    made.memories.shared.reservations.reserve(reservation, made.now);
}

for (const policy of ["opt-in", "opt-out"] as const)
  for (const how of ["failed", "crashed"] as const)
    test(`after a replace that ${how}, only the source of the deleted copy gets the place, under ${policy} (A7, B2)`, () => {
      const made = published();
      made.settings = { ...made.settings, namespacePolicy: policy };
      const replace = replacedHalf(made);
      assert.equal(replace.reservation.lasting, true);
      if (how === "crashed") crash(made);
      const waiting = made.plan();
      assert.equal(
        verdictAt(waiting, PLACE, "evil/ca"),
        policy === "opt-in" ? undefined : "conflict",
      );
      made.settle();
      assert.equal(made.get(PLACE).metadata.annotations["secretcast.io/source"], "trusted/ca");
      assert.equal(made.get(PLACE).type, "a/b");
      assert.equal(made.memories.shared.reservations.any, false);
      if (policy === "opt-out") return;
      made.delete(PLACE);
      made.settle();
      assert.equal(made.secrets.has(PLACE), false, "nothing is kept there any more");
    });

test("a create at a reserved place comes before all others", () => {
  const made = published({ namespacePolicy: "opt-in" });
  replacedHalf(made);
  made.namespace("team-b", { accept: "true" });
  made.now += 5000;
  const [first] = made.plan().actions;
  assert.deepEqual([first?.kind, first && refText(first.place)], ["create", PLACE]);
});

test("a source of a stronger rank still takes a reserved place (B2)", () => {
  const made = published({ sourceNamespaces: globs("first,*") });
  replacedHalf(made);
  made.secret("first/ca", { to: "team-*" });
  made.now += 5000;
  const result = made.pass();
  assert.deepEqual(actionsAt(result, PLACE), ["create"]);
  assert.equal(made.get(PLACE).metadata.annotations["secretcast.io/source"], "first/ca");
  assert.equal(verdictAt(result, PLACE, "trusted/ca"), "conflict");
  assert.equal(verdictAt(result, PLACE, "evil/ca"), "conflict");
});

test("the source list comes before the holder of a reserved place (B2)", () => {
  const made = published();
  replacedHalf(made);
  made.list({ ca: "secret: evil/ca\nto: team-*" });
  made.reread();
  made.now += 5000;
  made.settle();
  assert.equal(made.get(PLACE).metadata.annotations["secretcast.io/source"], "evil/ca");
});

test("a reserved place goes to another source at once when its own no longer wants it (B2)", () => {
  const made = published();
  replacedHalf(made);
  made.annotate("trusted/ca", { to: "nowhere" });
  made.now += 5000;
  assert.deepEqual(actionsAt(made.pass(), PLACE), ["create"]);
  assert.equal(made.get(PLACE).metadata.annotations["secretcast.io/source"], "evil/ca");
  made.settle();
  assert.equal(made.memories.shared.reservations.any, false);
});

test("a reserved place waits for an absent source as its copy would, and no longer (B2)", () => {
  const made = published();
  replacedHalf(made);
  made.delete("trusted/ca");
  made.now += 5000;
  const waiting = made.pass();
  assert.deepEqual(actionsAt(waiting, PLACE), []);
  assert.equal(verdictAt(waiting, PLACE, "trusted/ca"), "wait");
  assert.equal(verdictAt(waiting, PLACE, "evil/ca"), "conflict");
  made.settle();
  assert.equal(made.get(PLACE).metadata.annotations["secretcast.io/source"], "evil/ca");
});

test("a kept copy comes back when its source is recreated within the grace, and not after it (A7)", () => {
  for (const [afterMs, back] of [
    [3000, true],
    [60_000, false],
  ] as const) {
    const made = published({ namespacePolicy: "opt-in" });
    replacedHalf(made);
    crash(made);
    made.delete("trusted/ca");
    made.pass();
    made.now += afterMs;
    for (let round = 0; round < 3; round++) made.pass();
    made.secret("trusted/ca", { to: "team-*" }, { type: "c/d" });
    made.now += 1000;
    made.settle();
    assert.equal(made.secrets.has(PLACE), back, `after ${afterMs} ms`);
    assert.equal(made.memories.shared.reservations.any, false);
  }
});

test("a refused or paused source keeps its reserved place, and gets it when that is over (B2)", () => {
  for (const [wrong, verdict] of [
    [{ "to-selecter": "a=b" }, "frozen"],
    [{ paused: "true" }, "paused"],
  ] as const) {
    const made = published({ namespacePolicy: "opt-out" });
    replacedHalf(made);
    made.annotate("trusted/ca", { to: "team-*", ...wrong });
    made.now += 300_000;
    const waiting = made.pass();
    assert.equal(verdictAt(waiting, PLACE, "trusted/ca"), verdict);
    assert.equal(verdictAt(waiting, PLACE, "evil/ca"), "conflict");
    assert.deepEqual(actionsAt(waiting, PLACE), []);
    made.edit("trusted/ca", ({ metadata }) => {
      metadata.annotations = { "secretcast.io/to": "team-*" };
    });
    made.now += 5000;
    made.settle();
    assert.equal(made.get(PLACE).metadata.annotations["secretcast.io/source"], "trusted/ca");
  }
});

test("what the namespace says by now ends a reservation: it declines, or is another namespace (A7)", () => {
  const says: readonly ((made: Cluster) => void)[] = [
    (made) => made.namespace("team-a", { accept: "false" }),
    (made) => made.namespace("team-a", { accept: "evil/*" }),
    (made) => {
      made.namespaces.delete("team-a");
      made.pass();
      made.namespace("team-a");
    },
    (made) => {
      made.namespaces.delete("team-a");
      made.namespace("team-a");
      const again = made.namespaces.get("team-a");
      assert.ok(again);
      again.metadata.uid = "another";
    },
  ];
  for (const [index, say] of says.entries()) {
    const made = published({ namespacePolicy: "opt-in" });
    replacedHalf(made);
    crash(made);
    say(made);
    made.now += 5000;
    made.settle();
    assert.equal(
      made.secrets.get(PLACE)?.metadata.annotations["secretcast.io/source"],
      index === 1 ? "evil/ca" : undefined,
      String(index),
    );
    assert.equal(made.memories.shared.reservations.any, false);
  }
});

test("a delete that was never made, or arrives late, loses no kept copy (A7)", () => {
  const made = published({ namespacePolicy: "opt-in" });
  made.secret("trusted/ca", { to: "team-*" }, { type: "a/b" });
  const replace = made.plan().actions.find(({ kind }) => kind === "replace");
  assert.ok(replace?.kind === "replace");
  made.memories.shared.reservations.reserve(replace.reservation, made.now);
  crash(made);
  // The source has its old type again, so nothing is replaced.
  made.secret("trusted/ca", { to: "team-*" });
  made.now += 5000;
  made.pass();
  made.delete(PLACE);
  made.pass();
  assert.equal(made.secrets.has(PLACE), true, "the delete of the process before arrived late");
  made.memories.shared.reservations.reserve(replace.reservation, made.now);
  made.now += 31_000;
  made.settle();
  assert.equal(made.memories.shared.reservations.any, false);
});

test("a copy that a finalizer holds while it is replaced comes back after it (A7)", () => {
  const made = published({ namespacePolicy: "opt-in" });
  made.secret("trusted/ca", { to: "team-*" }, { type: "a/b" });
  const replace = made.plan().actions.find(({ kind }) => kind === "replace");
  assert.ok(replace?.kind === "replace");
  made.memories.shared.reservations.reserve(replace.reservation, made.now);
  made.edit(PLACE, ({ metadata }) => (metadata.deletionTimestamp = "2026-01-02T00:00:00Z"));
  made.now += 300_000;
  assert.equal(verdictAt(made.pass(), PLACE), "wait");
  made.delete(PLACE);
  made.settle();
  assert.equal(made.get(PLACE).type, "a/b");
});

test("a reserved place is not held by --fanout-limit: it had its copy before (A7)", () => {
  const made = published({ namespacePolicy: "opt-in" });
  replacedHalf(made);
  made.settings = { ...made.settings, fanoutLimitBytes: 1 };
  made.now += 5000;
  made.settle();
  assert.equal(made.secrets.has(PLACE), true);
});

test("no more copies are replaced at a time than reservations fit on the Lease (A7)", () => {
  const made = new Cluster().withNamespaces("shared");
  for (let n = 0; n < 500; n++) made.namespace(`team-${n}`);
  made.secret("shared/ca", { to: "team-*" });
  made.settle();
  made.settings = { ...made.settings, namespacePolicy: "opt-in" };
  made.secret("shared/ca", { to: "team-*" }, { type: "a/b" });
  made.now += 5000;
  const replaces = (): number =>
    made.plan().actions.filter(({ kind }) => kind === "replace").length;
  assert.equal(replaces(), 200);
  made.settle();
  assert.equal(made.plan().states.current, 500);
});

test("what the Lease says of reservations is read with bounds, and what is malformed is ignored (A7)", () => {
  const good = {
    kind: "Secret",
    place: "team-a/ca",
    namespaceUID: "n",
    source: "trusted/ca",
    copyUID: "c",
  };
  const read = (value: unknown): number => parseReservations(JSON.stringify(value)).length;
  assert.equal(read([good]), 1);
  for (const change of [
    { kind: "Pod" },
    { place: "../x" },
    { source: "trusted" },
    { copyUID: "" },
    { namespaceUID: 7 },
    { copyUID: "x".repeat(200) },
  ])
    assert.equal(read([{ ...good, ...change }, null, 7, "x", []]), 0, JSON.stringify(change));
  for (const text of ["", "{", "null", "7", JSON.stringify(good), "[".repeat(100_000)])
    assert.deepEqual(parseReservations(text), []);
  assert.equal(read(Array.from({ length: 1000 }, () => good)), 400);
  assert.deepEqual(parseReservations(undefined), []);
});

test("a reserved place gets its copy at once, although a stronger source that the fan-out limit holds wants it", () => {
  const made = published({ sourceNamespaces: globs("first,*") });
  replacedHalf(made);
  crash(made);
  made.namespace("spare");
  made.secret("first/ca", { to: "*" });
  made.settings = { ...made.settings, fanoutLimitBytes: 1 };
  const first = made.plan();
  assert.equal(verdictAt(first, PLACE, "first/ca"), "held");
  assert.equal(first.nextAt, made.now, "the next plan follows at once");
  made.settle();
  assert.equal(made.get(PLACE).metadata.annotations["secretcast.io/source"], "trusted/ca");
  assert.notEqual(made.plan().nextAt, made.now, "no further plan is asked for");
});

test("a namespace whose copies a finalizer keeps does not take all the room for reservations", () => {
  const made = published();
  made.namespace("tenant");
  for (let index = 0; index < 250; index++)
    for (const publisher of ["trusted", "evil"])
      made.secret(`${publisher}/of-${index}`, { to: "tenant" });
  made.settle(40);
  for (let index = 0; index < 250; index++)
    made.secret(`evil/of-${index}`, { to: "tenant" }, { type: "a/b" });
  const { reservations } = made.memories.shared;
  for (let round = 0; round < 10; round++) {
    for (const action of made.plan().actions) {
      if (action.kind === "confirm") made.apply(action);
      if (action.kind !== "replace") continue;
      reservations.reserve(action.reservation, made.now);
      made.get(refText(action.place)).metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    }
    made.reread();
    made.now += 1000;
  }
  assert.equal(reservations.lasting().length, 50);
  assert.equal(refText(replacedHalf(made).place), PLACE);
});
