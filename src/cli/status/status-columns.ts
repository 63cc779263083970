// A status as text: sources by outcome, then problems with their reasons.
import { objectColumns } from "../../inspect/kubectl/listing.ts";
import { STATE_COLOURS } from "../../inspect/cluster/state-colours.ts";
import { listed } from "../../text/listed.ts";
import { dueText } from "../../controller/settings/due-text.ts";
import { METRIC_STATES, type MetricState } from "../../controller/model/verdicts.ts";
import type { RowState } from "../../page/filter.ts";
import type { Colour, Column } from "../../inspect/kubectl/table.ts";
import type { StatusItem, StatusOutcome } from "./status-items.ts";

const COLOURS: Readonly<Record<RowState | "unknown", Colour>> = {
  refused: "red",
  ...STATE_COLOURS,
};

// The others are rare.
const ALWAYS: readonly MetricState[] = ["current", "pending", "conflict", "failed"];

function countColumn(state: MetricState): Column<StatusItem> {
  return {
    header: state.toUpperCase(),
    ...(!ALWAYS.includes(state) && { wide: true as const }),
    cell: ({ states }) => String(states[state]),
    colour: ({ states }) => (states[state] > 0 ? COLOURS[state] : "grey"),
  };
}

export function statusColumns(items: readonly StatusItem[]): readonly Column<StatusItem>[] {
  return [
    ...objectColumns(items),
    { header: "STATE", cell: ({ state }) => state, colour: ({ state }) => COLOURS[state] },
    ...METRIC_STATES.map(countColumn),
  ];
}

/** One line of what is not as it should be. */
export type Trouble = StatusOutcome & { readonly source: string };

export function troublesOf(items: readonly StatusItem[]): readonly Trouble[] {
  return items.flatMap(({ source, problems, notes, outcomes }) => [
    ...problems.map((reason) => ({ source, verdict: "refused", reason, places: [], count: 0 })),
    ...notes.map((reason) => ({ source, verdict: "note", reason, places: [], count: 0 })),
    ...outcomes.map((outcome) => ({ source, ...outcome })),
  ]);
}

const SHOWN = 3;

/** `whole`: every place is named, as in a pipe and with `-o wide`. */
export function troubleColumns(whole: boolean): readonly Column<Trouble>[] {
  const places: Column<Trouble> = {
    header: "PLACES",
    cell: (trouble) => placesText(trouble, whole ? Infinity : SHOWN),
  };
  return [
    { header: "VERDICT", cell: ({ verdict }) => verdict },
    { header: "SOURCE", cell: ({ source }) => source },
    places,
    { header: "REASON", cell: reasonText },
  ];
}

function reasonText({ reason, dueAt, dueWords, unless }: Trouble): string {
  if (dueAt === undefined || dueWords === undefined) return reason;
  return `${reason}; ${dueText({ dueWords, unless }, Date.parse(dueAt), Date.now())}`;
}

function placesText({ places, count }: Trouble, most: number): string {
  return listed(places, most, { count });
}
