// An events.k8s.io/v1 Event as JSON that passes the API server's validation.
// Promises: the functions are pure. A note is cut at a character to fit its 1024 bytes. The Event is in the
// namespace of its object.
// Does not check a note: the caller keeps secret values out of it.
import { randomUUID } from "node:crypto";

/** The object of an Event. */
export type ObjectReference = {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
};

/** The content of one Event. */
export type EventDetails = {
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  readonly type: "Normal" | "Warning";
  /** The reason in CamelCase, of low cardinality, 128 bytes at most. */
  readonly reason: string;
  /** What was done or attempted, in the form of `reason`. */
  readonly action: string;
  /** For users. Never a value of a Secret, a hash of one, or an API error's body. */
  readonly note: string;
};

/** How often the Event was repeated, and when last. */
export type EventSeries = { readonly count: number; readonly lastObservedTime: string };

/** An events.k8s.io/v1 Event. */
export type KubeEvent = {
  readonly apiVersion: "events.k8s.io/v1";
  readonly kind: "Event";
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly eventTime: string;
  readonly series?: EventSeries;
  readonly reportingController: string;
  readonly reportingInstance: string;
  readonly action: string;
  readonly reason: string;
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  readonly note: string;
  readonly type: "Normal" | "Warning";
};

/** The reporter of an Event. */
export type EventReporter = {
  /** A qualified name: "secretcast", "example.com/controller". */
  readonly controller: string;
  /** This process, 128 bytes at most. */
  readonly instance: string;
};

// kubernetes: pkg/apis/core/validation/events.go.
const NOTE_BYTES = 1024;
const WORD_BYTES = 128;
const NAME_CHARACTERS = 253;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED_NAME =
  /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Throws a RangeError when the API server would refuse every Event of this reporter. */
export function checkReporter({ controller, instance }: EventReporter): void {
  if (!QUALIFIED_NAME.test(controller))
    throw new RangeError(`Cannot report events as "${controller}": it must be a qualified name`);
  checkWord("reporting instance", instance);
}

/** Throws a RangeError when the API server would refuse the Event. */
export function checkDetails({ type, reason, action }: EventDetails): void {
  if (type !== "Normal" && type !== "Warning")
    throw new RangeError(`Cannot record an event of type "${String(type)}": Normal or Warning`);
  checkWord("reason", reason);
  checkWord("action", action);
}

function checkWord(field: string, word: string): void {
  if (word === "" || Buffer.byteLength(word) > WORD_BYTES)
    throw new RangeError(
      `Cannot record an event with the ${field} "${word}": 1 to ${WORD_BYTES} bytes`,
    );
}

/** The name contains `nanoseconds` since the epoch, which must differ between two Events of one object. */
export function newEvent(
  details: EventDetails,
  reporter: EventReporter,
  nanoseconds: bigint,
  series?: EventSeries,
): KubeEvent {
  const { regarding, related, type, reason, action, note } = details;
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: {
      namespace: regarding.namespace ?? "default",
      name: eventName(regarding.name, nanoseconds),
    },
    eventTime: eventTime(nanoseconds),
    ...(series && { series }),
    reportingController: reporter.controller,
    reportingInstance: reporter.instance,
    action,
    reason,
    regarding,
    ...(related && { related }),
    note: cutNote(note),
    type,
  };
}

function eventName(object: string, nanoseconds: bigint): string {
  const name = `${object}.${nanoseconds.toString(16)}`;
  return name.length <= NAME_CHARACTERS && SUBDOMAIN.test(name) ? name : randomUUID();
}

/** metav1.MicroTime, six digits. */
export function eventTime(nanoseconds: bigint): string {
  const micros = nanoseconds / 1000n;
  const seconds = new Date(Number(micros / 1_000_000n) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(micros % 1_000_000n).padStart(6, "0")}Z`;
}

function cutNote(note: string): string {
  if (Buffer.byteLength(note) <= NOTE_BYTES) return note;
  const room = NOTE_BYTES - Buffer.byteLength("…");
  const { read } = new TextEncoder().encodeInto(note, new Uint8Array(room));
  return `${note.slice(0, read)}…`;
}
