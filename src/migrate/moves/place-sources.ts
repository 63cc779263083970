// Chooses the places of the sources of a move. A Secret has one rule. When several sources of the tool
// share one Secret, the source with the most copies keeps it. The others get their own Secrets.
import { isEqualContent, type JudgedCopy } from "./judge-copies.ts";
import type { OldCluster, OldObject } from "../oldtools/old-objects.ts";
import type { OldSource } from "../oldtools/old-tool.ts";
import { marksOf } from "../../controller/desired/copy.ts";
import { refText, type Ref } from "../../text/names.ts";

export type PlacedSource = {
  /** The source in its new form, which may be without its current Secret. */
  readonly old: OldSource;
  readonly place: Ref;
  /** The existing Secret. Undefined when one is to be created. */
  readonly object: OldObject | undefined;
  /** Why the source cannot be there. */
  readonly problem: string | undefined;
};

export function placeSources(
  sources: readonly OldSource[],
  judged: readonly JudgedCopy[],
  { secrets }: OldCluster,
  newSourcesIn: string,
): readonly PlacedSource[] {
  const counts = new Map<string, number>();
  for (const { source, state } of judged) {
    if (!source || (state !== "adoptable" && state !== "adopted")) continue;
    counts.set(source.title, (counts.get(source.title) ?? 0) + 1);
  }
  // Copies of ours count as well: the clean-up takes the tool's marks off them one after the other.
  for (const { name, namespace, labels, annotations } of secrets) {
    const marks = marksOf({ name, namespace }, labels, annotations);
    if (!marks) continue;
    const key = copiesKey(marks.source, name);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const count = ({ title, object, copyName }: OldSource): number =>
    (counts.get(title) ?? 0) + ((object && counts.get(copiesKey(object, copyName))) ?? 0);
  const holders = new Map<string, OldSource>();
  for (const source of sources) {
    if (!source.object || (source.sharing === "refused" && !isMovable(source))) continue;
    const holder = holders.get(refText(source.object));
    if (!holder || count(source) > count(holder)) holders.set(refText(source.object), source);
  }
  const present = new Map(secrets.map((secret) => [refText(secret), secret]));
  return sources.map((old): PlacedSource => {
    const { object, absent } = old;
    if (absent) return { old, place: absent, object: undefined, problem: undefined };
    if (object && holders.get(refText(object)) === old) {
      return { old, place: placeOf(object), object, problem: undefined };
    }
    if (object && old.sharing === "refused") {
      const holder = holders.get(refText(object));
      const problem =
        holder && isMovable(old)
          ? `a Secret has one rule with secretcast, and ${holder.title} has that of ${refText(object)}`
          : undefined;
      return { old, place: placeOf(object), object, problem };
    }
    const apart = object ? splitOff(old, object) : old;
    const place = { namespace: newSourcesIn, name: old.copyName };
    const there = present.get(refText(place));
    if (!there) return { old: apart, place, object: undefined, problem: undefined };
    if (old.content && isEqualContent(there, old.content)) {
      return { old: apart, place, object: there, problem: undefined };
    }
    const problem = `a Secret with other data is in the way of its new source ${refText(place)}`;
    return { old: apart, place, object: there, problem };
  });
}

function copiesKey(source: Ref, copyName: string): string {
  return `${refText(source)} as ${copyName}`;
}

function isMovable({ going, problems }: OldSource): boolean {
  return going === undefined && problems.length === 0;
}

function splitOff(old: OldSource, object: OldObject): OldSource {
  const note = `another rule has the Secret ${refText(object)}, so that this one gets a Secret of its own, which holds its data of now and does not follow it`;
  return { ...old, object: undefined, notes: [note] };
}

function placeOf({ namespace, name }: Ref): Ref {
  return { namespace, name };
}
