// Remembers what was reported of each state that holds. A Warning is sent when the state begins or changes, and
// not again. Events for a source of the source list are on the list, because its own namespace did not request
// anything. Promises: it remembers one Event per state of the newest plan. A Warning that was not sent is sent
// later, if its state holds. A bounded number is sent at a time.
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import type { Plan } from "../model/verdicts.ts";
import type { Clock } from "../../../packages/kube/time/clock.ts";
import type { Ref } from "../../text/names.ts";
import type { Of } from "./notices.ts";

/** Identifies an Event. */
export type EventIdentity = {
  readonly uid: string;
  readonly reason: string;
  readonly note: string;
};

export type SourceEvent = {
  readonly kind: ObjectKind | "Namespace" | "Lease";
  /** The object that the Event is on. The name of a Namespace is in `name`. */
  readonly on: Ref;
  readonly uid: string;
  readonly type: "Normal" | "Warning";
  readonly reason:
    | "Copied"
    | "Removed"
    | "Recovered"
    | "Ignored"
    | "Conflict"
    | "Failed"
    | "Refused"
    | "Held"
    | "Fought";
  readonly note: string;
};

/** The object that an Event is on. */
export type EventObject = Pick<SourceEvent, "kind" | "on" | "uid">;

type Reported = {
  readonly note: string;
  readonly summary: string;
  readonly at: number;
  /** The Event as it would be on the object itself. */
  readonly event: SourceEvent;
  /** Whether it is on the list, instead of on an object that one of its entries names. */
  readonly listed: boolean;
  readonly sent: SourceEvent;
};

export type StateOptions = {
  readonly send: (event: SourceEvent) => void;
  /** Whether Events in this namespace may name other namespaces. */
  readonly mayName: (namespace: string) => boolean;
  /** UID of an object in the cache. */
  readonly uidOf: (kind: ObjectKind, place: Ref) => string | undefined;
  /** The controller's Lease. Undefined if it holds none. */
  readonly lease: () => (Ref & { readonly uid: string }) | undefined;
  readonly clock: Clock;
};

type ReportOptions = {
  /** Distinguishes states with the same object and reason. */
  readonly which?: string;
  /** While it is the same, a change of the note is reported once a minute at most. Default: the note. */
  readonly summary?: string;
  /** The reported text, if it changes by itself. Default: the note. */
  readonly shown?: string;
};

const MINUTE_MS = 60_000;
/** The limit per call, because all of them are converted to JSON in one turn of the event loop. */
const MOST_RESENT = 200;

export class EventStates {
  readonly #options: StateOptions;
  #reported = new Map<string, Reported>();
  /** The states of the plan that is being reported. */
  #begun: Map<string, Reported> | undefined;
  /** By source (placeKey): the key of its entry. */
  #listed: ReadonlyMap<string, string> = new Map();
  /** The Warnings of the states that hold, and which of them were not sent. */
  #warnings = new Map<string, SourceEvent>();
  readonly #unsent = new Set<string>();
  #list: EventObject | undefined;

  constructor(options: StateOptions) {
    this.#options = options;
  }

  /** Takes from a plan which sources entries of the list make. */
  observe({ list: { ref, uid }, sources }: Plan): void {
    this.#list = ref && uid !== undefined ? { kind: "ConfigMap", on: ref, uid } : undefined;
    const byEntry = sources.flatMap(({ kind, source, entry }) =>
      entry === undefined ? [] : [[placeKey(kind, source), entry] as const],
    );
    this.#listed = new Map(byEntry);
  }

  /** Begins the report of a plan. */
  begin(): void {
    this.#begun = new Map();
  }

  /** The source list, if it is read. */
  get list(): EventObject | undefined {
    return this.#list;
  }

  /** The controller's Lease, for what concerns sources that no longer exist. */
  get lease(): EventObject | undefined {
    const lease = this.#options.lease();
    return (
      lease && {
        kind: "Lease",
        on: { namespace: lease.namespace, name: lease.name },
        uid: lease.uid,
      }
    );
  }

  cached(kind: ObjectKind, on: Ref): EventObject | undefined {
    const uid = this.#options.uidOf(kind, on);
    return uid === undefined ? undefined : { kind, on, uid };
  }

  /** The object that copies were copied from, if it still exists, or the list whose entry made them. */
  copiedFrom(
    { kind, source }: Of,
    { sourceUid, entry }: { readonly sourceUid: string; readonly entry: string | undefined },
  ): EventObject | undefined {
    if (entry !== undefined) return this.#list;
    const object = this.cached(kind, source);
    return object?.uid === sourceUid ? object : undefined;
  }

  /** Whether its Events may name namespaces. Events on the list are for the administrator. */
  mayName({ kind, source }: Of): boolean {
    return this.isListed(kind, source) || this.#options.mayName(source.namespace);
  }

  isListed(kind: SourceEvent["kind"], source: Ref): boolean {
    return this.#entryOf(kind, source) !== undefined;
  }

  /** Sends a Warning, unless it was sent of this state. An empty note is not reported. */
  once(
    on: EventObject,
    reason: SourceEvent["reason"],
    note: string,
    { which = "", summary = note, shown = note }: ReportOptions = {},
  ): void {
    if (note === "") return;
    const reported = this.#begun ?? this.#reported;
    const key = `${on.uid} ${reason}${which}`;
    const before = this.#reported.get(key);
    const at = this.#options.clock.monotonic();
    if (before?.summary === summary && (before.note === note || at - before.at < MINUTE_MS)) {
      reported.set(key, before);
      return;
    }
    const event = { ...on, type: "Warning", reason, note } as const;
    const sent = this.send({ ...event, note: shown });
    const listed = this.isListed(on.kind, on.on);
    if (sent) reported.set(key, { note, summary, at, event, listed, sent });
  }

  /** Whether exactly this was reported. The state then continues. */
  goesOn({ uid, reason, note }: EventIdentity): boolean {
    const key = `${uid} ${reason}`;
    const known = this.#reported.get(key);
    if (known?.note !== note) return false;
    this.#begun?.set(key, known);
    return true;
  }

  /** Returns the sent Event. Undefined if it belongs on a list that is not read. */
  send(event: SourceEvent): SourceEvent | undefined {
    const { kind, on, note } = event;
    const entry = this.#entryOf(kind, on);
    if (entry !== undefined && !this.#list) return undefined;
    const isNamed = /^(?:invalid )?entry /.test(note);
    const whole = isNamed ? note : `entry ${entry}: ${note}`;
    const sent = entry === undefined ? event : { ...event, ...this.#list, note: whole };
    if (sent.type === "Warning") this.#warnings.set(idOf(sent), sent);
    this.#options.send(sent);
    return sent;
  }

  /** Ends the report. Returns the Events of the states with this reason that are over. */
  end(reason: string): readonly SourceEvent[] {
    const now = this.#begun ?? this.#reported;
    const over = [...this.#reported].flatMap(([key, { event, listed }]) => {
      if (event.reason !== reason || now.has(key)) return [];
      return listed && !this.isListed(event.kind, event.on) ? [] : [event];
    });
    this.#reported = now;
    this.#begun = undefined;
    this.#warnings = new Map(Array.from(now.values(), ({ sent }) => [idOf(sent), sent]));
    for (const id of this.#unsent) if (!this.#warnings.has(id)) this.#unsent.delete(id);
    return over;
  }

  /** An Event was not sent, because of a limit or a failed request. Normal Events are sent once. */
  lost(event: EventIdentity): void {
    const id = idOf(event);
    if (this.#warnings.has(id)) this.#unsent.add(id);
  }

  get waits(): boolean {
    return this.#unsent.size > 0;
  }

  resend(): void {
    // An Event that is lost again during this loop waits behind the others.
    for (const id of [...this.#unsent].slice(0, MOST_RESENT)) {
      this.#unsent.delete(id);
      const event = this.#warnings.get(id);
      if (event) this.#options.send(event);
    }
  }

  #entryOf(kind: SourceEvent["kind"], source: Ref): string | undefined {
    if (kind === "Namespace" || kind === "Lease") return undefined;
    return this.#listed.get(placeKey(kind, source));
  }
}

function idOf({ uid, reason, note }: EventIdentity): string {
  return `${uid} ${reason} ${note}`;
}
