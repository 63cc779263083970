// A plan as text: the table's columns, the colours of verdicts, and the lines around the table.
import { verdictColour } from "../../inspect/cluster/state-colours.ts";
import { objectColumns, RESOURCE_COLUMN } from "../../inspect/kubectl/listing.ts";
import { whenText } from "../../controller/settings/due-text.ts";
import { METRIC_STATE, VERDICTS, type Plan } from "../../controller/model/verdicts.ts";
import { type Colour, type Column } from "../../inspect/kubectl/table.ts";
import { diffText } from "./content-diff.ts";
import { isChange, type ItemVerdict, type PlanItem } from "./plan-items.ts";

/** Verdicts with a colour other than that of their state: what is created, and what is lost. */
const OWN_COLOURS: Readonly<Partial<Record<ItemVerdict, Colour>>> = {
  create: "green",
  delete: "red",
  release: "red",
};

export function changeColour(verdict: ItemVerdict): Colour {
  return OWN_COLOURS[verdict] ?? verdictColour(verdict);
}

export function planColumns(items: readonly PlanItem[]): readonly Column<PlanItem>[] {
  const object = objectColumns(items);
  const hasResource = object.includes(RESOURCE_COLUMN);
  return [
    {
      header: "VERDICT",
      cell: ({ verdict }) => verdict,
      colour: ({ verdict }) => changeColour(verdict),
    },
    ...(hasResource ? [] : [{ ...RESOURCE_COLUMN, wide: true as const }]),
    ...object,
    { header: "SOURCE", cell: ({ source }) => source },
    { header: "CHANGES", cell: changesOf },
    { header: "REASON", wide: true, cell: ({ reason }) => reason },
  ];
}

// Where nothing changes the reason says more.
function changesOf(item: PlanItem): string {
  if (item.changes) return diffText(item.changes);
  if (item.verdict === "update" || item.verdict === "adopt" || item.verdict === "replace")
    return "marks of secretcast";
  return item.reason;
}

/** `2 to create, 1 to delete; 12 current, 1 conflict, 1 source refused`. */
export function summaryLine(items: readonly PlanItem[], plan: Plan, whole: boolean): string {
  const counts = new Map<ItemVerdict, number>();
  for (const { verdict } of items) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const unknown = counts.get("unknown") ?? 0;
  const count = (verdict: ItemVerdict): number => {
    if (!whole || verdict === "refused" || verdict === "unknown") return counts.get(verdict) ?? 0;
    // The planner counts places that the user may not read as frozen.
    return verdict === "frozen" ? Math.max(0, plan.counts.frozen - unknown) : plan.counts[verdict];
  };
  const countText = (verdict: ItemVerdict, words: string): readonly string[] =>
    count(verdict) > 0 ? [`${count(verdict)} ${words}`] : [];
  const pending = VERDICTS.filter((verdict) => METRIC_STATE[verdict] === "pending");
  const others = VERDICTS.filter((verdict) => !pending.includes(verdict) && verdict !== "skip");
  const changes = pending.flatMap((verdict) => countText(verdict, `to ${verdict}`));
  const refused = count("refused");
  const rest = [
    ...others.flatMap((verdict) => countText(verdict, verdict)),
    ...countText("unknown", "unknown"),
    ...(refused > 0 ? [`${refused} source${refused === 1 ? "" : "s"} refused`] : []),
  ];
  const what = changes.length > 0 ? changes.join(", ") : "nothing to do";
  return rest.length > 0 ? `${what}; ${rest.join(", ")}` : what;
}

/** How long a running controller waits before it removes anything. A plan treats the waits as over. */
export function waitingLine(items: readonly PlanItem[], nowMs: number): string | undefined {
  const waiting = items.filter(({ waitsFor }) => waitsFor !== undefined);
  const parts = [...Map.groupBy(waiting, ({ dueAt, waitsFor }) => `${dueAt} ${waitsFor}`).values()]
    .map((same) => {
      const [{ dueAt = "", waitsFor = "" } = {}] = same;
      const copies = `${same.length} ${same.length === 1 ? "copy" : "copies"}`;
      const why = waitsFor === "--delete-hold" ? ", because it could be a mistake" : "";
      return `${copies} ${whenText(Date.parse(dueAt), nowMs)}, after ${waitsFor}${why}`;
    })
    .toSorted();
  return parts.length > 0 ? `a running controller removes ${parts.join("; ")}` : undefined;
}

/** The number of rows is limited. This line counts the rest. */
export function unlistedLine(items: readonly PlanItem[], plan: Plan): string | undefined {
  const listed = items.filter(isChange).length;
  const rest = plan.states.pending - listed;
  return rest > 0 ? `${rest} more of the same are counted and not listed` : undefined;
}
