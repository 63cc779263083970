// Prints the result of a command in the format of `-o`. Data is written to stdout. json and yaml print one
// List of this program's own kind, whose version changes when a field does.
import { dump } from "js-yaml";
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
      program.stdout.write(`${JSON.stringify(list, undefined, 4)}\n`);
      return;
    case "yaml":
      program.stdout.write(yamlText(list));
      return;
    case "name":
      writeAll(
        items.map((item) => `${nameOf(item)}\n`),
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

/** As kubectl writes YAML: no anchors, no folded lines. */
export function yamlText(value: unknown): string {
  // Drops undefined fields, as JSON does.
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return dump(plain, { lineWidth: -1, noRefs: true });
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
