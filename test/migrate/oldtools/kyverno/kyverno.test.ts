// Kyverno's rules: what each says of namespaces, and what no rule of ours can say.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Migration } from "../../../../src/migrate/moves/migration.ts";
import { migrationOf } from "../../../support/worlds/migration.ts";

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

function copyIn(namespace: string, rule = "copy", change: Texts = {}): Raw {
  return secret(namespace, "registry", {
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
  const { sources, problems } = await plan(rule, ...more);
  assert.deepEqual(problems, []);
  assert.equal(sources.length, 1);
  const found = Object.entries(sources[0]?.annotations ?? {});
  return Object.fromEntries(
    found.map(([key, value]) => [key.replace("secretcast.io/", ""), value]),
  );
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
    "a namespaceSelector, which has no effect on a Namespace",
    { match: any(block({ names: ["prod"], namespaceSelector: { matchLabels: { no: "such" } } })) },
    { to: "prod" },
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

test("resourceFilters of the ConfigMap keep namespaces out, and a filter for a name keeps out all", async () => {
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

test("rules that copy one Secret under one name are one rule, and under two names the one with most copies moves", async () => {
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

test("a copy of another source, namespace or name, or of a deleted rule, is not adopted", async () => {
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

test("a policy that is being deleted does not move, and its copies are not adopted", async () => {
  const going = policy({ match: any(names("prod")) });
  const metadata = { name: "share", uid: "u", deletionTimestamp: "2026-11-25T00:00:00Z" };
  const objects = [...namespaces(), secret("platform", "registry"), copyIn("prod")];
  const { sources, copies } = await migrationOf("kyverno", [...objects, { ...going, metadata }]);
  assert.equal(sources[0]?.write, "refused");
  assert.equal(copies[0]?.state, "doubtful");
});

function generating(expression: string, spec: Raw = {}): Raw {
  return {
    apiVersion: "policies.kyverno.io/v1",
    kind: "GeneratingPolicy",
    metadata: { name: "gp", uid: "g" },
    spec: {
      evaluation: { synchronize: { enabled: true } },
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [""],
            apiVersions: ["v1"],
            resources: ["namespaces"],
            operations: ["CREATE", "UPDATE"],
          },
        ],
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
  ["generator.Apply(variables.at, [variables.source])", { evaluation: {} }, /synchronize: false/],
] as const) {
  const said = expected instanceof RegExp ? expected.source : JSON.stringify(expected);
  test(`a GeneratingPolicy with ${expression} ${JSON.stringify(spec)}: ${said}`, async () => {
    const objects = [...namespaces(), secret("platform", "registry"), generating(expression, spec)];
    const { sources, problems } = await migrationOf("kyverno", objects);
    if (expected instanceof RegExp) assert.match(problems.join("\n"), expected);
    else {
      assert.deepEqual(problems, []);
      const found = Object.entries(sources[0]?.annotations ?? {});
      const words = found.map(([key, value]) => [key.replace("secretcast.io/", ""), value]);
      assert.deepEqual(Object.fromEntries(words), expected);
    }
  });
}
