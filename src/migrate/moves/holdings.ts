// A move grants only what a copy has today. Whatever the rules of the old tool say, a namespace keeps what it
// has: an object with every entry of the source, or a healthy copy of the tool with former content. Rules
// alone prove nothing, because their authority may be elsewhere: in webhooks, accounts or flags.
import type { JudgedCopy } from "./judge-copies.ts";
import { copyableObjects, type OldCluster, type OldObject } from "../oldtools/old-objects.ts";
import type { OldSource, OldTool } from "../oldtools/old-tool.ts";
import { annotationKey } from "../../controller/annotations/vocabulary.ts";
import { marksOf } from "../../controller/observed/read-copy.ts";

/** Whether something in the namespace has the content of the source now. */
export type Holds = (source: OldSource, namespace: string) => boolean;

/** Undefined for manifests, which contain no copies: an object of a cluster has a UID. */
export function holdingsOf(
  { rulesNeedMore }: OldTool,
  cluster: OldCluster,
  judged: readonly JudgedCopy[],
): Holds | undefined {
  const objects = copyableObjects(cluster);
  if (![...cluster.namespaces, ...objects, ...cluster.customs].some(({ uid }) => uid !== "")) {
    return undefined;
  }
  const byEntry = objectsByEntry(objects);
  const marked = new Set<string>();
  // The namespace has what another source gives to the place, before and after the move.
  const taken = new Set<string>();
  // The old tool would give the place to its rule as well, once its owner frees it.
  if (rulesNeedMore !== true)
    for (const object of objects) if (isInTheWay(object)) taken.add(placeOf(object));
  for (const { object, source, state, pulls, isHealthy } of judged) {
    if (!source || pulls) continue;
    if (state === "drifted" && isHealthy) marked.add(keyOf(source, object.namespace));
    if (state === "adoptable") taken.add(placeOf(object));
  }
  return (source, namespace) => {
    if (source.entitled?.has(namespace) === true) return true;
    if (marked.has(keyOf(source, namespace))) return true;
    const { kind, copyName } = source;
    if (taken.has(placeOf({ kind, namespace, name: copyName }))) return true;
    const wanted = Object.entries(source.content?.data.reveal() ?? {});
    const [first] = wanted;
    if (!first) return source.content !== undefined;
    const [key, value] = first;
    const candidates = byEntry.get(key)?.get(value) ?? [];
    return candidates.some((object) => {
      if (object.namespace !== namespace || object.kind !== kind) return false;
      const present = object.data.reveal();
      return wanted.every(([each, text]) => present[each] === text);
    });
  };
}

/** Nothing is written over an object of others. */
function isInTheWay({ name, namespace, labels, annotations }: OldObject): boolean {
  const offers = ["adopt", "from"] as const;
  return (
    marksOf({ name, namespace }, labels, annotations) === undefined &&
    !offers.some((offer) => annotationKey(offer) in annotations)
  );
}

type ByEntry = ReadonlyMap<string, ReadonlyMap<string, readonly OldObject[]>>;

function objectsByEntry(objects: readonly OldObject[]): ByEntry {
  const byKey = new Map<string, Map<string, OldObject[]>>();
  for (const object of objects) {
    for (const [key, value] of Object.entries(object.data.reveal())) {
      const byValue = byKey.get(key) ?? new Map<string, OldObject[]>();
      byKey.set(key, byValue);
      const some = byValue.get(value) ?? [];
      byValue.set(value, some);
      some.push(object);
    }
  }
  return byKey;
}

function keyOf({ title }: OldSource, namespace: string): string {
  return `${namespace} ${title}`;
}

function placeOf({
  kind,
  namespace,
  name,
}: Pick<OldObject, "kind" | "namespace" | "name">): string {
  return `${kind} ${namespace}/${name}`;
}
