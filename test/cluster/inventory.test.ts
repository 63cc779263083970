// `secretcast inventory --readers` on a real API server, whose own authorizer is the judge: each subject and place is
// asked for by a SubjectAccessReview.
import { placeLiveLease } from "../support/api-server/live-lease.ts";
import assert from "node:assert/strict";
import { isRecord } from "../../packages/kube/json.ts";
import { openCluster, ownCluster } from "../support/api-server/cluster.ts";
import type { Http } from "../../packages/sandbox/testing/http.ts";
import { commandLine } from "../support/programs/command-line.ts";
import { openScene } from "../support/scenes/scene.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GROUP = "rbac.authorization.k8s.io";
const NAMESPACES = ["secretcast", "team-a", "team-b"];
const PLACES = ["secretcast/registry", "team-a/registry", "team-b/other"];
const VERBS = ["get", "list", "watch"] as const;

type Subject = { readonly kind: string; readonly namespace?: string; readonly name: string };
type Reader = Subject & {
  readonly verbs: readonly string[];
  readonly everyPlace?: true;
  readonly places?: readonly string[];
};

async function create(http: Http, path: string, body: object): Promise<void> {
  const { status, body: answer } = await http.send("POST", path, { body });
  assert.ok(status === 201, `${path}: ${status} ${JSON.stringify(answer)}`);
}

const rule = (verbs: readonly string[], resources = ["secrets"], names?: readonly string[]) => ({
  apiGroups: [""],
  resources,
  verbs,
  ...(names && { resourceNames: names }),
});

const CLUSTER_ROLES: Readonly<Record<string, object>> = {
  "t-get": { rules: [rule(["get"])] },
  "t-star": { rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }] },
  "t-name": { rules: [rule(["get", "watch"], ["secrets"], ["registry"])] },
  "t-maps": { rules: [rule(["get", "list", "watch"], ["configmaps", "secrets/status"])] },
  "t-leaf": { metadata: { labels: { "t/leaf": "yes" } }, rules: [rule(["list"])] },
  "t-all": {
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "t/leaf": "yes" } }] },
    rules: [],
  },
  "t-create": { rules: [rule(["create", "delete", "patch"])] },
};

const user = (name: string): Subject => ({ kind: "User", name });
const group = (name: string): Subject => ({ kind: "Group", name });
const account = (namespace: string, name: string): Subject => ({
  kind: "ServiceAccount",
  namespace,
  name,
});

/** Role, subjects, and the namespace of a RoleBinding. */
const BINDINGS: readonly (readonly [string, readonly Subject[], string?])[] = [
  ["t-get", [user("ann"), group("readers")]],
  ["t-star", [account("ci", "deployer")]],
  ["t-name", [user("bob"), group("system:serviceaccounts:ci")]],
  ["t-maps", [user("cat")]],
  ["t-all", [user("dan")]],
  ["t-create", [user("eve")]],
  ["t-absent", [user("fay")]],
  ["t-get", [group("system:authenticated")], "team-b"],
  ["t-star", [user("system:serviceaccount:ci:builder"), user("gil")], "team-a"],
  ["t-name", [user("hal"), account("team-a", "app")], "team-b"],
  ["t-name", [user("hal")], "team-a"],
  ["t-all", [group("auditors")], "secretcast"],
  ["t-absent", [user("ida")], "team-a"],
];

async function build(http: Http): Promise<void> {
  for (const name of NAMESPACES) await create(http, "/api/v1/namespaces", { metadata: { name } });
  for (const [name, more] of Object.entries(CLUSTER_ROLES)) {
    const labels = isRecord(more) && isRecord(more["metadata"]) ? more["metadata"]["labels"] : {};
    await create(http, `${RBAC}/clusterroles`, { ...more, metadata: { name, labels } });
  }
  await create(http, `${RBAC}/namespaces/team-a/roles`, {
    metadata: { name: "t-own" },
    rules: [rule(["watch"])],
  });
  for (const [at, [role, subjects, namespace]] of BINDINGS.entries()) {
    const kind = namespace === undefined ? "ClusterRoleBinding" : "RoleBinding";
    const path =
      namespace === undefined ? "clusterrolebindings" : `namespaces/${namespace}/rolebindings`;
    await create(http, `${RBAC}/${path}`, {
      kind,
      metadata: { name: `t-${at}` },
      roleRef: { apiGroup: GROUP, kind: "ClusterRole", name: role },
      subjects: subjects.map((each) =>
        each.kind === "ServiceAccount" ? each : { ...each, apiGroup: GROUP },
      ),
    });
  }
  await create(http, `${RBAC}/namespaces/team-a/rolebindings`, {
    metadata: { name: "t-own" },
    roleRef: { apiGroup: GROUP, kind: "Role", name: "t-own" },
    subjects: [{ ...user("joy"), apiGroup: GROUP }],
  });
  const data = { password: "aHVudGVyMg==" };
  const annotations = { "secretcast.io/to": "team-*" };
  await create(http, "/api/v1/namespaces/secretcast/secrets", {
    metadata: { name: "registry", annotations },
    data,
  });
  for (const place of PLACES.slice(1)) {
    const [namespace = "", name = ""] = place.split("/");
    const marks = {
      "secretcast.io/source": "secretcast/registry",
      "secretcast.io/source-uid": "11111111-1111-1111-1111-111111111111",
      "secretcast.io/placed-at": place,
      "secretcast.io/source-version": "1",
    };
    const labels = { "app.kubernetes.io/managed-by": "secretcast" };
    const metadata = { name, annotations: marks, labels };
    await create(http, `/api/v1/namespaces/${namespace}/secrets`, { metadata, data });
  }
  await eventually("the role is aggregated", async () => {
    const { body } = await http.send("GET", `${RBAC}/clusterroles/t-all`);
    return isRecord(body) && Array.isArray(body["rules"]) && body["rules"].length > 0;
  });
}

/** What the API server allows a subject, alone, at each place. */
async function allowed(
  http: Http,
  { kind, namespace, name }: Subject,
  place: string,
): Promise<string> {
  const [of = "", object = ""] = place.split("/");
  const who =
    kind === "Group"
      ? { user: "nobody-else", groups: [name] }
      : { user: kind === "User" ? name : `system:serviceaccount:${namespace}:${name}` };
  const verbs: string[] = [];
  for (const verb of VERBS) {
    const resourceAttributes = { verb, resource: "secrets", namespace: of, name: object };
    const { body } = await http.send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
      body: { spec: { ...who, resourceAttributes } },
    });
    if (isRecord(body) && isRecord(body["status"]) && body["status"]["allowed"] === true)
      verbs.push(verb);
  }
  return verbs.join();
}

test("readers are exactly those that the API server's authorizer lets read", async (t) => {
  const cluster = await ownCluster();
  t.after(() => cluster.stop());
  const http = openCluster(cluster);
  t.after(() => http.close());
  await build(http);
  await placeLiveLease(cluster, "default");
  const { code, stdout, stderr } = await commandLine([
    "inventory",
    "--lease-namespace=default",
    "--readers",
    "-o",
    "json",
    "--kubeconfig",
    cluster.kubeconfig,
  ]);
  assert.equal(code, 0, stderr);
  const { items, danglingBindings } = JSON.parse(stdout);
  assert.deepEqual(
    danglingBindings.map(({ binding }: { binding: string }) => binding),
    ["ClusterRoleBinding/t-6", "RoleBinding/team-a/t-12"],
  );
  const readers: readonly Reader[] = items[0].readers;
  const said = new Map<string, Set<string>>();
  for (const { kind, namespace = "", name, verbs, everyPlace, places = [] } of readers)
    for (const place of everyPlace ? PLACES : places) {
      const key = `${kind} ${namespace}/${name} ${place}`;
      said.set(key, new Set([...(said.get(key) ?? []), ...verbs]));
    }
  const everyone = [
    ...BINDINGS.flatMap(([, subjects]) => subjects),
    user("joy"),
    ...readers.map(({ kind, namespace, name }) => ({
      kind,
      name,
      ...(namespace && { namespace }),
    })),
  ];
  const wrong: string[] = [];
  let asked = 0;
  for (const subject of everyone) {
    const [, of, own] = /^system:serviceaccount:([^:]+):(.+)$/.exec(subject.name) ?? [];
    const shown = of !== undefined && own !== undefined ? account(of, own) : subject;
    for (const place of PLACES) {
      const key = `${shown.kind} ${shown.namespace ?? ""}/${shown.name} ${place}`;
      const truth = await allowed(http, subject, place);
      const ours = VERBS.filter((verb) => said.get(key)?.has(verb)).join();
      asked++;
      if (truth !== ours) wrong.push(`${key}: the server says "${truth}", the inventory "${ours}"`);
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(asked > 60, `${asked} answers`);
  assert.doesNotMatch(stdout + stderr, /hunter2|aHVudGVyM/);
});

test("managedFields that were cleared give no age, and never a young value", async (t) => {
  const scene = await openScene(t);
  const annotations = { "secretcast.io/to": scene.name("team-*") };
  await scene.api.createSecret(scene.source, "s", { annotations, data: { password: "hunter2" } });
  await scene.api.patchSecret(scene.source, "s", { metadata: { managedFields: [{}] } });
  const run = (...words: readonly string[]) =>
    commandLine([
      "inventory",
      `--source-namespaces=${scene.source}`,
      `-n=${scene.source}`,
      `--kubeconfig=${scene.kubeconfig}`,
      ...words,
    ]);
  const remove = await placeLiveLease(scene.api);
  const [item] = JSON.parse((await run("-o", "json")).stdout).items;
  const { value, keys, unnamedKeys } = item;
  assert.deepEqual([value.known, value.notAfter, keys, unnamedKeys], ["unknown", undefined, [], 1]);
  assert.equal((await run("--max-age", "1h")).code, 0, "the object itself is younger");
  await remove();
});
