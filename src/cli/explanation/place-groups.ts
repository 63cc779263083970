// Groups places with the same verdict and reason, because a source may have thousands.
import { VERDICTS } from "../../controller/model/verdicts.ts";
import { refText } from "../../text/names.ts";
import type { ExplainedVerdict, PlaceAnswer } from "./answer.ts";

export type PlaceGroup = {
  readonly verdict: ExplainedVerdict;
  readonly reason: string;
  /** Sorted by namespace and never empty. */
  readonly places: readonly [PlaceAnswer, ...PlaceAnswer[]];
};

const ORDER: readonly ExplainedVerdict[] = [...VERDICTS, "unknown"];

/** In the order of the verdicts, the largest group of each first. */
export function groupPlaces(places: readonly PlaceAnswer[]): readonly PlaceGroup[] {
  const groups = new Map<string, [PlaceAnswer, ...PlaceAnswer[]]>();
  for (const place of places) {
    const key = `${place.verdict} ${refText(place.source)} ${place.pulling} ${place.reason}`;
    const group = groups.get(key);
    if (group) group.push(place);
    else groups.set(key, [place]);
  }
  return [...groups.values()]
    .map((group) => ({ verdict: group[0].verdict, reason: group[0].reason, places: group }))
    .toSorted(
      (a, b) =>
        ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict) || b.places.length - a.places.length,
    );
}
