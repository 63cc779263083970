// What one place gets is one pure answer, whoever asks: the planner for all places, and others for one.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Sources } from "../../../src/controller/desired/sources.ts";
import { targetsOf } from "../../../src/controller/desired/targets.ts";
import { noteWants } from "../../../src/controller/desired/wants.ts";
import { CopyObject } from "../../../src/controller/model/cluster.ts";
import { decide, isPlainlyCurrent, type Decision } from "../../../src/controller/plan/decide.ts";
import type { View } from "../../../src/controller/plan/view.ts";
import { parseRef } from "../../../src/text/names.ts";
import { propertyRuns } from "../../../packages/kube/testing/extent.ts";
import { histories } from "../../support/planner/history.ts";
import { live } from "../../support/planner/live.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

function all<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** What the planner decides by, when it remembers nothing. */
function viewOf(made: Cluster, reservedFor?: string) {
  const { settings } = made;
  const clusterState = made.clusterState();
  const targets = targetsOf(clusterState, settings);
  const sources = all(Sources.of(clusterState, settings));
  all(noteWants(sources.candidates, targets));
  const view: View = {
    kind: "Secret",
    settings,
    sources,
    covers: () => true,
    reservedFor: () => (reservedFor === undefined ? undefined : parseRef(reservedFor)),
    settled: new Map(),
    rememberedOf: () => ({ lastFill: undefined, result: undefined }),
    offerDigest: () => undefined,
  };
  return { view: Object.freeze(view), targets };
}

/** The decision for `place` by a view that remembers nothing. */
function decisionAt(made: Cluster, place: string, reservedFor?: string): Decision {
  const { view, targets } = viewOf(made, reservedFor);
  const { namespace, name } = parseRef(place) ?? assert.fail();
  const target = targets.find((each) => each.name === namespace) ?? assert.fail();
  const there = { target, name, present: target.secrets.get(name) };
  const decision = decide(view, Object.freeze(there));
  assert.deepEqual(brief(decide(view, there)), brief(decision), "it is the same when asked again");
  return decision;
}

/** The kind, the verdict, the source that has the place, and those that do not get it. */
function brief(decision: Decision): readonly unknown[] {
  const losers = "losers" in decision ? decision.losers.map(({ text }) => text) : [];
  switch (decision.kind) {
    case "skip":
      return ["skip"];
    case "given":
      return [decision.verdict, decision.winner.text, losers];
    case "stays":
      return [decision.verdict, `${decision.source.namespace}/${decision.source.name}`, losers];
    case "unwanted":
    case "inherited":
      return ["unwanted", decision.removalReason.kind, losers];
  }
}

function published(): Cluster {
  const made = new Cluster().withNamespaces("shared", "team-a");
  made.secret("shared/ca", { to: "team-*" }, { at: 1 });
  return made;
}

test("an unwanted place is skipped, and a wanted empty one is created", () => {
  const made = published();
  assert.deepEqual(brief(decisionAt(made, "team-a/other")), ["skip"]);
  assert.deepEqual(brief(decisionAt(made, "team-a/ca")), ["create", "shared/ca", []]);
});

test("the strongest source gets an empty place unless it is reserved", () => {
  const made = published();
  made.secret("shared/younger", { to: "team-*", name: "ca" }, { at: 2 });
  const first = ["create", "shared/ca", ["shared/younger"]];
  assert.deepEqual(brief(decisionAt(made, "team-a/ca")), first);
  const reserved = ["create", "shared/younger", ["shared/ca"]];
  assert.deepEqual(brief(decisionAt(made, "team-a/ca", "shared/younger")), reserved);
});

test("a copy is current, updated, replaced, taken over or unwanted, as its source says", () => {
  const made = published();
  made.settle();
  assert.deepEqual(brief(decisionAt(made, "team-a/ca")), ["current", "shared/ca", []]);
  made.edit("shared/ca", ({ data }) => (data["key"] = "bmV3"));
  assert.deepEqual(brief(decisionAt(made, "team-a/ca")), ["update", "shared/ca", []]);
  made.edit("shared/ca", (secret) => (secret.type = "a/b"));
  assert.deepEqual(brief(decisionAt(made, "team-a/ca")), ["replace", "shared/ca", []]);
  made.annotate("shared/ca", { to: "!*" });
  assert.deepEqual(brief(decisionAt(made, "team-a/ca")), ["unwanted", "nobody", []]);
  made.secret("shared/other", { to: "team-*", name: "ca" });
  assert.deepEqual(brief(decisionAt(made, "team-a/ca")), ["update", "shared/other", []]);
});

test("a take-over says what must be confirmed, and what the place gets meanwhile", () => {
  const made = published();
  made.settle();
  made.secret("shared/listed", {});
  made.list({ ca: "secret: shared/listed\nto: team-*\nname: ca" });
  made.reread();
  const decision = decisionAt(made, "team-a/ca");
  assert.ok(decision.kind === "given" && decision.meanwhile && decision.evidence);
  assert.deepEqual(brief(decision), ["update", "shared/listed", ["shared/ca"]]);
  assert.deepEqual(brief(decision.meanwhile), ["current", "shared/ca", []]);
  const read = decision.evidence.reads.map(({ kind }) => kind);
  assert.deepEqual(read, ["Secret", "Namespace", "SourceList"]);
});

test("the short cut for a current copy says what the whole decision says", () => {
  let agreed = 0;
  const check = (made: Cluster): void => {
    const { view, targets } = viewOf(made);
    for (const target of targets)
      for (const copy of target.secrets.values()) {
        const only = view.sources.group(copy.name)?.only;
        if (copy.role !== "copy" || !only) continue;
        const { namespace, name, uid, resourceVersion } = copy;
        const leaving = new CopyObject(
          { namespace, name, uid, resourceVersion, deleting: true },
          copy.template,
        );
        for (const present of [copy, leaving]) {
          if (!isPlainlyCurrent(present, target, only)) continue;
          const decision = decide(view, { target, name, present });
          assert.deepEqual(brief(decision), ["current", only.text, []]);
          assert.ok(decision.kind === "given" && !decision.evidence && !decision.isKept);
          agreed++;
        }
      }
  };
  const property = fc.property(histories, (history) => void live(history, check));
  fc.assert(property, { numRuns: propertyRuns });
  assert.ok(agreed > 0);
});
