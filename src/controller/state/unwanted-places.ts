// Since when each place has been unwanted, asked again by every sync, and whether its source wanted it in
// the sync before: then the copy is certainly the source's own, and nobody forged it. A sync that does
// not ask for a place forgets it. No clock: `now` is milliseconds of a monotonic clock.

export type UnwantedPlace = { readonly since: number; readonly wasWanted: boolean };

export class UnwantedPlaces {
  #before: ReadonlyMap<string, UnwantedPlace> = new Map();
  #current = new Map<string, UnwantedPlace>();

  /** `wasWanted` is asked only where the sync before did not find the place unwanted. */
  of(place: string, now: number, wasWanted: () => boolean): UnwantedPlace {
    const known = this.#current.get(place) ?? this.#before.get(place);
    const unwanted = known ?? { since: now, wasWanted: wasWanted() };
    this.#current.set(place, unwanted);
    return unwanted;
  }

  beginPass(): void {
    this.#before = this.#current;
    this.#current = new Map();
  }
}
