import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { loadAllYaml, type KubernetesObject } from "@kubernetes/client-node";
import { ADMISSION_COMPONENTS, checkAdmission } from "../../../src/cli/check/check-admission.ts";
import type { Json } from "../../../src/sandbox/storage/object.ts";
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

test("every policy of the manifests is known to the check, and names the version of the package", () => {
  const policies = shipped();
  assert.deepEqual(
    policies.map(({ kind, metadata }) => `${kind} ${metadata?.name}`).toSorted(),
    ADMISSION_COMPONENTS.map(
      ({ name, resource }) => `${resource.kind} secretcast-${name}`,
    ).toSorted(),
  );
  for (const { metadata } of policies)
    assert.equal(metadata?.labels?.["app.kubernetes.io/version"], version, metadata?.name);
});

test("what is installed is told, of this version or of another", async (t) => {
  const policy = (name: string, labels: Json) => ({ metadata: { name, labels } });
  const { client } = await checkedServer(
    t,
    listing([
      policy("secretcast-guardrail", { "app.kubernetes.io/version": version }),
      policy("mine-secretcast-tenant-guard", { "app.kubernetes.io/version": "0.0.9" }),
      policy("others", {}),
    ]),
  );
  const findings = await checkAdmission(client, version, signal);
  assert.deepEqual(
    findings.map(({ check, state, says }) => `${check} ${state}: ${says}`),
    [
      `guardrail ok: secretcast-guardrail is of this version, ${version}`,
      `tenant-guard warning: mine-secretcast-tenant-guard is of 0.0.9, this program of ${version}`,
      "early-check ok: not installed: what is wrong with a source is reported by Events, not at kubectl apply",
      "pull-secrets ok: not installed: Pods name their registry credential themselves",
    ],
  );
  assert.match(findings[1]?.advice ?? "", /manifests\/components\/tenant-guard/);
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
