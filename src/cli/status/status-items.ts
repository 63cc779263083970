// A status as a list, the worst first: one item for each source with the outcomes of its places, and items
// for missing sources. The format is the same for a controller's page and for a plan made here.
import {
  METRIC_STATE,
  METRIC_STATES,
  VERDICTS,
  type MetricState,
} from "../../controller/model/verdicts.ts";
import { parseRef, type Ref } from "../../text/names.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { kindOfResource } from "../../inspect/kubectl/kind-words.ts";
import { objectOfItem, type ItemObject } from "../../inspect/kubectl/listing.ts";
import { unknownReason, type ReaderRights } from "../../inspect/cluster/reader-rights.ts";
import type { StatusGroup } from "../../page/groups.ts";
import type { SourceLine, Status } from "../../page/status.ts";
import { isSourceState, severity, type RowState } from "../../page/filter.ts";

/** `code`, the times and the hold are absent where a group has none, or the controller reports none. */
export type StatusOutcome = Partial<
  Pick<StatusGroup, "code" | "dueAt" | "dueWords" | "hold" | "unless">
> & {
  readonly verdict: string;
  readonly reason: string;
  /** The first places, as NAMESPACE/NAME. */
  readonly places: readonly string[];
  readonly count: number;
};

export type StatusItem = ItemObject & {
  /** NAMESPACE/NAME. */
  readonly source: string;
  /** `unknown`: the user may not read the source, so its state is not known. */
  readonly state: RowState | "unknown";
  readonly states: Readonly<Record<MetricState, number>>;
  /** Problems of a refused source, or of one with incomplete copies. */
  readonly problems: readonly string[];
  readonly notes: readonly string[];
  /** Outcomes of the places that are not current. */
  readonly outcomes: readonly StatusOutcome[];
};

export function statusItems(
  status: Pick<Status, "groups" | "sources">,
  isSelected: (kind: ObjectKind, source: Ref) => boolean = () => true,
): readonly StatusItem[] {
  const groups = Map.groupBy(status.groups.shown, subjectKey);
  const items = status.sources.shown.map((line) =>
    itemOf(line, groups.get(subjectKey(line)) ?? []),
  );
  const listed = new Set(status.sources.shown.map(subjectKey));
  for (const [key, group] of groups) {
    const [first] = group;
    if (first && !listed.has(key)) items.push(withoutLine(first, group));
  }
  return items.filter((item) => isSelected(kindOfResource(item.resource), item)).toSorted(byState);
}

type Subject = Pick<SourceLine, "kind" | "source">;

function subjectKey({ kind, source }: Subject): string {
  return `${kind} ${source}`;
}

function itemOf(line: SourceLine, groups: readonly StatusGroup[]): StatusItem {
  const { source, state, states, problems, notes } = line;
  return {
    ...placeOf(line),
    source,
    state,
    states,
    problems,
    notes,
    outcomes: outcomesOf(groups),
  };
}

// Copies without an existing source, or objects that want to pull from one that does not exist.
function withoutLine(subject: Subject, groups: readonly StatusGroup[]): StatusItem {
  const states = Object.fromEntries(METRIC_STATES.map((state) => [state, 0])) as Record<
    MetricState,
    number
  >;
  for (const { state, places } of groups) states[state] += places.total;
  const [worst] = groups.map(({ state }) => state).toSorted((a, b) => severity(a) - severity(b));
  return {
    ...placeOf(subject),
    source: subject.source,
    state: worst ?? "current",
    states,
    problems: [],
    notes: [],
    outcomes: outcomesOf(groups),
  };
}

function placeOf({ kind, source }: Subject): ItemObject {
  return objectOfItem(kind, parseRef(source) ?? { namespace: "", name: source });
}

function outcomesOf(groups: readonly StatusGroup[]): readonly StatusOutcome[] {
  return groups.map(({ verdict, code, reason, places, dueAt, dueWords, hold, unless }) => {
    const { shown, total: count } = places;
    return { verdict, code, reason, places: shown, count, dueAt, dueWords, hold, unless };
  });
}

/** The item, with `unknown` for verdicts that depend on objects that the user may not read. */
export function withoutUnread(item: StatusItem, rights: ReaderRights): StatusItem {
  let unread = 0;
  const states = { ...item.states };
  const outcomes = item.outcomes.map((outcome) => {
    const { verdict, code, count } = outcome;
    const text = unknownReason({ verdict, code, source: item }, rights);
    if (text === undefined) return outcome;
    unread += count;
    const known = VERDICTS.find((each) => each === verdict);
    const counted = known && METRIC_STATE[known];
    if (counted) states[counted] -= count;
    return { ...outcome, verdict: "unknown", reason: text };
  });
  if (rights.settings !== undefined && item.state !== "refused")
    return { ...item, state: "unknown", states, outcomes };
  if (unread === 0) return item;
  const rest = outcomes.some(({ verdict }) => verdict !== "unknown");
  const state = item.state === "frozen" && !rest ? "unknown" : item.state;
  return { ...item, state, states, outcomes };
}

function rank(state: StatusItem["state"]): number {
  return severity(state === "unknown" ? "frozen" : state);
}

function byState(a: StatusItem, b: StatusItem): number {
  return rank(a.state) - rank(b.state) || (a.source < b.source ? -1 : 1);
}

const FAILING: Readonly<Record<StatusItem["state"], boolean>> = {
  refused: true,
  failed: true,
  conflict: true,
  held: true,
  frozen: true,
  unknown: true,
  pending: false,
  paused: false,
  current: false,
};

/** Whether an administrator or owner has to act. */
export function isFailing({ state }: StatusItem): boolean {
  return FAILING[state];
}

/** Every wanted copy is current. Paused copies are as their owner wants them. */
export function isCurrent({ state, states, outcomes }: StatusItem): boolean {
  if (state === "unknown" || outcomes.some(({ verdict }) => verdict === "unknown")) return false;
  const { current: _current, paused: _paused, ...others } = states;
  return !isSourceState(state) && Object.values(others).every((count) => count === 0);
}
