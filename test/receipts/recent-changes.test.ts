// What made a write due: the latest change of rule, Namespace or entry that this process saw.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readNamespace } from "../../src/controller/observed/read-namespace.ts";
import { because } from "../../src/controller/model/reasons.ts";
import type { Action } from "../../src/controller/model/actions.ts";
import type { Namespace, SourceObject } from "../../src/controller/model/cluster.ts";
import { triggerText } from "../../src/receipts/triggers.ts";
import { RecentChanges } from "../../src/receipts/recent-changes.ts";

const RULE = {
  to: undefined,
  allow: undefined,
  copyName: "db",
  onDelete: undefined,
  paused: false,
} as const;

function source(resourceVersion: string, ruleDigest: string, changedBy = "kubectl"): SourceObject {
  const identity = { namespace: "shared", name: "db", uid: "s1", resourceVersion, deleting: false };
  const rest = { createdAt: "", entry: undefined, problems: [], rule: RULE, ignored: undefined };
  const none = { desiredCopy: undefined, refusedDigest: undefined, ruleTexts: undefined };
  return { role: "source", kind: "Secret", ...identity, ...rest, ...none, ruleDigest, changedBy };
}

function namespace(uid: string, labels: Record<string, string>, accept?: string): Namespace {
  const annotations = accept === undefined ? {} : { "secretcast.io/accept": accept };
  const metadata = { name: "team-a", uid, resourceVersion: "1", labels, annotations };
  return readNamespace({ metadata }) ?? assert.fail("no namespace");
}

function create(of: SourceObject, cause: Action["cause"] = "new"): Action {
  const desiredCopy = {
    type: "Opaque",
    immutable: false,
    dataDigest: "",
    fingerprint: "",
    bytes: 1,
    jsonBytes: 1,
    notes: [],
  };
  return {
    kind: "create",
    objectKind: "Secret",
    place: { namespace: "team-a", name: "db" },
    source: { namespace: "shared", name: "db" },
    cause,
    reason: because("NoCopyYet"),
    decisionKey: "",
    content: { source: of, desiredCopy },
  };
}

function leading(): RecentChanges {
  const changes = new RecentChanges();
  changes.onSync();
  return changes;
}

test("what was there when this process began has no other trigger than the start", () => {
  const changes = new RecentChanges();
  changes.onSource("Secret", undefined, source("5", "a"));
  changes.onNamespace(undefined, namespace("n1", {}));
  changes.onSync();
  const said = changes.triggerOf(create(source("5", "a")));
  assert.deepEqual(said, { code: "Start", version: "5", manager: "kubectl" });
});

test("the latest change of rule, namespace or entry made a new copy due", () => {
  const changes = leading();
  const [before, plain] = [source("5", "a"), namespace("n1", {})];
  changes.onSource("Secret", undefined, before);
  assert.equal(changes.triggerOf(create(before)).code, "Source");
  changes.onNamespace(undefined, plain);
  assert.equal(changes.triggerOf(create(before)).code, "Namespace");
  const labelled = namespace("n1", { tier: "gold", team: "a" });
  changes.onNamespace(plain, labelled);
  const labels = ["team", "tier"];
  assert.deepEqual(changes.triggerOf(create(before)), { code: "NamespaceLabels", labels });
  const accepting = namespace("n1", { tier: "gold", team: "a" }, "true");
  changes.onNamespace(labelled, accepting);
  assert.equal(changes.triggerOf(create(before)).code, "Accept");
  changes.onNamespace(accepting, accepting);
  assert.equal(changes.triggerOf(create(before)).code, "Accept", "nothing that decides changed");
  changes.onEntry("Secret", { namespace: "shared", name: "db" });
  assert.equal(changes.triggerOf(create(before)).code, "Entry");
  const edited = source("9", "b", "kubectl-edit");
  changes.onSource("Secret", before, edited);
  assert.deepEqual(changes.triggerOf(create(edited)), {
    code: "Source",
    version: "9",
    manager: "kubectl-edit",
  });
});

test("a change of the content alone makes no new copy due, and explains an update", () => {
  const changes = leading();
  const [before, after] = [source("5", "a"), source("6", "a", "cert-manager")];
  changes.onNamespace(namespace("n1", {}), namespace("n1", { tier: "gold" }));
  changes.onSource("Secret", before, after);
  assert.equal(changes.triggerOf(create(after)).code, "NamespaceLabels");
  const changed = changes.triggerOf(create(after, "changed"));
  assert.deepEqual(changed, { code: "Source", version: "6", manager: "cert-manager" });
});

test("the memory of changes is limited: the oldest counts as one before the start", () => {
  const changes = leading();
  changes.onNamespace(undefined, namespace("n1", {}));
  for (let n = 0; n < 10_000; n++)
    changes.onNamespace(undefined, { ...namespace("n", {}), name: `other-${n}` });
  assert.equal(changes.triggerOf(create(source("5", "a"))).code, "Start");
});

test("the sentence of a trigger names version, field manager and labels", () => {
  const trigger = { code: "Source", version: "9", manager: "kubectl-edit" } as const;
  assert.equal(triggerText(trigger), "the source changed (version 9, field manager kubectl-edit)");
  const labels = { code: "NamespaceLabels", labels: ["team", "tier"] } as const;
  assert.equal(triggerText(labels), "labels of a namespace changed (team, tier)");
});
