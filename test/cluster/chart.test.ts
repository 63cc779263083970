// The chart with the real Helm on a real API server: bad values are refused in words, a release comes,
// changes and goes without touching a Secret, and its guards know it by its own name.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { type KubernetesObject, type V1Deployment } from "@kubernetes/client-node";
import { NO_ENTRIES, parseSourceList } from "../../src/controller/annotations/source-list.ts";
import { stringsOf } from "../../src/controller/model/unstructured.ts";
import { openCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { TOGETHER } from "../support/documents/components.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { tryKubectl } from "../support/api-server/kubectl.ts";
import { ok } from "../../packages/sandbox/testing/facts/place.ts";
import { Helm, helmMissing, objectsIn, readable } from "../support/programs/helm.ts";
import { field, type Http } from "../../packages/sandbox/testing/http.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CHART = `${ROOT}manifests/chart`;
const HOME = "chart-home";
const missing = helmMissing();
const options = { skip: missing ?? false };

let helm: Helm;
let http: Http;
before(() => {
  const cluster = sharedCluster();
  helm = new Helm(cluster.kubeconfig);
  http = openCluster(cluster);
});
after(async () => {
  helm.close();
  await http.send("DELETE", `/api/v1/namespaces/${HOME}`);
  await http.close();
});

const IN_ITS_NAMESPACE = ["--namespace", "secretcast"];
// Without a cluster to ask, Helm takes one that is too old for pullSecrets.
const OF_NOW = ["--kube-version", "1.36.0"];
const template = (...values: readonly string[]) =>
  objects(
    helm.run(
      "template",
      "secretcast",
      CHART,
      ...IN_ITS_NAMESPACE,
      ...OF_NOW,
      ...readable(...values),
    ),
  );
const objects = (yaml: string): readonly KubernetesObject[] => objectsIn(yaml);
function deploymentIn(rendered: readonly KubernetesObject[]): V1Deployment {
  const found = rendered.find(({ kind }) => kind === "Deployment");
  return found ?? assert.fail("no Deployment");
}

function isList({ kind, metadata }: KubernetesObject): boolean {
  return kind === "ConfigMap" && metadata?.name === "secretcast-sources";
}

test("the chart renders the source list from its values, and the program reads it", options, () => {
  const [empty] = template().filter(isList);
  assert.ok(empty);
  assert.equal(field(empty, "data"), undefined);
  const sources = {
    "wildcard-tls": {
      secret: "cert-manager/wildcard-tls",
      to: ["*", "!legacy-*"],
      keys: "tls.crt,tls.key",
      paused: true,
    },
    "ci.token": { secret: "vault/token", "allow-selector": "tier in (ci)", "on-delete": "keep" },
  };
  const [list] = template("--set-json", `sources=${JSON.stringify(sources)}`).filter(isList);
  const steps = parseSourceList(stringsOf(field(list, "data")), TERMS, NO_ENTRIES);
  let step = steps.next();
  while (!step.done) step = steps.next();
  const entries = [...step.value.entries()];
  assert.deepEqual(
    entries.map(({ key, object, problems }) => [key, object?.name, problems]),
    [
      ["ci.token", "token", []],
      ["wildcard-tls", "wildcard-tls", []],
    ],
  );
  assert.equal(step.value.get("wildcard-tls")?.source.rule.paused, true);
  assert.equal(step.value.get("wildcard-tls")?.source.rule.to?.globs?.text, "*,!legacy-*");
});

const TERMS = {
  list: { namespace: "secretcast", name: "secretcast-sources" },
  kinds: ["Secret"],
} as const;

test("a list of another name has the rights that it needs", options, () => {
  const rule = (name: string) => ({
    apiGroups: [""],
    resources: ["configmaps"],
    resourceNames: [name],
    verbs: ["get", "list", "watch"],
  });
  const rolesOf = (rendered: readonly KubernetesObject[], name: string) =>
    rendered.filter(({ kind, ...object }) => {
      const rules: unknown = field(object, "rules");
      if (kind !== "Role" || !Array.isArray(rules)) return false;
      return rules.some((each) => isDeepStrictEqual(each, rule(name)));
    });
  const named = template("--set", "flags.source-list=platform-sources");
  assert.equal(rolesOf(named, "platform-sources").length, 1);
  const [container] = deploymentIn(named).spec?.template.spec?.containers ?? [];
  assert.ok(container?.args?.includes("--source-list=platform-sources"));
  const [role, ...others] = rolesOf(
    template("--set", "flags.lease-namespace=leases"),
    "secretcast-sources",
  );
  assert.deepEqual(others, []);
  assert.deepEqual(
    [role?.metadata?.name, role?.metadata?.namespace],
    ["secretcast-list", "secretcast"],
  );
});

const WITH_GUARDS = set("guardrail", "tenantGuard", "networkPolicy.enabled", "leasePriority");
const WITH_COMPONENTS = TOGETHER.flatMap(({ setting }) => ["--set", setting]);

function set(...values: readonly string[]): readonly string[] {
  return values.flatMap((value) => ["--set", `${value}=true`]);
}

test("the monitoring values carry the rules and the dashboard as they stand", options, () => {
  const on = set("podMonitor.enabled", "prometheusRule.enabled", "grafanaDashboard.enabled");
  const rendered = template(...on, "--set", "monitoringLabels.release=prometheus");
  const of = (kind: string): KubernetesObject =>
    rendered.find((one) => one.kind === kind) ?? assert.fail(`no ${kind}`);
  for (const kind of ["PodMonitor", "PrometheusRule", "ConfigMap"])
    assert.equal(of(kind).metadata?.labels?.["release"], "prometheus");
  const read = (file: string) => readFileSync(`${CHART}/monitoring/${file}`, "utf8");
  assert.deepEqual([field(of("PrometheusRule"), "spec")], objects(read("rules.yaml")));
  const dashboard = String(field(of("ConfigMap"), "data", "secretcast.json"));
  assert.deepEqual(JSON.parse(dashboard), JSON.parse(read("dashboard.json")));
});

function isHelmTest({ metadata }: KubernetesObject): boolean {
  return metadata?.annotations?.["helm.sh/hook"] === "test";
}

for (const [value, complaint] of [
  ["flags.to-selecter=x", "additional properties 'to-selecter' not allowed"],
  ["replicas=3", "additional properties 'replicas' not allowed"],
  ["extraArgs.delete-hold=1h", "extraArgs has delete-hold, but"],
  ["extraArgs.no-leader-elect=", "by the flags: set flags.leader-elect\n"],
  ["extraArgs.only-names=registry", "by the flags: set onlyNames\n"],
  ["extraArgs.--new=x", "'/extraArgs': additional properties '--new' not allowed"],
  ["extraEnv[0].name=A,extraEnv[0].value=1", "'/extraEnv/0/value': got number, want"],
  ["extraEnv[0].name=A,extraEnv[0].valeu=b", "additional properties 'valeu' not allowed"],
  ["image.repository=null", "'/image': missing property 'repository'"],
  [
    "podSpecExtra.dnsPolicy=None",
    "podSpecExtra has dnsPolicy, which the chart sets: use the chart's",
  ],
  [
    "livenessProbe.httpGet.path=/x",
    "'/livenessProbe': additional properties 'httpGet' not allowed",
  ],
  ["terminationGracePeriodSeconds=5", "'/terminationGracePeriodSeconds': minimum: got 5, want 30"],
  ["networkPolicy.apiServerPorts=null", "'/networkPolicy': missing property 'apiServerPorts'"],
  ["grafanaDashboard.sidecarLabel=null", "missing property 'sidecarLabel'"],
  ["podMonitor.interval=often", "'/podMonitor/interval': 'often' does not match pattern"],
  ["namespaceOverride=A", "'/namespaceOverride': 'A' does not match pattern"],
  ["serviceAccount.name=A/b", "'/serviceAccount/name': 'A/b' does not match pattern"],
  ["podDisruptionBudget.maxUnavailable=half", "'half' does not match pattern"],
  ["flags.resync=10 minutes", "'/flags/resync': '10 minutes' does not match pattern"],
  ["flags.fanout-limit=1GB", "'/flags/fanout-limit': '1GB' does not match pattern"],
  ["flags.concurrency=many", "'/flags/concurrency': got string, want null or integer"],
  ["flags.namespace-policy=maybe", "value must be one of 'opt-out', 'opt-in'"],
  ["flags.leader-elect=false", "'/flags/leader-elect': value must be true"],
  ["sources.x.to=*", "'/sources/x': missing property 'secret'"],
  ["sources.x.secret=a/b", "'/sources/x': missing property 'to'"],
  ["sources.x.secret=b", "'/sources/x/secret': 'b' does not match pattern"],
  ["sources.x.to-selecter=b", "'/sources/x': additional properties 'to-selecter' not allowed"],
  ["sources.x.on-delete=no", "'/sources/x/on-delete': value must be one of 'delete', 'keep'"],
  ["sources.a/b.secret=a/b", "'/sources': additional properties 'a/b' not allowed"],
  ["image.digest=latest", "'/image/digest': 'latest' does not match pattern"],
  ["pullSecretNames={a/b}", "'/pullSecretNames/0': 'a/b' does not match pattern"],
  ["pullSecretNames=registry", "'/pullSecretNames': got string, want array"],
  ["pullSecretNamespaces.labels.x=y", "'/pullSecretNamespaces': additional properties 'labels'"],
  [
    "commonLabels.app\\.kubernetes\\.io/name=x",
    "the label app.kubernetes.io/name is the chart's own",
  ],
  ["podLabels.helm\\.sh/chart=x", "the label helm.sh/chart is the chart's own"],
] as const)
  test(`the chart refuses ${value} and says why`, options, () => {
    const { code, stderr } = helm.try("template", "secretcast", CHART, ...readable("--set", value));
    assert.equal(code, 1);
    assert.ok(stderr.includes(complaint), stderr);
  });

test("pullSecrets is refused below Kubernetes 1.36, with what to do instead", options, () => {
  const given = [...IN_ITS_NAMESPACE, ...set("pullSecrets"), "--set", "pullSecretNames={a,b}"];
  const render = (version: string) =>
    helm.try("template", "secretcast", CHART, ...readable(...given), "--kube-version", version);
  for (const [version, reported] of [
    ["1.35.9", "v1.35.9"],
    ["v1.35.2-gke.1", "v1.35.2"],
    ["1.30.0", "v1.30.0"],
  ] as const) {
    const { code, stderr } = render(version);
    assert.equal(code, 1, version);
    for (const words of [
      `needs Kubernetes 1.36, whose API server has MutatingAdmissionPolicy v1; this one is ${reported}`,
      `kubectl patch serviceaccount default -n NAMESPACE -p '{"imagePullSecrets":[{"name":"a"},{"name":"b"}]}'`,
    ])
      assert.ok(stderr.includes(words), stderr);
  }
  for (const version of ["1.36.0", "v1.36.2-gke.1", "v1.36.0-rc.1", "1.37.1", "2.0.0"])
    assert.equal(render(version).code, 0, version);
  const off = helm.try("template", "secretcast", CHART, ...readable(), "--kube-version", "1.30.0");
  assert.equal(off.code, 0, "and the chart without it is for older ones too");
});

test(
  "earlyCheck knows the source namespaces where these are names, and says nothing else",
  options,
  () => {
    const variableOf = (name: string, ...values: readonly string[]): unknown => {
      const rendered = template(...set("earlyCheck"), ...values);
      const policy = rendered.find(({ kind }) => kind === "ValidatingAdmissionPolicy");
      const variables = field(policy, "spec", "variables");
      assert.ok(Array.isArray(variables));
      return field(
        variables.find((one) => field(one, "name") === name),
        "expression",
      );
    };
    const of = (...values: readonly string[]) => variableOf("sourceNamespaces", ...values);
    const others = (...values: readonly string[]) => variableOf("otherSourceNamespaces", ...values);
    assert.equal(others(), "[]");
    const flag = "flags.other-source-namespaces";
    assert.equal(others("--set", `${flag}={a,b-*}`), "['a', 'b-*']");
    assert.equal(others("--set-string", `${flag}=a\\, !b`), "['a', '!b']");
    assert.equal(of(), "['secretcast']");
    assert.equal(of("--set", "flags.source-namespaces={a,b-1}"), "['a', 'b-1']");
    assert.equal(of("--set-string", "flags.source-namespaces=a\\, b"), "['a', 'b']");
    for (const globs of ["{a,b-*}", "*", "!a", "b?"])
      assert.equal(of("--set", `flags.source-namespaces=${globs}`), "['*']", globs);
    const actions = (...values: readonly string[]) =>
      template(...values)
        .filter(({ kind }) => kind === "ValidatingAdmissionPolicyBinding")
        .map((binding) => field(binding, "spec", "validationActions"));
    assert.deepEqual(actions(...set("earlyCheck")), [["Warn"]]);
    const both = actions(...set("earlyCheck", "earlyCheckDeny")).flat();
    assert.deepEqual(new Set(both), new Set(["Warn", "Deny"]));
    assert.deepEqual(actions(...set("earlyCheckDeny")), []);
  },
);

test("the names and the namespaces of pullSecrets are those of the values", options, () => {
  const chosen = "pullSecretNamespaces.matchLabels.tier=prod";
  const rendered = template(...set("pullSecrets"), "--set", `pullSecretNames={a,b},${chosen}`);
  const parameter = rendered.find(({ kind }) => kind === "ConfigMap");
  assert.deepEqual(field(parameter, "data"), { names: "a,b" });
  const binding = rendered.find(({ kind }) => kind === "MutatingAdmissionPolicyBinding");
  assert.deepEqual(field(binding, "spec", "matchResources", "namespaceSelector"), {
    matchLabels: { tier: "prod" },
    matchExpressions: [
      {
        key: "kubernetes.io/metadata.name",
        operator: "NotIn",
        values: ["kube-system", "kube-public", "kube-node-lease", "secretcast"],
      },
    ],
  });
});

test("the program takes the flags as the chart renders them", options, () => {
  const given = [
    "source-namespaces={chart-none,none-*}",
    "exclude-namespaces=legacy-*",
    "include-system-namespaces=false",
    "namespace-policy=opt-in",
    "resync=1h30m",
    "delete-grace=20s",
    "delete-hold=1h",
    "concurrency=1000000",
    "fanout-limit=1Gi",
    "dry-run=true",
    "lease-name=mine",
    "lease-namespace=leases",
    "http-address=127.0.0.1:0",
    "log-level=warn",
    "log-format=json",
  ];
  const [container] = deploymentIn(
    template("--set", given.map((flag) => `flags.${flag}`).join(",")),
  ).spec?.template.spec?.containers ?? [assert.fail("no container")];
  const args = container?.args ?? [];
  assert.ok(args.includes("--source-namespaces=chart-none,none-*"), args.join(" "));
  assert.ok(args.includes("--concurrency=1000000"), args.join(" "));
  const words = [...args, "--once", "--kubeconfig", sharedCluster().kubeconfig];
  const program = [`${ROOT}bin/secretcast.js`, ...words];
  const { status, stderr } = spawnSync(process.execPath, program, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
});

test(
  "a release under another name has names, a Lease, rights and guards of its own",
  options,
  () => {
    const home = ["--namespace", HOME];
    const given = [...home, ...OF_NOW, ...WITH_COMPONENTS];
    const all = objects(helm.run("template", "two", CHART, ...readable(...given)));
    // The controller knows the parameter by its name, in its own namespace.
    const renamed = all.filter(({ metadata }) => metadata?.name !== "secretcast-pull-secrets");
    assert.equal(all.length - renamed.length, 1);
    const rendered = renamed.filter((one) => !isHelmTest(one));
    assert.deepEqual(
      renamed.filter(isHelmTest).map(({ metadata }) => metadata?.name),
      ["two-secretcast-test"],
    );
    for (const { kind, metadata } of rendered)
      assert.match(metadata?.name ?? "", /^two-secretcast(-|$)/, kind);
    for (const { kind, ...object } of rendered) {
      const text = JSON.stringify(object).replaceAll(/two-secretcast|secretcast-pull-secrets/g, "");
      assert.ok(
        !/secretcast-|serviceaccount:secretcast/.test(text.replaceAll(/"helm[^,]*/g, "")),
        kind,
      );
    }
    const judged = rendered
      .filter(({ kind }) => kind === "ValidatingAdmissionPolicy")
      .filter(({ metadata }) => metadata?.name !== "two-secretcast-early-check")
      .map((object) => field(object, "spec", "matchConditions", 0, "expression"));
    const account = `'system:serviceaccount:${HOME}:two-secretcast'`;
    const expected = ["==", "!="].map((sign) => `request.userInfo.username ${sign} ${account}`);
    assert.deepEqual(new Set(judged), new Set(expected));
    const [container] = deploymentIn(rendered).spec?.template.spec?.containers ?? [];
    assert.ok(container?.args?.includes("--lease-name=two-secretcast"));
    const role = rendered.find(({ kind }) => kind === "Role");
    assert.deepEqual(field(role, "rules", 1, "resourceNames"), ["two-secretcast"]);
    assert.ok(container?.args?.includes("--source-list=two-secretcast-sources"));
    assert.deepEqual(field(role, "rules", 2, "resourceNames"), ["two-secretcast-sources"]);
  },
);

test(
  "with listed namespaces, the rights are in each of them and of the sources alone",
  options,
  () => {
    const rendered = template("--set", "flags.namespaces={team-a,team-b}");
    const clusterRole = rendered.find(({ kind }) => kind === "ClusterRole");
    const resourceNames = ["team-a", "team-b", "secretcast"];
    const verbs = ["get", "list", "watch"];
    const rule = { apiGroups: [""], resources: ["namespaces"], resourceNames, verbs };
    assert.deepEqual(field(clusterRole, "rules"), [rule]);
    const folder = `${ROOT}manifests/namespace-rights`;
    const built = objects(spawnSync("kubectl", ["kustomize", folder], { encoding: "utf8" }).stdout);
    const expected = field(
      built.find(({ kind }) => kind === "Role"),
      "rules",
    );
    const roles = rendered.filter(
      ({ kind, metadata }) => kind === "Role" && metadata?.name === "secretcast-secrets",
    );
    const given = roles.map((role) => [role.metadata?.namespace ?? "", field(role, "rules")]);
    // A namespace that only publishes is only read.
    const read = JSON.parse(JSON.stringify(expected).replace(/,"create","patch","delete"/, ""));
    const wanted = [
      ["team-a", expected],
      ["team-b", expected],
      ["secretcast", read],
    ];
    assert.deepEqual(Object.fromEntries(given), Object.fromEntries(wanted));
    const [container] = deploymentIn(rendered).spec?.template.spec?.containers ?? [];
    assert.ok(container?.args?.includes("--namespaces=team-a,team-b"));
  },
);

test(
  "with configMaps, the flag and its rights are there, in listed namespaces too",
  options,
  () => {
    const on = set("configMaps");
    for (const listed of [false, true]) {
      const rendered = template(...on, ...(listed ? ["--set", "flags.namespaces=team-a"] : []));
      const [container] = deploymentIn(rendered).spec?.template.spec?.containers ?? [];
      assert.ok(container?.args?.includes("--config-maps"));
      const roles = rendered.filter(({ kind, metadata }) =>
        listed
          ? kind === "Role" && metadata?.name === "secretcast-secrets"
          : kind === "ClusterRole",
      );
      assert.equal(roles.length, listed ? 2 : 1);
      for (const role of roles) {
        const rules = field(role, "rules");
        const of = (resource: string): unknown =>
          Array.isArray(rules)
            ? field(
                rules.find((rule) => field(rule, "resources", 0) === resource),
                "verbs",
              )
            : undefined;
        assert.deepEqual(of("configmaps"), of("secrets"));
      }
    }
  },
);

test(
  "a release is installed, upgraded and removed, and leaves Secrets alone",
  options,
  async () => {
    const place = ["--namespace", HOME, "--wait=false"];
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    ok(
      await http.send("POST", "/api/v1/namespaces", { body: { metadata: { name: HOME, labels } } }),
      201,
    );
    helm.run("install", "chart", CHART, "--create-namespace", ...readable(...place));
    const path = `/apis/apps/v1/namespaces/${HOME}/deployments/chart-secretcast`;
    assert.equal(field((await http.send("GET", path)).body, "spec", "replicas"), 2);
    await eventually("its pods are let in", async () => {
      const { body } = await http.send("GET", `/api/v1/namespaces/${HOME}/pods`);
      return field(body, "items", 1, "metadata", "name") !== undefined;
    });

    const secrets = `/api/v1/namespaces/${HOME}/secrets`;
    const metadata = { name: "kept", annotations: { "secretcast.io/to": "nowhere-*" } };
    ok(await http.send("POST", secrets, { body: { metadata } }), 201);
    const changes = ["--set", "replicaCount=1,flags.leader-elect=false,flags.resync=1h"];
    helm.run("upgrade", "chart", CHART, ...place, ...readable(...changes));
    const { body } = await http.send("GET", path);
    assert.equal(field(body, "spec", "replicas"), 1);
    assert.deepEqual(field(body, "spec", "template", "spec", "containers", 0, "args"), [
      "run",
      "--no-leader-elect",
      "--lease-name=chart-secretcast",
      "--source-list=chart-secretcast-sources",
      "--resync=1h",
    ]);

    helm.run("uninstall", "chart", "--namespace", HOME);
    assert.equal((await http.send("GET", path)).status, 404);
    const role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/chart-secretcast";
    assert.equal((await http.send("GET", role)).status, 404);
    assert.equal((await http.send("GET", `${secrets}/kept`)).status, 200);
  },
);

test(
  "the guards of a release under another name spare its controller and stop tenants",
  options,
  async () => {
    const place = ["--namespace", HOME, "--wait=false"];
    const second = "system:serviceaccount:other:other-secretcast";
    const users = ["--set", `tenantGuardUsers={${second}}`];
    helm.run(
      "install",
      "chart",
      CHART,
      "--create-namespace",
      ...readable(...place, ...WITH_GUARDS, ...users),
    );
    const account = `system:serviceaccount:${HOME}:chart-secretcast`;
    const as = (user: string, ...words: readonly string[]) => {
      const given = ["--as", user, "-n", "default", ...words];
      const { code, stderr } = tryKubectl(sharedCluster().kubeconfig, given);
      return code === 0 ? "done" : stderr;
    };
    const tenant = "tenant-of-the-chart";
    const rights = { resources: ["secrets"], verbs: ["*"], apiGroups: [""] };
    const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    const role = { metadata: { name: tenant }, rules: [rights] };
    const subjects = [tenant, second].map((name) => ({ kind: "User", name }));
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: tenant };
    ok(await http.send("POST", `${rbac}/roles`, { body: role }), 201);
    const binding = { metadata: { name: tenant }, roleRef, subjects };
    ok(await http.send("POST", `${rbac}/rolebindings`, { body: binding }), 201);
    const metadata = {
      name: "of-the-chart",
      labels: { "app.kubernetes.io/managed-by": "secretcast" },
      annotations: {
        "secretcast.io/source": `${HOME}/s`,
        "secretcast.io/source-uid": "u",
        "secretcast.io/placed-at": "default/of-the-chart",
      },
    };
    const copies = "/api/v1/namespaces/default/secrets";
    const made = await http.send("POST", `${copies}?fieldManager=secretcast`, {
      body: { metadata },
    });
    ok(made, 201);

    const remove = ["delete", "secret", "of-the-chart", "--dry-run=server"];
    const plain = ["create", "secret", "generic", "plain", "--dry-run=server"];
    const says = (text: string, policy: string) => text.includes(`'chart-secretcast-${policy}'`);
    await eventually("the tenant is stopped", () => says(as(tenant, ...remove), "tenant-guard"));
    await eventually("the controller is held", () =>
      says(as(account, ...plain), "guardrail-create"),
    );
    assert.equal(as(account, ...remove), "done");
    assert.equal(as(second, ...remove), "done", "the account of the other release");

    helm.run("uninstall", "chart", "--namespace", HOME);
    await eventually("no guard is left", () => as(tenant, ...remove) === "done");
    ok(await http.send("DELETE", `${copies}/of-the-chart`), 200);
    ok(await http.send("DELETE", `${rbac}/rolebindings/${tenant}`), 200);
    ok(await http.send("DELETE", `${rbac}/roles/${tenant}`), 200);
  },
);
