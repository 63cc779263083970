// A copy of ours: its marks, and a digest over all that is ours on it.
import { parseOnDelete } from "../annotations/parse.ts";
import { ignoredOnCopy } from "../annotations/ignored.ts";
import type { OnDelete } from "../annotations/rules.ts";
import { annotationKey, unknownKeyOf } from "../annotations/vocabulary.ts";
import {
  fingerprint,
  onDeleteMark,
  recordedEntry,
  recordedList,
  type Marks,
} from "../desired/copy.ts";
import { CopyObject } from "../model/cluster.ts";
import { digestData } from "../model/secret-data.ts";
import { objectOf, stringsOf } from "../model/unstructured.ts";
import { boundedNames, boundedType, type ReadContext, type ReadingObject } from "./read-context.ts";

/** A longer record of what was copied is read again when it is needed. */
const LONGEST_KEPT_RECORD = 253;

export function readCopy(whole: ReadingObject, marks: Marks, context: ReadContext): CopyObject {
  const { digest, intern, keepsKeyNames } = context;
  const { given, type, immutable, labels, annotations } = whole;
  const data = whole.data();
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
  const changedBy = whole.changedBy();
  const rest = `${unknownMark ?? ""} ${ignored?.word ?? ""} ${changedBy ?? ""}`;
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
  return new CopyObject({ ...given, name: intern(given.name) }, shared);
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
