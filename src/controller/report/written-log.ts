// The lasting record of which place received a value, and when. It names every copy and pulling object that was
// written. A line `copied` reports one source and version. A line `repaired` reports copies that were edited or
// deleted, with the field managers that did it. A source that changes so often that its lines wait has one line
// for the versions of that time. Promises:
// - Each write is named in exactly one line.
// - A line is logged when the cluster is settled, or by the first sync after five seconds while writes continue.
//   After five lines of a source in a minute, the next line is logged by the first sync after that minute. A
//   line of a hundred places is logged at once and does not count.
// - When the process stops, the rest is logged: of each source in lines of a hundred places and one more.
// - A line names at most 100 places, so that memory and length are limited.
import type { Clock } from "../../kube/time/clock.ts";
import { refText, type Ref } from "../../text/names.ts";
import { isCopying, type Action } from "../model/actions.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import type { Plan } from "../model/verdicts.ts";
import type { Outcome } from "../writes/outcome.ts";
import type { Log } from "./log.ts";
import { RateLimit } from "./rate-limit.ts";
import type { SyncHooks, SyncNote } from "./sync-log.ts";

/** Places in one line: about 4 KiB, and 32 KiB if every name has its full length. */
export const MOST_PLACES = 100;
const WAIT_MS = 5000;
/** Limit per source, message and minute, so that a copy that is edited in a loop does not fill the log. */
const MOST_LINES_OF_A_SOURCE = 5;
/** Sources whose places wait for their line. The oldest is logged to make room. */
const MOST_GROUPS = 1000;
const MOST_MANAGERS = 5;
const MOST_VERSIONS = 10;

type Written = {
  /** By which lines are limited. */
  readonly subject: string;
  readonly message: "copied" | "repaired";
  readonly kind: ObjectKind;
  readonly source: Ref;
  /** Of the source. Several if their lines had to wait: the newest of them. */
  readonly versions: Set<string>;
  /** ms, monotonic. */
  readonly since: number;
  /** Writes. There are more writes than places if a place was written again. */
  count: number;
  readonly places: Set<string>;
  readonly managers: Set<string>;
};

export class WrittenLog implements SyncHooks {
  readonly #log: Log;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #groups = new Map<string, Written>();
  readonly #lines = new RateLimit(MOST_LINES_OF_A_SOURCE);

  constructor(log: Log, clock: Pick<Clock, "monotonic">) {
    this.#log = log;
    this.#clock = clock;
  }

  onOutcome({ kind: became, action }: Outcome): void {
    if (became !== "done" || !(isCopying(action) || action.kind === "fill")) return;
    const { objectKind, place, cause, content } = action;
    const message = cause === "edited" || cause === "deleted" ? "repaired" : "copied";
    const { uid, resourceVersion } = content.source;
    const now = this.#clock.monotonic();
    const subject = `${message} ${placeKey(objectKind, action.source)}`;
    const waits = this.#lines.isFull(subject, now);
    const key = waits ? subject : `${subject} ${uid} ${resourceVersion}`;
    const group = this.#groups.get(key) ?? {
      subject,
      message,
      kind: objectKind,
      source: action.source,
      versions: new Set<string>(),
      since: now,
      count: 0,
      places: new Set<string>(),
      managers: new Set<string>(),
    };
    group.count++;
    group.places.add(refText(place));
    addNewest(group.versions, resourceVersion);
    const manager = message === "repaired" ? editorOf(action) : undefined;
    if (manager !== undefined && group.managers.size < MOST_MANAGERS) group.managers.add(manager);
    this.#groups.set(key, group);
    const [oldest] = this.#groups;
    if (group.places.size === MOST_PLACES) this.#logGroup(key, group);
    else if (this.#groups.size > MOST_GROUPS && oldest) this.#logGroup(...oldest);
  }

  onPlan(_: Plan, { settled }: SyncNote): void {
    const now = this.#clock.monotonic();
    for (const [key, group] of this.#groups) {
      if (!settled && now - group.since < WAIT_MS) continue;
      if (this.#lines.tryTake(group.subject, now) !== undefined) this.#logGroup(key, group);
    }
  }

  onStop(): void {
    const subjects = Map.groupBy(this.#groups.values(), ({ subject }) => subject);
    this.#groups.clear();
    for (const groups of subjects.values()) this.#logTogether(groups);
  }

  // In lines of a hundred places, and one line with the rest.
  #logTogether(groups: readonly Written[]): void {
    const line = { versions: new Set<string>(), managers: new Set<string>(), count: 0 };
    const places = new Set<string>();
    for (const group of groups) {
      for (const version of group.versions) addNewest(line.versions, version);
      for (const manager of group.managers) line.managers.add(manager);
      line.count += group.count - group.places.size;
      for (const place of group.places) {
        line.count++;
        if (places.add(place).size < MOST_PLACES) continue;
        this.#logLine({ ...group, ...line, places });
        line.count = 0;
        places.clear();
      }
    }
    const [first] = groups;
    if (first && places.size > 0) this.#logLine({ ...first, ...line, places });
  }

  #logGroup(key: string, group: Written): void {
    this.#groups.delete(key);
    this.#logLine(group);
  }

  #logLine({ message, kind, source, versions, count, ...rest }: Written): void {
    const managers = rest.managers.size > 0 && { managers: [...rest.managers] };
    const [version, ...more] = versions;
    const named =
      more.length === 0 ? { sourceVersion: version } : { sourceVersions: [...versions] };
    const subject = { kind, source: refText(source), ...named, count };
    this.#log.info({ ...subject, ...managers, places: [...rest.places] }, message);
  }
}

function addNewest(versions: Set<string>, version: string): void {
  versions.delete(version);
  versions.add(version);
  const [oldest] = versions;
  if (versions.size > MOST_VERSIONS && oldest !== undefined) versions.delete(oldest);
}

/** The field manager that changed the copy after us, from its managedFields. Any client can choose its name. */
function editorOf(action: Action): string | undefined {
  const isCopy = action.kind === "update" || action.kind === "replace";
  return isCopy ? action.target.template.changedBy : undefined;
}
