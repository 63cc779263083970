// `npm run chart:docs`: writes what is said once elsewhere. The chart's README from values.schema.json and the
// defaults in values.yaml, the icon in Chart.yaml from icon.svg, the rules of all roles from the table of rights,
// and the kustomize base and components from the chart. Tests hold all of it to be current. The last one needs
// Helm, or Go to build one: without them it says so, writes the others, and the exit code is 1.
import { readFileSync, writeFileSync } from "node:fs";
import { loadYaml } from "@kubernetes/client-node";
import { stringify } from "yaml";
import { goToolFolders } from "./go-tools.ts";
import { kustomizeFiles } from "./kustomize-files.ts";
import { cell, code, markdownTable } from "./markdown-table.ts";
import { rightsFiles } from "./rights-files.ts";
import { wordsOf } from "./words.ts";

const CHART = new URL("../manifests/chart/", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, CHART), "utf8");

export type Schema = {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | null)[];
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
};

/** The schema of the values, each with what its definition says. */
export function valuesSchema(): Schema {
  const { $defs, ...schema }: Schema & { readonly $defs: Readonly<Record<string, Schema>> } =
    JSON.parse(read("values.schema.json"));
  const whole = (of: Schema): Schema => {
    const { properties, ...own } = { ...$defs[defOf(of)], ...of };
    if (properties === undefined) return own;
    const values = Object.entries(properties).map(([name, value]) => [name, whole(value)]);
    return { ...own, properties: Object.fromEntries(values) };
  };
  return whole(schema);
}

/** The files as they should be, by their path in the chart. */
export function chartDocs(): ReadonlyMap<string, string> {
  return new Map([
    ["README.md", readme()],
    ["Chart.yaml", read("Chart.yaml").replace(/^icon: .*$/m, `icon: ${icon()}`)],
  ]);
}

function icon(): string {
  return `data:image/svg+xml;base64,${Buffer.from(read("icon.svg")).toString("base64")}`;
}

function readme(): string {
  const { properties: values = {} } = valuesSchema();
  const defaults = loadYaml<Readonly<Record<string, unknown>>>(read("values.yaml"));
  const flags = values["flags"]?.properties ?? {};
  return `<!-- npm run chart:docs writes this from values.schema.json. -->

# secretcast

${loadYaml<{ readonly description: string }>(read("Chart.yaml")).description}.

## Install

\`$CHART\` is where the chart is: a folder, an archive, or \`oci://…\` of a registry.

\`\`\`sh
helm install secretcast "$CHART" --namespace secretcast --create-namespace --set onlyNames={registry}
helm test secretcast --namespace secretcast --logs
kubectl annotate secret NAME secretcast.io/to='team-*' --namespace secretcast
\`\`\`

\`onlyNames\` lists the names of the Secrets that take part. The controller cannot read any other Secret. \`--set allSecrets=true\` instead lets it read every Secret of the cluster. The chart needs one of the two. Two replicas run, one of them writes. \`helm test\` starts a Pod of the same image and account, which asks for each right that the flags need and writes nothing. There are no CRDs. On OpenShift, no value is needed: no Pod names a user or a group.

## Upgrade and uninstall

\`helm upgrade\` hands the Lease over from the old pods to the new ones; copies that are right are not written. Always give all your values, with \`-f values.yaml\` or \`--reset-then-reuse-values\`: an upgrade that only sets others, such as \`--set image.tag=TAG\`, takes every entry out of the source list (\`sources\`), and guards that were on are removed. Without \`onlyNames\` and \`allSecrets\` it fails, so that no upgrade gives the controller more rights by mistake. The notes of the upgrade name first what it takes away: names, guards and entries. If some entries remain, copies of the others are deleted after \`--delete-hold\`. If none remains, all of these copies stay as they are.

With \`flags.namespaces\`, each namespace of that list must exist before the installation, because the chart makes a Role in it. \`helm uninstall\` leaves every source and every copy where it is. Sources are in the namespace of the release: do not delete it with them in it.

## Values

The defaults give what the kustomize base gives. The schema refuses what is not here.

${markdownTable(["value", "default", "meaning"], rows(values, defaults))}

Values under \`flags\`; what is not given has the program's default.

${markdownTable(
  ["flag", "takes", "meaning"],
  Object.entries(flags).map(([name, flag]) => [
    code(name),
    kindOf(flag),
    cell(flag.description ?? ""),
  ]),
)}
`;
}

/** A row a value; those of a mapping with described properties have a row each, but for flags. */
function rows(
  values: Readonly<Record<string, Schema>>,
  defaults: Readonly<Record<string, unknown>>,
  before = "",
): readonly (readonly string[])[] {
  return Object.entries(values).flatMap(([name, schema]) => {
    const value = defaults[name];
    const own = schema.properties;
    if (own !== undefined && name !== "flags" && Object.values(own).every(isDescribed))
      return rows(own, Object.fromEntries(Object.entries(Object(value))), `${before}${name}.`);
    return [[code(before + name), code(inline(value)), cell(schema.description ?? "")]];
  });
}

/** Empty where it refers to no definition. */
const defOf = ({ $ref: ref = "" }: Schema): string => ref.replace("#/$defs/", "");

const isDescribed = ({ description }: Schema): boolean => description !== undefined;

/** As YAML takes it in a line. */
function inline(value: unknown): string {
  const flow = { collectionStyle: "flow", flowCollectionPadding: false, lineWidth: 0 } as const;
  return stringify(value, flow).trim();
}

const TYPES: Readonly<Record<string, string>> = { boolean: "switch", string: "text" };

/** Null is as if the flag were not given. */
function kindOf(flag: Schema): string {
  const { type, enum: choices } = flag;
  if (choices)
    return choices.flatMap((choice) => (choice === null ? [] : [code(choice)])).join(", ");
  const [first = ""] = [type ?? ""].flat();
  return defOf(flag).replace("flagText", "text") || (TYPES[first] ?? "");
}

if (import.meta.main) {
  wordsOf(import.meta.filename, {});
  for (const [file, text] of chartDocs()) writeFileSync(new URL(file, CHART), text);
  for (const [file, text] of rightsFiles()) writeFileSync(new URL(`../${file}`, CHART), text);
  // The chart's own rights are among what Helm reads.
  const say = (line: string): void => void process.stderr.write(`chart:docs: ${line}\n`);
  const [helm = ""] = goToolFolders(process.env, say, ["helm"]);
  try {
    const made = kustomizeFiles({ PATH: `${helm}:${process.env["PATH"]}` });
    for (const [file, text] of made) writeFileSync(new URL(`../${file}`, CHART), text);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
