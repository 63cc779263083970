// Kyverno's rules: what each says of namespaces, and what no rule of ours can say.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Migration } from "../../../../src/migrate/moves/migration.ts";
import { migrationOf, written } from "../../../support/worlds/migration.ts";

type Raw = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string>>;

const NAMESPACES: Readonly<Record<string, Texts>> = {
  platform: {},
  kyverno: {},
  "team-a": { tier: "app", env: "dev" },
  "team-b": { tier: "app", env: "prod" },
  "dev-1": { env: "dev" },
  prod: { env: "prod" },
};
const uidOf = (name: string): string => `uid of ${name}`;
const DATA = { token: "bWFkZSB1cA==" };

function namespaces(): readonly Raw[] {
  return Object.entries(NAMESPACES).map(([name, labels]) => ({
    kind: "Namespace",
    metadata: { name, labels, uid: uidOf(name) },
  }));
}

function secret(namespace: string, name: string, labels: Texts = {}): Raw {
  const metadata = {
    namespace,
    name,
    labels,
    uid: uidOf(`${namespace}/${name}`),
    resourceVersion: "1",
  };
  return { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: DATA };
}

function copyIn(namespace: string, rule = "copy", change: Texts = {}, name = "registry"): Raw {
  return secret(namespace, name, {
    "app.kubernetes.io/managed-by": "kyverno",
    "generate.kyverno.io/policy-name": "share",
    "generate.kyverno.io/policy-namespace": "",
    "generate.kyverno.io/rule-name": rule,
    "generate.kyverno.io/source-uid": uidOf("platform/registry"),
    "generate.kyverno.io/trigger-uid": uidOf(namespace),
    ...change,
  });
}

const GENERATE = {
  kind: "Secret",
  name: "registry",
  namespace: "{{request.object.metadata.name}}",
  synchronize: true,
  clone: { namespace: "platform", name: "registry" },
};

/** `resources` of the only block that matches. */
function policy(rule: Raw, spec: Raw = {}): Raw {
  const rules = [{ name: "copy", generate: GENERATE, ...rule }];
  return {
    apiVersion: "kyverno.io/v1",
    kind: "ClusterPolicy",
    metadata: { name: "share", uid: "u" },
    spec: { rules, ...spec },
  };
}

const block = (resources: Raw, users: Raw = {}): Raw => ({
  resources: { kinds: ["Namespace"], ...resources },
  ...users,
});
const any = (...blocks: readonly Raw[]): Raw => ({ any: blocks });
const names = (...list: readonly string[]): Raw => block({ names: list });
const nameIs = (operator: string, value: unknown): Raw => ({
  key: "{{request.object.metadata.name}}",
  operator,
  value,
});
const labels = (matchLabels: Texts): Raw => block({ selector: { matchLabels } });

function plan(rule: Raw, ...more: readonly Raw[]): Promise<Migration> {
  return migrationOf("kyverno", [
    ...namespaces(),
    secret("platform", "registry"),
    policy(rule),
    ...more,
  ]);
}

async function wordsOf(rule: Raw, ...more: readonly Raw[]): Promise<Texts> {
  const migration = await plan(rule, ...more);
  assert.deepEqual(migration.problems, []);
  const [words = assert.fail("no source moves"), ...others] = written(migration);
  assert.deepEqual(others, []);
  return words;
}

const EXPRESSED: readonly (readonly [string, Raw, Texts])[] = [
  ["names", { match: any(names("team-*", "dev-?")) }, { to: "team-*,dev-?" }],
  ["the old form of match", { match: names("prod") }, { to: "prod" }],
  ["one name", { match: any(block({ name: "prod" })) }, { to: "prod" }],
  ["a selector", { match: any(labels({ tier: "app" })) }, { "to-selector": "tier=app" }],
  [
    "every kind of naming it",
    { match: any(block({ kinds: ["v1/Namespace"], names: ["prod"] })) },
    { to: "prod" },
  ],
  [
    "names and a selector in one block",
    { match: any(block({ names: ["team-*"], selector: { matchLabels: { env: "dev" } } })) },
    { to: "team-*", "to-selector": "env=dev" },
  ],
  [
    "all blocks",
    { match: { all: [names("team-*"), labels({ env: "dev" })] } },
    { to: "team-*", "to-selector": "env=dev" },
  ],
  [
    "one of two blocks",
    { match: any(names("prod"), labels({ tier: "app" })) },
    { to: "prod", "to-selector": "tier=app", match: "any" },
  ],
  [
    "two selectors of one key",
    { match: any(labels({ env: "dev" }), labels({ env: "prod" })) },
    { "to-selector": "env in (dev,prod)" },
  ],
  [
    "all operators of a selector",
    {
      match: any(
        block({
          selector: {
            matchExpressions: [
              { key: "env", operator: "In", values: ["dev", "prod"] },
              { key: "tier", operator: "NotIn", values: ["web"] },
              { key: "env", operator: "Exists" },
              { key: "old", operator: "DoesNotExist" },
            ],
          },
        }),
      ),
    },
    { "to-selector": "env in (dev,prod),tier notin (web),env,!old" },
  ],
  [
    "an exclusion by name",
    { match: any(names("team-*")), exclude: any(names("team-b")) },
    { to: "team-*,!team-b" },
  ],
  [
    "an exclusion by a label",
    { match: any(block({})), exclude: any(labels({ env: "dev" })) },
    { "to-selector": "env notin (dev)" },
  ],
  [
    "exclusions of other kinds and operations, which have no effect",
    {
      match: any(names("prod")),
      exclude: any(block({ kinds: ["Pod"] }), block({ operations: ["DELETE"], names: ["prod"] })),
    },
    { to: "prod" },
  ],
  [
    "an exclusion with a namespaceSelector, which holds for no Namespace",
    {
      match: any(names("prod")),
      exclude: any(block({ names: ["prod"], namespaceSelector: { matchLabels: { a: "b" } } })),
    },
    { to: "prod" },
  ],
  [
    "exclusions of kinds with wildcards",
    {
      match: any(block({})),
      exclude: any(
        block({ kinds: ["*"], names: ["team-*"] }),
        block({ kinds: ["v1/*"], names: ["dev-?"] }),
        block({ kinds: ["Names*"], names: ["prod"] }),
        block({ kinds: ["apps/v1/Namespace"], names: ["platform"] }),
      ),
    },
    { to: "*,!team-*,!dev-?,!prod" },
  ],
  [
    "operations with CREATE",
    { match: any(block({ names: ["prod"], operations: ["CREATE"] })) },
    { to: "prod" },
  ],
  [
    "a fixed target namespace",
    { match: any(block({ kinds: ["ConfigMap"] })), generate: { ...GENERATE, namespace: "prod" } },
    { to: "prod" },
  ],
  [
    "another name",
    { match: any(names("prod")), generate: { ...GENERATE, name: "pull" } },
    { to: "prod", name: "pull" },
  ],
  [
    "blanks in a variable",
    {
      match: any(names("prod")),
      generate: { ...GENERATE, namespace: "{{ request.object.metadata.name }}" },
    },
    { to: "prod" },
  ],
  [
    "preconditions on the name, a label and the operation",
    {
      match: any(block({})),
      preconditions: {
        all: [
          { key: "{{request.object.metadata.name}}", operator: "AnyIn", value: ["team-*"] },
          { key: "{{request.object.metadata.name}}", operator: "NotEquals", value: "team-b" },
          {
            key: "{{ request.object.metadata.labels.env || '' }}",
            operator: "Equals",
            value: "dev",
          },
          {
            key: "{{ request.operation || 'BACKGROUND' }}",
            operator: "NotEquals",
            value: "DELETE",
          },
        ],
      },
    },
    { to: "team-*,!team-b", "to-selector": "env in (dev)" },
  ],
];

for (const [what, rule, words] of EXPRESSED) {
  test(`a rule with ${what} is said exactly`, async () => {
    assert.deepEqual(await wordsOf(rule), words);
  });
}

test("resourceFilters of the ConfigMap exclude namespaces, and those for a name exclude all", async () => {
  const config = (resourceFilters: string): Raw => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "kyverno", name: "kyverno" },
    data: { resourceFilters },
  });
  const everything = { match: any(block({})) };
  const filters = "[*/*,kyverno,*] [*/*,kube-system,*] [Event,*,*] [Pod,prod,*] [*,dev-*,*]";
  assert.deepEqual(await wordsOf(everything, config(filters)), { to: "*,!kyverno,!dev-*" });
  const { sources } = await plan(everything, config("[Namespace,*,prod]"));
  assert.deepEqual(sources[0]?.reached ?? [], []);
});

const LISTED: readonly (readonly [RegExp, Raw])[] = [
  [/user of the request \(clusterRoles\)/, { match: any(block({}, { clusterRoles: ["admin"] })) }],
  [
    /user of the request \(subjects\)/,
    { match: any(block({})), exclude: any(block({}, { subjects: [{}] })) },
  ],
  [
    /its rule looks up other values \(context\)/,
    { match: any(block({})), context: [{ name: "x" }] },
  ],
  [
    /its precondition cannot be expressed/,
    {
      match: any(block({})),
      preconditions: { all: [{ key: "{{ x.y }}", operator: "Equals", value: "z" }] },
    },
  ],
  [/asks for annotations/, { match: any(block({ annotations: { a: "b" } })) }],
  [/wildcards in its selector/, { match: any(labels({ tier: "a*" })) }],
  [/asks for the operation \(UPDATE\)/, { match: any(block({ operations: ["UPDATE"] })) }],
  [
    /namespaceSelector, which holds for no Namespace/,
    { match: any(block({ namespaceSelector: { matchLabels: { tier: "app" } } })) },
  ],
  [/which depends on the trigger/, { match: any(block({ kinds: ["*/v1/Namespace"] })) }],
  [
    /its exclude names every Namespace/,
    { match: any(block({})), exclude: block({ kinds: ["*"] }) },
  ],
  [
    /its exclude names every Namespace/,
    { match: any(block({})), exclude: { resources: { selector: {} } } },
  ],
  [
    /cannot be expressed \(\{\{request.object.metadata.name\}\} Equals\)/,
    { match: any(block({})), preconditions: [nameIs("Equals", ["prod"])] },
  ],
  [
    /cannot be expressed \(\{\{request.object.metadata.name\}\} NotIn\)/,
    { match: any(block({})), preconditions: [nameIs("NotIn", "prod")] },
  ],
  [
    /cannot be expressed \(\{\{request.object.metadata.name\}\} AnyNotIn\)/,
    { match: any(block({})), preconditions: [nameIs("AnyNotIn", '["prod"]')] },
  ],
  [
    /joins names and selectors/,
    {
      match: any(
        block({
          selector: {
            matchLabels: { env: "dev" },
            matchExpressions: [{ key: "tier", operator: "Exists" }],
          },
        }),
        labels({ env: "prod" }),
      ),
    },
  ],
  [
    /joins names and selectors/,
    { match: any(block({ names: ["x"], selector: { matchLabels: { a: "b" } } }), names("y")) },
  ],
];

for (const [why, rule] of LISTED) {
  test(`what only the namespaces of now express is listed by name, with its reason: ${why.source}`, async () => {
    const { sources, problems, copies } = await plan(rule, copyIn("team-a"), copyIn("prod"));
    assert.equal(sources[0]?.annotations["secretcast.io/to"], "prod,team-a");
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? "", why);
    assert.deepEqual(new Set(copies.map(({ state }) => state)), new Set(["adoptable"]));
    const none = await plan(rule);
    assert.equal(none.sources[0]?.write, "refused");
    assert.match(none.problems[0] ?? "", why);
  });
}

const REFUSED: readonly (readonly [RegExp, Raw])[] = [
  [/synchronize: false/, { ...GENERATE, synchronize: false }],
  [
    /its copies are called db-\{\{request.object.metadata.name\}\}/,
    { ...GENERATE, name: "db-{{request.object.metadata.name}}" },
  ],
  [
    /depends on the trigger/,
    { ...GENERATE, clone: { namespace: "{{request.object.metadata.labels.from}}", name: "x" } },
  ],
  [
    /its source platform\/absent is not there/,
    { ...GENERATE, clone: { namespace: "platform", name: "absent" } },
  ],
  [
    /for each entry of a list \(foreach\)/,
    { foreach: [{ list: "x", ...GENERATE }], synchronize: true },
  ],
  [/template of Helm/, { ...GENERATE, clone: { namespace: "{{ .Values.from }}", name: "x" } }],
];

for (const [why, generate] of REFUSED) {
  test(`a rule that does not move is named with its reason: ${why.source}`, async () => {
    const { sources, problems } = await plan({ match: any(block({})), generate });
    assert.ok(sources.every(({ write }) => write === "refused"));
    assert.equal(problems.length, 1, problems.join("\n"));
    assert.match(problems[0] ?? "", why);
  });
}

const LIMITS: readonly (readonly [RegExp, Raw])[] = [
  [/does not act on requests \(admission: false\)/, { admission: false }],
  [
    /asks by CEL \(matchConditions\)/,
    { webhookConfiguration: { matchConditions: [{ name: "x", expression: "false" }] } },
  ],
];

for (const [why, spec] of LIMITS) {
  test(`a policy that serves fewer namespaces than it matches moves with today's: ${why.source}`, async () => {
    const { sources, problems } = await migrationOf("kyverno", [
      ...namespaces(),
      secret("platform", "registry"),
      policy({ match: any(block({})) }, spec),
      copyIn("prod"),
    ]);
    assert.equal(sources[0]?.annotations["secretcast.io/to"], "prod");
    assert.match(problems.join("\n"), why);
  });
}

test("what Kyverno's ConfigMap keeps from its webhooks alone is named", async () => {
  const name = "kubernetes.io/metadata.name";
  const without = (key: string, values: readonly string[]): Raw => ({
    matchExpressions: [{ key, operator: "NotIn", values }],
  });
  const planned = (webhooks: unknown, matchConditions = "[]"): Promise<Migration> =>
    plan(
      { match: any(block({})) },
      {
        kind: "ConfigMap",
        metadata: { namespace: "kyverno", name: "kyverno" },
        data: {
          resourceFilters: "[*/*,kyverno,*] [Namespace, prod,*] [Namespace]",
          webhooks: JSON.stringify(webhooks),
          matchConditions,
        },
      },
    );
  const harmless = await planned({ namespaceSelector: without(name, ["kyverno"]) });
  assert.deepEqual(harmless.problems, []);
  assert.equal(harmless.sources[0]?.annotations["secretcast.io/to"], "*,!kyverno");
  const byLabel = await planned([{ objectSelector: without("env", ["dev"]) }]);
  assert.match(byLabel.problems.join(), /\(webhooks: .*"env".*\): exclude those namespaces/);
  const byName = await planned({ namespaceSelector: without(name, ["kyverno", "prod"]) });
  assert.match(byName.problems.join(), /keeps namespaces out of all rules \(webhooks: /);
  const byCel = await planned({}, '[{"name":"no-dev","expression":"false"}]');
  assert.match(byCel.problems.join(), /\(matchConditions: no-dev\)/);
});

test("a rule that never holds copies nothing, into a fixed namespace either", async () => {
  const { sources, problems, besides } = await plan({
    match: any(block({})),
    preconditions: [{ key: "a", operator: "Equals", value: "b" }],
    generate: { ...GENERATE, namespace: "prod" },
  });
  assert.deepEqual([sources, problems], [[], []]);
  assert.match(besides.join(), /its preconditions never hold/);
});

test("a rule with synchronize: false beside one of its source that synchronizes is named", async () => {
  const rules = [
    { name: "copy", match: any(names("prod")), generate: GENERATE },
    { name: "once", match: any(names("dev-*")), generate: { ...GENERATE, synchronize: false } },
  ];
  const { sources, problems } = await migrationOf("kyverno", [
    ...namespaces(),
    secret("platform", "registry"),
    policy({}, { rules }),
  ]);
  assert.equal(sources[0]?.annotations["secretcast.io/to"], "prod");
  assert.match(problems.join(), /^ClusterPolicy share\/once: its rule has synchronize: false/);
});

test("a policy that is being deleted is named, and another one of its source moves", async () => {
  const dying = {
    ...policy({ match: any(names("team-*", "prod")) }),
    metadata: { name: "dying", uid: "d", deletionTimestamp: "2026-01-01T00:00:00Z" },
  };
  const own = copyIn("prod", "copy", { "generate.kyverno.io/policy-name": "dying" });
  const { sources, problems, copies } = await plan(
    { match: any(names("dev-*", "prod")) },
    dying,
    own,
    copyIn("dev-1"),
  );
  assert.equal(sources[0]?.annotations["secretcast.io/to"], "dev-*,prod");
  assert.deepEqual(problems, ["ClusterPolicy dying/copy: its policy is being deleted"]);
  assert.deepEqual(
    copies.map(({ object, state }) => [object.namespace, state]),
    [
      ["dev-1", "adoptable"],
      ["prod", "doubtful"],
    ],
  );
});

test("a copy of another name beside its source is named, and stays", async () => {
  const { problems, copies } = await plan(
    { match: any(block({})), generate: { ...GENERATE, name: "other" } },
    copyIn("platform", "copy", {}, "other"),
  );
  assert.match(problems.join(), /a copy beside its source, in platform, cannot be made/);
  assert.equal(copies[0]?.state, "outside");
});

for (const [what, change, why] of [
  [
    "a source that is itself a copy",
    { clone: { namespace: "prod", name: "registry" } },
    /its source is itself a copy/,
  ],
  [
    "a kind that depends on the trigger",
    { kind: "{{request.object.metadata.labels.kind}}" },
    /whose kind depends on the trigger/,
  ],
] as const)
  test(`${what} is named`, async () => {
    const generate = { ...GENERATE, ...change };
    const { problems } = await plan({ match: any(names("team-*")), generate }, copyIn("prod"));
    assert.match(problems.join(), why);
  });

test("a Secret of another API group is no Secret", async () => {
  const generate = { ...GENERATE, apiVersion: "vault.example/v1" };
  const { sources, besides } = await plan({ match: any(block({})), generate });
  assert.deepEqual(sources, []);
  assert.match(besides.join(), /1 policies of Kyverno copy nothing that moves/);
});

test("policies of a file in the other version are read", async () => {
  const old = { ...policy({ match: any(names("prod")) }), apiVersion: "kyverno.io/v2beta1" };
  const { sources } = await migrationOf("kyverno", [
    ...namespaces(),
    secret("platform", "registry"),
    old,
  ]);
  assert.equal(sources[0]?.annotations["secretcast.io/to"], "prod");
});

test("other rules of a policy stay with Kyverno, and are named", async () => {
  const rules = [
    { name: "copy", match: any(names("prod")), generate: GENERATE },
    { name: "check", match: any(names("prod")), validate: {} },
  ];
  const { problems } = await plan(
    {},
    { ...policy({}, { rules }), metadata: { name: "two", uid: "u2" } },
  );
  assert.ok(
    problems.some((one) => one.includes("ClusterPolicy two: its rules check copy no Secret")),
  );
});

test("rules that copy a Secret under one name are one rule", async () => {
  const second = (rule: Raw): Raw => ({ ...policy(rule), metadata: { name: "second", uid: "u2" } });
  const first = { match: any(names("prod")) };
  assert.deepEqual(await wordsOf(first, second({ match: any(names("team-*")) })), {
    to: "team-*,prod",
  });
  const other = second({ match: any(names("team-*")), generate: { ...GENERATE, name: "other" } });
  const { sources, problems } = await plan(first, other, copyIn("prod"));
  assert.deepEqual(
    sources.map(({ write, place }) => [write, place.namespace]),
    [
      ["refused", "platform"],
      ["annotate", "platform"],
    ],
  );
  assert.match(
    problems.join("\n"),
    /its copies are called other, and the 1 copies of another rule/,
  );
});

test("a copy of another source or of a deleted rule is not adopted", async () => {
  const rule = { match: any(names("team-*", "prod", "dev-1")) };
  const { copies } = await plan(
    rule,
    copyIn("team-a"),
    copyIn("team-b", "copy", { "generate.kyverno.io/trigger-uid": uidOf("team-a") }),
    copyIn("prod", "copy", { "generate.kyverno.io/source-uid": uidOf("an older one") }),
    copyIn("dev-1", "deleted"),
  );
  assert.deepEqual(
    copies.map(({ object, state }) => [object.namespace, state]),
    [
      ["dev-1", "doubtful"],
      ["prod", "doubtful"],
      ["team-a", "adoptable"],
      ["team-b", "doubtful"],
    ],
  );
});

test("a PolicyException of a rule is named, and one of another policy is not", async () => {
  const exception = (policyName: string): Raw => ({
    apiVersion: "kyverno.io/v2",
    kind: "PolicyException",
    metadata: { namespace: "kyverno", name: "except", uid: "e" },
    spec: { exceptions: [{ policyName, ruleNames: ["co*"] }] },
  });
  const rule = { match: any(names("prod")) };
  assert.deepEqual((await plan(rule, exception("another"))).problems, []);
  assert.deepEqual((await plan(rule, exception("share"))).problems, [
    "ClusterPolicy share/copy: the exception PolicyException kyverno/except takes objects out of it: exclude those namespaces by hand",
  ]);
});

test("an exception for a GeneratingPolicy is named", async () => {
  const exception = (name: string): Raw => ({
    apiVersion: "policies.kyverno.io/v1",
    kind: "PolicyException",
    metadata: { namespace: "kyverno", name: "except" },
    spec: { policyRefs: [{ kind: "GeneratingPolicy", name }] },
  });
  const problemsWith = async (name: string): Promise<readonly string[]> => {
    const objects = [...namespaces(), secret("platform", "registry"), exception(name)];
    return (await migrationOf("kyverno", [...objects, generating(APPLY)])).problems;
  };
  assert.deepEqual(await problemsWith("another"), []);
  assert.match((await problemsWith("gp")).join(), /PolicyException kyverno\/except takes objects/);
});

const APPLY = "generator.Apply(variables.at, [variables.source])";

const ofNamespaces = (change: Raw): Raw => ({
  apiGroups: [""],
  apiVersions: ["v1"],
  resources: ["namespaces"],
  operations: ["CREATE", "UPDATE"],
  ...change,
});
const constraints = (resourceRules: readonly Raw[], excludeResourceRules: readonly Raw[] = []) => ({
  matchConstraints: { resourceRules, excludeResourceRules },
});

function generating(expression: string, spec: Raw = {}): Raw {
  return {
    apiVersion: "policies.kyverno.io/v1",
    kind: "GeneratingPolicy",
    metadata: { name: "gp", uid: "g" },
    spec: {
      evaluation: { synchronize: { enabled: true } },
      matchConstraints: {
        resourceRules: [ofNamespaces({})],
        objectSelector: { matchLabels: { tier: "app" } },
      },
      variables: [
        { name: "at", expression: "object.metadata.name" },
        { name: "source", expression: 'resource.Get("v1", "secrets", "platform", "registry")' },
      ],
      generate: [{ expression }],
      ...spec,
    },
  };
}

for (const [expression, spec, expected] of [
  ["generator.Apply(variables.at, [variables.source])", {}, { "to-selector": "tier=app" }],
  [
    'generator.Apply(object.metadata.name, [ resource.Get("v1","secrets","platform","registry") ])',
    {},
    { "to-selector": "tier=app" },
  ],
  ['generator.Apply("prod", [variables.source])', {}, { to: "prod" }],
  [
    "generator.Apply(variables.at, [variables.source])",
    { matchConditions: [{ name: "x" }] },
    /matchConditions/,
  ],
  [
    "generator.Apply(variables.at, [variables.source].map(x, x))",
    {},
    /its expression is of no form that can be read/,
  ],
  [
    'generator.Apply(object.metadata.name, [http.Get("https://x", "secrets")])',
    {},
    /its expression is of no form that can be read/,
  ],
  [
    'generator.Apply(object.metadata.name, [resource.Post("v1", "configmaps", "platform", "ca")])',
    {},
    /of no form that can be read/,
  ],
  [APPLY, { evaluation: {} }, /synchronize: false/],
  [
    APPLY,
    { evaluation: { synchronize: { enabled: true }, admission: { enabled: false } } },
    /does not act on requests \(admission\)/,
  ],
  [
    APPLY,
    constraints(
      [ofNamespaces({})],
      [
        ofNamespaces({ apiGroups: ["*"], resources: ["*"], resourceNames: ["prod"] }),
        ofNamespaces({ operations: ["DELETE"], resourceNames: ["team-a"] }),
        ofNamespaces({ scope: "Namespaced", resourceNames: ["team-b"] }),
      ],
    ),
    { to: "*,!prod" },
  ],
  [APPLY, constraints([ofNamespaces({ resourceNames: ["prod", "team-*"] })]), { to: "prod" }],
  [
    APPLY,
    constraints([ofNamespaces({ resourceNames: ["team-*"] })]),
    /its resourceNames are names of no Namespace/,
  ],
  [
    APPLY,
    constraints([
      ofNamespaces({ resourceNames: ["prod"] }),
      ofNamespaces({ operations: ["DELETE"], resourceNames: ["team-a"] }),
    ]),
    /its rule asks for the operation \(DELETE\)/,
  ],
  [APPLY, constraints([ofNamespaces({ scope: "Namespaced" })]), /that are no Namespace/],
  [
    APPLY,
    {
      generate: [
        { expression: APPLY },
        { template: { value: 'kind: Secret\ndata: ((resource.Get("v1", "secrets", "a", "b")))' } },
      ],
    },
    /its template is made out of other objects/,
  ],
] as const) {
  const said = expected instanceof RegExp ? expected.source : JSON.stringify(expected);
  test(`a GeneratingPolicy with ${expression} ${JSON.stringify(spec)}: ${said}`, async () => {
    const objects = [...namespaces(), secret("platform", "registry"), generating(expression, spec)];
    const migration = await migrationOf("kyverno", objects);
    if (expected instanceof RegExp) assert.match(migration.problems.join("\n"), expected);
    else {
      assert.deepEqual(migration.problems, []);
      assert.deepEqual(written(migration), [expected]);
    }
  });
}

test("a copy whose policy is deleted is named with that reason, and is not adopted", async () => {
  const orphan = copyIn("team-a", "copy", { "generate.kyverno.io/policy-name": "gone" });
  const objects = [...namespaces(), secret("platform", "registry"), orphan];
  const { copies, sources } = await migrationOf("kyverno", objects);
  assert.deepEqual(sources, []);
  const [copy = assert.fail("it is not named")] = copies;
  assert.equal(copy.state, "outside");
  assert.match(copy.why, /^its policy gone is deleted, .* nothing keeps it current/);
});
