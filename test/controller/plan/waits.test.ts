// The verdict `wait` says for what.
import { whyOf } from "../../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { refText } from "../../../src/text/names.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

function copied(): Cluster {
  const made = new Cluster().withNamespaces("shared", "team-a");
  made.secret("shared/one", { to: "team-*" });
  made.settle();
  return made;
}

function leaving(made: Cluster, place: string, finalizers?: readonly unknown[]): string {
  made.edit(place, ({ metadata }) =>
    Object.assign(metadata, {
      deletionTimestamp: "2026-01-02T00:00:00Z",
      ...(finalizers && { finalizers }),
    }),
  );
  const row = made.plan().rows.find((each) => refText(each.place) === place);
  assert.equal(row?.verdict, "wait");
  return whyOf(row);
}

test("a copy that is being deleted names three of its finalizers at most", () => {
  assert.equal(
    leaving(copied(), "team-a/one", ["a.example/x", "b.example/y", "c", "d"]),
    "its deletion waits for the finalizer a.example/x, b.example/y, c; the copy is made again afterwards",
  );
});

test("a copy that is being deleted without finalizers waits for the API server", () => {
  assert.match(
    leaving(copied(), "team-a/one"),
    /^it is being deleted, and waits for the API server/,
  );
});

test("what is no finalizer's name is not repeated", () => {
  const hostile = ["password=hunter2 please", "x".repeat(300), { a: 1 }, ""];
  assert.doesNotMatch(leaving(copied(), "team-a/one", hostile), /hunter2|xxx|finalizer/);
});

test("an unwanted copy and a deleted pulling Secret name what they wait for", () => {
  const made = copied();
  made.annotate("shared/one", { to: "nowhere" });
  assert.match(
    leaving(made, "team-a/one", ["example.com/hold"]),
    /no longer wants this place; its deletion waits for the finalizer example.com\/hold$/,
  );
  made.secret("shared/tls", { allow: "*" });
  made.secret("team-a/mine", { from: "shared/tls" });
  assert.match(leaving(made, "team-a/mine", ["example.com/hold"]), /waits for the finalizer/);
});

test("copies that are frozen because their source is being deleted say for what that waits", () => {
  const made = copied();
  made.edit("shared/one", ({ metadata }) =>
    Object.assign(metadata, {
      deletionTimestamp: "2026-01-02T00:00:00Z",
      finalizers: ["example.com/hold"],
    }),
  );
  const row = made.plan().rows.find(({ place }) => refText(place) === "team-a/one");
  assert.equal(row?.verdict, "frozen");
  assert.equal(
    whyOf(row),
    "source shared/one is being deleted, which waits for the finalizer example.com/hold",
  );
});
