// Chooses the places of the sources of a move. An object has one rule. When several sources of the tool
// share one object, the source with the most copies keeps it. The others get their own objects.
import { isEqualContent, type JudgedCopy } from "./judge-copies.ts";
import {
  copyableObjects,
  type KindPlace,
  objectTitle,
  type OldCluster,
  type OldObject,
  placeOf,
} from "../oldtools/old-objects.ts";
import type { OldSource } from "../oldtools/old-tool.ts";
import { marksOf } from "../../controller/observed/read-copy.ts";
import { refText } from "../../text/names.ts";

export type PlacedSource = {
  /** The source in its new form, which may be without its current object. */
  readonly old: OldSource;
  readonly place: KindPlace;
  /** The existing object. Undefined when one is to be created. */
  readonly object?: OldObject;
  /** Why the source cannot be there. */
  readonly problem?: string;
};

export function placeSources(
  sources: readonly OldSource[],
  judged: readonly JudgedCopy[],
  cluster: OldCluster,
  newSourcesIn: string,
): readonly PlacedSource[] {
  const objects = copyableObjects(cluster);
  const counts = new Map<string, number>();
  for (const { source, state } of judged) {
    if (!source || (state !== "adoptable" && state !== "adopted")) continue;
    counts.set(source.title, (counts.get(source.title) ?? 0) + 1);
  }
  // Copies of ours count as well: the clean-up takes the tool's marks off them one after the other.
  for (const { kind, name, namespace, labels, annotations } of objects) {
    const marks = marksOf({ name, namespace }, labels, annotations);
    if (!marks) continue;
    const key = copiesKey({ kind, ...marks.source }, name);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const count = ({ title, object, copyName }: OldSource): number =>
    (counts.get(title) ?? 0) + ((object && counts.get(copiesKey(object, copyName))) ?? 0);
  const holders = new Map<string, OldSource>();
  for (const source of sources) {
    if (!source.object || (source.sharing === "refused" && !isMovable(source))) continue;
    const holder = holders.get(objectTitle(source.object));
    if (!holder || count(source) > count(holder)) holders.set(objectTitle(source.object), source);
  }
  const present = new Map(objects.map((object) => [objectTitle(object), object]));
  return sources.map((old): PlacedSource => {
    const { kind, object, absent } = old;
    if (absent) return { old, place: { kind, ...absent } };
    const holder = object && holders.get(objectTitle(object));
    if (object && (holder === old || old.sharing === "refused")) {
      const known = { old, place: placeOf(object), object };
      if (!holder || holder === old || !isMovable(old)) return known;
      const problem = `a ${kind} has one rule with secretcast, and ${holder.title} has that of ${refText(object)}`;
      return { ...known, problem };
    }
    const apart = object ? splitOff(old, object) : old;
    const place = { kind, namespace: newSourcesIn, name: old.copyName };
    const there = present.get(objectTitle(place));
    if (!there) return { old: apart, place };
    if (old.content && isEqualContent(there, old.content)) {
      return { old: apart, place, object: there };
    }
    const problem = `a ${kind} with other data is in the way of its new source ${refText(place)}`;
    return { old: apart, place, object: there, problem };
  });
}

function copiesKey(source: Parameters<typeof objectTitle>[0], copyName: string): string {
  return `${objectTitle(source)} as ${copyName}`;
}

function isMovable({ going, problems }: OldSource): boolean {
  return going === undefined && problems.length === 0;
}

function splitOff(old: OldSource, object: OldObject): OldSource {
  const note = `another rule has the ${objectTitle(object)}, so that this one gets a ${old.kind} of its own, which holds its data of now and does not follow it`;
  return { ...old, object: undefined, notes: [note] };
}
