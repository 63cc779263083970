// Prints the result of a command in the format of `-o`. Data is written to stdout. json and yaml print one
// List of this program's own kind, whose version changes when a field does.
import { dump } from "js-yaml";
import { isPrintable, printable, printableLines } from "../../text/printable.ts";
import { KINDS, type ObjectKind } from "../../controller/model/kinds.ts";
import type { Ref } from "../../text/names.ts";
import type { KubectlFlags } from "./kubectl-flags.ts";
import type { Program } from "../../run/program-context.ts";
import { painter, tableLines, type Column } from "./table.ts";

export const CLI_API_VERSION = "cli.secretcast.io/v1alpha1";

export type Listing<T> = {
  /** `PlanList`. */
  readonly kind: string;
  readonly items: readonly T[];
  /** Beside the items, in json and yaml. */
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly columns: readonly Column<T>[];
  /** As `-o name` prints it. */
  readonly nameOf: (item: T) => string;
};

// Written in pieces: a large plan is not held as one text.
const PIECE = 64 * 1024;

export function printListing<T extends object>(
  listing: Listing<T>,
  flags: Pick<KubectlFlags, "headers" | "output">,
  program: Pick<Program, "env" | "stdout">,
): void {
  const { kind, items, beside = {}, columns, nameOf } = listing;
  const list = { apiVersion: CLI_API_VERSION, kind, ...beside, items };
  switch (flags.output) {
    case "json":
      program.stdout.write(`${printableLines(JSON.stringify(list, undefined, 4))}\n`);
      return;
    case "yaml":
      program.stdout.write(yamlText(list));
      return;
    case "name":
      writeAll(
        items.map((item) => `${printable(nameOf(item))}\n`),
        program,
      );
      return;
    case "table":
    case "wide":
      writeAll(tableLines(items, columns, flags, painter(program)), program);
  }
}

/** The object that an item is about. */
export type ItemObject = {
  /** As kubectl names it: `secrets`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
};

export function objectOfItem(kind: ObjectKind, { namespace, name }: Ref): ItemObject {
  return { resource: KINDS[kind].resource.plural, namespace, name };
}

/** Arguments for the next command: kubectl get secret/NAME -n NAMESPACE. */
export function kubectlName({ resource, namespace, name }: ItemObject): string {
  return `${resource.slice(0, -1)}/${name} -n ${namespace}`;
}

/** The columns of the object itself. Its resource is shown where there is more than one. */
export function objectColumns<T extends ItemObject>(items: readonly T[]): readonly Column<T>[] {
  const mixed = items.some(({ resource }) => resource !== KINDS.Secret.resource.plural);
  return [
    ...(mixed ? [RESOURCE_COLUMN] : []),
    { header: "NAMESPACE", cell: ({ namespace }) => namespace },
    { header: "NAME", cell: ({ name }) => name },
  ];
}

export const RESOURCE_COLUMN: Column<Pick<ItemObject, "resource">> = {
  header: "RESOURCE",
  cell: ({ resource }) => resource,
};

/** As kubectl writes YAML: no anchors, no folded lines. Unprintable characters are escaped in quotes. */
export function yamlText(value: unknown): string {
  // Drops undefined fields, as JSON does.
  const json = JSON.stringify(value);
  const options = { lineWidth: -1, noRefs: true };
  if (isPrintable(json)) return dump(JSON.parse(json), options);
  // The library writes some of them as they are. A plain word is written in place of such a text.
  const word = unusedWord(json);
  const quoted: string[] = [];
  const plainText = (text: string): string => {
    if (isPrintable(text.replaceAll(/[\n\t]/g, ""))) return text;
    return `${word}${quoted.push(yamlQuoted(text)) - 1}x`;
  };
  return dump(mapTexts(JSON.parse(json), plainText), options).replaceAll(
    new RegExp(`${word}(\\d+)x`, "g"),
    (_, index) => quoted[Number(index)] ?? "",
  );
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [change(key), mapTexts(each, change)]);
  return Object.fromEntries(entries);
}

function unusedWord(text: string): string {
  let word = "escaped";
  while (text.includes(word)) word += "-";
  return word;
}

// YAML joins no surrogates, so a character beyond the first plane has eight digits.
function yamlQuoted(text: string): string {
  return JSON.stringify(text).replaceAll(/[^\n -~]/gu, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    return code > 0xffff
      ? `\\U${code.toString(16).padStart(8, "0")}`
      : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

function writeAll(lines: Iterable<string>, { stdout }: Pick<Program, "stdout">): void {
  let piece = "";
  for (const line of lines) {
    piece += line;
    if (piece.length < PIECE) continue;
    stdout.write(piece);
    piece = "";
  }
  if (piece !== "") stdout.write(piece);
}
