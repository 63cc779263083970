// The chart with every combination of values that matters: Helm's linter has nothing to say against it,
// and an API server takes all that it renders, without a warning, as a dry run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { loadYaml } from "@kubernetes/client-node";
import { valuesSchema, type Schema } from "../../tools/chart-docs.ts";
import { tryKubectl } from "../support/api-server/kubectl.ts";
import { ownCluster } from "../support/api-server/cluster.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import { since } from "../support/api-server/kubernetes-version.ts";
import { COMPONENTS, TOGETHER } from "../support/documents/components.ts";
import { MONITORING_CRDS } from "../support/documents/monitoring-crds.ts";
import { Helm, helmMissing, objectsIn, readable, setJson } from "../support/programs/helm.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const CHART = fileURLToPath(new URL("../../manifests/chart", import.meta.url));
const HOME = "secretcast";
const MISSING = helmMissing() ?? false;
const SCRAPING = {
  enabled: true,
  interval: "1m30s",
  scrapeTimeout: "10s",
  honorLabels: true,
  relabelings: [{ sourceLabels: ["__meta_kubernetes_pod_node_name"], targetLabel: "node" }],
  metricRelabelings: [{ action: "drop", sourceLabels: ["__name__"], regex: "nodejs_.*" }],
};
const MONITORING = {
  podMonitor: SCRAPING,
  prometheusRule: { enabled: true },
  grafanaDashboard: {
    enabled: true,
    sidecarLabel: "dashboards",
    sidecarLabelValue: "yes",
    annotations: { grafana_folder: "Platform" },
  },
};
const ENTRY = { secret: "cert-manager/wildcard", to: ["*", "!legacy-*"], keys: "tls.crt" };
const PROBE = {
  initialDelaySeconds: 7,
  periodSeconds: 60,
  timeoutSeconds: null,
  failureThreshold: 4,
};
const POD = {
  imagePullSecrets: [{ name: "registry" }],
  image: {
    registry: "example.com:5000",
    repository: "a/secretcast",
    tag: "1",
    digest: `sha256:${"0".repeat(64)}`,
    pullPolicy: "Always",
  },
  podAnnotations: { "example.com/a": "b" },
  podLabels: { "example.com/a": "b" },
  commonLabels: { "example.com/team": "platform" },
  nodeSelector: { "kubernetes.io/os": "linux" },
  tolerations: [{ key: "control-plane", operator: "Exists", effect: "NoSchedule" }],
  affinity: { nodeAffinity: {} },
  priorityClassName: "system-cluster-critical",
  resources: { requests: { cpu: "100m" } },
  deploymentAnnotations: { "example.com/c": "d" },
  commonAnnotations: { "example.com/e": "f" },
  topologySpreadConstraints: [],
  podDisruptionBudget: { enabled: false },
  schedulerName: "other",
  runtimeClassName: "sandboxed",
  dnsPolicy: "Default",
  extraEnv: [{ name: "HTTPS_PROXY", value: "http://proxy.example.com:3128" }],
  extraVolumes: [{ name: "ca", configMap: { name: "kube-root-ca.crt" } }],
  extraVolumeMounts: [{ name: "ca", mountPath: "/ca", readOnly: true }],
  extraArgs: { "new-flag": "x" },
  revisionHistoryLimit: 0,
  dnsConfig: { options: [{ name: "ndots", value: "1" }] },
  hostAliases: [{ ip: "10.0.0.1", hostnames: ["registry.example.com"] }],
  livenessProbe: PROBE,
  readinessProbe: PROBE,
  terminationGracePeriodSeconds: 90,
  extraContainers: [restricted("beside")],
  extraInitContainers: [restricted("before")],
  podSpecExtra: { hostUsers: false, shareProcessNamespace: true },
};

/** A container that Pod Security "restricted" lets in. */
function restricted(name: string): object {
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };
  return { name, image: "example.com/a:1", securityContext };
}

type Case = {
  readonly values: object;
  readonly release?: string;
  /** The least minor version of Kubernetes that has what it needs. */
  readonly since?: number;
};

/** `a.b=c`, as --set takes it, as values. */
function valuesOf(setting: string): object {
  const [path = "", value = ""] = setting.split("=");
  const [, item] = /^\{(.*)\}$/.exec(value) ?? [];
  const text = item === undefined ? value : [item];
  const parsed: unknown = value === "true" || value === "false" ? value === "true" : text;
  return path
    .split(".")
    .reduceRight<object>(
      (inner, key, at, all) => ({ [key]: at === all.length - 1 ? parsed : inner }),
      {},
    );
}

const NEEDS = new Map([["pull-secrets", 36]]);
const needing = (name: string) => ({ since: NEEDS.get(name) ?? 0 });
const all = Object.assign({}, ...TOGETHER.map(({ setting }) => valuesOf(setting)));
const { pullSecrets: _, ...olderAll } = all;
const LISTED = { flags: { namespaces: ["team-a", "team-b"] } };

const CASES: Readonly<Record<string, Case>> = {
  "the defaults and every Secret": { values: { allSecrets: true } },
  ...Object.fromEntries(
    COMPONENTS.filter(({ setting }) => !setting.startsWith("flags.")).map(({ name, setting }) => [
      `${name} alone`,
      { values: valuesOf(setting), ...needing(name) },
    ]),
  ),
  ...Object.fromEntries(
    [...Object.keys(MONITORING), "serviceMonitor"].map((value) => [
      `${value} alone`,
      { values: { [value]: { enabled: true } } },
    ]),
  ),
  everything: { values: { ...all, ...MONITORING, sources: { a: ENTRY } }, since: 36 },
  "everything but pull-secrets": { values: { ...olderAll, ...MONITORING, ...POD } },
  "everything under a long name": {
    values: { ...olderAll, ...MONITORING },
    release: "a".repeat(53),
  },
  "a full name of 63 characters": {
    values: { ...olderAll, ...MONITORING, fullnameOverride: "b".repeat(63) },
  },
  "another name in names": { values: { ...olderAll, nameOverride: "caster" }, release: "two" },
  "one replica without an election": {
    values: { replicaCount: 1, flags: { "leader-elect": false } },
  },
  "no replica": { values: { replicaCount: 0 } },
  "listed namespaces": { values: LISTED },
  "names, with every guard": { values: { ...olderAll, onlyNames: ["registry", "on", "1000"] } },
  "listed namespaces without a ClusterRole": {
    values: { ...LISTED, rbac: { clusterRole: false }, onlyNames: ["registry"] },
  },
  "listed namespaces, ConfigMaps and every guard": { values: { ...olderAll, ...LISTED } },
  "a Lease elsewhere and a list of another name": {
    values: {
      flags: { "lease-namespace": "team-a", "lease-name": "mine", "source-list": "platform" },
      sources: { a: ENTRY, "b.c": { secret: "a/b", "allow-selector": "tier in (ci)" } },
    },
  },
  "names and keys that YAML could take for something else": {
    values: {
      flags: { "lease-name": "31", "source-list": "1000" },
      sources: { on: ENTRY, yes: ENTRY, "31": ENTRY, "1000": ENTRY, "1e3": ENTRY },
      podLabels: { on: "1" },
      podAnnotations: { "1000": "yes" },
      nodeSelector: { yes: "on" },
      commonLabels: { y: "1" },
      leasePriority: true,
    },
  },
  "no source list": { values: { flags: { "source-list": "" } } },
  "another port": {
    values: {
      flags: { "http-address": "0.0.0.0:9090" },
      networkPolicy: {
        enabled: true,
        apiServerPorts: [8443],
        from: [{ ipBlock: { cidr: "10.0.0.0/8" } }],
      },
      serviceMonitor: SCRAPING,
      monitoringLabels: { release: "prometheus" },
    },
  },
  "part of another chart, in a namespace of its own": {
    values: {
      ...olderAll,
      ...MONITORING,
      global: { imageRegistry: "example.com", imagePullSecrets: ["parent"] },
      enabled: false,
      namespaceOverride: "team-b",
    },
  },
  "an account and rights that exist already": {
    values: {
      serviceAccount: { create: false, name: "existing" },
      rbac: { create: false },
      guardrail: true,
      tenantGuard: true,
      leasePriority: true,
    },
  },
  "an account for a cloud, users by number and no surge": {
    values: {
      serviceAccount: { name: "existing", annotations: { "example.com/role": "a" } },
      podSecurityContext: { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
      securityContext: { runAsUser: 1001 },
      updateStrategy: { type: "Recreate" },
      podDisruptionBudget: { minAvailable: "50%" },
      topologySpreadConstraints: [
        { maxSkew: 2, topologyKey: "example.com/rack", whenUnsatisfiable: "DoNotSchedule" },
      ],
    },
  },
  "a rolling update by share, and a budget by share": {
    values: {
      updateStrategy: { rollingUpdate: { maxSurge: "100%", maxUnavailable: "50%" } },
      podDisruptionBudget: { maxUnavailable: "50%" },
    },
  },
  "objects of one's own, as YAML and as text": {
    values: {
      extraObjects: [
        {
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: "{{ .Release.Name }}-own", namespace: "{{ .Release.Namespace }}" },
          data: { replicas: "{{ .Values.replicaCount }}" },
        },
        `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ include "secretcast.fullname" . }}-text\n`,
      ],
    },
  },
  "tenants' users and chosen namespaces": {
    values: {
      tenantGuard: true,
      tenantGuardUsers: ["system:serviceaccount:other:other"],
      pullSecrets: true,
      pullSecretNames: ["a", "b"],
      pullSecretNamespaces: { matchLabels: { tier: "prod" } },
    },
    since: 36,
  },
};

const ACCOUNTS = [
  HOME,
  "existing",
  "two-caster",
  "b".repeat(63),
  `${"a".repeat(53)}-secretcast`.slice(0, 63),
];

// A Deployment is only warned of what its Pods would violate.
const RESTRICTED = {
  "pod-security.kubernetes.io/enforce": "restricted",
  "pod-security.kubernetes.io/warn": "restricted",
};

let cluster: Awaited<ReturnType<typeof ownCluster>>;
let helm: Helm;
before(async () => {
  cluster = await ownCluster();
  helm = new Helm(cluster.kubeconfig);
  const wanted = [
    ...[HOME, "team-a", "team-b"].map((name) => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels: RESTRICTED },
    })),
    {
      apiVersion: "node.k8s.io/v1",
      kind: "RuntimeClass",
      metadata: { name: "sandboxed" },
      handler: "runsc",
    },
    // The Pod of `helm test` is judged with the account that it asks for, as if the release were there.
    ...[HOME, "team-b"].flatMap((namespace) =>
      ACCOUNTS.map((name) => ({
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name, namespace },
      })),
    ),
    ...MONITORING_CRDS,
  ];
  for (const object of wanted) assert.equal(kubectl(object, "apply", "-f", "-"), "");
  await eventually("the monitors are kinds", () =>
    kubectl({}, "get", "servicemonitors,podmonitors,prometheusrules").startsWith("No resources"),
  );
});
after(async () => {
  helm.close();
  await cluster.stop();
});

/** What it has to say against the object on its standard input, if anything. */
function kubectl(input: object, ...words: readonly string[]): string {
  return tryKubectl(cluster.kubeconfig, words, JSON.stringify(input)).stderr;
}

for (const [name, { values, release = HOME, since: minor = 0 }] of Object.entries(CASES)) {
  const { skip } = since(minor, "MutatingAdmissionPolicy v1");
  test(
    `${name}: linted, and taken by the API server without a warning`,
    { skip: MISSING || skip },
    () => {
      const given = readable(...setJson(values));
      const lint = helm.run("lint", "--strict", CHART, "--namespace", HOME, ...given, ...OF_NOW);
      assert.match(lint, /1 chart\(s\) linted, 0 chart\(s\) failed/);
      const rendered = helm.run("template", release, CHART, "-n", HOME, ...OF_NOW, ...given);
      const items = objectsIn(rendered);
      assert.ok(items.length >= 7);
      const list = { apiVersion: "v1", kind: "List", items };
      const dryRun = ["apply", "--dry-run=server", "--validate=strict", "-f", "-"];
      assert.equal(kubectl(list, ...dryRun), "");
    },
  );
}

test("each value of the chart is changed by one of these cases", () => {
  const schema = valuesSchema();
  const defaults = loadYaml<object>(readFileSync(`${CHART}/values.yaml`, "utf8"));
  const named = pathsOf(schema).filter(
    (path) =>
      !Object.values(CASES).some(({ values }) => {
        const given = field(values, ...path.split("."));
        return (
          given !== undefined && !isDeepStrictEqual(given, field(defaults, ...path.split(".")))
        );
      }),
  );
  assert.deepEqual(named, []);
  assert.ok(pathsOf(schema).length > 70);
});

/** Every value by its path. Flags are those of the program. */
function pathsOf({ properties = {} }: Schema, before = ""): readonly string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const deeper = name === "flags" ? [] : pathsOf(schema, `${before}${name}.`);
    const isPlain = deeper.length === 0 || name === "pullSecretNamespaces";
    return isPlain ? [`${before}${name}`] : deeper;
  });
}

// Without a cluster to ask, Helm takes a version of its own.
const OF_NOW = ["--kube-version", `1.${since(36, "").skip === false ? 36 : 35}.0`];

test(
  "both monitors at once are refused, since each pod would be scraped twice",
  { skip: MISSING },
  () => {
    const both = ["--set", "podMonitor.enabled=true,serviceMonitor.enabled=true"];
    const { code, stderr } = helm.try("template", HOME, CHART, ...readable(...both));
    assert.equal(code, 1);
    assert.match(stderr, /would both scrape each pod: set one of them/);
  },
);

test(
  "the Service for the monitor has a name of a Service, whatever the release's",
  { skip: MISSING },
  () => {
    for (const release of ["a.b", "1.2.3", "2048", `9${"r".repeat(52)}`]) {
      const given = [
        "--set",
        "serviceMonitor.enabled=true",
        "--set",
        `nameOverride=${"n".repeat(20)}`,
      ];
      const only = ["--show-only", "templates/servicemonitor.yaml"];
      const [service] = objectsIn(
        helm.run("template", release, CHART, ...OF_NOW, ...readable(...given), ...only),
      );
      assert.equal(field(service, "kind"), "Service");
      assert.match(String(field(service, "metadata", "name")), /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
    }
  },
);

test("each entry of sources is one of the source list, whatever its key", { skip: MISSING }, () => {
  const keys = ["on", "yes", "no", "true", "null", "31", "1000", "1e3", "0x1f", "a.b"];
  const sources = Object.fromEntries(keys.map((key) => [key, ENTRY]));
  const given = [...readable(...setJson({ sources })), "--show-only", "templates/sourcelist.yaml"];
  const rendered = helm.run("template", HOME, CHART, "-n", HOME, ...OF_NOW, ...given);
  const [list] = objectsIn(rendered);
  assert.deepEqual(Object.keys(Object(field(list, "data"))).toSorted(), keys.toSorted());
});

test("a chart without a source list has no object and no right for it", { skip: MISSING }, () => {
  const off = readable(...setJson({ flags: { "source-list": "" } }));
  const rendered = helm.run("template", HOME, CHART, "-n", HOME, ...OF_NOW, ...off);
  assert.match(rendered, /- --source-list=$/m);
  assert.doesNotMatch(rendered, /configmaps|kind: ConfigMap/);
  const both = readable(...setJson({ flags: { "source-list": "" }, sources: { a: ENTRY } }));
  const { code, stderr } = helm.try("template", HOME, CHART, "-n", HOME, ...OF_NOW, ...both);
  assert.equal(code, 1);
  assert.match(stderr, /sources has entries, but flags.source-list is ''/);
});

test("without the guardrail the notes say what remains possible by name", { skip: MISSING }, () => {
  const notes = (...more: readonly string[]): string => {
    const given = readable(...more.flatMap((value) => ["--set", value]));
    const text = helm.run("install", "notes", CHART, "-n", HOME, "--dry-run=server", ...given);
    return text.slice(text.indexOf("NOTES:"));
  };
  const remains =
    /THE GUARDRAIL IS OFF\. .*named registry\..* kubernetes\.io\/service-account-token /;
  assert.match(notes("onlyNames={registry}", "guardrail=false"), remains);
  const listed = ["flags.namespaces={team-a}", "rbac.clusterRole=false"];
  const alone = notes("onlyNames={registry}", ...listed);
  assert.match(alone, remains);
  assert.match(
    alone,
    /an administrator of the cluster can install manifests\/components\/guardrail/,
  );
  assert.doesNotMatch(alone, /guardrail=true/);
  for (const quiet of [notes(), notes("onlyNames={registry}")]) assert.doesNotMatch(quiet, remains);
  assert.match(notes("onlyNames={registry}"), /It cannot read any other Secret/);
  assert.match(notes(), /It can read every Secret of the cluster\./);
  assert.match(
    notes("flags.namespaces={team-a}"),
    /It can read every Secret of the namespaces in flags\.namespaces\./,
  );
});

test(
  "admins of these namespaces alone may install the chart without a ClusterRole",
  { skip: MISSING },
  () => {
    const team = ["--user=team", "--clusterrole=admin"];
    for (const namespace of [HOME, "team-a", "team-b"])
      assert.equal(kubectl({}, "create", "rolebinding", "team", "-n", namespace, ...team), "");
    const given = setJson({
      ...LISTED,
      replicaCount: 0,
      rbac: { clusterRole: false },
      onlyNames: ["registry"],
    });
    const items = objectsIn(helm.run("template", "team", CHART, "-n", HOME, ...OF_NOW, ...given));
    // Without a dry run, in which a binding does not find its Role.
    // The Pod of `helm test` is made by `helm test`.
    const list = {
      apiVersion: "v1",
      kind: "List",
      items: items.filter(({ kind }) => kind !== "Pod"),
    };
    assert.equal(kubectl(list, "--as=team", "apply", "--validate=strict", "-f", "-"), "");
    for (const namespace of [HOME, "team-a", "team-b"])
      assert.equal(
        kubectl({}, "get", "rolebinding", "team-secretcast-secrets", "-n", namespace),
        "",
      );
  },
);
