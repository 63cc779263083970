// Remembers what was reported of each state that holds. A Warning is sent when the state begins or changes, and
// not again. Events for a source of the source list are on the list, because its own namespace did not request
// anything. Promises: it remembers one Event per state of the newest plan. A Warning that was not sent is sent
// later, if its state holds.
import type { Ref } from "../../text/names.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import { EventOutbox, type EventIdentity } from "./event-outbox.ts";

type ObjectEvent = EventIdentity & {
  readonly kind: ObjectKind | "Namespace" | "Lease";
  readonly on: Ref;
  readonly type: "Normal" | "Warning";
};

/** The object that an Event is on. */
export type EventObject = Pick<ObjectEvent, "on" | "uid"> & { readonly kind: "ConfigMap" };

type Reported<E> = {
  readonly note: string;
  readonly gist: string;
  readonly at: number;
  /** The Event as it would be on the object itself. */
  readonly event: E;
  /** Whether it is on the list, instead of on an object that one of its entries names. */
  readonly listed: boolean;
  readonly sent: E;
};

export type StateOptions = {
  /** Distinguishes states with the same object and reason. */
  readonly which?: string;
  /** While it is the same, a change of the note is reported once a minute at most. Default: the note. */
  readonly gist?: string;
  /** The reported text, if it changes by itself. Default: the note. */
  readonly shown?: string;
};

const MINUTE_MS = 60_000;

export class StandingEvents<E extends ObjectEvent> {
  readonly #now: () => number;
  readonly #outbox: EventOutbox<E>;
  #reported = new Map<string, Reported<E>>();
  /** The states of the plan that is being reported. */
  #begun: Map<string, Reported<E>> | undefined;
  #list: EventObject | undefined;
  #listed: ReadonlyMap<string, string> = new Map();

  constructor(send: (event: E) => void, now: () => number) {
    this.#outbox = new EventOutbox(send);
    this.#now = now;
  }

  /** Begins the report of a plan. `list`: the list, if read. `listed`: its entries' keys by source (placeKey). */
  begin(list: EventObject | undefined, listed: ReadonlyMap<string, string>): void {
    this.#list = list;
    this.#listed = listed;
    this.#begun = new Map();
  }

  get list(): EventObject | undefined {
    return this.#list;
  }

  isListed(kind: ObjectEvent["kind"], source: Ref): boolean {
    return this.#entryOf(kind, source) !== undefined;
  }

  /** An empty note is not reported. */
  once(event: E, { which = "", gist = event.note, shown = event.note }: StateOptions = {}): void {
    const { kind, on, note } = event;
    if (note === "") return;
    const reported = this.#begun ?? this.#reported;
    const key = stateKey(event, which);
    const before = this.#reported.get(key);
    const at = this.#now();
    if (before?.gist === gist && (before.note === note || at - before.at < MINUTE_MS)) {
      reported.set(key, before);
      return;
    }
    const sent = this.send({ ...event, note: shown });
    if (sent) reported.set(key, { note, gist, at, event, listed: this.isListed(kind, on), sent });
  }

  /** Whether exactly this was reported. The state then continues. */
  goesOn(event: EventIdentity): boolean {
    const key = stateKey(event);
    const known = this.#reported.get(key);
    if (known?.note !== event.note) return false;
    this.#begun?.set(key, known);
    return true;
  }

  /** Returns the sent Event. Undefined if it belongs on a list that is not read. */
  send(event: E): E | undefined {
    const { kind, on, note } = event;
    const entry = this.#entryOf(kind, on);
    if (entry !== undefined && !this.#list) return undefined;
    const isNamed = /^(?:invalid )?entry /.test(note);
    const whole = isNamed ? note : `entry ${entry}: ${note}`;
    const sent = entry === undefined ? event : { ...event, ...this.#list, note: whole };
    this.#outbox.send(sent);
    return sent;
  }

  /** Ends the report. Returns the Events of the states with this reason that are over. */
  end(reason: string): readonly E[] {
    const now = this.#begun ?? this.#reported;
    const over = [...this.#reported].flatMap(([key, { event, listed }]) => {
      if (event.reason !== reason || now.has(key)) return [];
      return listed && !this.isListed(event.kind, event.on) ? [] : [event];
    });
    this.#reported = now;
    this.#begun = undefined;
    this.#outbox.keep(Array.from(now.values(), ({ sent }) => sent));
    return over;
  }

  /** An Event was not sent. */
  lost(event: EventIdentity): void {
    this.#outbox.lost(event);
  }

  get waits(): boolean {
    return this.#outbox.waits;
  }

  resend(): void {
    this.#outbox.resend();
  }

  #entryOf(kind: ObjectEvent["kind"], source: Ref): string | undefined {
    if (kind === "Namespace" || kind === "Lease") return undefined;
    return this.#listed.get(placeKey(kind, source));
  }
}

function stateKey({ uid, reason }: Pick<EventIdentity, "uid" | "reason">, which = ""): string {
  return `${uid} ${reason}${which}`;
}
