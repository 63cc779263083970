// The rights that the chart renders are those of the table, for any values: no more and no fewer.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { grantsOf, neededGrants, type RbacManifest } from "../support/kube/rbac.ts";
import { Helm, helmMissing, objectsIn, readable, setJson } from "../support/programs/helm.ts";

const CHART = fileURLToPath(new URL("../../manifests/chart", import.meta.url));
const options = { skip: helmMissing() ?? false };
const around = { env: {}, clusterNamespace: "secretcast", terminal: false };
const IN = ["-n", "secretcast", "--kube-version", "1.36.0"];

let helm: Helm;
before(() => {
  helm = new Helm("/nowhere");
});
after(() => helm.close());

function rendered(values: object): readonly RbacManifest[] {
  return objectsIn(
    helm.run("template", "secretcast", CHART, ...IN, ...readable(...setJson(values))),
  ) as readonly RbacManifest[];
}

type Case = readonly [values: object, words: readonly string[], clusterRole?: boolean];
const LISTED = {
  namespaces: ["team-a", "team-b"],
  "source-namespaces": ["shared", "team-a", "ci-*"],
};
const LISTED_WORDS = ["--namespaces=team-a,team-b", "--source-namespaces=shared,team-a,ci-*"];
const NAMES = ["registry", "ca.bundle"];
const BY_NAME = "--only-names=registry,ca.bundle";
const NO_CLUSTER_ROLE = { rbac: { clusterRole: false } };

const CASES: Readonly<Record<string, Case>> = {
  defaults: [{}, []],
  ConfigMaps: [{ configMaps: true }, ["--config-maps"]],
  names: [{ onlyNames: NAMES }, [BY_NAME]],
  "names of ConfigMaps": [{ onlyNames: NAMES, configMaps: true }, [BY_NAME, "--config-maps"]],
  "listed namespaces": [{ flags: LISTED }, LISTED_WORDS],
  "names in listed namespaces": [
    { flags: LISTED, onlyNames: NAMES, configMaps: true },
    [...LISTED_WORDS, BY_NAME, "--config-maps"],
  ],
  "no ClusterRole": [{ flags: LISTED, ...NO_CLUSTER_ROLE }, LISTED_WORDS],
  "names without a ClusterRole": [
    { flags: LISTED, onlyNames: NAMES, ...NO_CLUSTER_ROLE },
    [...LISTED_WORDS, BY_NAME],
  ],
  "another Lease, another list": [
    { flags: { "lease-namespace": "ops", "lease-name": "mine", "source-list": "platform" } },
    ["--lease-namespace=ops", "--lease-name=mine", "--source-list=platform"],
  ],
  "a Lease elsewhere with listed namespaces": [
    { flags: { ...LISTED, "lease-namespace": "ops" } },
    [...LISTED_WORDS, "--lease-namespace=ops"],
  ],
  "no list and no election": [
    { replicaCount: 1, flags: { "source-list": "", "leader-elect": false } },
    ["--source-list=", "--no-leader-elect"],
  ],
  "a dry run": [{ configMaps: true, flags: { "dry-run": true } }, ["--config-maps", "--dry-run"]],
  "a dry run in listed namespaces": [
    { flags: { ...LISTED, "dry-run": true } },
    [...LISTED_WORDS, "--dry-run"],
  ],
};

for (const [what, [values, words]] of Object.entries(CASES))
  test(`the chart grants what the table says, no more and no fewer: ${what}`, options, () => {
    const clusterRole = !("rbac" in values);
    assert.deepEqual(grantsOf(rendered(values)), neededGrants(words, around, clusterRole));
  });

test("with rbac.clusterRole: false nothing that is rendered is cluster-scoped", options, () => {
  const flags = { namespaces: ["team-a", "team-b", "team-c"] };
  const values = { ...NO_CLUSTER_ROLE, flags, onlyNames: NAMES, configMaps: true };
  const objects = rendered(values);
  assert.ok(objects.length > 8);
  for (const { kind, metadata } of objects)
    assert.ok(metadata.namespace !== undefined, `${kind} ${metadata.name}`);
});

const GUARDS = [
  "guardrail",
  "tenantGuard",
  "leasePriority",
  "readerRoles",
  "earlyCheck",
  "earlyCheckDeny",
  "pullSecrets",
];

test(
  "rbac.clusterRole: false with what is cluster-scoped is refused in a sentence",
  options,
  () => {
    const off = ["--set", "rbac.clusterRole=false"];
    const refused = (...more: readonly string[]): string => {
      const { code, stderr } = helm.try(
        "template",
        "secretcast",
        CHART,
        ...IN,
        ...off,
        ...readable(...more),
      );
      assert.equal(code, 1, more.join(" "));
      return stderr;
    };
    assert.match(refused(), /rbac.clusterRole is false, but flags.namespaces names no namespace/);
    for (const guard of GUARDS)
      assert.match(
        refused("--set", "flags.namespaces={team-a}", "--set", `${guard}=true`),
        new RegExp(
          `rbac.clusterRole is false, but ${guard} needs a cluster-scoped object: set ${guard}`,
        ),
      );
  },
);

test("onlyNames turns the guardrail on, and an explicit value wins", options, () => {
  const kinds = (values: object): readonly string[] => rendered(values).map(({ kind }) => kind);
  const has = (values: object): boolean => kinds(values).includes("ValidatingAdmissionPolicy");
  assert.equal(has({}), false);
  assert.equal(has({ onlyNames: NAMES }), true);
  assert.equal(has({ onlyNames: NAMES, guardrail: false }), false);
  assert.equal(has({ guardrail: true }), true);
});

test("invalid names are refused by the schema", options, () => {
  for (const [value, says] of [
    ["onlyNames={reg*}", "'/onlyNames/0': 'reg*' does not match pattern"],
    ["onlyNames={a,a}", "'/onlyNames': items at 0 and 1 are equal"],
    ["onlyNames=registry", "'/onlyNames': got string, want array"],
    [
      `onlyNames={${Array.from({ length: 51 }, (_, at) => `n${at}`).join(",")}}`,
      "maxItems: got 51",
    ],
    ["rbac.clusterRoles=false", "additional properties 'clusterRoles' not allowed"],
  ] as const) {
    const { code, stderr } = helm.try("template", "secretcast", CHART, ...IN, "--set", value);
    assert.equal(code, 1, value);
    assert.ok(stderr.includes(says), stderr);
  }
});
