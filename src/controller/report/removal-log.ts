// Which copies were removed, and why: copies that were deleted or released, and pulling objects that were
// cleared, grouped by source and reason until no more of the source are due, at most until the first sync five
// seconds later. Copies of one source that are removed again and again wait until another line of it may be
// written. Lines name every place, 100 at most each. Owners are informed as well; if the source no longer
// exists, no Event can be on it, and the log line is the only record.
import type { Plan } from "../model/verdicts.ts";
import type { Clock } from "../../kube/time/clock.ts";
import type { Log } from "./log.ts";
import { Repeats } from "./repeats.ts";
import { MOST_PLACES } from "./written-log.ts";
import type { Outcome } from "../writes/outcome.ts";
import type { SyncHooks, SyncNote } from "./sync-log.ts";
import { isDataKey, type Ref, refText } from "../../text/names.ts";
import { type ObjectKind, placeKey } from "../model/kinds.ts";
import { type EndAction, isEnding } from "../model/actions.ts";

type Removal = EndAction["kind"];

export type RemovedCopies = {
  readonly removal: Removal;
  readonly kind: ObjectKind;
  readonly source: Ref;
  /** Of the object that they were copied from. */
  readonly sourceUid: string;
  /** Key of the entry of the source list that made them; undefined: none. */
  readonly entry: string | undefined;
  readonly reason: string;
  /** When the first of them went; ms, monotonic. */
  readonly since: number;
  count: number;
  /** How many of them no line has named yet. */
  unnamed: number;
  /** Where they went: of copies that somebody forged there may be many in one. */
  readonly namespaces: Set<string>;
  /** How many of those a finalizer still holds. */
  waiting: number;
  /** Those that no line has named yet. */
  places: Ref[];
};

const WAIT_MS = 5000;
/** In any minute. */
const MOST_LINES_OF_A_SOURCE = 5;
/** Anybody may name any source, and any UID of it, on copies that then go: what waits has a bound. */
const MOST_GROUPS = 1000;
/** So that one that goes again and again leaves room for the others: what can be reported in four minutes. */
const MOST_GROUPS_OF_A_SOURCE = 20;
/** Lines at a time; beyond, the sources are counted. */
const MOST_LINES = 100;

const MESSAGES: Readonly<Record<Removal, string>> = {
  delete: "copies removed",
  release: "copies released (on-delete: keep)",
  unfill: "pulled keys removed",
};

export class RemovalLog implements SyncHooks {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #onRemoved: (removed: RemovedCopies) => void;
  readonly #groups = new Map<string, RemovedCopies>();
  /** By subject, how many groups of it wait. */
  readonly #waiting = new Map<string, number>();
  /** How many went for which there was no room. */
  #further = 0;
  readonly #lines = new Repeats(MOST_LINES_OF_A_SOURCE);

  constructor(log: Log, clock: Clock, onRemoved: (removed: RemovedCopies) => void) {
    this.#log = log;
    this.#clock = clock;
    this.#onRemoved = onRemoved;
  }

  onOutcome({ kind, action }: Outcome): void {
    if (!isEnding(action)) return;
    if (kind !== "done" && kind !== "removed" && kind !== "leaving") return;
    const { objectKind, source, reason, place } = action;
    const sourceUid = action.target.sourceUid ?? "";
    const entry = entryOf(action.target);
    const of = `${placeKey(objectKind, source)} ${sourceUid} ${entry ?? ""}`;
    const key = `${action.kind} ${of} ${reason}`;
    const known = this.#groups.get(key);
    if (!known && !this.#takesRoom(subjectOf(action.kind, objectKind, source))) {
      this.#further++;
      return;
    }
    const group = known ?? {
      removal: action.kind,
      kind: objectKind,
      source,
      sourceUid,
      entry,
      reason,
      since: this.#clock.monotonic(),
      count: 0,
      unnamed: 0,
      namespaces: new Set<string>(),
      waiting: 0,
      places: [],
    };
    group.count++;
    group.unnamed++;
    group.namespaces.add(place.namespace);
    if (kind === "leaving") group.waiting++;
    group.places.push(place);
    this.#groups.set(key, group);
    if (group.places.length === MOST_PLACES) this.#tell(group);
  }

  onPlan(plan: Plan, { settled }: SyncNote): void {
    if (this.#groups.size === 0) return;
    const now = this.#clock.monotonic();
    if (this.#further > 0 && this.#lines.happened("further", now) !== undefined) {
      this.#log.info({ count: this.#further }, "further copies removed");
      this.#further = 0;
    }
    const going = settled ? sourcesOfEndings(plan) : undefined;
    let sources = -MOST_LINES;
    for (const [key, group] of this.#groups) {
      const waits = going?.has(placeKey(group.kind, group.source)) ?? true;
      if (waits && now - group.since < WAIT_MS) continue;
      // What goes again and again is gathered until it may be reported.
      const subject = subjectOf(group.removal, group.kind, group.source);
      if (this.#lines.happened(subject, now) === undefined) continue;
      this.#groups.delete(key);
      this.#leave(subject);
      if (group.unnamed > 0 && ++sources <= 0) this.#tell(group);
      this.#onRemoved(group);
    }
    if (sources > 0) this.#log.info({ sources }, "copies of further sources removed");
  }

  onStop(): void {
    for (const group of this.#groups.values()) if (group.unnamed > 0) this.#tell(group);
  }

  /** Room for one group more of `subject`, which is taken. */
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
    const { removal, kind, source, unnamed: count, waiting, places, reason } = group;
    const subject = { kind, source: refText(source) };
    const held = waiting > 0 && { waitingForFinalizers: waiting };
    const fields = { ...subject, count, ...held, places: places.map(refText), reason };
    this.#log.info(fields, MESSAGES[removal]);
    [group.unnamed, group.waiting, group.places] = [0, 0, []];
  }
}

/** What lines are counted by. */
function subjectOf(removal: Removal, kind: ObjectKind, source: Ref): string {
  return `${removal} ${placeKey(kind, source)}`;
}

// Anybody may write anything there.
function entryOf({ entry }: EndAction["target"]): string | undefined {
  return entry !== undefined && isDataKey(entry) ? entry : undefined;
}

/** Of which more copies are about to end. */
function sourcesOfEndings({ rows }: Plan): ReadonlySet<string> {
  const sources = new Set<string>();
  for (const { verdict, kind, source } of rows)
    if (verdict === "delete" || verdict === "release") sources.add(placeKey(kind, source));
  return sources;
}
