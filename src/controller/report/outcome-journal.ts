// What writes did to places: the one record behind the log lines `copied`, `repaired` and `copies removed`, and
// behind the Events `Copied` and `Removed`. Outcomes of one source, version or reason form a group. Promises:
// - A group has its last line and its Event when the cluster is settled, or by the first report after five
//   seconds. After five groups of a source in a minute, further ones are gathered until a later minute.
// - A line names at most 100 places. A group of more has a line at each hundred, and these do not count.
// - Each write that copies is named in exactly one line. When the process stops, the rest is logged.
// - Any user can forge copies with any source and UID and delete them, so waiting removals are limited. Removals
//   beyond the room are only counted.
import type { Clock } from "../../../packages/kube/time/clock.ts";
import { isDataKey, refText, type Ref } from "../../text/names.ts";
import { isCopying, isEnding, type Action, type EndAction } from "../model/actions.ts";
import { recordOn } from "../model/cluster.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import { reasonText } from "../model/reasons.ts";
import type { Outcome } from "../writes/outcome.ts";
import type { Log } from "./log.ts";
import { RateLimit } from "./rate-limit.ts";

/** Places in one line: about 4 KiB, and 32 KiB if every name has its full length. */
export const MOST_PLACES = 100;
const WAIT_MS = 5000;
/** Limit per source, message and minute, so that a copy that is edited in a loop does not fill the log. */
const MOST_OF_A_SOURCE = 5;
const MOST_GROUPS = 1000;
/** Leaves room for other sources if one is removed repeatedly. It equals what four minutes can report. */
const MOST_REMOVALS_OF_A_SOURCE = 20;
/** Most lines of removals at a time. Beyond that, the sources are counted. */
const MOST_LINES = 100;
const MOST_MANAGERS = 5;
const MOST_SOURCES = 5;
const MOST_VERSIONS = 10;

/** What happened, and the message of its log line. */
const MESSAGES = {
  copied: "copied",
  repaired: "repaired",
  delete: "copies removed",
  release: "copies released (on-delete: keep)",
  clear: "pulled content removed",
} as const;
const FURTHER = "further copies removed";

export type OutcomeGroup = {
  readonly what: keyof typeof MESSAGES;
  /** By which lines are limited. */
  readonly subject: string;
  readonly kind: ObjectKind;
  readonly source: Ref;
  /** The places are pulling objects. Each has an Event of its own. */
  readonly pulling: boolean;
  /** UID of the object that the copies are of. */
  readonly sourceUid: string;
  /** Key of the source list entry that made the removed copies, if any. */
  readonly entry: string | undefined;
  /** Of a removal. */
  readonly reason: string | undefined;
  /** ms, monotonic. */
  readonly since: number;
  /** All namespaces. With forged copies there may be many places in one. */
  readonly namespaces: Set<string>;
  /** Sources that had places before, and how many places. */
  readonly takenFrom: Set<string>;
  taken: number;
  /** Of the source, the newest. There are several if their line had to wait. */
  readonly versions: Set<string>;
  /** Field managers that edited the copies. Any client can choose its name. */
  readonly managers: Set<string>;
  /** The places that are not yet named in a line, and the writes there: one place may be written again. */
  readonly places: Set<string>;
  count: number;
  /** How many a finalizer still holds. */
  waiting: number;
};

export class OutcomeJournal {
  readonly #log: Log;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #onDone: (group: OutcomeGroup) => void;
  readonly #groups = new Map<string, OutcomeGroup>();
  readonly #lines = new RateLimit(MOST_OF_A_SOURCE);
  /** The number of removals for which there was no room. */
  #further = 0;

  /** `onDone`: called with each group when it is reported. Its namespaces are complete. */
  constructor(log: Log, clock: Pick<Clock, "monotonic">, onDone: (group: OutcomeGroup) => void) {
    this.#log = log;
    this.#clock = clock;
    this.#onDone = onDone;
  }

  /** Whether a group is not reported yet. */
  get waits(): boolean {
    return this.#groups.size > 0;
  }

  onOutcome({ kind: became, action }: Outcome): void {
    const isDone = became === "done" || became === "removed" || became === "leaving";
    if (!isDone || action.kind === "liveGet" || action.kind === "confirm") return;
    const key = this.#keyOf(action);
    if (isEnding(action) && !this.#groups.has(key) && !this.#hasRoom(action)) {
      this.#further++;
      return;
    }
    const group = this.#groups.get(key) ?? this.#newGroup(action);
    this.#groups.set(key, group);
    add(group, action);
    if (became === "leaving") group.waiting++;
    if (group.places.size === MOST_PLACES) this.#logLine(group);
    if (isEnding(action) || this.#groups.size <= 2 * MOST_GROUPS) return;
    const oldest = [...this.#groups].find(([, { reason }]) => reason === undefined);
    if (oldest) this.#report(...oldest);
  }

  report(isSettled: boolean): void {
    const now = this.#clock.monotonic();
    if (this.#further > 0 && this.#lines.tryTake("further", now) !== undefined) this.#logFurther();
    let removals = 0;
    for (const [key, group] of this.#groups) {
      if (!isSettled && now - group.since < WAIT_MS) continue;
      if (this.#lines.tryTake(group.subject, now) === undefined) continue;
      const isRemoval = group.reason !== undefined && group.places.size > 0;
      if (isRemoval && ++removals > MOST_LINES) group.places.clear();
      this.#report(key, group);
    }
    const sources = removals - MOST_LINES;
    if (sources > 0) this.#log.info({ sources }, "copies of further sources removed");
  }

  onStop(): void {
    for (const group of this.#groups.values()) this.#logLine(group);
    if (this.#further > 0) this.#logFurther();
  }

  #keyOf(action: Written): string {
    const subject = subjectOf(action);
    if (isEnding(action)) {
      const { sourceUid, entry = "" } = recordOf(action);
      return `${subject} ${sourceUid} ${entry} ${reasonText(action.reason)}`;
    }
    const { uid, resourceVersion } = action.content.source;
    const gathers = this.#lines.isFull(subject, this.#clock.monotonic());
    return gathers ? subject : `${subject} ${uid} ${resourceVersion}`;
  }

  #newGroup(action: Written): OutcomeGroup {
    const removal = isEnding(action)
      ? { ...recordOf(action), reason: reasonText(action.reason) }
      : { sourceUid: action.content.source.uid, entry: undefined, reason: undefined };
    return {
      what: whatOf(action),
      subject: subjectOf(action),
      kind: action.objectKind,
      source: action.source,
      pulling: isPull(action),
      ...removal,
      since: this.#clock.monotonic(),
      namespaces: new Set(),
      takenFrom: new Set(),
      taken: 0,
      versions: new Set(),
      managers: new Set(),
      places: new Set(),
      count: 0,
      waiting: 0,
    };
  }

  #hasRoom(action: EndAction): boolean {
    const removals = [...this.#groups.values()].filter(({ reason }) => reason !== undefined);
    const subject = subjectOf(action);
    const ofSource = removals.filter((group) => group.subject === subject);
    return removals.length < MOST_GROUPS && ofSource.length < MOST_REMOVALS_OF_A_SOURCE;
  }

  #report(key: string, group: OutcomeGroup): void {
    this.#groups.delete(key);
    this.#logLine(group);
    this.#onDone(group);
  }

  #logLine(group: OutcomeGroup): void {
    const { what, kind, source, reason, count, waiting, places } = group;
    if (places.size === 0) return;
    const [version, ...more] = group.versions;
    const fields = {
      kind,
      source: refText(source),
      ...(more.length > 0 ? { sourceVersions: [...group.versions] } : { sourceVersion: version }),
      count,
      ...(waiting > 0 && { waitingForFinalizers: waiting }),
      ...(group.managers.size > 0 && { managers: [...group.managers] }),
      ...(group.takenFrom.size > 0 && { takenFrom: [...group.takenFrom] }),
      places: [...places],
      reason,
    };
    this.#log.info(fields, MESSAGES[what]);
    places.clear();
    [group.count, group.waiting] = [0, 0];
  }

  #logFurther(): void {
    this.#log.info({ count: this.#further }, FURTHER);
    this.#further = 0;
  }
}

type Written = Exclude<Action, { kind: "liveGet" | "confirm" }>;

function whatOf(action: Written): OutcomeGroup["what"] {
  if (action.kind === "clear" && action.target.onDelete === "keep") return "release";
  if (isEnding(action)) return action.kind;
  return action.cause === "edited" || action.cause === "deleted" ? "repaired" : "copied";
}

function subjectOf(action: Written): string {
  return `${whatOf(action)} ${isPull(action)} ${placeKey(action.objectKind, action.source)}`;
}

function isPull({ kind }: Written): boolean {
  return kind === "fill" || kind === "clear";
}

// Any user may write any text as the entry.
function recordOf({ target }: EndAction): Pick<OutcomeGroup, "sourceUid" | "entry"> {
  const { sourceUid = "", entry } = recordOn(target);
  return { sourceUid, entry: entry !== undefined && isDataKey(entry) ? entry : undefined };
}

function add(group: OutcomeGroup, action: Written): void {
  group.count++;
  group.namespaces.add(action.place.namespace);
  group.places.add(refText(action.place));
  if (isEnding(action)) return;
  const { resourceVersion } = action.content.source;
  group.versions.delete(resourceVersion);
  group.versions.add(resourceVersion);
  const [oldest] = group.versions;
  if (group.versions.size > MOST_VERSIONS && oldest !== undefined) group.versions.delete(oldest);
  if (!isCopying(action) || action.kind === "create" || action.kind === "adopt") return;
  const { changedBy, source } = action.target.template;
  if (group.what === "repaired" && changedBy !== undefined && group.managers.size < MOST_MANAGERS)
    group.managers.add(changedBy);
  if (action.cause !== "handover") return;
  group.taken++;
  if (group.takenFrom.size < MOST_SOURCES) group.takenFrom.add(refText(source));
}
