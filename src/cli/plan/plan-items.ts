// A plan as a list: one item for each place whose verdict is neither current nor skip, and one for each
// source that is refused; by namespace and name. The words are the planner's own.
import { isPending, type Row, type Verdict } from "../../core/model/verdicts.ts";
import { problemText } from "../../core/annotations/rules.ts";
import { isCopying, type Action } from "../../core/model/actions.ts";
import { refText } from "../../core/annotations/names.ts";
import type { Prospect } from "../world/prospect.ts";
import type { WorldBuilder } from "../world/world-builder.ts";
import { contentDiff, type ContentDiff } from "./content-diff.ts";

/** `refused`: of a source itself. */
export type ItemVerdict = Verdict | "refused";

export type PlanItem = {
  readonly resource: "secrets";
  readonly namespace: string;
  readonly name: string;
  /** NAMESPACE/NAME. */
  readonly source: string;
  readonly verdict: ItemVerdict;
  readonly reason: string;
  /** Of a write: what it changes; absent where it changes our marks alone. */
  readonly changes?: ContentDiff;
};

export type ItemFilter = {
  readonly namespace: string | undefined;
  isSelected(source: string): boolean;
};

export function planItems(
  { plan, fills }: Prospect,
  builder: WorldBuilder,
  filter: ItemFilter,
): readonly PlanItem[] {
  const actions = new Map(plan.actions.map((action) => [placeOf(action), action]));
  const refused = plan.sources.flatMap(({ state, source, problems }): readonly PlanItem[] => {
    if (state !== "refused") return [];
    const reason = problems.map(problemText).join("; ");
    const { namespace, name } = source;
    return [
      { resource: "secrets", namespace, name, source: refText(source), verdict: "refused", reason },
    ];
  });
  const rows = plan.rows.map((row) => itemOf(row, actions.get(refText(row.place)), builder, fills));
  return [...refused, ...rows]
    .filter(
      ({ namespace, source }) =>
        (filter.namespace ?? namespace) === namespace && filter.isSelected(source),
    )
    .toSorted(byPlace);
}

function placeOf(action: Action): string {
  return action.kind === "confirm" ? "" : refText(action.place);
}

function itemOf(
  { place, source, verdict, reason }: Row,
  action: Action | undefined,
  builder: WorldBuilder,
  fills: Prospect["fills"],
): PlanItem {
  const { namespace, name } = place;
  const changes = action && contentDiff(action, builder, fills);
  return {
    resource: "secrets",
    namespace,
    name,
    source: refText(source),
    verdict,
    reason: action && isCopying(action) ? action.reason : reason,
    ...(changes && { changes }),
  };
}

function byPlace(a: PlanItem, b: PlanItem): number {
  const [left, right] = [sortKey(a), sortKey(b)];
  return left < right ? -1 : Number(left > right);
}

function sortKey({ namespace, name, resource, source }: PlanItem): string {
  return `${namespace}\u0000${name}\u0000${resource}\u0000${source}`;
}

/** A run would write, now or once something else has ended. */
export function isChange({ verdict }: Pick<PlanItem, "verdict">): boolean {
  return verdict !== "refused" && isPending(verdict);
}
