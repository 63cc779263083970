// Everything that the API offers for reading or changing one Secret, as a table of requests. Nothing here
// sends a request. An account with rights by name must be refused all of them, except where a row says otherwise.
import type { SendOptions } from "../../../packages/sandbox/testing/http.ts";

export type Attempt = SendOptions & {
  readonly method: "GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** The request may succeed, for it concerns listed names or no Secret. Its answer must still show nothing. */
  readonly mayWork?: true;
};

/** A Secret that the account has no right to. */
export type Target = { readonly namespace: string; readonly name: string };

/** The account, and the one name that it has rights to. */
export type Thief = { readonly account: string; readonly listed: string };

export function attemptsOn(target: Target, thief: Thief): readonly Attempt[] {
  return [
    ...reads(target, thief),
    ...lists(target, thief),
    ...paths(target, thief),
    ...changes(target, thief),
    ...impersonations(target),
    ...pods(target),
    ...rights(target, thief),
    ...detours(target),
  ];
}

const ofSecrets = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`;

const FORMS = [
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/cbor",
  "application/json;as=Table;g=meta.k8s.io;v=v1",
  "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
] as const;
const LIST_FORMS = [
  "application/json",
  "application/vnd.kubernetes.protobuf",
  "application/json;as=Table;g=meta.k8s.io;v=v1",
  "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
] as const;

function reads({ namespace, name }: Target, { listed }: Thief): readonly Attempt[] {
  const one = `${ofSecrets(namespace)}/${name}`;
  const queries = [
    "resourceVersion=0",
    "pretty=true",
    "includeObject=Object",
    "watch=true&timeoutSeconds=1",
    `fieldSelector=metadata.name=${listed}`,
    `name=${listed}`,
  ];
  const subresources = ["status", "scale", "log", "exec", "token", "proxy", "data", "finalize"];
  return [
    ...FORMS.map((accept): Attempt => ({ method: "GET", path: one, accept })),
    ...queries.map((query): Attempt => ({ method: "GET", path: `${one}?${query}` })),
    ...subresources.map((part): Attempt => ({ method: "GET", path: `${one}/${part}` })),
    { method: "HEAD", path: one },
    { method: "OPTIONS", path: one },
  ];
}

function lists({ namespace, name }: Target, { listed }: Thief): readonly Attempt[] {
  const selectors = [
    `metadata.name=${name}`,
    `metadata.name==${name}`,
    `metadata.name!=${listed}`,
    `metadata.name=${listed},metadata.name=${name}`,
    `metadata.name=${name},metadata.name=${listed}`,
    `metadata.namespace=${namespace}`,
    "type=Opaque",
    "type!=none",
    "metadata.name=",
  ].map((selector) => `fieldSelector=${encodeURIComponent(selector)}`);
  const whole = [
    "",
    "limit=1",
    "limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0",
    "resourceVersion=0",
    "resourceVersion=0&resourceVersionMatch=NotOlderThan",
    "resourceVersion=1&resourceVersionMatch=Exact",
    "labelSelector=a%3Db",
    "labelSelector=!none",
    "watch=true&timeoutSeconds=1",
    "watch=true&timeoutSeconds=1&resourceVersion=0&allowWatchBookmarks=true",
    "watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
  ];
  const queries = [
    ...whole,
    ...selectors,
    ...selectors.map((selector) => `${selector}&watch=true&timeoutSeconds=1`),
  ];
  // The API server has to judge and to answer the same one of two selectors.
  const named = (given: string): string => `fieldSelector=metadata.name%3D${given}`;
  const twice = [`${named(listed)}&${named(name)}`, `${named(name)}&${named(listed)}`];
  const places = [ofSecrets(namespace), "/api/v1/secrets"];
  return places.flatMap((path) => [
    ...queries.flatMap((query) =>
      LIST_FORMS.map((accept): Attempt => ({ method: "GET", path: `${path}?${query}`, accept })),
    ),
    ...twice.map((query): Attempt => ({ method: "GET", path: `${path}?${query}`, mayWork: true })),
  ]);
}

/** Old and odd ways to write the path. */
function paths({ namespace, name }: Target, { listed }: Thief): readonly Attempt[] {
  const secrets = ofSecrets(namespace);
  const written = [
    `/api/v1/watch/namespaces/${namespace}/secrets/${name}?timeoutSeconds=1`,
    `/api/v1/watch/namespaces/${namespace}/secrets?timeoutSeconds=1`,
    "/api/v1/watch/secrets?timeoutSeconds=1",
    `${secrets}/${listed}/../${name}`,
    `${secrets}/${listed}%2F..%2F${name}`,
    `${secrets}/${listed}/${name}`,
    `${secrets}/${name}/`,
    `${secrets}//${name}`,
    `/${secrets}/${name}`,
    `/api/v1/namespaces/${namespace}/Secrets/${name}`,
    `/api//v1/namespaces/${namespace}/secrets/${name}`,
    `/apis/v1/namespaces/${namespace}/secrets/${name}`,
  ];
  return written.map((path): Attempt => ({ method: "GET", path }));
}

const STOLEN = { data: { stolen: "eWVz" } };
const PATCHES = [
  ["application/merge-patch+json", STOLEN],
  ["application/strategic-merge-patch+json", STOLEN],
  ["application/json-patch+json", [{ op: "add", path: "/data/stolen", value: "eWVz" }]],
  ["application/apply-patch+yaml", { apiVersion: "v1", kind: "Secret", ...STOLEN }],
] as const;

function changes({ namespace, name }: Target, { listed }: Thief): readonly Attempt[] {
  const secrets = ofSecrets(namespace);
  const one = `${secrets}/${name}`;
  const whole = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, ...STOLEN };
  const patches = PATCHES.flatMap(([contentType, patch]): readonly Attempt[] => {
    const force = contentType.includes("apply") ? "fieldManager=thief&force=true&" : "";
    const body = "data" in patch ? { ...patch, metadata: { name } } : patch;
    const send = { method: "PATCH", contentType, body } as const;
    return [
      { ...send, path: `${one}?${force}` },
      { ...send, path: `${one}?${force}dryRun=All` },
      { ...send, path: `${one}/status?${force}` },
      // The path has a listed name, and the body another one.
      { ...send, path: `${secrets}/${listed}?${force}dryRun=All`, mayWork: true },
    ];
  });
  const selected = [
    "",
    "dryRun=All",
    `fieldSelector=metadata.name%3D${name}`,
    `fieldSelector=metadata.name%3D${listed}`,
    "labelSelector=!none&limit=1",
  ];
  const collections = [secrets, "/api/v1/secrets"];
  return [
    ...patches,
    { method: "PUT", path: one, body: whole },
    { method: "PUT", path: `${one}?dryRun=All`, body: whole },
    { method: "PUT", path: `${secrets}/${listed}`, body: whole },
    // The name is taken, so neither is a change.
    { method: "POST", path: secrets, body: whole },
    { method: "POST", path: `${secrets}?dryRun=All`, body: whole },
    { method: "POST", path: one, body: whole },
    { method: "DELETE", path: one },
    { method: "DELETE", path: `${one}?dryRun=All` },
    { method: "DELETE", path: one, body: { propagationPolicy: "Orphan", gracePeriodSeconds: 0 } },
    ...collections.flatMap((path) =>
      selected.map((query): Attempt => ({ method: "DELETE", path: `${path}?${query}` })),
    ),
  ];
}

function impersonations({ namespace, name }: Target): readonly Attempt[] {
  const path = `${ofSecrets(namespace)}/${name}`;
  const identities: readonly Readonly<Record<string, string>>[] = [
    { "Impersonate-User": "admin" },
    { "Impersonate-User": "admin", "Impersonate-Group": "system:masters" },
    { "Impersonate-User": "system:admin", "Impersonate-Uid": "1" },
    { "Impersonate-User": "system:serviceaccount:kube-system:namespace-controller" },
    { "Impersonate-User": "system:kube-controller-manager" },
    { "Impersonate-User": `system:serviceaccount:${namespace}:default` },
    { "Impersonate-User": "admin", "Impersonate-Extra-Scopes": "all" },
    { "Impersonate-Group": "system:masters" },
  ];
  return identities.map((headers): Attempt => ({ method: "GET", path, headers }));
}

function pods({ namespace, name }: Target): readonly Attempt[] {
  const core = `/api/v1/namespaces/${namespace}`;
  const container = { name: "c", image: "registry.example/busybox" };
  const mounted = {
    containers: [container],
    volumes: [{ name: "v", secret: { secretName: name } }],
  };
  const specs = [
    mounted,
    { containers: [{ ...container, envFrom: [{ secretRef: { name } }] }] },
    {
      containers: [container],
      volumes: [{ name: "v", projected: { sources: [{ secret: { name } }] } }],
    },
    { containers: [container], imagePullSecrets: [{ name }] },
  ];
  const template = { metadata: { labels: { a: "b" } }, spec: mounted };
  const workload = {
    metadata: { name: "thief" },
    spec: { selector: { matchLabels: { a: "b" } }, template },
  };
  const workloads = ["deployments", "daemonsets", "statefulsets", "replicasets"].map(
    (plural) => `/apis/apps/v1/namespaces/${namespace}/${plural}`,
  );
  const jobs = ["jobs", "cronjobs"].map(
    (plural) => `/apis/batch/v1/namespaces/${namespace}/${plural}`,
  );
  const pod = `${core}/pods/victim`;
  const inPod = ["exec?command=env&stdout=true", "attach?stdout=true", "portforward?ports=1"];
  const looks = ["log", "proxy", "status", "ephemeralcontainers"];
  return [
    ...specs.map((spec): Attempt => {
      return { method: "POST", path: `${core}/pods`, body: { metadata: { name: "thief" }, spec } };
    }),
    ...[...workloads, ...jobs].map((path): Attempt => ({ method: "POST", path, body: workload })),
    ...inPod.flatMap((part): readonly Attempt[] => [
      { method: "GET", path: `${pod}/${part}` },
      { method: "POST", path: `${pod}/${part}` },
    ]),
    ...looks.map((part): Attempt => ({ method: "GET", path: `${pod}/${part}` })),
    ...["ephemeralcontainers", ""].map((part): Attempt => {
      const contentType = "application/strategic-merge-patch+json";
      const body = { spec: { ephemeralContainers: [{ ...container, name: "thief" }] } };
      return { method: "PATCH", path: `${pod}/${part}`, contentType, body };
    }),
    { method: "GET", path: `${core}/pods` },
    { method: "POST", path: `${pod}/eviction`, body: { metadata: { name: "victim" } } },
    { method: "POST", path: `${pod}/binding`, body: { target: { name: "node" } } },
  ];
}

/** More rights for itself, or the rights of another account. */
function rights({ namespace }: Target, { account }: Thief): readonly Attempt[] {
  const core = `/api/v1/namespaces/${namespace}`;
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const [, , own = "", name = ""] = account.split(":");
  const subjects = [{ kind: "ServiceAccount", name, namespace: own }];
  const all = { rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["*"] }] };
  const binding = (kind: string, role: string): object => ({
    metadata: { name: "thief" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: role },
    subjects,
  });
  const contentType = "application/merge-patch+json";
  const accounts = [
    `${core}/serviceaccounts/default`,
    `/api/v1/namespaces/${own}/serviceaccounts/${name}`,
  ];
  const tokens = accounts.flatMap((path): readonly Attempt[] => [
    { method: "POST", path: `${path}/token`, body: { spec: { expirationSeconds: 3600 } } },
    { method: "PATCH", path, contentType, body: { secrets: [{ name: "a" }] } },
    { method: "GET", path },
  ]);
  const roles = [`${rbac}/clusterroles/${name}`, `${rbac}/clusterrolebindings/${name}`];
  const places = [`${rbac}/clusterroles`, `${rbac}/namespaces/${namespace}/roles`];
  return [
    ...tokens,
    ...roles.flatMap((path): readonly Attempt[] => [
      { method: "PATCH", path, contentType, body: { ...all, subjects } },
      { method: "DELETE", path },
    ]),
    ...places.map((path): Attempt => {
      return { method: "POST", path, body: { metadata: { name: "thief" }, ...all } };
    }),
    {
      method: "POST",
      path: `${rbac}/clusterrolebindings`,
      body: binding("ClusterRole", "cluster-admin"),
    },
    {
      method: "POST",
      path: `${rbac}/namespaces/${namespace}/rolebindings`,
      body: binding("ClusterRole", "admin"),
    },
    {
      method: "POST",
      path: "/apis/certificates.k8s.io/v1/certificatesigningrequests",
      body: {
        metadata: { name: "thief" },
        spec: { signerName: "kubernetes.io/kube-apiserver-client" },
      },
    },
    { method: "POST", path: "/apis/authentication.k8s.io/v1/tokenreviews", body: { spec: {} } },
  ];
}

/** Other ways round: proxies, admission, other APIs, and the server's own pages. */
function detours({ namespace }: Target): readonly Attempt[] {
  const admission = "/apis/admissionregistration.k8s.io/v1";
  const guardrail = "secretcast-guardrail";
  const created = [
    `${admission}/mutatingwebhookconfigurations`,
    `${admission}/validatingwebhookconfigurations`,
    `${admission}/mutatingadmissionpolicies`,
    "/apis/apiregistration.k8s.io/v1/apiservices",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    `/api/v1/namespaces/${namespace}/configmaps`,
    "/api/v1/namespaces",
  ];
  const removed = [
    ...[guardrail, `${guardrail}-create`].flatMap((name) => [
      `${admission}/validatingadmissionpolicies/${name}`,
      `${admission}/validatingadmissionpolicybindings/${name}`,
    ]),
    `/api/v1/namespaces/${namespace}`,
  ];
  const looked = [
    "/api/v1/nodes/node/proxy/pods",
    "/api/v1/nodes",
    `/api/v1/namespaces/${namespace}/services/https:victim:443/proxy/`,
    `/api/v1/namespaces/${namespace}/configmaps`,
    `/api/v1/namespaces/${namespace}/events`,
    "/api/v1/persistentvolumes",
    "/apis/storage.k8s.io/v1/volumeattachments",
    "/logs/",
    "/metrics",
    "/debug/pprof/heap",
    "/configz",
    "/flagz",
  ];
  const finalized = { metadata: { name: namespace }, spec: { finalizers: [] } };
  return [
    ...created.map((path): Attempt => {
      return { method: "POST", path, body: { metadata: { name: "thief" } } };
    }),
    ...removed.map((path): Attempt => ({ method: "DELETE", path })),
    ...looked.map((path): Attempt => ({ method: "GET", path })),
    { method: "PUT", path: `/api/v1/namespaces/${namespace}/finalize`, body: finalized },
  ];
}
