// Groups the rows of a plan for readers: filtered, one group per source, verdict and reason, the worst first
// and pulling objects last. Lists can be long, so the work yields to the event loop.
import { reasonText, type ReasonCode } from "../controller/model/reasons.ts";
import { setImmediate } from "node:timers/promises";
import { dueWordsOf, isoTime } from "../controller/settings/due-text.ts";
import {
  METRIC_STATE,
  type MetricState,
  type RemovalHoldCause,
  type Row,
  type Verdict,
} from "../controller/model/verdicts.ts";
import { isSourceState, severity, type Filter } from "./filter.ts";
import { sinceWhen, type PlanTimes, type SinceWhen } from "./since.ts";
import { refText, type Ref } from "../text/names.ts";
import { reasonShape, sharedReason } from "../text/shared-reason.ts";
import { placeKey, type ObjectKind } from "../controller/model/kinds.ts";

/** The start of a list, and its length. */
export type Truncated<T> = { readonly total: number; readonly shown: readonly T[] };

/** Places of one source that have one verdict for one reason, whatever each tenant calls its quota. */
export type StatusGroup = {
  readonly kind: ObjectKind;
  readonly source: string;
  readonly verdict: Verdict;
  readonly state: MetricState;
  /** Stays when the sentence changes. Undefined if the places have several. */
  readonly code: ReasonCode | undefined;
  readonly reason: string;
  /** For failed writes: a value of the closed list of causes. */
  readonly cause: string | undefined;
  readonly places: Truncated<string>;
  /** When the first place is synced again without any event. */
  readonly dueMs: number | undefined;
  /** The same as RFC 3339, and what happens then: `will be deleted`. */
  readonly dueAt: string | undefined;
  readonly dueWords: string | undefined;
  /** For held removals: why one could be a mistake, and what prevents it: `the change is undone`. */
  readonly hold: RemovalHoldCause | undefined;
  readonly unless: string | undefined;
  /** Since when the first place has been in this state. */
  readonly since: SinceWhen;
  /** The last try of a write that failed. */
  readonly triedMs: number | undefined;
  /** For `paused` and `frozen`: how many differ from the source, and for how many that is unknown. */
  readonly differing: { readonly known: number; readonly unknown: number } | undefined;
};

const MOST_PLACES = 50;
/** Groups of one source and verdict that differ only in the reason. */
const MOST_REASONS = 5;
// Well under 10 ms of work between two turns of the event loop.
const PER_TURN = 4096;

/**
 * The rows that the filter matches. `sources`: the sources in its state, if that is a source state. `isWithin`: those
 * of its namespace.
 */
export async function pickRows(
  rows: readonly Row[],
  filter: Filter,
  sources: ReadonlySet<string>,
  isWithin: (kind: ObjectKind, source: Ref) => boolean,
): Promise<readonly Row[]> {
  const { state } = filter;
  const kept: Row[] = [];
  const wanted = (row: Row): boolean => {
    if (filter.kind !== undefined && row.kind !== filter.kind) return false;
    if (!row.place.namespace.includes(filter.namespace)) return false;
    if (!isWithin(row.kind, row.source)) return false;
    const source = refText(row.source);
    if (!source.includes(filter.source)) return false;
    if (state === undefined) return true;
    return isSourceState(state)
      ? sources.has(placeKey(row.kind, row.source))
      : METRIC_STATE[row.verdict] === state;
  };
  for await (const slice of inSlices(rows))
    for (const row of slice) if (wanted(row)) kept.push(row);
  return kept;
}

/** `mostPlaces`: the limit for all groups together. Each names at least its first fifty. */
export async function groupRows(
  rows: readonly Row[],
  times: PlanTimes,
  mostPlaces = MOST_PLACES,
): Promise<readonly StatusGroup[]> {
  const groups = new Map<string, Row[]>();
  for await (const slice of inSlices(rows))
    for (const row of slice) {
      const text = reasonText(row.reason);
      const key = `${familyOf(row)} ${row.failure?.cause === undefined ? text : reasonShape(text)}`;
      const group = groups.get(key);
      if (group) group.push(row);
      else groups.set(key, [row]);
    }
  mergeFamilies(groups);
  // A tenant may write thousands of pulling objects. They do not displace the rows of a source.
  const [pulls, others] = [true, false].map((pulling) =>
    [...groups.values()]
      .filter(([first]) => first?.pulling === pulling)
      .toSorted((a, b) => severityOf(a) - severityOf(b) || b.length - a.length),
  );
  let left = mostPlaces;
  return [...(others ?? []), ...(pulls ?? [])].flatMap((group) => {
    const most = Math.max(MOST_PLACES, left);
    left -= group.length;
    return groupOf(group, times, most);
  });
}

function familyOf({ kind, source, verdict, removal, pulling, failure }: Row): string {
  const { end, hold } = removal ?? {};
  return `${placeKey(kind, source)} ${verdict} ${hold} ${end} ${pulling} ${failure?.cause}`;
}

// Reasons contain names that tenants choose, such as those of finalizers. Many such groups become one.
function mergeFamilies(groups: Map<string, Row[]>): void {
  const families = Map.groupBy(groups, ([, [first]]) => (first ? familyOf(first) : ""));
  for (const members of families.values()) {
    const [first, ...others] = members;
    if (!first || members.length <= MOST_REASONS || first[1][0]?.pulling === true) continue;
    for (const [key] of members) groups.delete(key);
    groups.set(
      first[0],
      [first, ...others].flatMap(([, rows]) => rows),
    );
  }
}

function severityOf([first]: readonly Row[]): number {
  const state = first && METRIC_STATE[first.verdict];
  return state === undefined ? Infinity : severity(state);
}

function groupOf(
  rows: readonly Row[],
  times: PlanTimes,
  mostPlaces: number,
): readonly StatusGroup[] {
  const [first] = rows;
  const state = first && METRIC_STATE[first.verdict];
  if (!first || !state) return [];
  const tried = rows.reduce((most, { failure }) => Math.max(most, failure?.triedAt ?? -1), -1);
  const since = rows.reduce((least, row) => Math.min(least, row.since), Infinity);
  const codes = new Set(rows.map(({ reason }) => reason.code));
  const places = rows.slice(0, mostPlaces).map(({ place }) => refText(place));
  return [
    {
      kind: first.kind,
      source: refText(first.source),
      verdict: first.verdict,
      state,
      code: codes.size === 1 ? first.reason.code : undefined,
      reason: sharedReason(new Set(rows.map(({ reason }) => reasonText(reason)))),
      cause: first.failure?.cause,
      places: { total: rows.length, shown: places },
      ...dueOf(first, rows, times),
      hold: first.removal?.hold,
      since: sinceWhen(since, times),
      triedMs: tried < 0 ? undefined : Math.round(tried + times.offsetMs),
      differing: differing(rows, state),
    },
  ];
}

const NEVER_DUE = {
  dueMs: undefined,
  dueAt: undefined,
  dueWords: undefined,
  unless: undefined,
};

function dueOf(
  first: Row,
  rows: readonly Row[],
  { offsetMs }: PlanTimes,
): Pick<StatusGroup, "dueMs" | "dueAt" | "dueWords" | "unless"> {
  const least = rows.reduce((found, { dueAt = Infinity }) => Math.min(found, dueAt), Infinity);
  if (least === Infinity) return NEVER_DUE;
  const dueMs = Math.round(least + offsetMs);
  const { dueWords, unless } = dueWordsOf(first);
  return { dueMs, dueAt: isoTime(dueMs), dueWords, unless };
}

function differing(rows: readonly Row[], state: MetricState): StatusGroup["differing"] {
  if (state !== "paused" && state !== "frozen") return undefined;
  const count = (wanted: boolean | undefined): number =>
    rows.reduce((sum, { differs }) => (differs === wanted ? sum + 1 : sum), 0);
  return { known: count(true), unknown: count(undefined) };
}

export function truncate<T>(list: readonly T[], most: number): Truncated<T> {
  return { total: list.length, shown: list.slice(0, most) };
}

/** Yields all items in slices, and yields to the event loop between them. */
export async function* inSlices<T>(items: Iterable<T>): AsyncGenerator<readonly T[], void> {
  let slice: T[] = [];
  for (const item of items) {
    if (slice.push(item) < PER_TURN) continue;
    yield slice;
    slice = [];
    await setImmediate();
  }
  yield slice;
}
