// The content of the status page, as JSON: a summary of the newest plan. Current places are only counted. The
// others are grouped by source, verdict and reason. Each list is truncated and has its total, so the answer has
// the same size at 5 and at 5,000 namespaces. It has names, counts and reasons only, never a Secret's content.
// The work yields to the event loop.
import { setImmediate } from "node:timers/promises";
import { reasonText } from "../controller/model/reasons.ts";
import { type ClusterState } from "../controller/model/cluster.ts";
import {
  type MetricState,
  type Plan,
  type SourceReport,
  statesOf,
} from "../controller/model/verdicts.ts";
import { isSourceState, SEVERITY, severity, type Filter, type RowState } from "./filter.ts";
import type { Outdated, WatchStatus } from "./freshness.ts";
import { drawGrid, type Grid } from "./grid.ts";
import { truncate, groupRows, pickRows, type Truncated, type StatusGroup } from "./groups.ts";
import {
  IGNORED_HEADLINES,
  IGNORED_REASONS,
  ignoredText,
  type IgnoredReason,
} from "../controller/annotations/ignored.ts";
import { problemText } from "../controller/annotations/rules.ts";
import { sinceWhen, type PlanTimes, type SinceWhen } from "./since.ts";
import { refText, type Ref } from "../text/names.ts";
import { placeKey, type ObjectKind } from "../controller/model/kinds.ts";
import type { FormerRule } from "../controller/model/former-rule.ts";

/** The current state of the controller. Times are milliseconds since the epoch. */
export type ControllerSnapshot = {
  readonly dryRun: boolean;
  /** The former rules of sources with copies that await a removal. Absent where nothing runs. */
  readonly formerRules?: Iterable<FormerRule>;
  /** One for each kind that takes part. */
  readonly clusterStates: readonly ClusterState[];
  readonly plan: Plan | undefined;
  readonly convergedMs: number | undefined;
  /** The offset from a monotonic time of the plan to one since the epoch. */
  readonly offsetMs: number;
  readonly leader: Leader;
  readonly watches: readonly WatchStatus[];
  /** Undefined if every watch receives changes, as far as is known. */
  readonly outdated: Outdated | undefined;
  /** Since when no request has been answered. Undefined while the API server answers. */
  readonly serverAwayMs: number | undefined;
  /**
   * Problems that the probes report, and names and namespaces that the controller may not read. While there is one,
   * not all is current.
   */
  readonly troubles: readonly string[];
  /** Names of --only-names that the API server denies to the controller, everywhere or in a namespace. */
  readonly unreadableNames: readonly { readonly kind: ObjectKind; readonly name: string }[];
};

/** `alone`: leader election is off. */
export type Leader = {
  readonly state: "leading" | "alone" | "stand-by";
  readonly holder: string | undefined;
  /** The command that shows the leader's page. Undefined if this is the leader or it cannot be known. */
  readonly command: string | undefined;
};

export type Status = Omit<
  ControllerSnapshot,
  "clusterStates" | "plan" | "offsetMs" | "formerRules"
> & {
  readonly version: string;
  /** When the plan was made. Undefined without a plan, as on a standby replica. */
  readonly plannedMs: number | undefined;
  /** When this process made its first plan. States at that time may have begun before it. */
  readonly firstPlanMs: number | undefined;
  /** The kinds of objects that take part. */
  readonly kinds: readonly ObjectKind[];
  readonly totals: Totals | undefined;
  readonly groups: Truncated<StatusGroup>;
  readonly sources: Truncated<SourceLine>;
  /** Namespaces with invalid annotations. */
  readonly unclear: Truncated<UnclearNamespace>;
  readonly ignored: IgnoredStatus;
  readonly list: ListStatus;
  /** The last rules under which no copy of these sources awaited a removal: what a way out restores. */
  readonly formerRules: Truncated<FormerRule>;
  readonly grid: Grid | undefined;
};

/** Our annotations without effect: counted by reason, and some of the objects by name. */
export type IgnoredStatus = {
  readonly reasons: readonly {
    readonly reason: IgnoredReason;
    readonly text: string;
    readonly count: number;
  }[];
  readonly objects: Truncated<{
    readonly kind: ObjectKind;
    readonly object: string;
    readonly reason: IgnoredReason;
    readonly text: string;
  }>;
  /** Entries of flags that match no namespace, as `--FLAG ENTRY`. */
  readonly flags: readonly string[];
};

/** The source list: whether it is read, and which entries have no effect. */
export type ListStatus = {
  readonly state: Plan["list"]["state"];
  readonly reason: string;
  readonly entries: number;
  readonly refused: Truncated<string>;
  /** Entries whose object does not exist. */
  readonly absent: Truncated<string>;
};

export type UnclearNamespace = {
  readonly namespace: string;
  readonly problem: string;
  readonly since: SinceWhen;
};

export type Totals = {
  readonly namespaces: number;
  readonly sources: number;
  readonly refused: number;
  readonly deletesHeld: number;
  readonly states: Readonly<Record<MetricState, number>>;
};

export type SourceLine = {
  readonly kind: ObjectKind;
  readonly source: string;
  /** Key of the source list entry that makes it a source. Undefined if its annotations do. */
  readonly entry: string | undefined;
  /** Its worst state. */
  readonly state: RowState;
  readonly paused: boolean;
  /** Since when its places have been in exactly these states. */
  readonly since: SinceWhen;
  readonly problems: readonly string[];
  readonly notes: readonly string[];
  readonly states: Readonly<Record<MetricState, number>>;
};

const MOST_GROUPS = 100;
const MOST_SOURCES = 200;
const MOST_UNCLEAR = 50;
const MOST_IGNORED = 50;
const MOST_RULES = 50;

/** The program's version, and the time of the plan. */
export type Origin = Pick<Status, "version" | "plannedMs">;

export async function readStatus(
  snapshot: ControllerSnapshot,
  origin: Origin,
  filter: Filter,
): Promise<Status> {
  const { clusterStates, plan, offsetMs, formerRules = [], ...rest } = snapshot;
  const answer = { ...origin, ...rest, kinds: clusterStates.map(({ kind }) => kind) };
  const nothing = { total: 0, shown: [] };
  if (!plan)
    return {
      ...answer,
      firstPlanMs: undefined,
      totals: undefined,
      groups: nothing,
      sources: nothing,
      unclear: nothing,
      ignored: { reasons: [], objects: nothing, flags: [] },
      list: { state: "off", reason: "", entries: 0, refused: nothing, absent: nothing },
      formerRules: nothing,
      grid: undefined,
    };
  const times = { offsetMs, beganAt: plan.beganAt };
  const within = filter.in === undefined ? undefined : sourcesIn(filter.in, clusterStates, plan);
  const isWithin = (kind: ObjectKind, source: Ref): boolean =>
    within?.has(placeKey(kind, source)) !== false;
  const sources = plan.sources
    .filter(({ kind, source }) => isWithin(kind, source))
    .map((each) => lineOf(each, times))
    .filter((line) => isWanted(line, filter));
  const inState = (wanted: RowState | undefined): readonly SourceReport[] =>
    plan.sources.filter(({ state }) => state === wanted);
  const rows = await pickRows(
    plan.rows,
    filter,
    new Set(inState(filter.state).map(({ kind, source }) => placeKey(kind, source))),
    isWithin,
  );
  const lines = sources.toSorted(worstFirst);
  return {
    ...answer,
    firstPlanMs: Math.round(plan.beganAt + offsetMs),
    totals: {
      namespaces: Math.max(0, ...clusterStates.map(({ namespaces }) => namespaces.size)),
      sources: plan.sources.length,
      refused: inState("refused").length,
      deletesHeld: plan.heldRemovals.named + plan.heldRemovals.any,
      states: plan.states,
    },
    groups: truncate(await groupRows(rows, times, filter.limit), filter.limit ?? MOST_GROUPS),
    sources: truncate(lines, filter.limit ?? MOST_SOURCES),
    unclear: truncate(unclear(plan, filter, times), MOST_UNCLEAR),
    ignored: ignoredOf(plan, filter),
    list: listOf(plan),
    formerRules: await rulesOf(formerRules, filter),
    grid: await drawGrid(clusterStates, rows, lines, filter),
  };
}

/** The keys of sources in the namespace, and of those that have a place there. */
function sourcesIn(
  namespace: string,
  clusterStates: readonly ClusterState[],
  { rows, sources }: Plan,
): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { kind, place, source } of rows)
    if (place.namespace === namespace || source.namespace === namespace)
      found.add(placeKey(kind, source));
  for (const { kind, source } of sources)
    if (source.namespace === namespace) found.add(placeKey(kind, source));
  for (const state of clusterStates)
    for (const object of state.objectsIn(namespace).values()) {
      if (object.role === "copy") found.add(placeKey(state.kind, object.template.source));
      else if (object.role === "pull" && object.from) found.add(placeKey(state.kind, object.from));
    }
  return found;
}

/** Each looks at every namespace. */
async function rulesOf(
  rules: Iterable<FormerRule>,
  filter: Filter,
): Promise<Truncated<FormerRule>> {
  const wanted: FormerRule[] = [];
  for (const rule of rules) {
    if (filter.kind !== undefined && rule.kind !== filter.kind) continue;
    if (rule.source.includes(filter.source)) wanted.push(rule);
    await setImmediate();
  }
  return truncate(wanted, filter.limit ?? MOST_RULES);
}

function lineOf(
  { kind, source, entry, state, paused, problems, notes, counts, since }: SourceReport,
  times: PlanTimes,
): SourceLine {
  const states = statesOf(counts);
  const found = SEVERITY.find((each) => !isSourceState(each) && states[each] > 0);
  return {
    kind,
    source: refText(source),
    entry,
    state: state === "ok" ? (found ?? "current") : state,
    paused,
    since: sinceWhen(since, times),
    problems: problems.map(problemText),
    notes,
    states,
  };
}

function isWanted(line: SourceLine, { kind, source, state }: Filter): boolean {
  if (kind !== undefined && line.kind !== kind) return false;
  if (!line.source.includes(source)) return false;
  if (state === undefined) return true;
  return isSourceState(state) ? line.state === state : line.states[state] > 0;
}

function worstFirst(a: SourceLine, b: SourceLine): number {
  return severity(a.state) - severity(b.state) || (a.source < b.source ? -1 : 1);
}

function ignoredOf({ ignored }: Plan, filter: Filter): IgnoredStatus {
  const named = ignored.sample
    .map((each) => ({ ...each, text: refText(each.object) }))
    .filter(
      ({ kind, object, text }) =>
        (filter.kind === undefined || kind === filter.kind) &&
        object.namespace.includes(filter.namespace) &&
        text.includes(filter.source),
    )
    .map(({ kind, text, ignored: why }) => {
      return { kind, object: text, reason: why.reason, text: ignoredText(kind, why) };
    });
  return {
    reasons: IGNORED_REASONS.flatMap((reason) => {
      const count = ignored.counts[reason];
      return count > 0 ? [{ reason, text: IGNORED_HEADLINES[reason], count }] : [];
    }),
    objects: truncate(named, MOST_IGNORED),
    flags: ignored.flags.slice(0, MOST_IGNORED),
  };
}

function listOf({ list }: Plan): ListStatus {
  const { state, reason, entries, refused, absent } = list;
  return {
    state,
    reason: reason ? reasonText(reason) : "",
    entries,
    refused: truncate(
      refused.map((entry) => entry.reason),
      MOST_IGNORED,
    ),
    absent: truncate(
      absent.map(({ key, object }) => `entry ${key}: ${refText(object)} is not there, or not read`),
      MOST_IGNORED,
    ),
  };
}

function unclear({ namespaces }: Plan, filter: Filter, times: PlanTimes) {
  return namespaces
    .filter(({ namespace }) => namespace.includes(filter.namespace))
    .map(({ namespace, problem, since }) => {
      return { namespace, problem: problemText(problem), since: sinceWhen(since, times) };
    });
}
