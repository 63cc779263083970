// Records as text: a table by time, then what cannot be known.
import { printable } from "../../text/printable.ts";
import { isoTime } from "../../controller/settings/due-text.ts";
import { NOT_RECORDED, type Recorded } from "../explanation/records.ts";
import type { KubectlFlags } from "../../inspect/kubectl/kubectl-flags.ts";
import { painter, tableLines, type Column } from "../../inspect/kubectl/table.ts";
import type { Program } from "../../run/program-context.ts";
import type { Records } from "./read-records.ts";

const COLUMNS: readonly Column<Recorded>[] = [
  { header: "TIME", cell: ({ at }) => at.replace(/\.\d+Z$/, "Z") },
  { header: "OBJECT", cell: ({ object }) => object },
  { header: "BY", cell: ({ by }) => by },
  { header: "RECORD", cell: ({ record }) => record },
];

export function* recordLines(
  { records, mark }: Records,
  fromMs: number,
  flags: Pick<KubectlFlags, "headers" | "output">,
  program: Pick<Program, "env" | "stdout">,
): Generator<string> {
  yield "\n";
  if (mark !== undefined) yield `Its marks: ${printable(mark)}\n`;
  const since = isoTime(fromMs).replace(/\.\d+Z$/, "Z");
  if (records.length === 0) yield `Nothing is recorded since ${since}\n`;
  else yield `Recorded since ${since}:\n`;
  yield* tableLines(records, COLUMNS, flags, painter(program));
  yield "\nNot recorded in the cluster:\n";
  for (const line of NOT_RECORDED) yield `  ${line}\n`;
}
