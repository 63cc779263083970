// Places whose copy is deleted for its successor. Until the successor exists, the place belongs to the
// source that the deleted copy named: no other source of the same rank gets it, and a namespace that
// takes nothing new gets its copy back. What must survive the process is also on the Lease
// (controller/writes/reservation-record.ts). The planner ends a reservation (plan/reserved-places.ts).
import type { Ref } from "../../text/names.ts";
import type { Reservation } from "../model/actions.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";

/** So many that must survive the process exist at a time: they are one annotation, of 256 KiB at most. */
export const MOST_LASTING = 200;
/** The most in one namespace: its users can keep a copy, and so its place reserved, by a finalizer. */
export const MOST_LASTING_OF_A_NAMESPACE = MOST_LASTING / 4;

export type HeldReservation = Reservation & {
  /** When it was made, or read from the Lease (ms, monotonic). */
  readonly madeAt: number;
  /** Since when its source has not wanted the place, or undefined if it does. */
  readonly unwantedSince: number | undefined;
};

export class Reservations {
  readonly #byPlace = new Map<string, HeldReservation>();
  #version = 0;

  /** Whether there is any: lookups by place cost a text each. */
  get any(): boolean {
    return this.#byPlace.size > 0;
  }

  /** Changes with the lasting ones. */
  get version(): number {
    return this.#version;
  }

  lasting(): readonly Reservation[] {
    return [...this.#byPlace.values()].filter(({ lasting }) => lasting);
  }

  of(kind: ObjectKind): readonly HeldReservation[] {
    return [...this.#byPlace.values()].filter((each) => each.kind === kind);
  }

  at(kind: ObjectKind, place: Ref): HeldReservation | undefined {
    return this.any ? this.#byPlace.get(placeKey(kind, place)) : undefined;
  }

  reserve(reservation: Reservation, now: number): void {
    this.end(reservation);
    this.#set({ ...reservation, madeAt: now, unwantedSince: undefined });
    if (reservation.lasting) this.#version++;
  }

  wanted(reservation: HeldReservation): void {
    if (reservation.unwantedSince !== undefined)
      this.#set({ ...reservation, unwantedSince: undefined });
  }

  /** Since when it has been so. */
  unwanted(reservation: HeldReservation, now: number): number {
    const since = reservation.unwantedSince ?? now;
    this.#set({ ...reservation, unwantedSince: since });
    return since;
  }

  end({ kind, place }: Pick<Reservation, "kind" | "place">): void {
    const held = this.at(kind, place);
    if (!held) return;
    this.#byPlace.delete(placeKey(kind, place));
    if (held.lasting) this.#version++;
  }

  #set(held: HeldReservation): void {
    this.#byPlace.set(placeKey(held.kind, held.place), held);
  }
}
