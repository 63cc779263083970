// RBAC read as the authorizer reads it: rules, aggregation, subjects. test/cluster/inventory.test.ts compares it with
// the API server's own answers.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aggregated,
  bindingOf,
  noteOn,
  roleOf,
  verbsAt,
} from "../../../src/cli/inventory/grants.ts";
import { subjectText } from "../../../src/cli/inventory/readers.ts";

type Rule = Readonly<Record<string, readonly string[]>>;
const PLACE = { namespace: "team-a", name: "registry" };

function verbs(rule: Rule, namespace?: string, place = PLACE): string {
  const role = roleOf({ metadata: { name: "r" }, rules: [rule] });
  const binding = bindingOf({ metadata: { name: "b", namespace }, roleRef: { name: "r" } });
  return verbsAt({ ...binding, rules: role.rules }, "Secret", place).join();
}

const GET = { apiGroups: [""], resources: ["secrets"], verbs: ["get"] };

test("a rule grants what its verbs, groups, resources and names say", () => {
  assert.equal(verbs(GET), "get");
  assert.equal(verbs({ ...GET, verbs: ["watch", "list", "delete"] }), "list,watch");
  assert.equal(verbs({ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }), "get,list,watch");
  assert.equal(verbs({ ...GET, resourceNames: ["registry", "x"] }), "get");
  assert.equal(verbs({ ...GET, resourceNames: [] }), "get");
  for (const other of [
    { ...GET, apiGroups: ["apps"] },
    { ...GET, apiGroups: [] },
    { ...GET, resources: ["secrets/status", "*/secrets", "configmaps", "Secrets"] },
    { ...GET, verbs: ["create", "deletecollection", "GET"] },
    { ...GET, resourceNames: ["other", "*"] },
    { nonResourceURLs: ["*"], verbs: ["*"] },
    {},
  ])
    assert.equal(verbs(other), "", JSON.stringify(other));
});

test("a RoleBinding grants in its own namespace alone", () => {
  assert.equal(verbs(GET, "team-a"), "get");
  assert.equal(verbs(GET, "team-b"), "");
});

test("a ClusterRole has the rules that it aggregates, also in a circle", () => {
  const label = (x: string) => ({ clusterRoleSelectors: [{ matchLabels: { to: x } }] });
  const raw = (name: string, to: string, more: object) => ({
    metadata: { name, labels: { to } },
    ...more,
  });
  const roles = aggregated(
    [
      raw("top", "none", { aggregationRule: label("middle"), rules: null }),
      raw("middle", "middle", { aggregationRule: label("leaf"), rules: [] }),
      raw("leaf", "leaf", { rules: [GET], aggregationRule: label("middle") }),
      raw("other", "other", { rules: [{ ...GET, verbs: ["watch"] }] }),
    ].map(roleOf),
  );
  const granted = roles.map(
    ({ name, rules }) => `${name} ${rules.map((rule) => rule.verbs).join()}`,
  );
  assert.deepEqual(granted, ["top get", "middle get", "leaf get", "other watch"]);
});

test("selectors of aggregation mean what they mean to Kubernetes", () => {
  const select = (selector: object): boolean => {
    const [top] = aggregated(
      [
        { metadata: { name: "top" }, aggregationRule: { clusterRoleSelectors: [selector] } },
        { metadata: { name: "leaf", labels: { a: "1" } }, rules: [GET] },
      ].map(roleOf),
    );
    return (top?.rules.length ?? 0) > 0;
  };
  const on = (operator: string, key: string, values?: readonly string[]) =>
    select({ matchExpressions: [{ key, operator, values }] });
  assert.deepEqual(
    [on("In", "a", ["1"]), on("In", "a", ["2"]), on("In", "b", ["1"])],
    [true, false, false],
  );
  assert.deepEqual([on("NotIn", "a", ["1"]), on("NotIn", "b", ["1"])], [false, true]);
  assert.deepEqual([on("Exists", "a"), on("Exists", "b")], [true, false]);
  assert.deepEqual([on("DoesNotExist", "a"), on("DoesNotExist", "b")], [false, true]);
  assert.deepEqual([select({ matchLabels: { a: "2" } }), on("Matches", "a")], [false, false]);
  assert.equal(select({}), true);
});

test("a user with the name of a service account is that account", () => {
  const subjects = [
    { kind: "User", name: "system:serviceaccount:ci:deployer" },
    { kind: "ServiceAccount", name: "bot" },
    { kind: "ServiceAccount", name: "bot", namespace: "ci" },
    { kind: "Group", name: "admins" },
    { kind: "Robot", name: "x" },
    null,
  ];
  const here = bindingOf({ metadata: { namespace: "team-a" }, subjects }).subjects;
  assert.deepEqual(
    here.map(({ kind, namespace, name }) => [kind, namespace, name]),
    [
      ["ServiceAccount", "ci", "deployer"],
      ["ServiceAccount", "team-a", "bot"],
      ["ServiceAccount", "ci", "bot"],
      ["Group", undefined, "admins"],
    ],
  );
});

test("a subject that a binding names twice is one, whatever form it has", () => {
  const subjects = [
    { kind: "User", name: "jane" },
    { kind: "User", name: "system:serviceaccount:ci:bot" },
    { kind: "User", name: "jane", apiGroup: "rbac.authorization.k8s.io" },
    { kind: "Group", name: "jane" },
    { kind: "ServiceAccount", name: "bot", namespace: "ci" },
    { kind: "ServiceAccount", name: "bot" },
  ];
  assert.deepEqual(
    bindingOf({ metadata: { namespace: "ci" }, subjects }).subjects.map(subjectText),
    ["User jane", "ServiceAccount ci/bot", "Group jane"],
  );
});

test("subjects that are everyone, or above RBAC, are called out", () => {
  const note = (kind: "User" | "Group", name: string) => noteOn({ kind, name });
  assert.equal(note("Group", "system:masters"), "reads everything, whatever RBAC says");
  assert.equal(note("Group", "system:authenticated"), "everyone who is logged in");
  assert.equal(note("Group", "system:unauthenticated"), "everyone, even without logging in");
  assert.equal(note("User", "system:anonymous"), "everyone, even without logging in");
  assert.equal(note("Group", "system:serviceaccounts"), "every service account");
  assert.equal(note("Group", "system:serviceaccounts:ci"), "every service account of ci");
  for (const name of ["system:masters", "jane", "constructor"])
    assert.equal(note("User", name), undefined);
  assert.equal(note("Group", "toString"), undefined);
});
