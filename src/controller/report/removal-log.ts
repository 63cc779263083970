// Logs which copies were removed, and why. Copies were deleted or released, and pulling objects were cleared.
// They are grouped by source and reason. A group is logged when the source has no further removal due, and
// otherwise by the first sync after five seconds. Repeated removals of one source wait until another line of it
// may be written. A line names at most 100 places. Removals beyond the room for groups are only counted. Owners
// are informed as well. If the source no longer exists, no Event can be on it, and the log line is the only record.
import { recordOn } from "../model/cluster.ts";
import { reasonText } from "../model/reasons.ts";
import type { Plan } from "../model/verdicts.ts";
import type { Clock } from "../../kube/time/clock.ts";
import type { Log } from "./log.ts";
import { RateLimit } from "./rate-limit.ts";
import { MOST_PLACES } from "./written-log.ts";
import type { Outcome } from "../writes/outcome.ts";
import type { SyncHooks, SyncNote } from "./sync-log.ts";
import { isDataKey, type Ref, refText } from "../../text/names.ts";
import { type ObjectKind, placeKey } from "../model/kinds.ts";
import { type EndAction, isEnding } from "../model/actions.ts";

type Removal = EndAction["kind"];

export type RemovedCopies = {
  /** By which lines are limited. */
  readonly subject: string;
  readonly removal: Removal;
  readonly kind: ObjectKind;
  readonly source: Ref;
  /** UID of the object that they were copied from. */
  readonly sourceUid: string;
  /** Key of the source list entry that made them, if any. */
  readonly entry: string | undefined;
  readonly reason: string;
  /** When the first of them was removed. In ms, monotonic. */
  readonly since: number;
  count: number;
  /** The namespaces of the removed copies. With forged copies there may be many in one namespace. */
  readonly namespaces: Set<string>;
  /** How many a finalizer still holds. */
  waiting: number;
  /** The places that are not yet named in a line. */
  places: Ref[];
};

const WAIT_MS = 5000;
/** The limit in any minute. */
const MOST_LINES_OF_A_SOURCE = 5;
/** Limits waiting groups, because any user may forge copies with any source and UID and delete them. */
const MOST_GROUPS = 1000;
/** Leaves room for other sources if one is removed repeatedly. It equals what four minutes can report. */
const MOST_GROUPS_OF_A_SOURCE = 20;
/** Most lines at a time. Beyond that, the sources are counted. */
const MOST_LINES = 100;

const MESSAGES: Readonly<Record<Removal, string>> = {
  delete: "copies removed",
  release: "copies released (on-delete: keep)",
  clear: "pulled keys removed",
};

const FURTHER = "further copies removed";

export class RemovalLog implements SyncHooks {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #onRemoved: (removed: RemovedCopies) => void;
  readonly #groups = new Map<string, RemovedCopies>();
  /** The number of waiting groups, by subject. */
  readonly #waiting = new Map<string, number>();
  /** The number of removals for which there was no room. */
  #further = 0;
  readonly #lines = new RateLimit(MOST_LINES_OF_A_SOURCE);

  constructor(log: Log, clock: Clock, onRemoved: (removed: RemovedCopies) => void) {
    this.#log = log;
    this.#clock = clock;
    this.#onRemoved = onRemoved;
  }

  onOutcome({ kind, action }: Outcome): void {
    if (!isEnding(action)) return;
    if (kind !== "done" && kind !== "removed" && kind !== "leaving") return;
    const { objectKind, source, place } = action;
    const reason = reasonText(action.reason);
    const subject = `${action.kind} ${placeKey(objectKind, source)}`;
    const sourceUid = recordOn(action.target).sourceUid ?? "";
    const entry = entryOf(action.target);
    const key = `${subject} ${sourceUid} ${entry ?? ""} ${reason}`;
    const known = this.#groups.get(key);
    if (!known && !this.#takesRoom(subject)) {
      this.#further++;
      return;
    }
    const group = known ?? {
      subject,
      removal: action.kind,
      kind: objectKind,
      source,
      sourceUid,
      entry,
      reason,
      since: this.#clock.monotonic(),
      count: 0,
      namespaces: new Set<string>(),
      waiting: 0,
      places: [],
    };
    group.count++;
    group.namespaces.add(place.namespace);
    if (kind === "leaving") group.waiting++;
    group.places.push(place);
    this.#groups.set(key, group);
    if (group.places.length === MOST_PLACES) this.#tell(group);
  }

  onPlan(plan: Plan, { settled }: SyncNote): void {
    if (this.#groups.size === 0) return;
    const now = this.#clock.monotonic();
    if (this.#further > 0 && this.#lines.tryTake("further", now) !== undefined) {
      this.#log.info({ count: this.#further }, FURTHER);
      this.#further = 0;
    }
    const going = settled ? sourcesOfEndings(plan) : undefined;
    let sources = -MOST_LINES;
    for (const [key, group] of this.#groups) {
      const waits = going?.has(placeKey(group.kind, group.source)) ?? true;
      if (waits && now - group.since < WAIT_MS) continue;
      // Repeated removals are gathered until they may be reported.
      if (this.#lines.tryTake(group.subject, now) === undefined) continue;
      this.#groups.delete(key);
      this.#leave(group.subject);
      if (group.places.length > 0 && ++sources <= 0) this.#tell(group);
      this.#onRemoved(group);
    }
    if (sources > 0) this.#log.info({ sources }, "copies of further sources removed");
  }

  onStop(): void {
    for (const group of this.#groups.values()) if (group.places.length > 0) this.#tell(group);
    if (this.#further > 0) this.#log.info({ count: this.#further }, FURTHER);
  }

  /** Takes room for one more group of `subject`, if there is room. */
  #takesRoom(subject: string): boolean {
    const waiting = this.#waiting.get(subject) ?? 0;
    if (waiting >= MOST_GROUPS_OF_A_SOURCE || this.#groups.size >= MOST_GROUPS) return false;
    this.#waiting.set(subject, waiting + 1);
    return true;
  }

  #leave(subject: string): void {
    const waiting = (this.#waiting.get(subject) ?? 0) - 1;
    if (waiting > 0) this.#waiting.set(subject, waiting);
    else this.#waiting.delete(subject);
  }

  #tell(group: RemovedCopies): void {
    const { removal, kind, source, waiting, places, reason } = group;
    const subject = { kind, source: refText(source), count: places.length };
    const held = waiting > 0 && { waitingForFinalizers: waiting };
    const fields = { ...subject, ...held, places: places.map(refText), reason };
    this.#log.info(fields, MESSAGES[removal]);
    [group.waiting, group.places] = [0, []];
  }
}

// Any user may write any text there.
function entryOf(target: EndAction["target"]): string | undefined {
  const { entry } = recordOn(target);
  return entry !== undefined && isDataKey(entry) ? entry : undefined;
}

/** Sources with more copies about to be removed. */
function sourcesOfEndings({ rows }: Plan): ReadonlySet<string> {
  const sources = new Set<string>();
  for (const { verdict, kind, source } of rows)
    if (verdict === "delete" || verdict === "release") sources.add(placeKey(kind, source));
  return sources;
}
