// The Helm chart as files: its version is the program's, its schema knows every value that it has and
// every flag that the program has, and its guards are the components'. What Helm makes of it is shown
// where there is a Helm.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadAllYaml, loadYaml, type KubernetesObject } from "@kubernetes/client-node";
import { FLAGS, type Flag } from "../src/controller/settings/flags.ts";
import { SOURCE_ANNOTATIONS } from "../src/controller/annotations/vocabulary.ts";
import { parseDuration, parseSize } from "../src/controller/settings/units.ts";
import { COMPONENTS, keyOf } from "./support/documents/components.ts";

const read = (file: string) =>
  readFileSync(new URL(`../manifests/chart/${file}`, import.meta.url), "utf8");

type Schema = {
  readonly $defs: Readonly<Record<string, Schema & { readonly pattern: string }>>;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean;
};
const schema: Schema = JSON.parse(read("values.schema.json"));

test("the chart has the version of the program, and installs it", () => {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  );
  const chart = loadYaml<{ version: string; appVersion: string }>(read("Chart.yaml"));
  assert.deepEqual([chart.version, chart.appVersion], [version, version]);
});

test("the schema knows every value and no other", () => {
  const values = Object.keys(loadYaml<object>(read("values.yaml")));
  // Helm itself adds `global` where the chart is part of another.
  assert.deepEqual(Object.keys(schema.properties).toSorted(), [...values, "global"].toSorted());
  assert.equal(schema.additionalProperties, false);
});

test("the value of each component is one that the schema takes", () => {
  for (const component of COMPONENTS) {
    const [first = "", ...deeper] = keyOf(component).split(".");
    const found = deeper.reduce(
      (at: Schema | undefined, step) => at?.properties[step],
      schema.properties[first],
    );
    assert.ok(found, component.setting);
  }
});

test("the schema's words of an entry of the source list are those of the program", () => {
  const words = Object.keys(schema.$defs["entry"]?.properties ?? {});
  const known = [...SOURCE_ANNOTATIONS, "secret", "configMap"];
  assert.deepEqual(words.toSorted(), known.toSorted());
});

// A Deployment has its service account and runs for ever. Values bring config-maps and only-names with the
// rights that they need.
const NOT_FOR_A_DEPLOYMENT = ["kubeconfig", "context", "once", "config-maps", "only-names"];

test("the schema's flags are those of `run` that a Deployment can use, with their kinds", () => {
  const flags = FLAGS.filter(({ name }) => !NOT_FOR_A_DEPLOYMENT.includes(name));
  assert.deepEqual(
    schema.properties["flags"]?.properties,
    Object.fromEntries(
      flags.map((flag: Flag) => [flag.name, { description: flag.description, ...shapeOf(flag) }]),
    ),
  );
  assert.equal(schema.properties["flags"]?.additionalProperties, false);
});

function shapeOf({ name, kind, choices }: Flag): object {
  // Without a name there is no list.
  if (name === "source-list") return { type: "string" };
  switch (kind) {
    case "switch":
      return { type: "boolean" };
    case "choice":
      return { enum: choices };
    case "names":
      return { $ref: "#/$defs/list" };
    case "text":
    case "list":
    case "duration":
    case "size":
    case "count":
    case "address":
      return { $ref: `#/$defs/${kind}` };
  }
}

test("the schema takes the durations and sizes that the program takes", () => {
  for (const [kind, parse, texts] of [
    ["duration", parseDuration, ["0", "500ms", "1h30m", "1.5s", ".5s", "10", "", "1d", "-1s"]],
    ["size", parseSize, ["0", "256Mi", "1.5G", "2e6", "1048576", "256MB", "", "-1", "1.5.5"]],
  ] as const) {
    const pattern = new RegExp(schema.$defs[kind]?.pattern ?? "", "u");
    for (const text of texts) {
      const taken = pattern.test(text);
      if (taken) parse(text);
      else assert.throws(() => parse(text), RangeError, text);
    }
  }
});

const GUARDS: Readonly<Record<string, readonly string[]>> = {
  guardrail: ["guardrail/policy", "guardrail/binding"],
  tenantguard: ["tenant-guard/policy", "tenant-guard/binding"],
  flowschema: ["lease-priority/flowschema"],
  networkpolicy: ["network-policy/networkpolicy"],
  earlycheck: ["early-check/policy", "early-check/binding", "early-check-deny/binding"],
  pullsecrets: ["policy", "binding", "parameter"].map((file) => `pull-secrets/${file}`),
};
// What Helm would put in for a release called as the base is.
const FILLED_IN: readonly (readonly [RegExp, string])[] = [
  [/^ *\{\{- (range|with) [^]*?\{\{- end \}\}\n/gm, ""],
  [
    /\{\{- include "secretcast\.(labels|selector)" [^}]*\}\}/g,
    "app.kubernetes.io/name: secretcast",
  ],
  [/\{\{ include "secretcast\.otherSources" \. \}\}/g, "[]"],
  [/\{\{ include "secretcast\.sourceList" \. \}\}/g, "secretcast-sources"],
  [/\{\{ (include "secretcast\.\w+" \.|\.Release\.Namespace)( \| quote)? \}\}/g, "secretcast"],
  [/\{\{ join "," \.Values\.pullSecretNames \| quote \}\}/g, "registry"],
  [/^.*\{\{.*\}\}\n/gm, ""],
];

for (const [template, files] of Object.entries(GUARDS))
  test(`the chart's ${template} is the component's, but for names and what values add`, () => {
    const component = files.flatMap((file) =>
      plain(readFileSync(new URL(`../manifests/components/${file}.yaml`, import.meta.url), "utf8")),
    );
    let text = read(`templates/${template}.yaml`);
    for (const [pattern, by] of FILLED_IN) text = text.replaceAll(pattern, by);
    const own: readonly unknown[] = plain(text);
    // Peers and the ports of the API server are values, and the version is on all that Helm makes.
    const differing = ["ingress", "egress", "app.kubernetes.io/version"];
    const alike = (value: unknown): string =>
      JSON.stringify(value, (key, each: unknown) => (differing.includes(key) ? undefined : each));
    assert.deepEqual(own.map(alike), component.map(alike));
  });

function plain(text: string): readonly KubernetesObject[] {
  return JSON.parse(JSON.stringify(loadAllYaml(text)));
}
