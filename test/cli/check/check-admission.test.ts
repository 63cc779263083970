import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { loadAllYaml, type KubernetesObject } from "@kubernetes/client-node";
import { ADMISSION_COMPONENTS, checkAdmission } from "../../../src/cli/check/check-admission.ts";
import type { Json } from "../../../packages/sandbox/storage/object.ts";
import { checkedServer, forbidden } from "../../support/cli/checked-server.ts";
import { readManifest } from "../../support/programs/packed-project.ts";

const { signal } = new AbortController();
const COMPONENTS = new URL("../../../manifests/components/", import.meta.url);
const { version } = readManifest();

/** The policies among the components of the manifests. */
function shipped(): readonly KubernetesObject[] {
  return readdirSync(COMPONENTS).flatMap((name) =>
    readdirSync(new URL(`${name}/`, COMPONENTS))
      .filter((file) => file !== "kustomization.yaml")
      .flatMap((file): readonly KubernetesObject[] =>
        loadAllYaml(readFileSync(new URL(`${name}/${file}`, COMPONENTS), "utf8")),
      )
      .filter(({ kind = "" }) => kind.endsWith("AdmissionPolicy")),
  );
}

function listing(policies: readonly Json[], resource = "validatingadmissionpolicies") {
  return (_: string, path: string): readonly [number, Json] =>
    path.endsWith(resource) ? [200, { kind: "List", items: policies }] : [200, { items: [] }];
}

test("check knows every policy of the manifests by the version of the package", () => {
  const policies = shipped();
  assert.deepEqual(
    policies.map(({ kind, metadata }) => `${kind} ${metadata?.name}`).toSorted(),
    ADMISSION_COMPONENTS.flatMap(({ name, policies: parts = [name], resource }) =>
      parts.map((part) => `${resource.kind} secretcast-${part}`),
    ).toSorted(),
  );
  for (const { metadata } of policies)
    assert.equal(metadata?.labels?.["app.kubernetes.io/version"], version, metadata?.name);
  for (const { name, policies: parts = [name], condition, unnamed } of ADMISSION_COMPONENTS)
    for (const part of parts) {
      const text = JSON.stringify(policies.find(({ metadata }) => metadata?.name?.endsWith(part)));
      assert.ok(text.includes(`"name":"${condition}"`), part);
      const account = "'system:serviceaccount:secretcast:secretcast'";
      if (unnamed) assert.ok(text.includes(account), part);
    }
});

test("what is installed is reported, of this version or of another", async (t) => {
  const policy = (name: string, labels: Json) => ({ metadata: { name, labels } });
  const { client } = await checkedServer(
    t,
    listing([
      policy("secretcast-guardrail-create", { "app.kubernetes.io/version": version }),
      policy("secretcast-guardrail", { "app.kubernetes.io/version": version }),
      policy("mine-secretcast-tenant-guard", { "app.kubernetes.io/version": "0.0.9" }),
      policy("others", {}),
    ]),
  );
  const findings = await checkAdmission(client, version, signal);
  assert.deepEqual(
    findings.map(({ check, state, says }) => `${check} ${state}: ${says}`),
    [
      `guardrail ok: secretcast-guardrail-create is of this version, ${version}`,
      `tenant-guard warning: mine-secretcast-tenant-guard is of 0.0.9, this program of ${version}`,
      "early-check ok: not installed: what is wrong with a source is reported by Events, not at kubectl apply",
      "pull-secrets ok: not installed: Pods name their registry credential themselves",
    ],
  );
  assert.match(findings[1]?.advice ?? "", /manifests\/components\/tenant-guard/);
});

const ACCOUNT = "system:serviceaccount:platform:acme-secretcast";

test("a guard is found under every name, and one that names another account is reported", async (t) => {
  const guard = (name: string, word: string, expression: string): Json => ({
    metadata: { name, labels: { "app.kubernetes.io/version": version } },
    spec: { matchConditions: [{ name: `${word}by-the-controller`, expression }] },
  });
  const guardrail = (account: string): readonly Json[] =>
    ["acme-guardrail-create-v2", "acme-guardrail-v2"].map((name) =>
      guard(name, "", `request.userInfo.username == '${account}'`),
    );
  const tenantGuard = (...accounts: readonly string[]): Json =>
    guard("acme-tenant-guard-v2", "not-", `!(username in ${JSON.stringify(accounts)})`);
  const other = "system:serviceaccount:secretcast:secretcast";
  const reported = async (policies: readonly Json[], onlyNames?: readonly string[]) => {
    const { client } = await checkedServer(t, listing(policies));
    const asked = { account: ACCOUNT, onlyNames };
    const [first, second] = await checkAdmission(client, version, signal, asked);
    return [first, second].map((one) => `${one?.check} ${one?.state}: ${one?.says}`);
  };
  const right = [
    `guardrail ok: acme-guardrail-create-v2 is of this version, ${version}`,
    `tenant-guard ok: acme-tenant-guard-v2 is of this version, ${version}`,
  ];
  assert.deepEqual(await reported([...guardrail(ACCOUNT), tenantGuard(ACCOUNT)]), right);
  // Another installation has a guardrail of its own, and excepts ours from its tenant guard.
  const two = [...guardrail(other), ...guardrail(ACCOUNT), tenantGuard(other, ACCOUNT)];
  assert.deepEqual(await reported(two), right);
  const wrong = [...guardrail(other), tenantGuard(ACCOUNT), tenantGuard(other)];
  assert.deepEqual(await reported(wrong), [
    `guardrail warning: acme-guardrail-create-v2 does not name ${ACCOUNT}: nothing but RBAC limits what the controller's account may write`,
    `tenant-guard warning: acme-tenant-guard-v2 does not name ${ACCOUNT}: the API server refuses its changes of copies`,
  ]);
  const [, only] = guardrail(ACCOUNT);
  const half = [...guardrail(other), ...(only === undefined ? [] : [only])];
  assert.match(
    (await reported(half))[0] ?? "",
    /^guardrail warning: there is no policy secretcast-guardrail-create beside acme-guardrail-v2/,
  );
  const [named] = await reported(guardrail(`${ACCOUNT}-2`), ["registry"]);
  assert.match(
    named ?? "",
    /^guardrail warning: .* can create a Secret of the type kubernetes\.io/,
  );
});

test("a server without such policies, and one that does not show them", async (t) => {
  const { client } = await checkedServer(t);
  assert.deepEqual(
    (await checkAdmission(client, version, signal)).map(({ state, says }) => `${state}: ${says}`),
    [
      "ok: not installed: this API server has no ValidatingAdmissionPolicy",
      "ok: not installed: this API server has no ValidatingAdmissionPolicy",
      "ok: not installed: this API server has no ValidatingAdmissionPolicy",
      "ok: not installed: this API server has no MutatingAdmissionPolicy",
    ],
  );
  const denied = await checkedServer(t, () => forbidden("list", "validatingadmissionpolicies"));
  const [first] = await checkAdmission(denied.client, version, signal);
  assert.equal(
    `${first?.state}: ${first?.says}`,
    "unknown: it could not be seen: no right to list validatingadmissionpolicies",
  );
});
