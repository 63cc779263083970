// The values that users know from other charts, and how they meet those of this one: a namespace, an account,
// roles or flags that come from elsewhere. Helm alone renders here; chart-values.test.ts asks an API server.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadYaml, type V1Deployment, type V1Pod, type V1PodSpec } from "@kubernetes/client-node";
import { TOGETHER } from "../support/documents/components.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { Helm, helmMissing, objectsIn, readable, setJson } from "../support/programs/helm.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CHART = `${ROOT}manifests/chart`;
const options = { skip: helmMissing() ?? false };
const OF_NOW = ["--kube-version", "1.37.0"];
const EVERY_GUARD = TOGETHER.flatMap(({ setting }) => ["--set", setting]);
const MONITORS = ["podMonitor", "prometheusRule", "grafanaDashboard"].flatMap((value) => [
  "--set",
  `${value}.enabled=true`,
]);

type Values = { readonly image: { readonly registry: string; readonly repository: string } };

type Rendered = {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
};

const helm = new Helm(sharedCluster().kubeconfig);
const text = (values: object, ...more: readonly string[]): string =>
  helm.run(
    "template",
    "rel",
    CHART,
    "-n",
    "release-home",
    ...OF_NOW,
    ...readable(...setJson(values), ...more),
  );
const objects = (values: object, ...more: readonly string[]): readonly Rendered[] =>
  objectsIn(text(values, ...more)) as readonly Rendered[];
function refused(values: object): string {
  const { code, stderr } = helm.try(
    "template",
    "rel",
    CHART,
    ...OF_NOW,
    ...readable(...setJson(values)),
  );
  assert.equal(code, 1);
  return stderr;
}
/** The pods of the Deployment, and that of `helm test`. */
function podsOf(all: readonly Rendered[]): readonly V1PodSpec[] {
  const specs = all.flatMap((one) => {
    if (one.kind === "Pod") return [(one as V1Pod).spec];
    return one.kind === "Deployment" ? [(one as V1Deployment).spec?.template.spec] : [];
  });
  assert.equal(specs.length, 2);
  return specs.map((spec) => spec ?? assert.fail("a Pod without a spec"));
}
const argsOf = (all: readonly Rendered[]): readonly string[] =>
  podsOf(all.toSorted((a, b) => a.kind.localeCompare(b.kind)))[0]?.containers[0]?.args ?? [];
/** What an installation says that changes nothing. */
const notes = (values: object): string =>
  helm.run(
    "install",
    "rel",
    CHART,
    "-n",
    "release-home",
    "--dry-run=client",
    ...readable(...setJson(values)),
  );

test("namespaceOverride is in every place that names the namespace", options, () => {
  const values = { namespaceOverride: "other-home", extraObjects: [] };
  const given = [...EVERY_GUARD, ...MONITORS];
  const rendered = text(values, ...given);
  assert.doesNotMatch(rendered, /release-home/);
  const here = text({}, ...given);
  assert.equal(rendered, here.replaceAll("release-home", "other-home"));
  const listed = { "flags.namespaces": ["team-a"] };
  assert.equal(
    text({ ...values, ...listed }),
    text(listed).replaceAll("release-home", "other-home"),
  );
  const said = notes(values);
  for (const line of said.slice(said.indexOf("NOTES:")).split("\n"))
    // A release stays where it is.
    if (/^ {2}helm /.test(line)) assert.match(line, /--namespace release-home( |$)/);
    else assert.doesNotMatch(line, /release-home/);
});

test("with an account of another name, every binding and guard means that one", options, () => {
  const given = [...EVERY_GUARD, "--set", "flags.namespaces={team-a}"];
  for (const create of [true, false]) {
    const serviceAccount = { create, name: "given", annotations: { "example.com/role": "r" } };
    const all = objects({ serviceAccount }, ...given);
    const accounts = all.filter(({ kind }) => kind === "ServiceAccount");
    assert.deepEqual(
      accounts.map(({ metadata }) => [metadata.name, metadata.annotations]),
      create ? [["given", { "example.com/role": "r" }]] : [],
    );
    const subjects = all
      .filter(({ kind }) => kind.endsWith("RoleBinding"))
      .map((binding) => field(binding, "subjects", 0, "name"));
    assert.ok(subjects.length >= 3);
    assert.deepEqual(new Set(subjects), new Set(["given"]));
    for (const { serviceAccountName } of podsOf(all)) assert.equal(serviceAccountName, "given");
    const guards = JSON.stringify(all).match(/system:serviceaccount:release-home:[-\w]+/g) ?? [];
    assert.equal(guards.length, 4);
    assert.deepEqual(new Set(guards), new Set(["system:serviceaccount:release-home:given"]));
    const schema = all.find(({ kind }) => kind === "FlowSchema");
    const [subject] = [field(schema, "spec", "rules", 0, "subjects", 0, "serviceAccount", "name")];
    assert.equal(subject, "given");
  }
  assert.match(
    refused({ serviceAccount: { create: false } }),
    /serviceAccount\.create is false, but serviceAccount\.name is empty: name an account that exists/,
  );
});

const RBAC = /^(Cluster)?Role(Binding)?$/;

test(
  "without rbac.create there is no role, and the notes print what grants the same",
  options,
  () => {
    const flags = {
      "lease-namespace": "release-home",
      "source-namespaces": ["platform", "shared-*"],
      resync: "1h",
    };
    const cases: readonly { readonly rbac?: object; readonly [value: string]: unknown }[] = [
      { flags },
      {
        flags: { ...flags, namespaces: ["team-a"] },
        configMaps: true,
        rbac: { clusterRole: false },
      },
      { onlyNames: ["registry"], flags: { "source-list": "" } },
    ];
    for (const values of cases) {
      const without = { ...values, rbac: { ...values.rbac, create: false } };
      const roles = objects(without).filter(({ kind }) => RBAC.test(kind));
      assert.deepEqual(roles, []);
      const [, command = ""] = /NO RIGHTS ARE GRANTED[^]*?\n {2}secretcast (rights .*)/.exec(
        notes(without),
      ) ?? [assert.fail("no command")];
      const script = `"${process.execPath}" "${ROOT}bin/secretcast.js" ${command}`;
      const { status, stdout, stderr } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
      assert.equal(status, 0, stderr);
      const printed = objectsIn(stdout) as readonly Rendered[];
      assert.deepEqual(rulesOf(printed), rulesOf(objects(values)), command);
      const subject = { kind: "ServiceAccount", name: "rel-secretcast", namespace: "release-home" };
      for (const binding of printed.filter(({ kind }) => kind.endsWith("Binding")))
        assert.deepEqual(field(binding, "subjects"), [subject]);
    }
    assert.doesNotMatch(notes({}), /NO RIGHTS/);
    assert.match(
      refused({ rbac: { create: false }, readerRoles: true }),
      /rbac\.create is false, but readerRoles are roles: set one of the two/,
    );
  },
);

/** Each right in its namespace, however roles and rules are cut. */
function rulesOf(all: readonly Rendered[]): readonly string[] {
  const roles = all.filter(({ kind }) => kind === "Role" || kind === "ClusterRole");
  const rights = roles.flatMap((role) => {
    const rules: unknown = field(role, "rules");
    assert.ok(Array.isArray(rules));
    return rules.flatMap((rule) => {
      const { verbs, resources, resourceNames = [""] }: Rule = rule;
      const where = role.kind === "Role" ? role.metadata.namespace : "*";
      return verbs.flatMap((verb) =>
        resources.flatMap((resource) =>
          resourceNames.map((name) => `${where}: ${verb} ${resource} ${name}`),
        ),
      );
    });
  });
  return [...new Set(rights)].toSorted();
}
type Rule = {
  readonly verbs: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
};

test(
  "extraArgs come after the flags, also for `helm test`, and a variable sets no flag",
  options,
  () => {
    const extraArgs = {
      "new-flag": "a b",
      "new-switch": "",
      "new-true": true,
      "new-count": 1_000_000,
      "new-share": 0.5,
    };
    const all = objects({ extraArgs, "flags.resync": "1h" });
    const said = [
      "--resync=1h",
      "--new-count=1000000",
      "--new-flag=a b",
      "--new-share=0.5",
      "--new-switch",
      "--new-true",
    ];
    assert.deepEqual(argsOf(all).slice(-6), said);
    for (const { containers } of podsOf(all))
      assert.deepEqual(containers[0]?.args?.slice(-6), said);
    const bad = { extraEnv: [{ name: "A" }, { name: "SECRETCAST_NAMESPACES", value: "team-a" }] };
    assert.match(refused(bad), /extraEnv has SECRETCAST_NAMESPACES, but .*: set it under `flags`/);
  },
);

test("the registry of a parent chart wins, and a digest wins over a tag", options, () => {
  const digest = `sha256:${"1".repeat(64)}`;
  const image = (values: object): string | undefined => {
    const images = podsOf(objects(values)).map(({ containers }) => containers[0]?.image);
    assert.equal(images[0], images[1]);
    return images[0];
  };
  const version = /^appVersion: (.*)$/m.exec(helm.run("show", "chart", CHART))?.[1];
  // The owner of a publication fills in registry and repository.
  const values: Values = loadYaml(helm.run("show", "values", CHART));
  const { registry, repository } = values.image;
  const whole = registry === "" ? repository : `${registry}/${repository}`;
  for (const [given, wanted] of [
    [{}, `${whole}:${version}`],
    [
      { image: { registry: "r.example.com:5000/mirror" } },
      `r.example.com:5000/mirror/${repository}:${version}`,
    ],
    [{ global: { imageRegistry: "g" }, image: { registry: "r", tag: "t" } }, `g/${repository}:t`],
    [{ image: { registry: "r", repository: "a/b", tag: "t", digest } }, `r/a/b@${digest}`],
    [{ image: { tag: "", digest: "" } }, `${whole}:${version}`],
    [{ global: { imageRegistry: "g:1/m/" } }, `g:1/m/${repository}:${version}`],
  ] as const)
    assert.equal(image(given), wanted);
  const pulled = (values: object) => podsOf(objects(values)).map((spec) => spec.imagePullSecrets);
  const global = { imagePullSecrets: [{ name: "parent" }], other: true };
  assert.deepEqual(pulled({ global }), [global.imagePullSecrets, global.imagePullSecrets]);
  const own = [{ name: "own" }];
  assert.deepEqual(pulled({ global, imagePullSecrets: own }), [own, own]);
  assert.deepEqual(pulled({ global, imagePullSecrets: ["own"] }), [own, own], "as in Reloader");
});

test(
  "commonAnnotations are on every object, and others win over them where they are nearer",
  options,
  () => {
    const commonAnnotations = { "example.com/a": "common", "example.com/b": "common" };
    const nearer = { "example.com/a": "nearer" };
    const all = objects(
      {
        commonAnnotations,
        deploymentAnnotations: nearer,
        serviceAccount: { annotations: nearer },
        "grafanaDashboard.annotations": nearer,
        "flags.namespaces": ["team-a"],
        "flags.lease-namespace": "leases",
      },
      ...EVERY_GUARD,
      ...MONITORS,
    );
    assert.ok(all.length >= 25);
    for (const { kind, metadata } of all) {
      const own =
        ["Deployment", "ServiceAccount"].includes(kind) || metadata.name.endsWith("-dashboard");
      const wanted = { ...commonAnnotations, ...(own ? nearer : {}) };
      const {
        "helm.sh/hook": _,
        "helm.sh/hook-delete-policy": __,
        ...rest
      } = metadata.annotations ?? {};
      assert.deepEqual(rest, wanted, `${kind} ${metadata.name}`);
    }
  },
);

test(
  "no Pod names a user or a group, unless the values do (OpenShift, restricted-v2)",
  options,
  () => {
    for (const spec of podsOf(objects({})))
      assert.doesNotMatch(JSON.stringify(spec), /runAsUser|runAsGroup|fsGroup|supplementalGroups/);
    const numbers = { runAsUser: 1000, runAsGroup: 2000, fsGroup: 3000 };
    for (const spec of podsOf(objects({ podSecurityContext: numbers }))) {
      assert.deepEqual(spec.securityContext, {
        ...numbers,
        runAsNonRoot: true,
        seccompProfile: { type: "RuntimeDefault" },
      });
    }
    for (const none of [null, { enabled: false }])
      for (const spec of podsOf(objects({ podSecurityContext: none, securityContext: none })))
        assert.doesNotMatch(JSON.stringify(spec), /securityContext/);
    // As in values for external-secrets.
    const switched = { podSecurityContext: { enabled: true }, securityContext: { enabled: true } };
    assert.equal(text(switched), text({}));
  },
);

test("what a Pod needs to run at all, `helm test` has too", options, () => {
  const volumes = [{ name: "ca", configMap: { name: "ca" } }];
  const volumeMounts = [{ name: "ca", mountPath: "/ca", readOnly: true }];
  const env = [{ name: "HTTPS_PROXY", value: "http://proxy.example.com:3128" }];
  const pods = podsOf(
    objects({
      extraVolumes: volumes,
      extraVolumeMounts: volumeMounts,
      extraEnv: env,
      schedulerName: "other",
      runtimeClassName: "sandboxed",
      dnsPolicy: "Default",
    }),
  );
  for (const spec of pods) {
    assert.deepEqual(spec.volumes, volumes);
    assert.deepEqual(spec.containers[0]?.volumeMounts, volumeMounts);
    assert.deepEqual(spec.containers[0]?.env, env);
    const own = [spec.schedulerName, spec.runtimeClassName, spec.dnsPolicy];
    assert.deepEqual(own, ["other", "sandboxed", "Default"]);
  }
});

test(
  "an entry of topologySpreadConstraints without a selector is about the chart's pods",
  options,
  () => {
    const entry = { maxSkew: 1, topologyKey: "rack", whenUnsatisfiable: "DoNotSchedule" };
    const own = { ...entry, labelSelector: { matchLabels: { app: "other" } } };
    const spread = (values: object): unknown => {
      const deployment = objects(values).find(({ kind }) => kind === "Deployment");
      return field(deployment, "spec", "template", "spec", "topologySpreadConstraints");
    };
    const labels = { "app.kubernetes.io/name": "secretcast", "app.kubernetes.io/instance": "rel" };
    const filled = { ...entry, labelSelector: { matchLabels: labels } };
    assert.deepEqual(spread({ topologySpreadConstraints: [entry, own] }), [filled, own]);
    const empty = [null, {}].map((labelSelector) => ({ ...entry, labelSelector }));
    assert.deepEqual(spread({ topologySpreadConstraints: empty }), [filled, filled]);
    assert.equal(spread({ topologySpreadConstraints: [] }), undefined);
  },
);

test("a label is on an object once: the nearer value wins over the common one", options, () => {
  const values = {
    commonLabels: { team: "common", release: "common", dashboards: "common" },
    podLabels: { team: "pod" },
    monitoringLabels: { release: "prometheus" },
    "grafanaDashboard.sidecarLabel": "dashboards",
  };
  // Unlike kubectl, the reader refuses a key that is there twice.
  const all = objects(values, ...MONITORS);
  const labels = (kind: string, ...path: readonly string[]): unknown[] => {
    const [one] = all.filter(
      (each) => each.kind === kind && !each.metadata.name.endsWith("-sources"),
    );
    return Object.keys(values.commonLabels).map((key) =>
      field(one, ...path, "metadata", "labels", key),
    );
  };
  assert.deepEqual(labels("Deployment"), ["common", "common", "common"]);
  assert.deepEqual(labels("Deployment", "spec", "template"), ["pod", "common", "common"]);
  assert.deepEqual(labels("PodMonitor"), ["common", "prometheus", "common"]);
  assert.deepEqual(labels("ConfigMap"), ["common", "prometheus", "1"]);
});

test("null takes a key away that an earlier file of values has given", options, () => {
  const given = {
    flags: { resync: "1h", "leader-elect": true, "source-list": "list", "log-level": "warn" },
    sources: { a: { secret: "a/b", to: "*" } },
    commonLabels: { a: "b" },
    commonAnnotations: { a: "b" },
    podAnnotations: { a: "b" },
    nodeSelector: { a: "b" },
    "serviceAccount.annotations": { a: "b" },
  };
  const taken = Object.fromEntries(
    Object.entries(given).map(([value, keys]) => [
      value,
      Object.fromEntries(Object.keys(keys).map((key) => [key, null])),
    ]),
  );
  assert.notEqual(text(given), text({}));
  assert.equal(text(taken), text({}));
  assert.equal(text({ flags: null, sources: null }), text({}));
  assert.doesNotMatch(notes(taken), /null|nil/);
});

test("a value that is set to null counts as empty or is refused", options, () => {
  const { properties } = JSON.parse(readFileSync(`${CHART}/values.schema.json`, "utf8"));
  for (const value of Object.keys(properties)) {
    const words = [...OF_NOW, ...readable(...EVERY_GUARD, ...MONITORS), "--set", `${value}=null`];
    const { code, stderr } = helm.try("template", "rel", CHART, ...words);
    const said = value === "allSecrets" ? /choose which Secrets/ : `missing property '${value}'`;
    if (code !== 0) assert.match(stderr, new RegExp(said));
  }
});

test("names that YAML takes for numbers or switches stay names", options, () => {
  const names = { namespaceOverride: "31", fullnameOverride: "1000", nameOverride: "1e3" };
  const all = objects({ ...names, serviceAccount: { name: "31" } }, ...EVERY_GUARD, ...MONITORS);
  const wrong = all.filter(({ metadata }) =>
    Object.values(metadata).some((value) => typeof value !== "string" && typeof value !== "object"),
  );
  assert.deepEqual(wrong, []);
  for (const { metadata } of all.filter(({ metadata }) => metadata.namespace !== undefined))
    assert.equal(metadata.namespace, "31");
  const release = helm.run(
    "template",
    "31",
    CHART,
    ...OF_NOW,
    ...readable(...EVERY_GUARD, ...MONITORS),
  );
  for (const one of [...all, ...objectsIn(release)])
    for (const value of Object.values(Object(field(one, "metadata", "labels"))))
      assert.equal(typeof value, "string");
});
