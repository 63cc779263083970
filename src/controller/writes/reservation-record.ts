// Stores the reservations that must survive the process (controller/state/reservations.ts) in an annotation on
// the controller's Lease. Promises:
// - reserve() resolves when the reservation is on the Lease.
// - One request is in flight at a time and contains all waiting reservations.
// - The Lease's reservations are read before the first sync and after each later list, which may be of a
//   restored etcd. They are never overwritten unread.
// - A quiet cluster sees no write.
import { ApiError } from "../../kube/rest/api-error.ts";
import { sleep, type Clock, type Timer } from "../../kube/time/clock.ts";
import type { Reservation } from "../model/actions.ts";
import { MOST_LASTING, type Reservations } from "../state/reservations.ts";
import { PREFIX } from "../annotations/vocabulary.ts";
import { OBJECT_KINDS } from "../model/kinds.ts";
import { parseRef, refText } from "../../text/names.ts";

/** On the controller's Lease. */
export const RESERVATIONS_KEY = `${PREFIX}reservations`;
/** All annotations of an object together have 256 KiB. */
const LONGEST_RESERVATIONS = 192 * 1024;
/** Writes in flight may add to MOST_LASTING. */
const MOST_READ = 2 * MOST_LASTING;
const LONGEST_UID = 128;

/** One annotation of the controller's Lease. */
export type RecordAnnotation = {
  /** Where the annotation is, for messages. */
  readonly where: string;
  read(signal: AbortSignal): Promise<string | undefined>;
  write(
    change: (before: string | undefined) => string | undefined,
    signal: AbortSignal,
  ): Promise<void>;
};

/** The annotation has no room for another reservation. */
export class ReservationsFull extends Error {}

const FIRST_READ_MS = 10_000;
const READ_AGAIN_MS = 1000;
const SAVE_AGAIN_MS = 5000;
const LAST_SAVE_MS = 2000;
const UNREAD = Symbol("unread");
/** No version of the reservations. */
const NOT_SAVED = -1;
/** Errors that a retry does not change. */
const SETTLED: ReadonlySet<string> = new Set(["forbidden", "unauthorized", "notFound", "invalid"]);

export class ReservationRecord {
  readonly #annotation: RecordAnnotation;
  readonly #reservations: Reservations;
  readonly #clock: Clock;
  readonly #closed = new AbortController();
  /** The read in progress. */
  loading: Promise<boolean> | undefined;
  /** What was last read from the Lease or written to it. */
  #known: string | undefined | typeof UNREAD = UNREAD;
  /** Version of the reservations that is on the Lease. */
  #savedVersion = 0;
  #saving: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #again: Timer | undefined;

  constructor(annotation: RecordAnnotation, reservations: Reservations, clock: Clock) {
    this.#annotation = annotation;
    this.#reservations = reservations;
    this.#clock = clock;
  }

  get where(): string {
    return this.#annotation.where;
  }

  /**
   * Reads what an earlier process or a restored etcd left. Gives up after ten seconds. The next save then reads it.
   * Resolves to whether that was not known yet.
   */
  load(signal: AbortSignal): Promise<boolean> {
    return (this.loading ??= this.#load(signal).finally(() => (this.loading = undefined)));
  }

  async reserve(reservation: Reservation): Promise<void> {
    this.#reservations.reserve(reservation, this.#clock.monotonic());
    if (!reservation.lasting) return;
    try {
      await this.#save();
    } catch (error) {
      // The copy is then not deleted.
      this.#reservations.end(reservation);
      throw error;
    }
  }

  /** A plan was made. It may have ended reservations. */
  planned(): void {
    if (this.#reservations.version !== this.#savedVersion && !this.#saving && !this.#again)
      this.#saveLater();
  }

  /** Writes what is not yet written. */
  async close(): Promise<void> {
    this.#again?.cancel();
    const timer = this.#clock.setTimeout(() => this.#closed.abort(), LAST_SAVE_MS);
    if (this.#reservations.version !== this.#savedVersion)
      await this.#save().catch(() => undefined);
    timer.cancel();
    this.#closed.abort();
  }

  async #load(signal: AbortSignal): Promise<boolean> {
    const end = this.#clock.monotonic() + FIRST_READ_MS;
    while (!signal.aborted && this.#clock.monotonic() < end) {
      try {
        return this.#take(await this.#annotation.read(signal));
      } catch (error) {
        if (error instanceof ApiError && SETTLED.has(error.kind)) return false;
        await sleep(this.#clock, READ_AGAIN_MS, signal);
      }
    }
    return false;
  }

  #saveLater(): void {
    this.#save().catch((error: unknown) => {
      const settled = error instanceof ApiError && SETTLED.has(error.kind);
      if (settled || this.#closed.signal.aborted) return;
      this.#again = this.#clock.setTimeout(() => {
        this.#again = undefined;
        this.planned();
      }, SAVE_AGAIN_MS);
    });
  }

  // Reservations made while a request is in flight are part of the next one.
  #save(): Promise<void> {
    if (this.#next) return this.#next;
    if (!this.#saving) return (this.#saving = this.#saveNow());
    this.#next = this.#saving
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return (this.#saving = this.#saveNow());
      });
    return this.#next;
  }

  async #saveNow(): Promise<void> {
    try {
      let version = 0;
      let text: string | undefined;
      await this.#annotation.write((before) => {
        this.#take(before);
        version = this.#reservations.version;
        text = reservationText(this.#reservations.lasting());
        if (text !== undefined && text.length > LONGEST_RESERVATIONS) throw new ReservationsFull();
        return text;
      }, this.#closed.signal);
      this.#known = text;
      this.#savedVersion = version;
    } finally {
      this.#saving = undefined;
    }
  }

  #take(text: string | undefined): boolean {
    if (text === this.#known) return false;
    if (this.#known !== UNREAD) this.#savedVersion = NOT_SAVED;
    this.#known = text;
    const now = this.#clock.monotonic();
    for (const reservation of parseReservations(text))
      if (!this.#reservations.at(reservation.kind, reservation.place))
        this.#reservations.reserve(reservation, now);
    return true;
  }
}

/** Returns undefined without reservations. */
export function reservationText(reservations: readonly Reservation[]): string | undefined {
  if (reservations.length === 0) return undefined;
  return JSON.stringify(
    reservations.map(({ kind, place, namespaceUid, source, copyUid }) => ({
      kind,
      place: refText(place),
      namespaceUID: namespaceUid,
      source: refText(source),
      copyUID: copyUid,
    })),
  );
}

/**
 * What is malformed is ignored, and so is what exceeds the limits of the writer: a user who can edit the Lease can
 * write anything there.
 */
export function parseReservations(text: string | undefined): readonly Reservation[] {
  if (text === undefined || text.length > LONGEST_RESERVATIONS) return [];
  const list = parsed(text);
  return Array.isArray(list) ? list.slice(0, MOST_READ).flatMap(reservationOf) : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reservationOf(value: unknown): readonly Reservation[] {
  const fields: ReadonlyMap<string, unknown> = new Map(Object.entries(value ?? {}));
  const textOf = (field: string): string => {
    const text = fields.get(field);
    return typeof text === "string" ? text : "";
  };
  const kind = OBJECT_KINDS.find((each) => each === textOf("kind"));
  const [place, source] = [parseRef(textOf("place")), parseRef(textOf("source"))];
  const [namespaceUid, copyUid] = [textOf("namespaceUID"), textOf("copyUID")];
  const formed = [namespaceUid, copyUid].every((uid) => uid !== "" && uid.length <= LONGEST_UID);
  if (!kind || !place || !source || !formed) return [];
  return [{ kind, place, namespaceUid, source, copyUid, lasting: true }];
}
