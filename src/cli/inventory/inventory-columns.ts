// An inventory for people and spreadsheets: columns, and how ages are written.
import { objectColumns } from "../../inspect/kubectl/listing.ts";
import { painter, tableLines, type Colour, type Column } from "../../inspect/kubectl/table.ts";
import type { KubectlFlags } from "../../inspect/kubectl/kubectl-flags.ts";
import type { Program } from "../../run/program-context.ts";
import type { InventoryItem, InventoryValue, Limit } from "./inventory-items.ts";
import { listed } from "../../text/listed.ts";
import { subjectText, type Reader } from "./readers.ts";

const SHOWN = 3;

/** `whole`: every key and place is named, as in a pipe and with `-o wide`. */
export function inventoryColumns(
  items: readonly InventoryItem[],
  { certificates, whole }: { readonly certificates: boolean; readonly whole: boolean },
): readonly Column<InventoryItem>[] {
  const most = whole ? Infinity : SHOWN;
  return [
    ...objectColumns(items),
    {
      header: "TYPE",
      cell: ({ type = "", isSource }) => (isSource ? type : `${type} (no source)`.trimStart()),
      colour: ({ isSource }) => (isSource ? undefined : "yellow"),
    },
    { header: "KEYS", cell: (item) => keysText(item, most) },
    { header: "COPIES", cell: ({ copies }) => String(copies.length) },
    {
      header: "AGE",
      cell: ({ value }) => ageText(value),
      colour: (item) => colourOf(item, "max-age"),
    },
    { header: "AT MOST", wide: true, cell: ({ value }) => mostText(value) },
    { header: "SET BY", wide: true, cell: ({ value }) => value.manager ?? "" },
    ...(certificates ? CERTIFICATE_COLUMNS : []),
    { header: "LAST COPY", cell: ({ lastCopyAt }) => lastCopyAt ?? "" },
  ];
}

const CERTIFICATE_COLUMNS: readonly Column<InventoryItem>[] = [
  {
    header: "EXPIRES",
    cell: ({ certificate }) => {
      if (!certificate) return "";
      return "unreadable" in certificate ? certificate.unreadable : certificate.earliestExpiry;
    },
    colour: (item) => colourOf(item, "min-validity"),
  },
  { header: "SUBJECT", wide: true, cell: (item) => certified(item, "subject") },
  { header: "ISSUER", wide: true, cell: (item) => certified(item, "issuer") },
];

function certified({ certificate }: InventoryItem, field: "subject" | "issuer"): string {
  return certificate && !("unreadable" in certificate) ? certificate[field] : "";
}

function colourOf({ over, unsure }: InventoryItem, limit: Limit): Colour | undefined {
  if (over.includes(limit)) return "red";
  return unsure.includes(limit) ? "yellow" : undefined;
}

function keysText({ keys, unnamedKeys }: InventoryItem, most: number): string {
  const rest = Math.max(0, keys.length - most) + (unnamedKeys ?? 0);
  const named = keys.slice(0, most).join(",");
  return rest === 0 ? named : `${named}${named === "" ? "" : " "}+${rest}`;
}

function ageText({ known, ageAtLeastSeconds }: InventoryValue): string {
  if (ageAtLeastSeconds === undefined) return "unknown";
  const age = spanText(ageAtLeastSeconds);
  return known === "exact" ? age : `at least ${age}`;
}

function mostText({ ageAtMostSeconds }: InventoryValue): string {
  return ageAtMostSeconds === undefined ? "unknown" : spanText(ageAtMostSeconds);
}

const UNITS = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
] as const;

/** The largest unit that fits twice: `43h`, `12d`. */
function spanText(seconds: number): string {
  const [unit, length] = UNITS.find(([, each]) => seconds >= 2 * each) ?? ["s", 1];
  return `${Math.floor(seconds / length)}${unit}`;
}

export type ReaderLine = Reader & { readonly source: string };

export function* readerLines(
  items: readonly InventoryItem[],
  whole: boolean,
  flags: Pick<KubectlFlags, "headers" | "output">,
  program: Pick<Program, "env" | "stdout">,
): Generator<string> {
  const lines = items.flatMap(({ namespace, name, readers = [] }) =>
    readers.map((reader): ReaderLine => ({ ...reader, source: `${namespace}/${name}` })),
  );
  const columns: readonly Column<ReaderLine>[] = [
    { header: "SOURCE", cell: ({ source }) => source },
    {
      header: "READER",
      cell: subjectText,
      colour: ({ note }) => (note === undefined ? undefined : "yellow"),
    },
    { header: "VERBS", cell: ({ verbs }) => verbs.join(",") },
    { header: "BINDING", cell: ({ binding }) => binding },
    { header: "ROLE", cell: ({ role }) => role },
    { header: "PLACES", cell: (line) => placesText(line, whole ? Infinity : SHOWN) },
    { header: "NOTE", cell: ({ note }) => note ?? "" },
  ];
  yield* tableLines(lines, columns, flags, painter(program));
}

function placesText({ everyPlace, places = [], count }: Reader, most: number): string {
  return everyPlace ? `all ${count}` : listed(places, most);
}

const CSV_COLUMNS: readonly (readonly [string, (item: InventoryItem) => string])[] = [
  ["resource", ({ resource }) => resource],
  ["namespace", ({ namespace }) => namespace],
  ["name", ({ name }) => name],
  ["is_source", ({ isSource }) => String(isSource)],
  ["type", ({ type }) => type ?? ""],
  ["keys", ({ keys }) => keys.join(" ")],
  ["unnamed_keys", ({ unnamedKeys = 0 }) => String(unnamedKeys)],
  ["copies", ({ copies }) => String(copies.length)],
  ["value_known", ({ value }) => value.known],
  ["value_not_before", ({ value }) => value.notBefore ?? ""],
  ["value_not_after", ({ value }) => value.notAfter ?? ""],
  ["value_set_by", ({ value }) => value.manager ?? ""],
  ["last_copy_at", ({ lastCopyAt }) => lastCopyAt ?? ""],
  ["over", ({ over }) => over.join(" ")],
  ["unsure", ({ unsure }) => unsure.join(" ")],
];

const CSV_CERTIFICATE: typeof CSV_COLUMNS = [
  ["expires_at", (item) => CERTIFICATE_COLUMNS[0]?.cell(item) ?? ""],
  ["subject", (item) => certified(item, "subject")],
  ["issuer", (item) => certified(item, "issuer")],
];

const CSV_READER: readonly (readonly [string, (reader: Reader) => string])[] = [
  ["reader_kind", ({ kind }) => kind],
  ["reader_namespace", ({ namespace }) => namespace ?? ""],
  ["reader", ({ name }) => name],
  ["reader_verbs", ({ verbs }) => verbs.join(" ")],
  ["binding", ({ binding }) => binding],
  ["role", ({ role }) => role],
  ["reader_places", ({ count }) => String(count)],
  ["reader_place_names", ({ everyPlace, places = [] }) => (everyPlace ? "all" : places.join(" "))],
  ["reader_note", ({ note }) => note ?? ""],
];

/** The cells of all lines. With readers, a source without any has one line. */
export function* csvRows(
  items: readonly InventoryItem[],
  { certificates, readers }: { readonly certificates: boolean; readonly readers: boolean },
): Generator<readonly string[]> {
  const columns = [...CSV_COLUMNS, ...(certificates ? CSV_CERTIFICATE : [])];
  const more = readers ? CSV_READER : [];
  yield [...columns, ...more].map(([header]) => header);
  for (const item of items) {
    const cells = columns.map(([, cell]) => cell(item));
    const lines = item.readers?.length ? item.readers : [undefined];
    for (const reader of lines)
      yield [...cells, ...more.map(([, cell]) => (reader ? cell(reader) : ""))];
  }
}
