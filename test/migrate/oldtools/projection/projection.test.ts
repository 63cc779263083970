// What the rules of projection become, and what cannot be expressed is named.
import assert from "node:assert/strict";
import { test } from "node:test";
import { refText } from "../../../../src/text/names.ts";
import { custom, namespace, plainSecret } from "../../../support/worlds/custom-objects.ts";
import { migrationOf, written } from "../../../support/worlds/migration.ts";

const VERSION = "projection.sh/v1";
const NAMESPACES = [
  namespace("platform"),
  namespace("team-a", { tier: "app", env: "dev" }),
  namespace("team-b", { tier: "app" }),
  namespace("prod", { env: "prod" }),
];
const CONSENT = { "projection.sh/projectable": "true" };
const SOURCE = plainSecret("platform/registry", { token: "x" }, { annotations: CONSENT });
const from = { kind: "Secret", namespace: "platform", name: "registry" };

function cluster(name: string, destination: object, more: object = {}): object {
  return custom(VERSION, "ClusterProjection", name, { source: from, destination, ...more });
}

function own(place: string, destination: object = {}, more: object = {}): object {
  return custom(VERSION, "Projection", place, { source: from, destination, ...more });
}

const selects = (matchLabels: object): object => ({ namespaceSelector: { matchLabels } });

function copyOf(place: string, rule: string, changes: object = {}): object {
  const isCluster = !rule.includes("/");
  const key = `projection.sh/owned-by-${isCluster ? "cluster-" : ""}projection`;
  return plainSecret(
    place,
    { token: "x" },
    {
      labels: { [`${key}-uid`]: `uid of ${rule}` },
      annotations: { [key]: rule, ...CONSENT },
      ...changes,
    },
  );
}

const moved = (objects: readonly object[], flags: Readonly<Record<string, string>> = {}) =>
  migrationOf("projection", [...NAMESPACES, ...objects], flags);

for (const [what, rules, annotations] of [
  ["a list of names", [cluster("r", { namespaces: ["team-a", "prod"] })], { to: "prod,team-a" }],
  ["a selector", [cluster("r", selects({ tier: "app" }))], { "to-selector": "tier=app" }],
  [
    "another name",
    [cluster("r", { namespaces: ["prod"], name: "pull" })],
    { to: "prod", name: "pull" },
  ],
  ["a namespaced rule", [own("prod/r"), copyOf("prod/registry", "prod/r")], { to: "prod" }],
  [
    "several rules for the same copies",
    [
      copyOf("prod/registry", "prod/r"),
      cluster("r", selects({ tier: "app" })),
      own("prod/r"),
      cluster("s", { namespaces: ["late"] }),
    ],
    { to: "late,prod", "to-selector": "tier=app", match: "any" },
  ],
  [
    "two selectors on one key",
    [cluster("r", selects({ env: "dev" })), cluster("s", selects({ env: "prod" }))],
    { "to-selector": "env in (dev,prod)" },
  ],
] as const) {
  test(`${what} becomes ${JSON.stringify(annotations)}, and nothing is left out`, async () => {
    const migration = await moved([SOURCE, ...rules]);
    assert.deepEqual(written(migration), [annotations]);
    assert.deepEqual(migration.problems, []);
  });
}

test("selectors that no selector joins are listed by name, and the exit code says so", async () => {
  const rules = [cluster("r", selects({ tier: "app" })), cluster("s", selects({ env: "prod" }))];
  const migration = await moved([SOURCE, ...rules]);
  assert.deepEqual(written(migration), [{ to: "prod,team-a,team-b" }]);
  assert.match(
    migration.problems.join("\n"),
    /the 3 namespaces of now are listed by name, and a later one must be added by hand/,
  );
});

for (const [what, objects, problem] of [
  [
    "another kind",
    [
      SOURCE,
      custom(VERSION, "ClusterProjection", "r", {
        source: { kind: "Role", group: "rbac.authorization.k8s.io", namespace: "a", name: "b" },
        destination: selects({ tier: "app" }),
      }),
    ],
    /^ClusterProjection r: it projects the Role\.rbac\.authorization\.k8s\.io a\/b, and only Secrets are moved/,
  ],
  [
    "an empty selector",
    [SOURCE, cluster("r", { namespaceSelector: {} })],
    /its selector is empty, which projection refuses/,
  ],
  ["no destination", [SOURCE, cluster("r", {})], /it names no namespaces/],
  [
    "a selector that is none",
    [SOURCE, cluster("r", selects({ "no key": "x" }))],
    /its selector cannot be read/,
  ],
  [
    "a source that is not there",
    [cluster("r", { namespaces: ["prod"] })],
    /the Secret platform\/registry, is not there: where it is made, give it secretcast\.io\/to: "prod"$/,
  ],
  [
    "a source without consent",
    [plainSecret("platform/registry", { token: "x" }), cluster("r", { namespaces: ["prod"] })],
    /it has no projection\.sh\/projectable: "true"/,
  ],
  [
    "a veto",
    [
      plainSecret(
        "platform/registry",
        { token: "x" },
        { annotations: { "projection.sh/projectable": "false" } },
      ),
      cluster("r", { namespaces: ["prod"] }),
    ],
    /its owner has vetoed copies/,
  ],
  [
    "a copy beside its source",
    [SOURCE, cluster("r", { namespaces: ["platform"], name: "second" })],
    /a copy beside its source, in platform, cannot be made/,
  ],
  [
    "a source that is a copy",
    [copyOf("platform/registry", "q"), cluster("r", { namespaces: ["prod"] })],
    /its source is itself a copy/,
  ],
  [
    "a rule that is being deleted",
    [
      SOURCE,
      custom(
        VERSION,
        "ClusterProjection",
        "r",
        { source: from, destination: { namespaces: ["prod"] } },
        { deletionTimestamp: "2026-11-25T03:03:57Z" },
      ),
    ],
    /its projection is being deleted/,
  ],
] as const) {
  test(`${what} does not move and is named with its reason`, async () => {
    const migration = await moved(objects);
    assert.deepEqual(written(migration), []);
    assert.match(migration.problems.join("\n"), problem);
  });
}

test("with --source-mode=permissive a source needs no consent, and a veto still holds", async () => {
  const rule = cluster("r", { namespaces: ["prod"] });
  const source = plainSecret("platform/registry", { token: "x" });
  const permissive = { "source-mode": "permissive" };
  assert.deepEqual(written(await moved([source, rule], permissive)), [{ to: "prod" }]);
  const vetoed = plainSecret(
    "platform/registry",
    { token: "x" },
    { annotations: { "projection.sh/projectable": "false" } },
  );
  assert.deepEqual(written(await moved([vetoed, rule], permissive)), []);
});

test("an overlay is named, and its keys are copied from no source", async () => {
  const labels = { team: "platform", kind: "registry" };
  const source = plainSecret("platform/registry", { token: "x" }, { labels, annotations: CONSENT });
  const overlay = { labels: { kind: "copy" }, annotations: { note: "n" } };
  const migration = await moved([source, cluster("r", { namespaces: ["prod"] }, { overlay })]);
  assert.deepEqual(written(migration), [{ to: "prod", "copy-labels": "team" }]);
  assert.match(migration.problems.join("\n"), /it adds \(kind, note\) cannot be expressed/);
});

test("the name with more copies moves, of two for one source", async () => {
  const rules = [
    cluster("few", { namespaces: ["prod"], name: "few" }),
    cluster("many", { ...selects({ tier: "app" }), name: "many" }),
  ];
  const copies = [
    copyOf("prod/few", "few"),
    copyOf("team-a/many", "many"),
    copyOf("team-b/many", "many"),
  ];
  const migration = await moved([SOURCE, ...rules, ...copies]);
  assert.deepEqual(written(migration), [{ "to-selector": "tier=app", name: "many" }]);
  assert.match(
    migration.problems.join("\n"),
    /^ClusterProjection few: a Secret has one rule with secretcast, and ClusterProjection many has that of platform\/registry$/,
  );
  const adopted = migration.copies.filter(({ state }) => state === "adoptable");
  assert.deepEqual(
    adopted.map(({ object }) => refText(object)),
    ["team-a/many", "team-b/many"],
  );
});

for (const [what, copy, why] of [
  ["the former name", copyOf("prod/former", "r"), /makes copies of another name/],
  [
    "a rule that was made again",
    copyOf("prod/registry", "r", {
      labels: { "projection.sh/owned-by-cluster-projection-uid": "of the former" },
    }),
    /names the UID of a projection that was made again/,
  ],
  ["one mark", copyOf("prod/registry", "r", { labels: {} }), /one of its two marks is gone/],
  [
    "a namespaced rule elsewhere",
    copyOf("prod/registry", "team-a/r"),
    /names a Projection of another namespace/,
  ],
] as const) {
  test(`a copy of ${what} is not adopted`, async () => {
    const rules = [cluster("r", { namespaces: ["prod"] }), own("team-a/r")];
    const target = plainSecret("team-a/registry", { token: "x" });
    const { copies } = await moved([SOURCE, ...rules, copy, target]);
    const found = copies.filter(({ object }) => object.namespace === "prod");
    assert.deepEqual(
      found.map(({ state }) => state),
      ["doubtful"],
    );
    assert.match(found[0]?.why ?? "", why);
  });
}

test("a copy in a namespace of another rule is not adopted", async () => {
  const rules = [cluster("r", { namespaces: ["team-a"] }), cluster("s", { namespaces: ["prod"] })];
  const { copies } = await moved([SOURCE, ...rules, copyOf("prod/registry", "r")]);
  assert.equal(copies[0]?.state, "doubtful");
  assert.match(copies[0]?.why ?? "", /does not name this namespace, and another one/);
});

test("finalizers are taken off before the resources are deleted, and definitions go last", async () => {
  const held = { finalizers: ["projection.sh/cluster-finalizer"] };
  const spec = { source: from, destination: { namespaces: ["prod"] } };
  const rules = [
    custom(VERSION, "ClusterProjection", "r", spec, held),
    custom(VERSION, "Projection", "team-a/s", { source: from }, held),
  ];
  const { leftovers } = await moved([SOURCE, ...rules]);
  const order = [
    /^leave projection at zero replicas/,
    /^kubectl patch clusterprojections\.projection\.sh r .*"finalizers":null/,
    /^kubectl delete clusterprojections\.projection\.sh r /,
    /^kubectl patch -n team-a projections\.projection\.sh s .*"finalizers":null/,
    /^kubectl delete -n team-a projections\.projection\.sh s /,
    /^kubectl delete crd /,
    /^uninstall projection/,
  ];
  assert.equal(leftovers.length, order.length);
  for (const [at, step] of order.entries()) assert.match(leftovers[at] ?? "", step);
  assert.deepEqual((await moved([SOURCE])).leftovers, []);
});
