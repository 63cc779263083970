// The component pull-secrets on a real API server, with its service accounts, its Deployments and real
// Pods: each that is made where the binding says lists the parameter's names once, after its own and its
// account's; whatever is wrong with the parameter, no Pod is kept from being made.
import assert from "node:assert/strict";
import { after, before, test as nodeTest, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { quietKubectl } from "../support/api-server/kubectl.ts";
import { openCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { ok } from "../../packages/sandbox/testing/facts/place.ts";
import { field, type Answer, type Http } from "../../packages/sandbox/testing/http.ts";
import { since } from "../support/api-server/kubernetes-version.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const FOLDER = fileURLToPath(new URL("../../manifests/components/pull-secrets", import.meta.url));
const FILES = ["policy", "binding", "parameter"].flatMap((name) => [
  "-f",
  `${FOLDER}/${name}.yaml`,
]);
const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const BINDINGS = `${ADMISSION}/mutatingadmissionpolicybindings`;
const PARAMETERS = "/api/v1/namespaces/secretcast/configmaps";
const PARAMETER = `${PARAMETERS}/secretcast-pull-secrets`;
const MERGE = { contentType: "application/merge-patch+json" } as const;

const options = since(36, "MutatingAdmissionPolicy v1");
const test = (name: string, run: (t: TestContext) => Promise<void>): void =>
  void nodeTest(name, options, run);

let http: Http;
const namespaces: string[] = [];

const kubectl = (...words: readonly string[]): void =>
  quietKubectl(sharedCluster().kubeconfig, words);

before(async () => {
  http = openCluster(sharedCluster());
  if (options.skip === false) kubectl("apply", ...FILES);
});
after(async () => {
  if (options.skip === false) kubectl("delete", ...FILES);
  for (const name of namespaces) await http.send("DELETE", `/api/v1/namespaces/${name}`);
  await http.close();
});

/** A namespace of the test's own, ready for Pods. */
async function namespace(base: string, labels = {}): Promise<string> {
  const name = `pulling-${base}`;
  namespaces.push(name);
  const body = { metadata: { name, labels } };
  ok(await http.send("POST", "/api/v1/namespaces", { body }), 201);
  await eventually(`${name} has its service account`, async () => {
    const path = `/api/v1/namespaces/${name}/serviceaccounts/default`;
    return (await http.send("GET", path)).status === 200;
  });
  return name;
}

type Pod = {
  readonly listed?: readonly string[];
  readonly account?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly nodeName?: string;
};
// As Pod Security `restricted` wants it, which the controller's own namespace is held to.
const SAFE = {
  runAsNonRoot: true,
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  seccompProfile: { type: "RuntimeDefault" },
};
const podOf = (name: string, { listed, account, annotations, nodeName }: Pod) => ({
  metadata: { name, annotations },
  spec: {
    containers: [{ name: "main", image: "registry.example.com/app", securityContext: SAFE }],
    nodeName,
    imagePullSecrets: listed?.map((one) => ({ name: one })),
    serviceAccountName: account,
  },
});
const create = (namespaceName: string, name: string, pod: Pod = {}, query = ""): Promise<Answer> =>
  http.send("POST", `/api/v1/namespaces/${namespaceName}/pods${query}`, {
    body: podOf(name, pod),
  });

/** What a Pod lists. */
function listed(pod: unknown): readonly string[] {
  const list = field(pod, "spec", "imagePullSecrets");
  return Array.isArray(list) ? list.map((one) => String(field(one, "name"))) : [];
}
/** What a Pod would list if it were made now. */
const would = async (namespaceName: string, pod: Pod = {}): Promise<readonly string[]> =>
  listed(ok(await create(namespaceName, "would", pod, "?dryRun=All"), 201));

const lists = (namespaceName: string, names: readonly string[], pod: Pod = {}): Promise<boolean> =>
  eventually(`Pods in ${namespaceName} list ${names.slice(0, 5).join()}`, async () => {
    assert.deepEqual(await would(namespaceName, pod), names);
    return true;
  });

/** The parameter as another document has it, for this test. */
async function parameter(data: Readonly<Record<string, string>>): Promise<void> {
  const old = ok(await http.send("GET", PARAMETER), 200);
  const metadata = field(old, "metadata");
  ok(await http.send("PUT", PARAMETER, { body: { metadata, data } }), 200);
}

test("a Pod lists the parameter's names, after its own and its service account's, and once", async () => {
  const a = await namespace("own");
  await lists(a, ["registry"]);
  assert.deepEqual(listed(ok(await create(a, "plain"), 201)), ["registry"]);
  assert.deepEqual(await would(a, { listed: ["mine"] }), ["mine", "registry"]);
  assert.deepEqual(await would(a, { listed: [] }), ["registry"]);
  for (const own of [["registry"], ["registry", "mine"], ["mine", "mine", "registry"]])
    assert.deepEqual(await would(a, { listed: own }), own, "as its author wrote it");

  const accounts = `/api/v1/namespaces/${a}/serviceaccounts`;
  for (const [name, names] of [
    ["with", ["of-the-account"]],
    ["same", ["of-the-account", "registry"]],
  ] as const) {
    const body = { metadata: { name }, imagePullSecrets: names.map((one) => ({ name: one })) };
    ok(await http.send("POST", accounts, { body }), 201);
  }
  const both = ["of-the-account", "registry"];
  assert.deepEqual(await would(a, { account: "with" }), both);
  assert.deepEqual(await would(a, { account: "same" }), both);
  assert.deepEqual(await would(a, { account: "with", listed: ["mine"] }), ["mine", "registry"]);
});

test("a mirror Pod stays as its node reports it", async () => {
  const a = await namespace("mirror");
  await lists(a, ["registry"]);
  const annotations = { "kubernetes.io/config.mirror": "hash" };
  assert.deepEqual(await would(a, { annotations, nodeName: "node" }), []);
  const bound = await would(a, { nodeName: "node" });
  assert.deepEqual(bound, ["registry"], "any other on a node already");
});

test("Pods of a Deployment list the names, and its template stays as it was", async () => {
  const a = await namespace("deployment");
  await lists(a, ["registry"]);
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: podOf("", {}).spec };
  const body = {
    metadata: { name: "web" },
    spec: { replicas: 2, selector: { matchLabels: labels }, template },
  };
  const deployments = `/apis/apps/v1/namespaces/${a}/deployments`;
  ok(await http.send("POST", deployments, { body }), 201);
  await eventually("both Pods list them", async () => {
    const items = field(ok(await http.send("GET", `/api/v1/namespaces/${a}/pods`), 200), "items");
    assert.deepEqual(Array.isArray(items) && items.map(listed), [["registry"], ["registry"]]);
    return true;
  });
  const kept = ok(await http.send("GET", `${deployments}/web`), 200);
  assert.deepEqual(listed(field(kept, "spec", "template")), []);
});

test("Pods of the system's and the controller's own namespaces stay as they were asked for", async () => {
  const a = await namespace("elsewhere");
  await lists(a, ["registry"]);
  for (const system of ["kube-system", "kube-public", "kube-node-lease", "secretcast"]) {
    const path = `/api/v1/namespaces/${system}/serviceaccounts/default`;
    await eventually("it has its account", async () => {
      return (await http.send("GET", path)).status === 200;
    });
    assert.deepEqual(await would(system), [], system);
  }
});

test("where the binding selects by a label, the label decides, for many namespaces at once", async () => {
  const chosen = { "example.com/registry": "private" };
  const binding = `${BINDINGS}/secretcast-pull-secrets`;
  const selector = (namespaceSelector: object): object => ({
    body: [
      { op: "replace", path: "/spec/matchResources/namespaceSelector", value: namespaceSelector },
    ],
    contentType: "application/json-patch+json",
  });
  const before = field(
    ok(await http.send("GET", binding), 200),
    "spec",
    "matchResources",
    "namespaceSelector",
  );
  const made = await Promise.all(
    Array.from({ length: 12 }, (_, at) => namespace(`label-${at}`, at % 2 === 0 ? chosen : {})),
  );
  ok(await http.send("PATCH", binding, selector({ matchLabels: chosen })), 200);
  await lists(made[0] ?? "", ["registry"]);
  await lists(made[1] ?? "", []);
  const pods = await Promise.all(
    made.flatMap((name, at) =>
      ["x", "y", "z"].map(
        async (pod) => [at % 2, listed(ok(await create(name, pod), 201))] as const,
      ),
    ),
  );
  for (const [odd, names] of pods) assert.deepEqual(names, odd ? [] : ["registry"]);

  const first = `/api/v1/namespaces/${made[0]}`;
  const labels = { "example.com/registry": null };
  ok(await http.send("PATCH", first, { body: { metadata: { labels } }, ...MERGE }), 200);
  await lists(made[0] ?? "", []);
  ok(await http.send("PATCH", binding, selector(before as object)), 200);
  await lists(made[1] ?? "", ["registry"]);
});

test("names are separated by commas or blanks, and what is no name is ignored", async () => {
  const a = await namespace("names");
  for (const [text, names] of [
    ["registry,other", ["registry", "other"]],
    [" registry ,\tother\r\nthird\n", ["registry", "other", "third"]],
    ["registry,other,registry", ["registry", "other"]],
    ["Registry,-x,a/b,a_b,'; rm,ok.example", ["rm", "ok.example"]],
    [`${"x".repeat(254)},ok`, ["ok"]],
    ["*,!registry,{{names}},ok", ["ok"]],
  ] as const) {
    await parameter({ names: text });
    await lists(a, names);
  }
  for (const data of [{ names: "" }, { names: " ,, \n" }, { name: "registry" }, {}]) {
    await parameter({ names: "registry" });
    await lists(a, ["registry"]);
    await parameter(data);
    await lists(a, []);
    await lists(a, ["mine"], { listed: ["mine"] });
  }
  await parameter({ names: "registry" });
  await lists(a, ["registry"]);
});

test("the first hundred names count, and a text that is too long adds none", async () => {
  const a = await namespace("many");
  const names = Array.from({ length: 101 }, (_, at) => `registry-${at}`);
  await parameter({ names: names.join() });
  await lists(a, names.slice(0, 100));
  await parameter({ names: "x,".repeat(500_000) });
  await lists(a, []);
  await parameter({ names: "registry" });
  await lists(a, ["registry"]);
});

test("without the parameter Pods are made as they were asked for, until it is back", async () => {
  const a = await namespace("missing");
  await lists(a, ["registry"]);
  ok(await http.send("DELETE", PARAMETER), 200);
  await lists(a, []);
  assert.deepEqual(listed(ok(await create(a, "meanwhile", { listed: ["mine"] }), 201)), ["mine"]);
  kubectl("apply", "-f", `${FOLDER}/parameter.yaml`);
  await lists(a, ["registry"]);
});

test("a second binding with a parameter of its own adds its names, and none twice", async (t) => {
  const labels = { "example.com/builds": "true" };
  const [a, b] = [await namespace("two", labels), await namespace("one")];
  const metadata = { name: "pulling-second" };
  t.after(async () => {
    await http.send("DELETE", `${BINDINGS}/${metadata.name}`);
    await http.send("DELETE", `${PARAMETERS}/${metadata.name}`);
  });
  const data = { names: "registry,builds" };
  ok(await http.send("POST", PARAMETERS, { body: { metadata, data } }), 201);
  const paramRef = { ...metadata, namespace: "secretcast", parameterNotFoundAction: "Allow" };
  const matchResources = { namespaceSelector: { matchLabels: labels } };
  const spec = { policyName: "secretcast-pull-secrets", paramRef, matchResources };
  ok(await http.send("POST", BINDINGS, { body: { metadata, spec } }), 201);
  await eventually("both parameters count", async () => {
    assert.deepEqual((await would(a)).toSorted(), ["builds", "registry"]);
    return true;
  });
  await lists(b, ["registry"]);
});

test("the names return after another policy has replaced the list", async (t) => {
  const labels = { "example.com/replaces": "true" };
  const a = await namespace("replaced", labels);
  // Policies act in the order of their names.
  const metadata = { name: "zz-replaces" };
  const policies = `${ADMISSION}/mutatingadmissionpolicies`;
  t.after(async () => {
    await http.send("DELETE", `${BINDINGS}/${metadata.name}`);
    await http.send("DELETE", `${policies}/${metadata.name}`);
  });
  const at = "/spec/imagePullSecrets";
  const empty = `JSONPatch{op: 'add', path: '${at}', value: []}`;
  const mine = `JSONPatch{op: 'add', path: '${at}/-', value: Object.spec.imagePullSecrets{name: 'mine'}}`;
  const patch = `[${empty}, ${mine}]`;
  const resourceRules = [
    { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] },
  ];
  const policy = {
    metadata,
    spec: {
      failurePolicy: "Fail",
      reinvocationPolicy: "Never",
      matchConstraints: { resourceRules },
      mutations: [{ patchType: "JSONPatch", jsonPatch: { expression: patch } }],
    },
  };
  ok(await http.send("POST", policies, { body: policy }), 201);
  const matchResources = { namespaceSelector: { matchLabels: labels } };
  const spec = { policyName: metadata.name, matchResources };
  ok(await http.send("POST", BINDINGS, { body: { metadata, spec } }), 201);
  await lists(a, ["mine", "registry"]);
});

test("a Pod that was there before is left alone, updates and ephemeral containers included", async () => {
  const a = await namespace("update");
  await parameter({});
  await lists(a, []);
  ok(await create(a, "old"), 201);
  await parameter({ names: "registry" });
  await lists(a, ["registry"]);
  const old = `/api/v1/namespaces/${a}/pods/old`;
  const labels = { metadata: { labels: { team: "a" } } };
  assert.deepEqual(listed(ok(await http.send("PATCH", old, { body: labels, ...MERGE }), 200)), []);
  const ephemeralContainers = [{ name: "debug", image: "busybox" }];
  const debug = { body: { spec: { ephemeralContainers } }, ...MERGE };
  const debugged = ok(await http.send("PATCH", `${old}/ephemeralcontainers`, debug), 200);
  assert.deepEqual(listed(debugged), []);
  assert.equal(field(debugged, "spec", "ephemeralContainers", 0, "name"), "debug");
});

test("a dry run shows what a Pod would list, and makes none", async () => {
  const a = await namespace("dry");
  await lists(a, ["registry"]);
  assert.equal((await http.send("GET", `/api/v1/namespaces/${a}/pods/would`)).status, 404);
});

test("beside enforce-mountable-secrets Pods are refused where the account does not list the name", async (t) => {
  const a = await namespace("enforced");
  await lists(a, ["registry"]);
  const metadata = {
    name: "enforced",
    annotations: { "kubernetes.io/enforce-mountable-secrets": "true" },
  };
  const accounts = `/api/v1/namespaces/${a}/serviceaccounts`;
  ok(await http.send("POST", accounts, { body: { metadata } }), 201);
  const refused = await create(a, "refused", { account: "enforced" });
  assert.equal(refused.status, 403);
  const message = String(field(refused.body, "message"));
  assert.match(message, /imagePullSecrets\[0\]\.name="registry" is not allowed because/);
  t.diagnostic(message);
  // What the document says to do: the account lists it, or the namespace is not chosen.
  const imagePullSecrets = [{ name: "registry" }];
  ok(
    await http.send("PATCH", `${accounts}/enforced`, { body: { imagePullSecrets }, ...MERGE }),
    200,
  );
  await lists(a, ["registry"], { account: "enforced" });
});
