// A migration as text: what moves, what is gained and lost, what stays, and what to do next.
import { printable } from "../../text/printable.ts";
import { listed } from "../../text/listed.ts";
import { sourceItems, type MigrationItem, type SourceItem } from "./migration-items.ts";
import type { Migration } from "../moves/migration.ts";
import type { KubectlFlags } from "../../inspect/kubectl/kubectl-flags.ts";
import { painter, tableLines, type Column } from "../../inspect/kubectl/table.ts";
import type { Program } from "../../run/program-context.ts";

const MOST_NAMED = 4;

const SOURCE_COLUMNS: readonly Column<SourceItem>[] = [
  { header: "SOURCE", cell: shownSource },
  { header: "FROM", wide: true, cell: ({ from }) => from },
  {
    header: "MOVE",
    cell: ({ write }) => MOVE_WORDS[write],
    colour: ({ write }) => (write === "refused" ? "red" : undefined),
  },
  { header: "NAMESPACES", cell: ({ namespaces }) => String(namespaces) },
  {
    header: "GAINED",
    cell: ({ gained }) => some(gained),
    colour: ({ gained }) => (gained.length > 0 ? "yellow" : undefined),
  },
  {
    header: "LOST",
    cell: ({ lost }) => some(lost.map(({ namespace }) => namespace)),
    colour: ({ lost }) => (lost.length > 0 ? "yellow" : undefined),
  },
];

const MOVE_WORDS: Readonly<Record<SourceItem["write"], string>> = {
  annotate: "annotate",
  create: "new Secret",
  enter: "list entry",
  none: "nothing to do",
  refused: "does not move",
};

const ITEM_COLUMNS: readonly Column<MigrationItem>[] = [
  { header: "OBJECT", cell: ({ object }) => object },
  { header: "SOURCE", cell: ({ source }) => source ?? "-" },
  { header: "ADOPT", cell: ({ adopt }) => (adopt ? "yes" : "no") },
  { header: "STATE", cell: ({ state }) => state },
  { header: "WHY", cell: ({ why }) => why },
];

/** NAMESPACE/NAME is a Secret. */
function shownSource({ kind, source }: SourceItem): string {
  return kind === "Secret" ? source : `${kind} ${source}`;
}

function some(names: readonly string[]): string {
  return names.length === 0 ? "-" : listed(names, MOST_NAMED, { between: "," });
}

export function printMigration(
  migration: Migration,
  items: readonly MigrationItem[],
  flags: Pick<KubectlFlags, "headers" | "output">,
  program: Pick<Program, "env" | "stdout">,
): void {
  const { stdout } = program;
  const paint = painter(program);
  const sources = sourceItems(migration);
  const block = (title: string, lines: Iterable<string>): void => {
    const text = [...lines].join("");
    if (text !== "") stdout.write(`${paint("bold", title)}\n${text}\n`);
  };
  const textBlock = (title: string, lines: Iterable<string>): void =>
    block(
      title,
      Array.from(lines, (line) => `${printable(line)}\n`),
    );
  block("Sources", tableLines(sources, SOURCE_COLUMNS, flags, paint));
  textBlock("Namespaces gained and lost", differenceLines(sources));
  textBlock("Their new annotations", annotationLines(sources));
  textBlock("Entries of the source list", entryLines(sources));
  textBlock("To know of them", notesOf(sources));
  textBlock(
    "Namespaces",
    migration.namespaces.map(({ namespace, accept, done }) => {
      return `${namespace.name}: secretcast.io/accept: ${accept}${done ? " (there already)" : ""}`;
    }),
  );
  const all = flags.output === "wide";
  const shown = items.filter(
    ({ state }) => all || (state !== "adoptable" && state !== "adopted" && state !== "other"),
  );
  block("Copies", [countLine(items), "\n"]);
  block(all ? "One by one" : "Not adopted", tableLines(shown, ITEM_COLUMNS, flags, paint));
  textBlock("Flags of the controller", migration.flags);
  textBlock("To know", [...migration.hints, ...migration.besides]);
  textBlock("Before --write", migration.preparations);
  textBlock("Removing the old tool", leftoverLines(migration));
}

/** The steps by hand after the clean-up. */
export function leftoverLines({ leftovers }: Migration): readonly string[] {
  return leftovers.map((step, at) => `${at + 1}. ${step}`);
}

// All differences, grouped by reason.
function* differenceLines(sources: readonly SourceItem[]): Generator<string> {
  for (const item of sources) {
    const { gained, lost } = item;
    const source = shownSource(item);
    if (gained.length > 0) yield `${source} gains ${gained.join(", ")}`;
    for (const [why, names] of Map.groupBy(lost, ({ why }) => why)) {
      yield `${source} loses ${names.map(({ namespace }) => namespace).join(", ")}: ${why}`;
    }
  }
}

function* annotationLines(sources: readonly SourceItem[]): Generator<string> {
  for (const item of sources) {
    const { annotations, write } = item;
    if (write !== "annotate" && write !== "create") continue;
    yield shownSource(item);
    for (const [key, value] of Object.entries(annotations)) yield `  ${key}: ${quoted(value)}`;
  }
}

function* entryLines(sources: readonly SourceItem[]): Generator<string> {
  for (const { entry, write } of sources) {
    if (!entry || write !== "enter") continue;
    yield `${entry.key}: |`;
    for (const line of entry.text.trimEnd().split("\n")) yield `  ${line}`;
  }
}

function quoted(value: string): string {
  return /^[a-z0-9][-a-z0-9.,/]*$/.test(value) ? value : JSON.stringify(value);
}

function* notesOf(sources: readonly SourceItem[]): Generator<string> {
  for (const item of sources) {
    const { notes, madeBy, write, problems } = item;
    const source = shownSource(item);
    for (const problem of problems) yield `${source}: ${problem}`;
    for (const note of notes) yield `${source}: ${note}`;
    if (madeBy !== undefined && write === "annotate") {
      yield `${source}: written by ${madeBy} as well: have it keep the annotations (--print-patches), or have it in the source list (--by-list)`;
    }
  }
}

function countLine(items: readonly MigrationItem[]): string {
  const adopted = items.filter(({ state }) => state === "adopted").length;
  const adopt = items.filter((item) => item.adopt).length - adopted;
  const counts = new Map<string, number>();
  for (const item of items) {
    if (item.adopt) continue;
    counts.set(item.state, (counts.get(item.state) ?? 0) + 1);
  }
  const rest = [...counts].map(([state, count]) => `${count} ${state}`);
  const parts = [`${adopt} to adopt`, ...(adopted > 0 ? [`${adopted} adopted already`] : [])];
  return `${[...parts, ...rest].join(", ")}\n`;
}
