// Replays receipts as docs/reference.md says: the lines of the run that began last, from its last `begin`.
// Fragments of lines that were cut off are passed over.

export type ReceiptLine = {
  readonly receipt: string;
  readonly run: string;
  readonly seq: number;
  readonly time: string;
  readonly kind?: string;
  readonly place?: string;
  readonly holds?: boolean;
  readonly found?: boolean;
  readonly deleting?: boolean;
  readonly pulling?: boolean;
  readonly source?: string;
  readonly sourceUid?: string;
  readonly sourceVersion?: string;
  readonly entry?: string;
  readonly before?: { readonly uid: string; readonly version: string; readonly source?: string };
  readonly after?: { readonly uid: string; readonly version: string };
  readonly keys?: readonly string[];
  readonly moreKeys?: number;
  readonly code?: string;
  readonly cause?: string;
  readonly by?: Readonly<Record<string, unknown>>;
  readonly term?: number;
  readonly count?: number;
};

export function parseReceipts(text: string): readonly ReceiptLine[] {
  return text.split("\n").flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as ReceiptLine];
    } catch {
      return [];
    }
  });
}

export type Replayed = {
  /** By "KIND NAMESPACE/NAME". */
  readonly holdings: ReadonlyMap<string, ReceiptLine>;
  /** Its `end` was read, so that nothing is missing. */
  readonly complete: boolean;
};

/**
 * `lines`: of all processes, those of each process in their order. `last`: the run that began last; undefined: the one
 * whose lines begin last.
 */
export function replayReceipts(lines: readonly ReceiptLine[], last?: string): Replayed {
  const runs = new Map<string, { holdings: Map<string, ReceiptLine>; complete: boolean }>();
  for (const line of lines) {
    if (line.receipt === "begin") {
      runs.set(line.run, { holdings: new Map(), complete: false });
      continue;
    }
    const run = runs.get(line.run);
    if (!run) continue;
    if (line.receipt === "end") run.complete = true;
    else if (line.holds === true) run.holdings.set(`${line.kind} ${line.place}`, line);
    else run.holdings.delete(`${line.kind} ${line.place}`);
  }
  const newest = last ?? [...runs.keys()].at(-1) ?? "";
  return runs.get(newest) ?? { holdings: new Map(), complete: false };
}
