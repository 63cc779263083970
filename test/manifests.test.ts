// The manifests as files: what they ask for is exactly what the controller needs, and the example
// goes with the base. What an API server makes of them is shown where there is one.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import {
  loadAllYaml,
  loadYaml,
  type KubernetesObject,
  type V1ClusterRole,
  type V1ClusterRoleBinding,
  type V1Deployment,
  type V1PodDisruptionBudget,
  type V1Secret,
  type V1ValidatingAdmissionPolicy,
} from "@kubernetes/client-node";
import { FLAGS } from "../src/controller/settings/flags.ts";
import { field } from "../packages/sandbox/testing/http.ts";
import { grantsOf, neededGrants, type RbacManifest } from "./support/kube/rbac.ts";
import { COMPONENTS } from "./support/documents/components.ts";
import { KINDS } from "../src/controller/model/kinds.ts";
import { isUid } from "../src/controller/desired/copy.ts";
import { marksOf } from "../src/controller/observed/read-copy.ts";
import { folderOf } from "../packages/kube/testing/folder.ts";
import { readManifest } from "./support/programs/packed-project.ts";

const FOLDER = new URL("../manifests/", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, FOLDER), "utf8");
// The client's classes would not compare equal to plain objects.
const plain = <T>(loaded: T): T => JSON.parse(JSON.stringify(loaded));
const objects = (file: string): readonly KubernetesObject[] => plain(loadAllYaml(read(file)));
const yamlFiles = (folder: string) =>
  readdirSync(new URL(folder, FOLDER))
    .filter((file) => file.endsWith(".yaml"))
    .toSorted();

type Kustomization = { resources: string[]; images: { name: string; newTag: string }[] };
const kustomization = plain(loadYaml<Kustomization>(read("kustomization.yaml")));
const example = yamlFiles("example/").flatMap((file) => objects(`example/${file}`));
const base = kustomization.resources.flatMap(objects);
const identity = ({ kind, metadata }: KubernetesObject) =>
  `${kind} ${metadata?.namespace ?? ""}/${metadata?.name}`;

test("the kustomization lists every file of the base, and each holds one object", () => {
  const files = yamlFiles("./").filter((file) => file !== "kustomization.yaml");
  assert.deepEqual(kustomization.resources.toSorted(), files);
  for (const file of files) assert.equal(objects(file).length, 1, file);
});

/** The rules that a component puts into the ClusterRole of the base. */
function rulesOf(component: string): readonly RbacManifest[] {
  type Rule = NonNullable<RbacManifest["rules"]>[number];
  const { patches } = loadYaml<{ patches: { patch: string }[] }>(
    read(`components/${component}/kustomization.yaml`),
  );
  const [added] = loadYaml<{ value: Rule | Rule[] }[]>(patches[0]?.patch ?? "");
  const rules = [plain(added?.value ?? [])].flat();
  return [{ kind: "ClusterRole", metadata: { name: "secretcast" }, rules }];
}

const ofBase = ["clusterrole.yaml", "role.yaml"].flatMap((file): readonly RbacManifest[] =>
  plain(loadAllYaml(read(file))),
);
const namesOnly = ["--only-names=registry", "--no-leader-elect", "--source-list="];
for (const [what, manifests, words] of [
  ["the base", ofBase, ["--leader-elect"]],
  ["the component only-names", rulesOf("only-names"), namesOnly],
  [
    "the component config-maps",
    [...ofBase, ...rulesOf("config-maps")],
    ["--leader-elect", "--config-maps"],
  ],
] as const)
  test(`the rules of ${what} are the table's, no more and no fewer`, () => {
    const around = { env: {}, clusterNamespace: "secretcast", terminal: false };
    assert.deepEqual(grantsOf(manifests), neededGrants(words, around));
  });

for (const file of ["clusterrole.yaml", "role.yaml"])
  test(`each rule of ${file} has its reason beside it`, () => {
    const lines = read(file).split("\n");
    const rules = lines.flatMap((line, at) => (line.startsWith("  - apiGroups:") ? [at] : []));
    assert.equal(rules.length, plain(loadYaml<V1ClusterRole>(read(file))).rules?.length);
    for (const at of rules) assert.match(lines[at - 1] ?? "", /^ {2}# \S/, lines[at]);
  });

for (const [file, kind, name] of [
  ["clusterrolebinding.yaml", "ClusterRole", "secretcast"],
  ["rolebinding.yaml", "Role", "secretcast"],
  ["namespace-rights/rolebinding.yaml", "Role", "secretcast-secrets"],
] as const)
  test(`${file} gives its role to the controller's service account alone`, () => {
    const { roleRef, subjects } = plain(loadYaml<V1ClusterRoleBinding>(read(file)));
    assert.deepEqual(roleRef, { apiGroup: "rbac.authorization.k8s.io", kind, name });
    assert.deepEqual(subjects, [
      { kind: "ServiceAccount", name: "secretcast", namespace: "secretcast" },
    ]);
  });

const deployment = plain(loadYaml<V1Deployment>(read("deployment.yaml")));
const pod = deployment.spec?.template.spec;
const [container, ...others] = pod?.containers ?? [];

test("the pod satisfies Pod Security restricted with a read-only root", () => {
  assert.deepEqual(pod?.securityContext, {
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  });
  assert.deepEqual(container?.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  assert.deepEqual(others, []);
  for (const open of ["volumes", "hostNetwork", "hostPID", "hostIPC", "initContainers"])
    assert.ok(!Object.hasOwn(pod ?? {}, open), open);
});

test("the pod is probed where the program listens by default", () => {
  const address = FLAGS.find(({ name }) => name === "http-address")?.default;
  const [port] = container?.ports ?? [];
  assert.equal(address, `0.0.0.0:${port?.containerPort}`);
  assert.deepEqual(container?.livenessProbe?.httpGet, { path: "/healthz", port: port?.name });
  assert.deepEqual(container?.readinessProbe?.httpGet, { path: "/readyz", port: port?.name });
});

test("the pod has requests, a memory limit, and more than 30 s to stop", () => {
  assert.deepEqual(container?.resources, {
    requests: { cpu: "50m", memory: "128Mi", "ephemeral-storage": "64Mi" },
    limits: { memory: "384Mi", "ephemeral-storage": "512Mi" },
  });
  assert.ok((pod?.terminationGracePeriodSeconds ?? 0) > 30);
});

test("the pod runs as the controller's service account and the image is this version's", () => {
  assert.equal(pod?.serviceAccountName, "secretcast");
  assert.deepEqual(container?.args, ["run", "--leader-elect"]);
  const { version } = readManifest();
  const image = kustomization.images.find(({ name }) => name === container?.image);
  assert.equal(image?.newTag, version);
});

test("two replicas, spread, and never fewer ready ones than that during a rolling update", () => {
  assert.equal(deployment.spec?.replicas, 2);
  assert.deepEqual(deployment.spec.strategy, {
    type: "RollingUpdate",
    rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
  });
  const labels = deployment.spec.template.metadata?.labels;
  const spread = pod?.topologySpreadConstraints ?? [];
  assert.deepEqual(
    spread.map(({ topologyKey, whenUnsatisfiable }) => `${topologyKey} ${whenUnsatisfiable}`),
    ["kubernetes.io/hostname ScheduleAnyway", "topology.kubernetes.io/zone ScheduleAnyway"],
  );
  for (const { labelSelector } of spread) assert.deepEqual(labelSelector?.matchLabels, labels);
});

test("the disruption budget is for the Deployment's pods and leaves one of them", () => {
  const { spec } = plain(loadYaml<V1PodDisruptionBudget>(read("poddisruptionbudget.yaml")));
  assert.equal(spec?.maxUnavailable, 1);
  assert.deepEqual(spec.selector, deployment.spec?.selector);
});

test("base and example agree on every object that both hold", () => {
  const both = example.filter((one) => base.some((other) => identity(one) === identity(other)));
  assert.deepEqual(both.map(identity), ["Namespace /secretcast"]);
  for (const one of both)
    assert.deepEqual(
      one,
      base.find((other) => identity(one) === identity(other)),
    );
});

test("the example makes each namespace before the Secret that needs it, and none twice", () => {
  const names = example.map(identity);
  assert.deepEqual(names, [
    "Namespace /secretcast",
    "Namespace /team-a",
    "Namespace /team-b",
    "Namespace /team-c",
    "Namespace /legacy",
    "Secret secretcast/registry",
  ]);
});

test("the example's source is a registry credential for a registry that cannot exist", () => {
  const source = plain(loadYaml<V1Secret>(read("example/source.yaml")));
  assert.equal(source.type, "kubernetes.io/dockerconfigjson");
  assert.deepEqual(source.metadata?.annotations, { "secretcast.io/to": "team-*" });
  const config: { auths: Record<string, { password: string }> } = JSON.parse(
    source.stringData?.[".dockerconfigjson"] ?? "",
  );
  assert.deepEqual(Object.keys(config.auths), ["registry.example.com"]);
});

const kubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
test("kubectl builds the base into the same objects", { skip: !kubectl && "no kubectl" }, () => {
  const { status, stdout, stderr } = spawnSync("kubectl", ["kustomize", fileURLToPath(FOLDER)], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  const all: readonly KubernetesObject[] = loadAllYaml(stdout);
  assert.deepEqual(all.map(identity).toSorted(), base.map(identity).toSorted());
  assert.match(stdout, /image: (\S+\/)?secretcast:\d+\.\d+\.\d+$/m);
});

test("each component has its row in docs/reference.md, and there is no other", () => {
  const names = COMPONENTS.map(({ name }) => name);
  assert.deepEqual(names.toSorted(), readdirSync(new URL("components/", FOLDER)).toSorted());
});

/** The base with these components in this order, as kubectl builds it. */
function built(t: TestContext, components: readonly string[]): readonly KubernetesObject[] {
  const folder = folderOf(t);
  const manifests = relative(realpathSync(folder), fileURLToPath(FOLDER));
  const overlay = {
    resources: [manifests],
    components: components.map((name) => `${manifests}/components/${name}`),
  };
  writeFileSync(`${folder}/kustomization.yaml`, JSON.stringify(overlay));
  const { status, stdout, stderr } = spawnSync("kubectl", ["kustomize", folder], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  return plain(loadAllYaml(stdout));
}

test("the roles for people are bound to nobody, and on-call reads no Secret", () => {
  const roles = yamlFiles("components/reader-roles/")
    .filter((file) => file !== "kustomization.yaml")
    .flatMap((file) => objects(`components/reader-roles/${file}`));
  assert.deepEqual(roles.map(identity), [
    "ClusterRole /secretcast-on-call",
    "ClusterRole /secretcast-tenant",
  ]);
  const [onCall] = roles;
  assert.doesNotMatch(JSON.stringify(onCall), /secrets"|"\*"/);
  assert.doesNotMatch(JSON.stringify(roles), /"(update|patch|delete|watch)"/);
});

const components = readdirSync(new URL("components/", FOLDER)).toSorted();
for (const component of components)
  test(
    `kubectl builds the base with the component ${component}`,
    { skip: !kubectl && "no kubectl" },
    (t) => {
      const added = built(t, [component])
        .map(identity)
        .filter((one) => !base.map(identity).includes(one));
      const files = yamlFiles(`components/${component}/`).filter(
        (file) => file !== "kustomization.yaml",
      );
      const listed = files.flatMap((file) =>
        objects(`components/${component}/${file}`).map(identity),
      );
      assert.deepEqual(added.toSorted(), listed.toSorted());
    },
  );

/** Each right that a binding grants, as a line, whatever its role. A role that is not bound grants nothing. */
const rightsOf = (all: readonly KubernetesObject[]): readonly string[] =>
  all
    .filter(({ metadata }) =>
      all.some((one) => "roleRef" in one && field(one.roleRef, "name") === metadata?.name),
    )
    .flatMap((object) => ("rules" in object && Array.isArray(object.rules) ? object.rules : []))
    .map((rule) => JSON.stringify(rule))
    .toSorted();

test(
  "the order of components changes no right and no flag",
  { skip: !kubectl && "no kubectl" },
  (t) => {
    const sorted = (objects: readonly KubernetesObject[]) =>
      objects
        .toSorted((a, b) => identity(a).localeCompare(identity(b)))
        .map((object) =>
          JSON.stringify(object, (key, value) => (key === "args" ? value.toSorted() : value)),
        );
    // Each two of them stand both ways round.
    const [first, second] = [built(t, components), built(t, components.toReversed())];
    assert.deepEqual(rightsOf(first), rightsOf(second));
    assert.deepEqual(sorted(first), sorted(second));
  },
);

test(
  "with listed namespaces no component grants a right in all namespaces",
  { skip: !kubectl && "no kubectl" },
  (t) => {
    const alone = rightsOf(built(t, ["listed-namespaces"]));
    for (const other of components.filter((name) => name !== "listed-namespaces"))
      assert.deepEqual(rightsOf(built(t, ["listed-namespaces", other])), alone, other);
  },
);

test("the policies of the components have the program's version", () => {
  const { version } = readManifest();
  const policies = COMPONENTS.flatMap(({ name }) =>
    yamlFiles(`components/${name}/`)
      .filter((file) => file.startsWith("policy"))
      .map((file) => `${name}/${file}`),
  );
  assert.ok(policies.length >= 5);
  for (const name of policies) {
    const [policy] = objects(`components/${name}`);
    assert.equal(policy?.metadata?.labels?.["app.kubernetes.io/version"], version, name);
  }
});

test("both guards spare and judge the controller's own account, by the same marks", () => {
  const of = (component: string) =>
    plain(loadYaml<V1ValidatingAdmissionPolicy>(read(`components/${component}/policy.yaml`))).spec;
  const [guardrail, tenants] = [of("guardrail"), of("tenant-guard")];
  const account = "'system:serviceaccount:secretcast:secretcast'";
  const conditions = [guardrail, tenants].map((spec) => spec?.matchConditions?.[0]?.expression);
  assert.deepEqual(conditions, [
    `request.userInfo.username == ${account}`,
    `request.userInfo.username != ${account}`,
  ]);
  const variable = (spec: typeof guardrail, name: string) =>
    spec?.variables?.find((one) => one.name === name)?.expression;
  assert.equal(variable(tenants, "wasCopy"), variable(guardrail, "wasCopy"));
  const is = variable(guardrail, "wasCopy")?.replaceAll("oldLabels", "labels");
  assert.equal(variable(guardrail, "isCopy"), is?.replaceAll("oldAnnotations", "annotations"));
});

test("the guardrail judges each verb once and a create by its marks", () => {
  const of = (file: string) =>
    plain(loadYaml<V1ValidatingAdmissionPolicy>(read(`components/guardrail/${file}.yaml`))).spec;
  const [creates, others] = [of("policy-create"), of("policy")];
  const verbs = [creates, others].map(
    (spec) => spec?.matchConstraints?.resourceRules?.[0]?.operations,
  );
  assert.deepEqual(verbs, [["CREATE"], ["UPDATE", "DELETE"]]);
  assert.deepEqual(creates?.matchConditions, others?.matchConditions);
  const isCopy = others?.variables?.find(({ name }) => name === "isCopy")?.expression ?? "";
  const made = creates?.validations?.[0]?.expression ?? "";
  const marks = (text: string): readonly string[] =>
    Array.from(text.matchAll(/'(?:secretcast|app\.kubernetes)\.io\/[^']*'/g), ([mark]) => mark);
  const source = creates?.variables?.find(({ name }) => name === "source")?.expression ?? "";
  assert.deepEqual(new Set(marks(made + source)), new Set(marks(isCopy)));
  const [pattern = "none"] = /'\^\[a-z0-9\][^']*\/[^']*'/.exec(made) ?? [];
  assert.ok(isCopy.includes(`.matches(${pattern})`), pattern);
});

test("the guards and the early check judge every kind that takes part", () => {
  for (const name of [
    "guardrail/policy",
    "guardrail/policy-create",
    "tenant-guard/policy",
    "early-check/policy",
  ]) {
    const { spec } = loadYaml<V1ValidatingAdmissionPolicy>(read(`components/${name}.yaml`));
    const rules = spec?.matchConstraints?.resourceRules ?? [];
    for (const { group, plural } of Object.values(KINDS).map(({ resource }) => resource))
      assert.ok(
        rules.some(
          ({ apiGroups, resources }) => apiGroups?.includes(group) && resources?.includes(plural),
        ),
        `${name}: ${plural}`,
      );
  }
});

test("the guards call well-formed what the controller does", () => {
  const text = read("components/guardrail/policy.yaml");
  const matched = (mark: string) => {
    const [, pattern = ""] =
      new RegExp(
        `oldAnnotations\\[\\?'${mark}'\\]\\.orValue\\(''\\)\\.matches\\('([^']*)'\\)`,
      ).exec(text) ?? [];
    const [, flags = "", source = ""] = /^(?:\(\?(s)\))?(.*)$/.exec(pattern) ?? [];
    return new RegExp(source, flags);
  };
  const [source, uid] = [matched("secretcast.io/source"), matched("secretcast.io/source-uid")];
  const [label, name] = ["x".repeat(63), "x".repeat(253)];
  for (const ref of ["a/b", "a-1/b.c-2.d", `${label}/${name}`, "", "/", "a/", "/b", "a", "A/b"]
    .concat(["a/B", "a/b/c", "a/-b", "a-/b", "a/b.", "a/b..c", "a.b/c", "a/b\n", " a/b", "a/b "])
    .concat([`x${label}/b`, `a/x${name}`])) {
    const marks = { "secretcast.io/source-uid": "u", "secretcast.io/placed-at": "here/x" };
    const labels = { "app.kubernetes.io/managed-by": "secretcast" };
    const annotations = { ...marks, "secretcast.io/source": ref };
    const ours = marksOf({ namespace: "here", name: "x" }, labels, annotations) !== undefined;
    const wellFormed = source.test(ref) && ref.split("/").every((part) => part.length <= 253);
    assert.equal(wellFormed, ours, JSON.stringify(ref));
  }
  for (const text of ["u", "a\nb", name, "", `x${name}`]) assert.equal(uid.test(text), isUid(text));
});

// A user can write 80,000 annotations, and a loop costs the API server about 50 µs for each. The API server
// evaluates every match condition, so that one of them does not bound another one.
for (const name of ["guardrail", "tenant-guard", "early-check", "pull-secrets"])
  test(`each loop of ${name} over what users write has a bound in front of it`, () => {
    const { spec } = plain(
      loadYaml<V1ValidatingAdmissionPolicy>(read(`components/${name}/policy.yaml`)),
    );
    const conditions = spec?.matchConditions ?? [];
    const variables = spec?.variables ?? [];
    const loop =
      /(?:[aA]nnotations|[lL]abels|metadata\.\?(?:annotations|labels)\.orValue\(\{\}\))\.(?:all|exists|filter|map)\(/;
    const bound = /\.size\(\) <= \d+|variables\.few/;
    const isBounded = ({ expression }: { readonly expression: string }): boolean => {
      const at = expression.search(loop);
      return at === -1 || bound.test(expression.slice(0, at));
    };
    assert.deepEqual(
      conditions.filter((each) => !isBounded(each)).map((each) => each.name),
      [],
    );
    // A condition does bound what is evaluated after all conditions.
    const before = conditions.some(({ expression }) =>
      /annotations\.orValue\(\{\}\)\.size\(\) <= \d+ &&/.test(expression),
    );
    const unbounded = before ? [] : variables.filter((each) => !isBounded(each));
    assert.deepEqual(
      unbounded.map((each) => each.name),
      [],
    );
  });
