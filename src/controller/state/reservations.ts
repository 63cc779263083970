// Places whose copy is deleted for its successor. Until an object is there again, the place belongs to the source
// of that successor: no other source of the same rank gets it. It is in memory only. After a crash, precedence
// decides, because a copy is replaced only where a create would be made as well.
import type { Ref } from "../../text/names.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";

export type Reservation = {
  readonly kind: ObjectKind;
  readonly place: Ref;
  readonly source: Ref;
};

export class Reservations {
  readonly #byPlace = new Map<string, Reservation>();

  of(kind: ObjectKind): readonly Reservation[] {
    return [...this.#byPlace.values()].filter((each) => each.kind === kind);
  }

  /** The source that has the place. */
  sourceAt(kind: ObjectKind, place: Ref): Ref | undefined {
    // A key costs a text for each place that is asked for.
    if (this.#byPlace.size === 0) return undefined;
    return this.#byPlace.get(placeKey(kind, place))?.source;
  }

  note({ kind, place, source }: Reservation): void {
    this.#byPlace.set(placeKey(kind, place), { kind, place, source });
  }

  end({ kind, place }: Pick<Reservation, "kind" | "place">): void {
    this.#byPlace.delete(placeKey(kind, place));
  }
}
