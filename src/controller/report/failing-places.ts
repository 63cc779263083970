// Places whose write failed, grouped by source and cause. Promises: a place fails until a write succeeds there
// or it is no longer wanted, so that a retry changes nothing. Memory is one name and reason per failing place.
import { listed } from "../../text/listed.ts";
import { reasonText } from "../model/reasons.ts";
import { FAILURE_CAUSES } from "../../kube/rest/failure-cause.ts";
import { isPending, type Plan } from "../model/verdicts.ts";
import type { Outcome } from "../writes/outcome.ts";
import type { SyncHooks } from "./sync-log.ts";
import type { Ref } from "../../text/names.ts";
import { type ObjectKind, placeKey } from "../model/kinds.ts";
import { reasonShape, sharedReason } from "../../text/shared-reason.ts";

/** Places of one source that fail for one reason, whatever each tenant calls its quota. */
export type FailingGroup = {
  readonly kind: ObjectKind;
  readonly source: Ref;
  /** A value of the closed list of causes. */
  readonly cause: string;
  /** The cause in identifiers. It names the first of several quotas. */
  readonly reason: string;
  readonly places: readonly Ref[];
  /** When the first place is retried (ms, monotonic). Undefined while it is being tried. */
  readonly dueAt: number | undefined;
};

/** Copies of one object that cannot be removed. */
export type FailingRemovals = Pick<FailingGroup, "kind" | "source"> &
  CopiedFrom & {
    readonly groups: readonly FailingGroup[];
  };

/** What a copy records about its source. */
type CopiedFrom = {
  readonly sourceUid: string;
  /** Key of the source list entry that made the copy, if any. */
  readonly entry: string | undefined;
};

type Failing = Omit<FailingGroup, "places"> & { readonly place: Ref; readonly pulling: boolean };

export class FailingPlaces implements SyncHooks {
  #places = new Map<string, Failing>();
  #newest: Plan | undefined;
  /** Places whose copy could not be removed. */
  #removals = new Map<string, CopiedFrom>();

  onOutcome(outcome: Outcome): void {
    const { kind, action } = outcome;
    if (kind === "failed" && action.kind !== "liveGet") this.#failed(outcome);
    if (kind === "done" || kind === "removed" || kind === "resolved" || kind === "leaving")
      this.#places.delete(placeKey(action.objectKind, action.place));
  }

  // A source that changes all the time has no plan that waits after a failure: each change is tried at once.
  #failed({ action, cause, reason }: Extract<Outcome, { kind: "failed" }>): void {
    const { objectKind: kind, place, source } = action;
    const key = placeKey(kind, place);
    const pulling = action.kind === "fill" || action.kind === "unfill";
    const failing = { kind, place, source, cause, reason, pulling, dueAt: undefined };
    this.#places.set(key, failing);
    if (action.kind !== "delete" && action.kind !== "release") return;
    const { sourceUid, entry } = action.target;
    this.#removals.set(key, { sourceUid, entry });
  }

  /** Readers of this call it as well, so that the order of the hooks does not matter. */
  onPlan(plan: Plan): void {
    if (plan === this.#newest) return;
    this.#newest = plan;
    const before = this.#places;
    const removals = this.#removals;
    if (before.size === 0 && plan.states.failed === 0) return;
    this.#places = new Map();
    this.#removals = new Map();
    for (const { verdict, cause, reason, ...row } of plan.rows) {
      const { kind, place, source, pulling, dueAt } = row;
      const of = { kind, place, source, pulling, dueAt };
      const key = placeKey(kind, place);
      if (verdict === "backoff" && cause !== undefined)
        this.#places.set(key, { ...of, cause, reason: reasonText(reason) });
      const known = before.get(key);
      if (known && isPending(verdict)) this.#places.set(key, { ...known, dueAt: undefined });
      const removal = removals.get(key);
      if (removal && this.#places.has(key)) this.#removals.set(key, removal);
    }
  }

  get isEmpty(): boolean {
    return this.#places.size === 0;
  }

  /** By source (placeKey). `pulling`: whether pulling objects are among the places. */
  groups(pulling: boolean): ReadonlyMap<string, readonly FailingGroup[]> {
    const shown = [...this.#places.values()].filter((each) => pulling || !each.pulling);
    return Map.groupBy(groupsOf(shown), ({ kind, source }) => placeKey(kind, source));
  }

  /** Copies that cannot be removed, by the source that they record. */
  removals(): readonly FailingRemovals[] {
    const of = [...this.#removals].flatMap(([key, from]) => {
      const failing = this.#places.get(key);
      return failing ? [{ ...from, failing }] : [];
    });
    const groups = Map.groupBy(of, ({ sourceUid, entry, failing: { kind, source } }) =>
      JSON.stringify([placeKey(kind, source), sourceUid, entry]),
    );
    return [...groups.values()].flatMap((members) => {
      const [first] = members;
      if (!first) return [];
      const { sourceUid, entry, failing } = first;
      const { kind, source } = failing;
      return [
        { kind, source, sourceUid, entry, groups: groupsOf(members.map((each) => each.failing)) },
      ];
    });
  }
}

function groupsOf(places: readonly Failing[]): readonly FailingGroup[] {
  type Group = Omit<FailingGroup, "reason"> & {
    readonly reasons: Set<string>;
    readonly places: Ref[];
    dueAt: number | undefined;
  };
  const groups = new Map<string, Group>();
  for (const { place, pulling: _, dueAt, reason, ...of } of places) {
    const { kind, source, cause } = of;
    const key = `${placeKey(kind, source)} ${cause} ${reasonShape(reason)}`;
    const group = groups.get(key);
    if (!group) groups.set(key, { ...of, reasons: new Set([reason]), places: [place], dueAt });
    else {
      group.places.push(place);
      group.reasons.add(reason);
      group.dueAt = sooner(group.dueAt, dueAt);
    }
  }
  return [...groups.values()].map(({ reasons, ...group }) => ({
    ...group,
    reason: sharedReason(reasons),
  }));
}

function sooner(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || (b !== undefined && b < a) ? b : a;
}

const MOST_CAUSES = 3;

/**
 * Each cause and its namespaces, for Events. Unless namespaces may be `named`, objects in them, such as quotas,
 * are not named either.
 */
export function failureText(
  groups: readonly FailingGroup[],
  named: boolean,
  where: (namespaces: readonly string[]) => string,
  done: "written" | "removed" = "written",
): string {
  const meanings: Readonly<Record<string, string>> = FAILURE_CAUSES;
  const causes = Map.groupBy(groups, ({ reason, cause }) => {
    return `${named ? reason : (meanings[cause] ?? "")} (cause: ${cause})`;
  });
  const sorted = [...causes].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const parts = sorted.slice(0, MOST_CAUSES).map(([cause, members]) => {
    const places = members.flatMap((member) => member.places);
    return `in ${where(places.map(({ namespace }) => namespace).toSorted())}: ${cause}`;
  });
  const of = sorted.length === MOST_CAUSES + 1 ? "cause" : "causes";
  const all = listed(parts, MOST_CAUSES, { between: "; ", count: sorted.length, of });
  return `could not be ${done} ${all}; will try again`;
}
