// A plan as a list, sorted by namespace and name. There is one item for each place whose verdict is not
// current or skip, and one for each refused source. The texts come from the planner.
import { reasonText, type ReasonCode } from "../../controller/model/reasons.ts";
import { isPending, type Plan, type Row, type Verdict } from "../../controller/model/verdicts.ts";
import { problemText } from "../../controller/annotations/rules.ts";
import { isoTime } from "../../controller/settings/due-text.ts";
import { placeKey, type ObjectKind } from "../../controller/model/kinds.ts";
import { actionKey, isCopying, type Action } from "../../controller/model/actions.ts";
import { refText, type Ref } from "../../text/names.ts";
import type { DryPlan, DryWait } from "../../inspect/cluster/dry-plan.ts";
import type { ReadCluster } from "../../inspect/cluster/read-cluster.ts";
import { unknownReason } from "../../inspect/cluster/reader-rights.ts";
import type { ClusterBuilder } from "../../inspect/cluster/cluster-builder.ts";
import { objectOfItem, type ItemObject } from "../../inspect/kubectl/listing.ts";
import { contentDiff, type ContentDiff } from "./content-diff.ts";

/**
 * `refused`: the source itself is refused. `unknown`: the verdict depends on objects that the user may not
 * read.
 */
export type ItemVerdict = Verdict | "refused" | "unknown";

export type PlanItem = ItemObject & {
  /** NAMESPACE/NAME. */
  readonly source: string;
  readonly verdict: ItemVerdict;
  readonly code: ReasonCode;
  readonly reason: string;
  /** For a write: what it changes. Absent when it only changes secretcast's marks. */
  readonly changes?: ContentDiff | undefined;
  /** For a removal: when a running controller makes it, RFC 3339. */
  readonly dueAt?: string;
  /** For a removal: the flag that says how long it waits. */
  readonly waitsFor?: DryWait["flag"];
};

/** `nowMs`: without it, no removal has a time. */
export function planItems(
  { plan, fills, waits }: DryPlan,
  { builder, rights }: Pick<ReadCluster, "builder" | "rights">,
  namespace: string | undefined,
  nowMs?: number,
): readonly PlanItem[] {
  const actions = new Map(plan.actions.map((action) => [actionKey(action), action]));
  const wanted = (kind: ObjectKind, place: Ref, source: Ref): boolean =>
    (namespace ?? place.namespace) === place.namespace && builder.isSelected(kind, source);
  const refused = plan.sources
    .filter(({ state, kind, source }) => state === "refused" && wanted(kind, source, source))
    .map(({ kind, source, problems }) =>
      refusal(kind, source, "SourceRefused", problems.map(problemText).join("; ")),
    );
  const rows = plan.rows
    .filter(({ kind, place, source }) => wanted(kind, place, source))
    .map((row): PlanItem => {
      const item = itemOf(row, actions.get(placeKey(row.kind, row.place)), builder, fills);
      const { verdict, source } = row;
      const unread = unknownReason({ verdict, source, code: row.reason.code }, rights);
      if (unread !== undefined) return { ...item, verdict: "unknown", reason: unread };
      const wait = waits.get(placeKey(row.kind, row.place));
      if (!wait || nowMs === undefined || !isRemoval(item)) return item;
      return { ...item, dueAt: isoTime(nowMs + wait.ms), waitsFor: wait.flag };
    });
  return [...listItems(plan, namespace), ...refused, ...rows].toSorted(byPlace);
}

function refusal(kind: ObjectKind, source: Ref, code: ReasonCode, reason: string): PlanItem {
  const object = objectOfItem(kind, source);
  return { ...object, source: refText(source), verdict: "refused", code, reason };
}

// Items for the source list itself: entries that produced no source.
function listItems({ list }: Plan, namespace: string | undefined): readonly PlanItem[] {
  const { ref, refused } = list;
  if (!ref || refused.length === 0 || (namespace ?? ref.namespace) !== ref.namespace) return [];
  return [
    refusal("ConfigMap", ref, "EntryRefused", refused.map(({ reason }) => reason).join("; ")),
  ];
}

function itemOf(
  { kind, place, source, verdict, reason }: Row,
  action: Action | undefined,
  builder: ClusterBuilder,
  fills: DryPlan["fills"],
): PlanItem {
  const why = action && isCopying(action) ? action.reason : reason;
  return {
    ...objectOfItem(kind, place),
    source: refText(source),
    verdict,
    code: why.code,
    reason: reasonText(why),
    changes: action && contentDiff(action, builder, fills),
  };
}

function byPlace(a: PlanItem, b: PlanItem): number {
  const [left, right] = [sortKey(a), sortKey(b)];
  return left < right ? -1 : Number(left > right);
}

function sortKey({ namespace, name, resource, source }: PlanItem): string {
  return `${namespace}\u0000${name}\u0000${resource}\u0000${source}`;
}

function isRemoval({ verdict }: Pick<PlanItem, "verdict">): boolean {
  return verdict === "delete" || verdict === "release";
}

/** Whether a run would write, now or after another removal. */
export function isChange({ verdict }: Pick<PlanItem, "verdict">): boolean {
  return verdict !== "refused" && verdict !== "unknown" && isPending(verdict);
}
