// Every word that others build on, out of the program itself: annotations, flags and their defaults,
// commands, metrics, Events, verdicts, causes, and the fields of what is printed as JSON. A word here is
// one line: its kind and itself. What secretcast/kube declares is pinned beside it (kube.txt).
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { FLAGS } from "../../../src/controller/settings/flags.ts";
import {
  ANNOTATION_NAMES,
  isMark,
  PREFIX,
} from "../../../src/controller/annotations/vocabulary.ts";
import { METRIC_STATE, VERDICTS } from "../../../src/controller/model/verdicts.ts";
import { helpWords } from "../../../src/cli/completion/help-words.ts";
import { FAILURE_CAUSES } from "../../../packages/kube/rest/failure-cause.ts";
import { commandLine } from "../programs/command-line.ts";
import { libraryDeclarations } from "./declarations.ts";
import { metricsOfNothing } from "./metrics.ts";

const SRC = fileURLToPath(new URL("../../../src/", import.meta.url));

/** Types whose fields are printed as JSON, by file: the items of each command's list, and others. */
const PRINTED: readonly (readonly [file: string, type: string])[] = [
  ...readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith("-items.ts"))
    .flatMap((file) => itemsIn(file).map((type) => [file, type] as const)),
  ["cli/plan/content-diff.ts", "ContentDiff"],
  ["cli/check/finding.ts", "CheckFinding"],
  ["page/status.ts", "ControllerSnapshot"],
  ["page/status.ts", "Status"],
  ["page/status.ts", "Totals"],
  ["page/status.ts", "SourceLine"],
];

export async function publicWords(): Promise<readonly string[]> {
  const words = [
    ...ANNOTATION_NAMES.map((name) => `${isMark(name) ? "mark" : "annotation"} ${PREFIX}${name}`),
    ...FLAGS.flatMap(({ name, default: value }) => [
      `flag run --${name}`,
      `default run --${name}=${value}`,
    ]),
    ...VERDICTS.map((verdict) => `verdict ${verdict}`),
    ...new Set(Object.values(METRIC_STATE).flatMap((state) => (state ? `state ${state}` : []))),
    ...Object.keys(FAILURE_CAUSES).map((cause) => `cause ${cause}`),
    ...eventReasons().map((reason) => `event ${reason}`),
    ...PRINTED.flatMap(([file, type]) =>
      fieldsOf(file, type).map((field) => `json ${type}.${field}`),
    ),
    ...Object.keys(chartSchema().properties).map((value) => `chart ${value}`),
    ...metrics(),
    ...(await commands()),
    ...(["kube", "sandbox"] as const).flatMap((library) =>
      [...libraryDeclarations(library).declarations.keys()].map((name) => `export ${name}`),
    ),
  ];
  return [...new Set(words)].toSorted();
}

function chartSchema(): { readonly properties: Readonly<Record<string, unknown>> } {
  return JSON.parse(readFileSync(`${SRC}../manifests/chart/values.schema.json`, "utf8"));
}

function metrics(): readonly string[] {
  type Made = { readonly name: string; readonly labelNames: readonly string[] };
  const all = metricsOfNothing().registry.getMetricsAsArray() as unknown as readonly Made[];
  return all
    .filter(({ name }) => !/^(process|nodejs)_/.test(name))
    .map(({ name, labelNames }) => `metric ${name}{${labelNames.toSorted().join(",")}}`);
}

async function commands(): Promise<readonly string[]> {
  const help = async (...given: readonly string[]) =>
    (await commandLine([...given, "--help"])).stdout;
  const found: string[] = [];
  for (const { name } of helpWords(await help()).commands) {
    found.push(`command ${name}`);
    if (name === "run") continue;
    const { flags } = helpWords(await help(name));
    found.push(...flags.map((flag) => `flag ${name} ${flag.name}`));
  }
  return found;
}

/** From the source: a type has no values. */
export function eventReasons(): readonly string[] {
  const text = readFileSync(`${SRC}controller/report/event-states.ts`, "utf8");
  const [, union = ""] = /readonly reason:((?:\s*\| "\w+")+);/.exec(text) ?? [];
  return Array.from(union.matchAll(/"(\w+)"/g), ([, reason = ""]) => reason);
}

function itemsIn(file: string): readonly string[] {
  const types = readFileSync(SRC + file, "utf8").matchAll(
    /^export type (\w+Item) = (?:ItemObject & )?\{/gm,
  );
  return Array.from(types, ([, type = ""]) => type);
}

function fieldsOf(file: string, type: string): readonly string[] {
  const text = readFileSync(SRC + file, "utf8");
  const [, body = ""] =
    new RegExp(String.raw`^export type ${type} = ([\s\S]*?)^\};`, "m").exec(text) ?? [];
  const own = Array.from(body.matchAll(/^ {2}readonly (\w+)\??:/gm), ([, field = ""]) => field);
  const shared = body.startsWith("ItemObject & ")
    ? fieldsOf("inspect/kubectl/listing.ts", "ItemObject")
    : [];
  return [...shared, ...own];
}
