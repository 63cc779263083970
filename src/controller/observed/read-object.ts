// From a Secret or a ConfigMap of the API to what the cache keeps of it. Which of four roles it has
// decides what that is: a source and a pulling Secret keep data, a copy a digest and its marks, a
// unmanaged object little more than its name. A Secret with `from` is its owner's and never a copy, and a copy
// is never a source, whatever else they carry.
import { carries, parseAdopt, type Annotations } from "../annotations/parse.ts";
import { ignoredOnUnmanaged } from "../annotations/ignored.ts";
import {
  MANAGED_BY,
  MANAGED_BY_LABEL,
  MARKS,
  PREFIX,
  unknownKeyOf,
  type AnnotationName,
} from "../annotations/vocabulary.ts";
import type {
  CachedObject,
  Identity,
  SourceObject,
  SourcePayload,
  UnmanagedObject,
} from "../model/cluster.ts";
import { noteFinalizers } from "../model/finalizers.ts";
import { entriesOf, typeOf } from "../model/kinds.ts";
import { objectOf, stringOf, stringsOf } from "../model/unstructured.ts";
import { boundedType, type ReadContext, type ReadingObject } from "./read-context.ts";
import { marksOf, placeOfMovedCopy, readCopy } from "./read-copy.ts";
import { readPull } from "./read-pull.ts";
import { readSource } from "./read-source.ts";
import { valueTime } from "./value-time.ts";

/** An object of the API, reduced for the cache, or undefined where it has no name. */
export function readObject(raw: unknown, context: ReadContext): CachedObject | undefined {
  const read = reduced(raw, context);
  if (read?.deleting === true) noteFinalizers(read, raw);
  return read;
}

function reduced(raw: unknown, context: ReadContext): CachedObject | undefined {
  const object = objectOf(raw);
  const metadata = objectOf(object.metadata);
  const identity: Identity = {
    namespace: context.intern(stringOf(metadata.namespace)),
    name: stringOf(metadata.name),
    uid: stringOf(metadata.uid),
    resourceVersion: stringOf(metadata.resourceVersion),
    deleting: stringOf(metadata.deletionTimestamp) !== "",
  };
  if (identity.namespace === "" || identity.name === "") return undefined;
  const reading: ReadingObject = {
    identity,
    createdAt: stringOf(metadata.creationTimestamp),
    type: typeOf(context.kind, object),
    immutable: object.immutable === true,
    labels: stringsOf(metadata.labels),
    annotations: stringsOf(metadata.annotations),
    data: () => entriesOf(context.kind, object),
    changedBy: () => newestManager(metadata.managedFields),
    valueTime: () => valueTime(metadata, Object.keys(entriesOf(context.kind, object)).length),
  };
  if (context.kind.reserved?.includes(identity.name)) return reservedObject(identity);
  if (carries(reading.annotations, ["from"])) return readPull(reading, context);
  const marks = marksOf(identity, reading.labels, reading.annotations);
  if (marks) return readCopy(reading, marks, context);
  const entry = context.entryOf?.(identity);
  if (
    entry ||
    (context.isSourceNamespace(identity.namespace) && hasOurAnnotations(reading.annotations))
  ) {
    return readSource(reading, context, entry);
  }
  return readUnmanaged(reading, context);
}

// As the API server bounds it.
const LONGEST_MANAGER = 128;

// Two changes in one second have one time: the other client's counts as the newer one.
function newestManager(fields: unknown): string | undefined {
  if (!Array.isArray(fields)) return undefined;
  let newest = { manager: MANAGED_BY, time: "" };
  for (const field of fields as readonly unknown[]) {
    const { manager, time } = objectOf(field);
    const one = { manager: stringOf(manager), time: stringOf(time) };
    if (one.manager === MANAGED_BY ? one.time > newest.time : one.time >= newest.time) newest = one;
  }
  return newest.manager === MANAGED_BY ? undefined : newest.manager.slice(0, LONGEST_MANAGER);
}

/** Whatever it carries, nothing is made of it. */
function reservedObject(given: Identity): UnmanagedObject {
  return { role: "unmanaged", ...given, adopt: undefined, ignored: undefined };
}

const OTHERS = new Set([...MARKS, "adopt" satisfies AnnotationName].map((name) => PREFIX + name));

// Carries anything under our prefix that is not a mark: a source, or one that meant to be.
function hasOurAnnotations(annotations: Annotations): boolean {
  return Object.keys(annotations).some((key) => key.startsWith(PREFIX) && !OTHERS.has(key));
}

/**
 * What the copies of a source hold, read once more, by the entry that made it a source. Returns undefined
 * where it is not a source, or refused.
 */
export function readPayload(
  raw: unknown,
  { entry }: Pick<SourceObject, "entry">,
  context: ReadContext,
): SourcePayload | undefined {
  let read: SourcePayload | undefined;
  const keep: ReadContext["keep"] = (_, payload) => (read = payload);
  readObject(raw, { ...context, entryOf: () => entry, keep });
  return read;
}

function readUnmanaged(
  { identity, type, immutable, labels, annotations }: ReadingObject,
  { intern }: ReadContext,
): UnmanagedObject {
  const adopting = carries(annotations, ["adopt"]);
  const source = adopting ? parseAdopt(annotations) : undefined;
  const adoptable = source !== undefined;
  const labelled = labels[MANAGED_BY_LABEL] === MANAGED_BY;
  const ignored = ignoredOnUnmanaged(annotations, { adoptable, labelled });
  const placed = placeOfMovedCopy(identity, labels, annotations);
  const copiedFor = placed && {
    copiedFor: { namespace: intern(placed.namespace), name: intern(placed.name) },
  };
  if (!adopting) return { role: "unmanaged", ...identity, ...copiedFor, adopt: undefined, ignored };
  const unknownKey = unknownKeyOf(annotations);
  const adopt = {
    source: source && { namespace: intern(source.namespace), name: intern(source.name) },
    type: intern(boundedType(type)),
    immutable,
    labelled: Object.keys(labels).length > 0,
    unknownKey: unknownKey === undefined ? undefined : intern(unknownKey),
  };
  return { role: "unmanaged", ...identity, ...copiedFor, adopt, ignored };
}
