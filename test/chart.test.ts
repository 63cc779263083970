// The Helm chart as files: its version is the program's, its schema knows every value that it has and
// every flag that the program has. What Helm makes of it is shown where there is a Helm.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadYaml } from "@kubernetes/client-node";
import { readConfig } from "../src/controller/settings/config.ts";
import { FLAGS, type Flag } from "../src/controller/settings/flags.ts";
import { LIST_ANNOTATIONS, SOURCE_ANNOTATIONS } from "../src/controller/annotations/vocabulary.ts";
import { parseDuration, parseSize } from "../src/controller/settings/units.ts";
import { hasWildcard } from "../src/text/glob.ts";
import { COMPONENTS, keyOf } from "./support/documents/components.ts";
import { readManifest } from "./support/programs/packed-project.ts";

const read = (file: string) =>
  readFileSync(new URL(`../manifests/chart/${file}`, import.meta.url), "utf8");

type Schema = {
  readonly $defs: Readonly<Record<string, Schema & { readonly pattern: string }>>;
  readonly properties: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean;
  readonly $ref?: string;
  readonly anyOf?: readonly { readonly pattern?: string; readonly items?: { pattern: string } }[];
  readonly maximum?: number;
};
const schema: Schema = JSON.parse(read("values.schema.json"));

test("the chart has the version of the program, and installs it", () => {
  const { version } = readManifest();
  const chart = loadYaml<{ version: string; appVersion: string }>(read("Chart.yaml"));
  assert.deepEqual([chart.version, chart.appVersion], [version, version]);
});

test("the schema knows every value and no other", () => {
  const values = Object.keys(loadYaml<object>(read("values.yaml")));
  assert.deepEqual(Object.keys(schema.properties).toSorted(), values.toSorted());
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
  const { properties = {} } = schema.$defs["entry"] ?? {};
  const words = Object.keys(properties);
  const known = [...SOURCE_ANNOTATIONS, "secret", "configMap"];
  assert.deepEqual(words.toSorted(), known.toSorted());
  const lists = words.filter((word) => properties[word]?.$ref === "#/$defs/texts");
  assert.deepEqual(lists, LIST_ANNOTATIONS);
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

/** With null, a flag is as if it were not given. */
function shapeOf({ name, kind, choices }: Flag): object {
  // Without a name there is no list.
  if (name === "source-list") return { type: ["string", "null"] };
  switch (kind) {
    case "switch":
      return { type: ["boolean", "null"] };
    case "choice":
      return { enum: [...(choices ?? []), null] };
    case "names":
      return { $ref: "#/$defs/list" };
    case "text":
      return { $ref: "#/$defs/flagText" };
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

test("the schema refuses an empty entry and a count beyond the program's", () => {
  const { list, count } = schema.$defs;
  const [inText, inList] = [list?.anyOf?.[0]?.pattern, list?.anyOf?.[1]?.items?.pattern];
  const outside = { env: {}, clusterNamespace: undefined, terminal: false };
  for (const text of ["a", "a, b", " a-*,! b ", "", " ", ",", "a,", "a,,b", "a, ,b"]) {
    const takes = (): unknown => readConfig({ "exclude-namespaces": text }, outside);
    const isTaken = new RegExp(inText ?? "").test(text);
    assert.equal(
      text.split(",").every((one) => new RegExp(inList ?? "").test(one)),
      isTaken,
    );
    if (isTaken) takes();
    else if (text !== "") assert.throws(takes, /has an empty entry/);
  }
  assert.equal(count?.maximum, Number.MAX_SAFE_INTEGER);
});

test("the templates tell globs from names as the program does", () => {
  const signs = Array.from(read("templates/_names.tpl").matchAll(/regexMatch "\[([^"]*)\]"/g));
  assert.equal(signs.length, 2);
  const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
  const wanted = visible.filter((sign) => sign === "!" || hasWildcard(sign));
  for (const [, inGlobs = ""] of signs) assert.deepEqual(new Set(inGlobs), new Set(wanted));
});

test("extraArgs takes no flag that the chart makes rights and policies by", () => {
  const [, define = ""] =
    /define "secretcast.knownFlags"(.*?)end -}}/s.exec(read("templates/_names.tpl")) ?? [];
  const names = [...define.matchAll(/print "(.*)"/g)].flatMap(([, line = ""]) =>
    line.trim().split(" "),
  );
  const known = Object.keys(schema.properties["flags"]?.properties ?? {});
  assert.deepEqual(names.toSorted(), [...known, "config-maps", "only-names"].toSorted());
});
