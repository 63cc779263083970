// Rights of the controller's account that the flags do not need: each resource is one line, with what to do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkWidth } from "../../../src/cli/check/check-width.ts";
import { checkCode } from "../../../src/cli/check/finding.ts";
import type { RightsOf } from "../../../src/cli/check/whose-rights.ts";
import { neededRights } from "../../../src/cli/rights/needed-rights.ts";
import { readConfig, type FlagValues } from "../../../src/controller/settings/config.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";

const { signal } = new AbortController();
const around = { env: {}, clusterNamespace: "secretcast", terminal: false };
const neededFor = (flags: FlagValues) => neededRights(readConfig(flags, around));

/** `VERB RESOURCE` in every namespace, or `VERB RESOURCE in NAMESPACE`. */
function account(...granted: readonly string[]) {
  const asked: string[] = [];
  const rightsOf: RightsOf = ({ verb, group = "", resource, subresource, namespace }) => {
    const path = subresource === undefined ? resource : `${resource}/${subresource}`;
    const what = `${verb} ${path}${group && `.${group}`}`;
    asked.push(`${what} in ${namespace ?? "*"}`);
    const places = namespace === undefined ? [what] : [what, `${what} in ${namespace}`];
    return Promise.resolve(places.some((each) => granted.includes(each)));
  };
  return { rightsOf, asked };
}

async function tooWide(
  flags: FlagValues,
  ...granted: readonly string[]
): Promise<readonly string[]> {
  const findings = await checkWidth(account(...granted).rightsOf, neededFor(flags), signal);
  for (const { state, area, advice } of findings) {
    assert.deepEqual([area, state], ["right", "warning"]);
    assert.match(advice ?? "", /`secretcast rights` prints/);
  }
  assert.equal(checkCode(findings), 0, "too wide is not missing");
  return findings.map(({ check }) => check);
}

const SECRETS = ["get", "list", "watch", "create", "patch", "delete"].map(
  (verb) => `${verb} secrets`,
);

test("rights on all Secrets are too wide for listed names, and right without the flag", async () => {
  assert.deepEqual(await tooWide({}, ...SECRETS), []);
  assert.deepEqual(await tooWide({ "only-names": "registry" }, ...SECRETS), [
    "too wide: get, list, watch, patch, delete secrets in all namespaces",
  ]);
});

test("rights in every namespace are too wide for listed namespaces, said once", async () => {
  const flags = { namespaces: "team-a,team-b" };
  assert.deepEqual(await tooWide(flags, ...SECRETS), [
    "too wide: get, list, watch, create, patch, delete secrets in all namespaces",
  ]);
  const inEach = ["team-a", "team-b"].flatMap((name) =>
    SECRETS.map((right) => `${right} in ${name}`),
  );
  assert.deepEqual(await tooWide(flags, ...inEach), []);
  assert.deepEqual(await tooWide({ ...flags, "only-names": "registry" }, ...inEach), [
    "too wide: get, list, watch, patch, delete secrets in team-a and 1 more",
  ]);
});

test("verbs that no flag needs, and writes where copies are only read, are too wide", async () => {
  assert.deepEqual(await tooWide({}, ...SECRETS, "update secrets", "deletecollection secrets"), [
    "too wide: update, deletecollection secrets in all namespaces",
  ]);
  const flags = { namespaces: "team-a", "source-namespaces": "shared" };
  assert.deepEqual(await tooWide(flags, "get secrets in shared", "delete secrets in shared"), [
    "too wide: delete secrets in shared",
  ]);
  assert.deepEqual(await tooWide({ "dry-run": true }, ...SECRETS), [
    "too wide: create, patch, delete secrets in all namespaces",
  ]);
});

test("ConfigMaps without --config-maps are too wide", async () => {
  assert.deepEqual(await tooWide({}, "list configmaps"), [
    "too wide: list configmaps in all namespaces",
  ]);
  assert.deepEqual(await tooWide({ "config-maps": true }, "list configmaps"), []);
});

test("rights that lead to others are named, by their subresource and group", async () => {
  assert.deepEqual(
    await tooWide(
      { namespaces: "team-a", "source-namespaces": "team-a", "source-list": "" },
      "create pods in team-a",
      "create serviceaccounts/token in team-a",
      "create rolebindings.rbac.authorization.k8s.io in team-a",
    ),
    [
      "too wide: create pods in team-a",
      "too wide: create serviceaccounts/token in team-a",
      "too wide: create rolebindings.rbac.authorization.k8s.io in team-a",
    ],
  );
});

test("cluster-admin is one line, and nothing else is asked", async () => {
  const { rightsOf, asked } = account("* *.*");
  const findings = await checkWidth(rightsOf, neededFor({}), signal);
  assert.deepEqual(
    findings.map(({ check }) => check),
    ["too wide: every right in the cluster"],
  );
  assert.equal(asked.length, 1);
});

test("the number of questions has a bound, however many namespaces are listed", async () => {
  const namespaces = Array.from({ length: 300 }, (_, at) => `team-${at}`).join(",");
  const { rightsOf, asked } = account();
  await checkWidth(rightsOf, neededFor({ namespaces }), signal);
  assert.ok(asked.length <= 26 + 100 * 25, `${asked.length}`);
});

test("a review that is refused names nothing, and an authentication that fails is an error", async () => {
  const failing = (status: number, kind: "forbidden" | "unauthorized"): RightsOf => {
    return () =>
      Promise.reject(new ApiError("no", { kind, status, reason: kind, retryAfterMs: undefined }));
  };
  assert.deepEqual(await checkWidth(failing(403, "forbidden"), neededFor({}), signal), []);
  await assert.rejects(checkWidth(failing(401, "unauthorized"), neededFor({}), signal));
});
