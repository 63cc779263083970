import assert from "node:assert/strict";
import { test } from "node:test";
import { checkRights, type CheckedAccount } from "../../../src/cli/check/check-rights.ts";
import { rightsOfUser } from "../../../src/cli/check/whose-rights.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { neededRights, rightText } from "../../../src/cli/rights/needed-rights.ts";
import { checkCode } from "../../../src/cli/check/finding.ts";
import { readConfig } from "../../../src/controller/settings/config.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { checkedServer, forbidden } from "../../support/cli/checked-server.ts";

const around = { env: {}, clusterNamespace: "secretcast", terminal: false };
const rights = neededRights(readConfig({}, around));
const { signal } = new AbortController();
const asked = (client: ApiClient): CheckedAccount => {
  const unasked = "let this user create selfsubjectaccessreviews, as system:basic-user does";
  return { rightsOf: rightsOfUser(client), yours: undefined, unasked, guessed: false };
};
const REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

test("each right is one line with its purpose, in the order of the list", async (t) => {
  const { client, sandbox } = await checkedServer(t);
  const findings = await checkRights(asked(client), rights, signal);
  assert.deepEqual(
    findings.map(({ check, state }) => `${state} ${check}`),
    rights.map((right) => `ok ${rightText(right)}`),
  );
  assert.ok(findings.every(({ says }) => says !== ""));
  assert.equal(checkCode(findings), 0);
  assert.equal(sandbox.requests.length, rights.length);
});

test("a right that is missing is named, with what to apply", async (t) => {
  const no = { kind: "SelfSubjectAccessReview", status: { allowed: false } };
  const { client } = await checkedServer(t, (_, path) => (path === REVIEW ? [201, no] : undefined));
  const findings = await checkRights(asked(client), rights, signal);
  assert.ok(findings.every(({ state }) => state === "missing"));
  assert.notEqual(checkCode(findings), 0);
  const reported = new Map(findings.map(({ check, advice }) => [check, advice]));
  assert.match(
    reported.get("patch secrets in every namespace") ?? "",
    /manifests\/clusterrole\.yaml/,
  );
  assert.match(
    reported.get("update leases.coordination.k8s.io/secretcast in secretcast") ?? "",
    /role\.yaml in secretcast, with secretcast among its resourceNames/,
  );
  const listed = readConfig({ namespaces: "team-a" }, around);
  const each = await checkRights(asked(client), neededRights(listed), signal);
  const advices = new Map(each.map(({ check, advice }) => [check, advice]));
  assert.equal(
    advices.get("create secrets in team-a"),
    "kubectl apply -n team-a -k manifests/namespace-rights",
  );
  assert.match(advices.get("get namespaces/team-a in team-a") ?? "", /`secretcast rights` prints/);
  const maps = { "config-maps": true };
  for (const [flags, check, what] of [
    [maps, "create configmaps in every namespace", "components/config-maps"],
    [
      { ...maps, namespaces: "team-a" },
      "create configmaps in team-a",
      "namespace-rights/config-maps",
    ],
  ] as const) {
    const ofMaps = await checkRights(
      asked(client),
      neededRights(readConfig(flags, around)),
      signal,
    );
    const advice = ofMaps.find((one) => one.check === check)?.advice ?? "";
    assert.ok(advice.includes(`manifests/${what}`), advice);
  }
});

test("of several names, the one without the right is named", async () => {
  const named = neededRights(readConfig({ "only-names": "registry,db,wildcard-tls" }, around));
  const account: CheckedAccount = {
    rightsOf: ({ name }) => Promise.resolve(name !== "wildcard-tls"),
    yours: undefined,
    unasked: "",
    guessed: false,
  };
  const findings = await checkRights(account, named, signal);
  const missing = findings.filter(({ state }) => state === "missing");
  assert.ok(missing.length > 0);
  for (const { says } of missing) assert.match(says, /^no right to the name wildcard-tls: /);
});

test("a right that may not be asked for makes the whole unknown", async (t) => {
  const { client } = await checkedServer(t, (_, path) =>
    path === REVIEW ? forbidden("create", "selfsubjectaccessreviews") : undefined,
  );
  const findings = await checkRights(asked(client), rights.slice(0, 1), signal);
  assert.deepEqual(
    findings.map(({ state, says }) => `${state}: ${says}`),
    ["unknown: it could not be asked: no right to create selfsubjectaccessreviews"],
  );
  assert.notEqual(checkCode(findings), 0);
});

test("who is not known to the server is reported, and nothing is guessed", async (t) => {
  const body = { kind: "Status", code: 401, reason: "Unauthorized", message: "Unauthorized" };
  const { client } = await checkedServer(t, () => [401, body]);
  await assert.rejects(
    checkRights(asked(client), rights, signal),
    (error) => error instanceof ApiError && error.kind === "unauthorized",
  );
});

test("a right that is not granted is unknown where the settings are guessed", async (t) => {
  const no = { kind: "SelfSubjectAccessReview", status: { allowed: false } };
  const { client } = await checkedServer(t, (_, path) => (path === REVIEW ? [201, no] : undefined));
  const findings = await checkRights({ ...asked(client), guessed: true }, rights, signal);
  assert.ok(findings.every(({ state }) => state === "unknown"));
  assert.ok(findings.every(({ advice }) => !/ClusterRole|kubectl apply/.test(advice ?? "")));
  assert.notEqual(checkCode(findings), 0);
});
