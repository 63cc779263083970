// Rules by name: names that do not take part are found in the list of rules that the API server shows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkOtherNames } from "../../../src/cli/check/check-other-names.ts";
import { neededRights } from "../../../src/cli/rights/needed-rights.ts";
import { readConfig } from "../../../src/controller/settings/config.ts";
import { checkedServer, forbidden } from "../../support/cli/checked-server.ts";

const { signal } = new AbortController();
const around = { env: {}, clusterNamespace: "secretcast", terminal: false };
const needed = neededRights(readConfig({ "only-names": "registry" }, around));
const REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";

const rule = (resource: string, ...resourceNames: readonly string[]) => ({
  verbs: ["get"],
  apiGroups: [""],
  resources: [resource],
  resourceNames,
});

test("names that are not among --only-names are one line for each resource (34)", async (t) => {
  const many = Array.from({ length: 8 }, (_, at) => `m${at}`);
  const resourceRules = [
    rule("secrets", "registry", "old"),
    rule("configmaps", "secretcast-sources", ...many),
    rule("pods", "other"),
    rule("secrets"),
  ];
  const status = { resourceRules, nonResourceRules: [], incomplete: false };
  const { client } = await checkedServer(t, (_, path) =>
    path === REVIEW ? [201, { kind: "SelfSubjectRulesReview", status }] : undefined,
  );
  const findings = await checkOtherNames(client, needed, signal);
  const wide = neededRights(readConfig({ "source-list": "" }, around));
  const inWide = await checkOtherNames(client, wide, signal);
  assert.ok(!inWide.some(({ check }) => check.includes("secrets/")), "every Secret is read there");
  assert.deepEqual(
    findings.map(({ state, check }) => `${state} ${check}`),
    ["warning too wide: secrets/old", "warning too wide: configmaps/m0,m1,m2,m3,m4 and 3 more"],
  );
});

test("an API server that does not list rules names nothing (34)", async (t) => {
  for (const answer of [
    forbidden("create", "selfsubjectrulesreviews"),
    [404, { kind: "Status", code: 404, reason: "NotFound" }],
    [201, { kind: "SelfSubjectRulesReview" }],
    [201, { status: { resourceRules: [{ verbs: 1, resources: ["secrets"] }, "x"] } }],
  ] as const) {
    const { client } = await checkedServer(t, (_, path) =>
      path === REVIEW ? [answer[0], answer[1]] : undefined,
    );
    assert.deepEqual(await checkOtherNames(client, needed, signal), []);
  }
});
