// What the rules of External Secrets become, and what cannot be expressed is named.
import assert from "node:assert/strict";
import { test } from "node:test";
import { externalSecrets } from "../../../../src/migrate/oldtools/external/external-secrets.ts";
import { readOldCluster } from "../../../../src/migrate/oldtools/read-old-objects.ts";
import { cleanupRequests } from "../../../../src/migrate/moves/move-requests.ts";
import type { Migration } from "../../../../src/migrate/moves/migration.ts";
import { custom, namespace, plainSecret } from "../../../support/worlds/custom-objects.ts";
import { migrationOf, written } from "../../../support/worlds/migration.ts";

const VERSION = "external-secrets.io/v1";
const NAMESPACES = [
  namespace("vault"),
  namespace("team-a", { tier: "app", env: "dev" }),
  namespace("team-b", { tier: "app" }),
  namespace("prod", { env: "prod" }),
];
const SOURCE = plainSecret("vault/db", { user: "u", password: "p", "file.json": "{}" });
const storeRef = { kind: "ClusterSecretStore", name: "here" };
const WHOLE = { secretStoreRef: storeRef, dataFrom: [{ extract: { key: "db" } }] };

function store(kubernetes: object, more: object = {}, place = "here"): object {
  const kind = place.includes("/") ? "SecretStore" : "ClusterSecretStore";
  return custom(VERSION, kind, place, { provider: { kubernetes }, ...more });
}

const HERE = store({ remoteNamespace: "vault" });

function cluster(
  name: string,
  to: object = { namespaces: ["prod"] },
  spec: object = WHOLE,
  metadata: object = {},
): object {
  return custom(
    VERSION,
    "ClusterExternalSecret",
    name,
    { ...to, externalSecretSpec: spec },
    metadata,
  );
}

const madeBy = (name: string): object => ({
  ownerReferences: [
    { apiVersion: VERSION, kind: "ClusterExternalSecret", name, uid: `uid of ${name}` },
  ],
});

/** The ExternalSecret of a rule in a namespace. */
function child(place: string, spec: object = WHOLE): object {
  return custom(VERSION, "ExternalSecret", place, spec, madeBy(place.split("/")[1] ?? ""));
}

function copyOf(place: string, changes: object = {}): object {
  return plainSecret(
    place,
    { user: "u", password: "p", "file.json": "{}" },
    {
      labels: { "reconcile.external-secrets.io/managed": "true" },
      annotations: { "reconcile.external-secrets.io/data-hash": "h" },
      ownerReferences: [
        {
          apiVersion: VERSION,
          kind: "ExternalSecret",
          name: place.split("/")[1],
          uid: `uid of ${place}`,
        },
      ],
      ...changes,
    },
  );
}

const moved = (objects: readonly object[]): Promise<Migration> =>
  migrationOf("external-secrets", [...NAMESPACES, ...objects]);

const selects = (...labels: readonly object[]): object => ({
  namespaceSelectors: labels.map((matchLabels) => ({ matchLabels })),
});
const data = (...entries: readonly (readonly [string, string])[]): object => ({
  secretStoreRef: storeRef,
  data: entries.map(([secretKey, property]) => ({ secretKey, remoteRef: { key: "db", property } })),
});

for (const [what, objects, annotations] of [
  [
    "a list of names",
    [HERE, cluster("db", { namespaces: ["prod", "team-a"] })],
    { to: "prod,team-a" },
  ],
  ["a selector", [HERE, cluster("db", selects({ tier: "app" }))], { "to-selector": "tier=app" }],
  [
    "the selector of older versions",
    [HERE, cluster("db", { namespaceSelector: { matchLabels: { tier: "app" } } })],
    { "to-selector": "tier=app" },
  ],
  [
    "names or selectors",
    [HERE, cluster("db", { namespaces: ["late"], ...selects({ env: "dev" }, { env: "prod" }) })],
    { to: "late", "to-selector": "env in (dev,prod)", match: "any" },
  ],
  ["an empty selector", [HERE, cluster("db", { namespaceSelectors: [{}] })], { to: "*" }],
  [
    "a condition of the store by label",
    [
      store(
        { remoteNamespace: "vault" },
        { conditions: [{ namespaceSelector: { matchLabels: { tier: "app" } } }] },
      ),
      cluster("db", { namespaces: ["prod", "team-a"] }),
    ],
    { to: "prod,team-a", "to-selector": "tier=app" },
  ],
  [
    "a condition of the store by pattern",
    [
      store({ remoteNamespace: "vault" }, { conditions: [{ namespaceRegexes: ["^team-"] }] }),
      cluster("db", selects({ tier: "app" })),
    ],
    { to: "team-*", "to-selector": "tier=app" },
  ],
  [
    "the name of the target",
    [HERE, cluster("r", { namespaces: ["prod"] }, { ...WHOLE, target: { name: "pull" } })],
    { to: "prod", name: "pull" },
  ],
  [
    "the name of its ExternalSecrets",
    [HERE, cluster("r", { namespaces: ["prod"], externalSecretName: "pull" })],
    { to: "prod", name: "pull" },
  ],
  [
    "a rule of a tenant",
    [HERE, custom(VERSION, "ExternalSecret", "prod/db", WHOLE), copyOf("prod/db")],
    { to: "prod" },
  ],
  [
    "a store of the namespace",
    [
      store({ remoteNamespace: "vault" }, {}, "prod/own"),
      custom(VERSION, "ExternalSecret", "prod/db", {
        ...WHOLE,
        secretStoreRef: { name: "own" },
      }),
      copyOf("prod/db"),
    ],
    { to: "prod" },
  ],
  [
    "entries, one of them renamed",
    [HERE, cluster("db", undefined, data(["user", "user"], ["SECRET", "password"]))],
    { to: "prod", keys: "user,SECRET=password" },
  ],
  [
    "an entry twice",
    [HERE, cluster("db", undefined, data(["user", "user"], ["name", "user"]))],
    { to: "prod", keys: "user=user,name=user" },
  ],
  [
    "an entry with a dot in its key",
    [HERE, cluster("db", undefined, data(["config", "file.json"]))],
    { to: "prod", keys: "config=file.json" },
  ],
  [
    "all entries, and one of them renamed as well",
    [HERE, cluster("db", undefined, { ...WHOLE, ...data(["login", "user"]) })],
    { to: "prod", keys: "*,login=user,user=user" },
  ],
  [
    "all entries, of which one takes the place of another",
    [HERE, cluster("db", undefined, { ...WHOLE, ...data(["file.json", "user"]) })],
    { to: "prod", keys: "*,!file.json,file.json=user,user=user" },
  ],
  [
    "two rules for the same copies",
    [
      HERE,
      cluster("r", { namespaces: ["prod"], externalSecretName: "db" }),
      cluster("db", selects({ tier: "app" })),
    ],
    { to: "prod", "to-selector": "tier=app", match: "any" },
  ],
] as const) {
  test(`${what} becomes ${JSON.stringify(annotations)}, and nothing is left out`, async () => {
    const migration = await moved([SOURCE, ...objects]);
    assert.deepEqual(written(migration), [annotations]);
    assert.deepEqual(migration.problems, []);
  });
}

for (const url of [
  undefined,
  "",
  "kubernetes.default",
  "https://kubernetes.default",
  "https://kubernetes.default.svc",
  "https://kubernetes.default.svc.cluster.local:443/",
]) {
  test(`a store with the server ${JSON.stringify(url)} reads this cluster`, async () => {
    const here = store({
      remoteNamespace: "vault",
      ...(url === undefined ? {} : { server: { url } }),
    });
    assert.deepEqual(written(await moved([SOURCE, here, cluster("db")])), [{ to: "prod" }]);
  });
}

for (const [what, objects, problem] of [
  [
    "another cluster",
    [store({ remoteNamespace: "vault", server: { url: "https://other.example" } })],
    /ClusterSecretStore here: its server is https:\/\/other\.example, .*: ClusterExternalSecret db stays as before/,
  ],
  [
    "a server that only begins like this one",
    [store({ server: { url: "https://kubernetes.default.svc.evil.example.com/proxy" } })],
    /is not known to be this cluster/,
  ],
  [
    "a server of the same name in another domain",
    [store({ server: { url: "https://kubernetes.default.svc.cluster-b.example" } })],
    /is not known to be this cluster/,
  ],
  ["a kubeconfig", [store({ authRef: { name: "x" } })], /\(authRef\) may name another cluster/],
  [
    "another provider",
    [custom(VERSION, "ClusterSecretStore", "here", { provider: { aws: { service: "SM" } } })],
    /its provider is aws/,
  ],
  [
    "another controller class",
    [store({ remoteNamespace: "vault" }, { controller: "second" })],
    /for the controller class second \(--old-args=--controller-class=second\)/,
  ],
  ["no store", [], /ClusterSecretStore here: it is not there/],
] as const) {
  test(`a rule over ${what} stays, with its copies, and is named`, async () => {
    const migration = await moved([
      SOURCE,
      ...objects,
      cluster("db"),
      child("prod/db"),
      copyOf("prod/db"),
    ]);
    assert.deepEqual([migration.sources, migration.copies], [[], []]);
    assert.match(migration.problems.join("\n"), problem);
  });
}

test("a PushSecret over a store of this cluster is named, and its tool stays", async () => {
  const push = (kind: string, store: string, place: string): object => {
    const spec = { secretStoreRefs: [{ kind: "ClusterSecretStore", name: store }] };
    const body = kind === "PushSecret" ? spec : { pushSecretSpec: spec };
    return custom("external-secrets.io/v1alpha1", kind, place, body);
  };
  const elsewhere = custom(VERSION, "ClusterSecretStore", "aws", { provider: { aws: {} } });
  const migration = await moved([
    SOURCE,
    HERE,
    elsewhere,
    cluster("db"),
    push("PushSecret", "here", "team-a/up"),
    push("ClusterPushSecret", "here", "all"),
    push("PushSecret", "aws", "team-a/away"),
  ]);
  assert.deepEqual(written(migration), [{ to: "prod" }]);
  assert.deepEqual(migration.problems, [
    "ClusterPushSecret all: it pushes Secrets, and stays as before",
    "PushSecret team-a/up: it pushes Secrets, and stays as before",
  ]);
  assert.doesNotMatch(migration.leftovers.join("\n"), /nothing else uses External Secrets/);
});

test("conditions hold for a ClusterSecretStore, and a SecretStore has none", async () => {
  const own = store(
    { remoteNamespace: "vault" },
    { conditions: [{ namespaces: ["x"] }] },
    "prod/own",
  );
  const spec = { ...WHOLE, secretStoreRef: { name: "own" } };
  const rule = custom(VERSION, "ExternalSecret", "prod/db", spec);
  const objects = [SOURCE, own, rule, copyOf("prod/db")];
  assert.deepEqual(written(await moved(objects)), [{ to: "prod" }]);
});

test("that copies outlive their source is said where a rule keeps them", async () => {
  const besides = async (deletionPolicy: string): Promise<readonly string[]> =>
    (await moved([SOURCE, HERE, cluster("db", undefined, target({ deletionPolicy }))])).besides;
  assert.match((await besides("Retain")).join(), /keeps the copies of a deleted source/);
  assert.deepEqual(await besides("Delete"), []);
});

test("a rule that makes no Secret is named", async () => {
  const none = cluster("db", undefined, target({ creationPolicy: "None" }));
  const { sources, problems } = await moved([SOURCE, HERE, none]);
  assert.deepEqual(sources, []);
  assert.match(problems.join(), /it makes no Secret \(creationPolicy: None\)/);
});

const target = (target: object): object => ({ ...WHOLE, target });
const extract = (more: object): object => ({
  secretStoreRef: storeRef,
  dataFrom: [{ extract: { key: "db", ...more } }],
});

for (const [what, spec, problem] of [
  ["find", { ...WHOLE, dataFrom: [{ find: { name: { regexp: "^x" } } }] }, /\(find\)/],
  [
    "rewrite",
    { ...WHOLE, dataFrom: [{ extract: { key: "db" }, rewrite: [{ regexp: {} }] }] },
    /\(rewrite\)/,
  ],
  [
    "an extracted entry",
    extract({ property: "user" }),
    /extracts the JSON of one entry \(property: user\)/,
  ],
  [
    "decoding",
    extract({ decodingStrategy: "Base64" }),
    /decodes values \(decodingStrategy: Base64\)/,
  ],
  ["metadata", extract({ metadataPolicy: "Fetch" }), /metadataPolicy: Fetch/],
  ["a whole Secret in one entry", data(["all", ""]), /remoteRef without property/],
  ["a path into JSON", data(["all", "file.key"]), /no entry file\.key: a path into a JSON value/],
  ["an entry that is not there", data(["all", "none"]), /its source has no entry none/],
  [
    "two sources",
    { ...WHOLE, dataFrom: [{ extract: { key: "db" } }, { extract: { key: "more" } }] },
    /gathers 2 Secrets into one/,
  ],
  [
    "a generator",
    { dataFrom: [{ sourceRef: { generatorRef: { kind: "Password", name: "p" } } }] },
    /a generator makes its values/,
  ],
  ["a template", target({ template: { data: { url: "{{ .user }}" } } }), /made by a template/],
  ["a template of a ConfigMap", target({ template: { templateFrom: [{}] } }), /made by a template/],
  [
    "finalizers",
    target({ template: { metadata: { finalizers: ["a/b"] } } }),
    /puts finalizers on the copies/,
  ],
  [
    "another kind",
    target({ manifest: { apiVersion: "v1", kind: "ConfigMap" } }),
    /it makes a ConfigMap/,
  ],
  ["Merge", target({ creationPolicy: "Merge" }), /creationPolicy: Merge/],
  ["CreateOrMerge", target({ creationPolicy: "CreateOrMerge" }), /creationPolicy: CreateOrMerge/],
  ["CreatedOnce", { ...WHOLE, refreshPolicy: "CreatedOnce" }, /refreshPolicy: CreatedOnce/],
  ["OnChange", { ...WHOLE, refreshPolicy: "OnChange" }, /refreshPolicy: OnChange/],
  ["no refresh", { ...WHOLE, refreshInterval: "0h0m0s" }, /refreshInterval: 0/],
  ["no refresh as a figure", { ...WHOLE, refreshInterval: "0" }, /refreshInterval: 0/],
] as const) {
  test(`${what} does not move, is named with its reason, and its copy is not adopted`, async () => {
    const objects = [
      HERE,
      cluster("db", undefined, spec),
      child("prod/db", spec),
      copyOf("prod/db"),
    ];
    const migration = await moved([SOURCE, ...objects]);
    assert.deepEqual(written(migration), []);
    assert.match(migration.problems.join("\n"), problem);
    assert.equal(
      migration.copies.some(({ state }) => state === "adoptable"),
      false,
    );
  });
}

for (const [what, spec, problem] of [
  [
    "another type",
    target({ template: { type: "kubernetes.io/basic-auth" } }),
    /have the type kubernetes\.io\/basic-auth/,
  ],
  ["immutable copies", target({ immutable: true }), /its copies are immutable/],
  [
    "added labels",
    target({ template: { metadata: { labels: { team: "x" } } } }),
    /it adds \(team\)/,
  ],
  ["sync windows", { ...WHOLE, syncWindows: { kind: "deny" } }, /its sync windows/],
  ["null bytes", extract({ nullBytePolicy: "Fail" }), /nullBytePolicy: Fail/],
] as const) {
  test(`a rule with ${what} moves without them, and they are named`, async () => {
    const migration = await moved([SOURCE, HERE, cluster("db", undefined, spec)]);
    assert.deepEqual(written(migration), [{ to: "prod" }]);
    assert.match(migration.problems.join("\n"), problem);
  });
}

test("labels of another tool are named and removed from our copies", async () => {
  const tracking = { "app.kubernetes.io/instance": "platform" };
  const rule = cluster("db", {
    namespaces: ["prod"],
    externalSecretMetadata: { labels: tracking },
  });
  const ours = copyOf("prod/db", {
    ownerReferences: [],
    labels: {
      ...tracking,
      "app.kubernetes.io/managed-by": "secretcast",
      "reconcile.external-secrets.io/managed": "true",
    },
    annotations: {
      "secretcast.io/placed-at": "prod/db",
      "secretcast.io/source": "vault/db",
      "secretcast.io/source-uid": "uid of vault/db",
      "secretcast.io/source-version": "1",
      "reconcile.external-secrets.io/data-hash": "h",
    },
  });
  const migration = await moved([SOURCE, HERE, rule, child("prod/db"), ours]);
  assert.match(
    migration.sources[0]?.notes.join("\n") ?? "",
    /it adds app\.kubernetes\.io\/instance/,
  );
  const [request] = cleanupRequests(migration).copies;
  assert.match(
    JSON.stringify(request?.body),
    /"remove","path":"\/metadata\/labels\/app\.kubernetes\.io~1instance"/,
  );
});

test("a source that another rule makes keeps the marks of that rule", async () => {
  const source = plainSecret(
    "vault/db",
    { user: "u" },
    {
      annotations: { "secretcast.io/to": "prod" },
      labels: { "reconcile.external-secrets.io/managed": "true" },
    },
  );
  const migration = await moved([source, HERE, cluster("db")]);
  assert.deepEqual(cleanupRequests(migration), { copies: [], sources: [] });
});

for (const [what, rules, copy, state] of [
  ["its ExternalSecret owns it", [], copyOf("prod/db"), "adoptable"],
  ["nothing owns it", [], copyOf("prod/db", { ownerReferences: [] }), "doubtful"],
  [
    "an ExternalSecret of the same name that was made again owns it",
    [],
    copyOf("prod/db", {
      ownerReferences: [{ apiVersion: VERSION, kind: "ExternalSecret", name: "db", uid: "former" }],
    }),
    "doubtful",
  ],
  [
    "its rule is an orphan's and both marks are there",
    ["Orphan"],
    copyOf("prod/db", { ownerReferences: [] }),
    "adoptable",
  ],
  [
    "its rule is an orphan's and a mark is gone",
    ["Orphan"],
    copyOf("prod/db", { ownerReferences: [], annotations: {} }),
    "doubtful",
  ],
  ["no ExternalSecret makes its name", [], copyOf("prod/other"), "orphan"],
] as const) {
  test(`a copy is ${state} when ${what}`, async () => {
    const [creationPolicy = "Owner"] = rules;
    const spec = target({ creationPolicy });
    const objects = [SOURCE, HERE, cluster("db", undefined, spec), child("prod/db", spec), copy];
    assert.deepEqual(
      (await moved(objects)).copies.map((one) => one.state),
      [state],
    );
  });
}

function armed(objects: readonly object[], step: "move" | "clean-up", migration: Migration) {
  const { customs } = readOldCluster(objects, undefined, externalSecrets.resources);
  const moving = migration.sources.map(({ old }) => old);
  return externalSecrets.armed?.(customs, step, moving) ?? [];
}

test("a moved rule is harmless with creationPolicy Orphan, and deleted before the clean-up", async () => {
  const orphan = target({ creationPolicy: "Orphan" });
  const others = [
    cluster("aws", undefined, {
      secretStoreRef: { name: "aws", kind: "ClusterSecretStore" },
      dataFrom: [{ extract: { key: "db" } }],
    }),
  ];
  const states = [
    [cluster("db"), child("prod/db")],
    [cluster("db", undefined, orphan), child("prod/db")],
    [cluster("db", undefined, orphan), child("prod/db", orphan)],
  ];
  const found: (readonly string[])[] = [];
  for (const rules of states) {
    const objects = [SOURCE, HERE, ...rules, ...others];
    found.push(armed(objects, "move", await moved(objects)));
  }
  assert.deepEqual(found, [
    [
      `ClusterExternalSecret db: kubectl patch clusterexternalsecret db --type=merge -p '{"spec":{"externalSecretSpec":{"target":{"creationPolicy":"Orphan"}}}}'`,
      "ExternalSecret prod/db: wait until it has the policy of its rule",
    ],
    ["ExternalSecret prod/db: wait until it has the policy of its rule"],
    [],
  ]);
  const last = [SOURCE, HERE, ...(states[2] ?? []), ...others];
  assert.deepEqual(armed(last, "clean-up", await moved(last)), [
    "ClusterExternalSecret db: kubectl delete clusterexternalsecret db",
  ]);
});

test("finalizers of moved and missing rules are named with their Namespaces", async () => {
  const finalizer = (rule: string): string => `externalsecrets.external-secrets.io/ces-${rule}`;
  const held = (name: string, ...finalizers: readonly string[]): object => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, finalizers },
  });
  const aws = cluster("aws", undefined, {
    ...WHOLE,
    secretStoreRef: { name: "aws", kind: "ClusterSecretStore" },
  });
  const { leftovers } = await migrationOf("external-secrets", [
    namespace("vault"),
    held("prod", finalizer("db"), "example.com/own"),
    held("left", finalizer("gone")),
    held("also-left", finalizer("gone")),
    held("stays", finalizer("aws")),
    SOURCE,
    HERE,
    cluster("db"),
    aws,
  ]);
  const patches = leftovers.filter((step) => step.startsWith("kubectl patch namespace"));
  assert.deepEqual(patches, [
    `kubectl patch namespace also-left left --type=merge -p '{"metadata":{"finalizers":null}}'`,
    `kubectl patch namespace prod --type=merge -p '{"metadata":{"finalizers":["example.com/own"]}}'`,
  ]);
  assert.equal(
    leftovers.some((step) => step.startsWith("nothing else uses")),
    false,
  );
});

test("Secrets that the deletion of a rule would remove are named", async () => {
  const objects = [SOURCE, HERE, cluster("db"), child("prod/db")];
  const before = await moved([...objects, copyOf("prod/db")]);
  assert.match(
    before.leftovers.join("\n"),
    /1 Secrets are owned by an ExternalSecret .*: prod\/db; to keep one/,
  );
  const { leftovers } = await moved([...objects, copyOf("prod/db", { ownerReferences: [] })]);
  assert.doesNotMatch(leftovers.join("\n"), /are owned by/);
});
