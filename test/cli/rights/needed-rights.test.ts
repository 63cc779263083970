// The list of needed rights is what the manifests grant: neither asks for what the other does not.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadYaml, type V1ClusterRole } from "@kubernetes/client-node";
import { neededRights, rightText } from "../../../src/cli/rights/needed-rights.ts";
import { readConfig, type FlagValues } from "../../../src/controller/settings/config.ts";

function texts(flags: FlagValues): readonly string[] {
  const around = { env: {}, clusterNamespace: "secretcast", terminal: false };
  return neededRights(readConfig(flags, around)).map(rightText);
}

/** What a file of the manifests grants, in the words of rightText; `where` ends each. */
function granted(file: string, where: (resource: string) => string): readonly string[] {
  const text = readFileSync(new URL(`../../../manifests/${file}`, import.meta.url), "utf8");
  return (loadYaml<V1ClusterRole>(text).rules ?? []).flatMap(
    ({ apiGroups = [], resources = [], verbs, resourceNames = [""] }) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          resourceNames.map((name) => {
            const group = apiGroups[0] ? `.${apiGroups[0]}` : "";
            return `${verb} ${resource}${group}${name && `/${name}`}${where(resource)}`;
          }),
        ),
      ),
  );
}

test("without flags the rights are those of the ClusterRole and the Role", () => {
  const everywhere = (resource: string): string =>
    resource === "namespaces" ? "" : " in every namespace";
  const all = [
    ...granted("clusterrole.yaml", everywhere),
    ...granted("role.yaml", () => " in secretcast"),
  ];
  assert.deepEqual(texts({}).toSorted(), all.toSorted());
});

test("each listed namespace has the rights of its Role, and its source is only read", () => {
  const rights = texts({ namespaces: "team-a,team-b", "leader-elect": false, "source-list": "" });
  const inEach = ["team-a", "team-b"].flatMap((name) => [
    ...granted("namespace-rights/role.yaml", () => ` in ${name}`),
    `get namespaces/${name} in ${name}`,
  ]);
  const ofSource = [
    ...["get", "list", "watch"].map((verb) => `${verb} secrets in secretcast`),
    "get namespaces/secretcast in secretcast",
    ...["create", "patch"].map((verb) => `${verb} events.events.k8s.io in secretcast`),
  ];
  const better = ["list", "watch"].map((verb) => `${verb} namespaces/team-a,team-b,secretcast`);
  assert.deepEqual(rights.toSorted(), [...inEach, ...ofSource, ...better].toSorted());
});

test("without Events and without a list of Namespaces the controller works in listed namespaces", () => {
  const around = { env: {}, clusterNamespace: "secretcast", terminal: false };
  const optional = (flags: FlagValues): readonly string[] =>
    neededRights(readConfig(flags, around))
      .filter(({ without }) => without !== undefined)
      .map(rightText);
  assert.deepEqual(optional({}), []);
  assert.deepEqual(optional({ namespaces: "team-a", "source-namespaces": "team-a" }), [
    "create events.events.k8s.io in team-a",
    "patch events.events.k8s.io in team-a",
    "list namespaces/team-a",
    "watch namespaces/team-a",
    "create events.events.k8s.io in secretcast",
    "patch events.events.k8s.io in secretcast",
  ]);
});

test("by name, each right on Secrets but create is limited to the names", () => {
  const rights = texts({ "only-names": "registry,ca" }).filter((text) => text.includes("secrets"));
  assert.deepEqual(rights, [
    ...["get", "list", "watch"].map((verb) => `${verb} secrets/registry,ca in every namespace`),
    "create secrets in every namespace",
    ...["patch", "delete"].map((verb) => `${verb} secrets/registry,ca in every namespace`),
  ]);
});

test("many names are shown in part", () => {
  const names = Array.from({ length: 50 }, (_, at) => `n${at}`).join(",");
  const [first] = texts({ "only-names": names });
  assert.equal(first, "get secrets/n0,n1,n2,n3,n4 and 45 more in every namespace");
});

test("a dry run needs no right to write: no Secret, no Event, no Lease", () => {
  for (const flags of [{}, { namespaces: "team-a" }, { "only-names": "registry" }])
    for (const right of texts({ ...flags, "dry-run": true }))
      assert.match(right, /^(get|list|watch) (secrets|namespaces|configmaps)/);
});

test("each kind that takes part needs the same rights as Secrets", () => {
  const around = { env: {}, clusterNamespace: "secretcast", terminal: false };
  for (const flags of [{}, { namespaces: "team-a" }]) {
    const config = { ...readConfig({ ...flags, "source-list": "" }, around) };
    const rights = neededRights({ ...config, kinds: ["Secret", "ConfigMap"] }).map(rightText);
    const of = (resource: string) =>
      rights.filter((text) => text.includes(resource)).map((text) => text.replace(resource, "it"));
    assert.ok(of("configmaps").length >= 6);
    assert.deepEqual(of("configmaps"), of("secrets"));
  }
});

test("without a source list no right on ConfigMaps is asked for", () => {
  assert.ok(texts({}).includes("watch configmaps/secretcast-sources in secretcast"));
  assert.ok(!texts({ "source-list": "" }).some((text) => text.includes("configmaps")));
});

test("rights without election include none on Leases", () => {
  assert.ok(!texts({ "leader-elect": false }).some((text) => text.includes("leases")));
  const other = texts({ "lease-name": "mine", "lease-namespace": "kube-ops" });
  assert.ok(other.includes("update leases.coordination.k8s.io/mine in kube-ops"));
});

test("Events on the Lease and the source list need rights where namespaces are listed", () => {
  const served = { namespaces: "team-a", "source-namespaces": "shared" };
  const events = (flags: FlagValues): readonly string[] =>
    texts({ ...served, ...flags }).filter((text) => text.startsWith("create events"));
  const create = (namespace: string): string => `create events.events.k8s.io in ${namespace}`;
  const inServed = [create("team-a"), create("shared")];
  assert.deepEqual(events({}), [...inServed, create("secretcast")]);
  assert.deepEqual(events({ "lease-namespace": "team-a", "source-list": "" }), inServed);
  assert.deepEqual(events({ "lease-namespace": "kube-ops" }), [
    ...inServed,
    create("kube-ops"),
    create("secretcast"),
  ]);
});
