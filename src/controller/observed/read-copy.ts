// Whether an object is a copy of ours, its marks, and a digest over all that is ours on it.
import { parseOnDelete, type Annotations } from "../annotations/parse.ts";
import { ignoredOnCopy } from "../annotations/ignored.ts";
import type { OnDelete } from "../annotations/rules.ts";
import {
  annotationKey,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  unknownKeyOf,
} from "../annotations/vocabulary.ts";
import {
  fingerprint,
  isUid,
  onDeleteMark,
  recordedEntry,
  recordedList,
  VERSION,
} from "../desired/copy.ts";
import { CopyObject } from "../model/cluster.ts";
import { digestData } from "../model/secret-data.ts";
import { objectOf, stringsOf } from "../model/unstructured.ts";
import { parseRef, refText, type Ref } from "../../text/names.ts";
import type { StringMap } from "../../text/string-map.ts";
import { boundedNames, boundedType, type ReadContext, type ReadingObject } from "./read-context.ts";

export type Marks = {
  readonly source: Ref;
  readonly sourceUid: string;
  /** "" where the mark is absent or impossible. */
  readonly sourceVersion: string;
};

/**
 * The marks of an object that is ours, or undefined for an unmanaged object. A source in the copy's own
 * namespace cannot be ours either, since a source never targets its own namespace.
 */
export function marksOf(
  place: Ref,
  labels: StringMap,
  annotations: Annotations,
): Marks | undefined {
  if (labels[MANAGED_BY_LABEL] !== MANAGED_BY) return undefined;
  if (annotations[annotationKey("placed-at")] !== refText(place)) return undefined;
  const source = parseRef(annotations[annotationKey("source")] ?? "");
  const sourceUid = annotations[annotationKey("source-uid")] ?? "";
  if (!source || source.namespace === place.namespace || !isUid(sourceUid)) return undefined;
  const version = annotations[annotationKey("source-version")] ?? "";
  return { source, sourceUid, sourceVersion: VERSION.test(version) ? version : "" };
}

/** The place for which a copy was made that is somewhere else by now: restored or cloned under another name. */
export function placeOfMovedCopy(
  place: Ref,
  labels: StringMap,
  annotations: Annotations,
): Ref | undefined {
  if (labels[MANAGED_BY_LABEL] !== MANAGED_BY) return undefined;
  const placed = parseRef(annotations[annotationKey("placed-at")] ?? "");
  return placed && refText(placed) !== refText(place) ? placed : undefined;
}

/** A longer record of what was copied is read again when it is needed. */
const LONGEST_KEPT_RECORD = 253;

export function readCopy(reading: ReadingObject, marks: Marks, context: ReadContext): CopyObject {
  const { digest, intern, keepsKeyNames } = context;
  const { identity, type, immutable, labels, annotations } = reading;
  const data = reading.data();
  const dataDigest = digestData(digest, data);
  const onDelete = annotations[annotationKey("on-delete")] ?? "";
  const copiedKeys = annotations[annotationKey("copied-keys")] ?? "";
  const parts = {
    ...marks,
    type,
    immutable,
    dataDigest,
    onDelete,
    entry: annotations[annotationKey("entry")] ?? "",
    list: annotations[annotationKey("list")] ?? "",
    copiedKeys,
    labels,
    annotations,
  };
  const template = fingerprint(digest, parts);
  const unknownMark = unknownKeyOf(annotations);
  const entry = recordedEntry(annotations);
  const list = recordedList(annotations);
  const ignored = ignoredOnCopy(annotations);
  const { namespace, name } = marks.source;
  const changedBy = reading.changedBy();
  const rest = `${unknownMark ?? ""} ${ignored?.annotation ?? ""} ${changedBy ?? ""}`;
  const shared = context.share(`${template} ${marks.sourceVersion} ${rest}`, {
    source: { namespace: intern(namespace), name: intern(name) },
    sourceUid: intern(marks.sourceUid),
    sourceVersion: intern(marks.sourceVersion),
    type: intern(boundedType(type)),
    immutable,
    dataDigest: intern(dataDigest),
    // A copy without a version that could be is to be written again, one with an unknown mark never.
    fingerprint: marks.sourceVersion === "" || unknownMark !== undefined ? "" : intern(template),
    onDelete: recordedOnDelete(onDelete),
    copiedKeys: copiedKeys.length > LONGEST_KEPT_RECORD ? undefined : intern(copiedKeys),
    entry: entry === undefined ? undefined : intern(entry),
    list: list === undefined ? undefined : intern(list),
    unknownMark: unknownMark === undefined ? undefined : intern(unknownMark),
    ignored,
    changedBy: changedBy === undefined ? undefined : intern(changedBy),
    ...(keepsKeyNames && { keyNames: intern(boundedNames(Object.keys(data))) }),
  });
  return new CopyObject({ ...identity, name: intern(identity.name) }, shared);
}

/** A copy's record of what was copied onto it. */
export function readRecord(raw: unknown): string {
  const annotations = stringsOf(objectOf(objectOf(raw).metadata).annotations);
  return annotations[annotationKey("copied-keys")] ?? "";
}

function recordedOnDelete(text: string): OnDelete {
  if (text === onDeleteMark("delete")) return "delete";
  const record = parseOnDelete(text);
  return record.ok ? record.value : "keep";
}
