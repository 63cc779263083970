// What a copy of a source must look like, and whether an object looks so.
// One fingerprint covers everything of ours on a copy (marks, type, immutable, data, copied
// metadata) except the place and the source-version. A copy is current when its fingerprint equals its
// source's, so a source's metadata may change without a write, and an edited copy is detected.
import type { KindRules } from "../model/kinds.ts";
import { jsonSize } from "../../text/json-size.ts";
import { digestData, SecretData, type Digest } from "../model/secret-data.ts";
import type { Annotations, SourceText } from "../annotations/parse.ts";
import type { ListEntry } from "../annotations/list-entry.ts";
import type { GlobList } from "../../text/globs.ts";
import { chooseMetadata, parseRecord } from "./copied-metadata.ts";
import type { DesiredCopy, SourcePayload } from "../model/cluster.ts";
import { isDataKey, parseRef, refText, type Ref } from "../../text/names.ts";
import { copyType } from "../model/secret-types.ts";
import { annotationKey } from "../annotations/vocabulary.ts";
import type { OnDelete } from "../annotations/rules.ts";
import type { StringMap } from "../../text/string-map.ts";

/** Longer than any that the API server gives out. */
const LONGEST_UID = 253;

export function isUid(text: string): boolean {
  return text !== "" && text.length <= LONGEST_UID;
}

/**
 * In place of a mark that cannot be ours, which is restored. A tenant can write any text of 256 KiB there, on any
 * number of copies, and no part of it is kept: V8 keeps a whole text for as long as a part cut out of it.
 */
const FORGED = "(forged)";

/** The mark `entry`: a key of a ConfigMap's data. */
export function recordedEntry(annotations: Annotations): string | undefined {
  const mark = annotations[annotationKey("entry")];
  return mark === undefined || isDataKey(mark) ? mark : FORGED;
}

/** The mark `list`: NAMESPACE/NAME. */
export function recordedList(annotations: Annotations): string | undefined {
  const mark = annotations[annotationKey("list")];
  return mark === undefined || parseRef(mark) ? mark : FORGED;
}

/** How the API compares resourceVersions. Any other text was not written by us and is restored. */
export const VERSION = /^[1-9]\d{0,19}$/;

type Face = {
  readonly type: string;
  readonly immutable: boolean;
  readonly dataDigest: string;
  readonly source: Ref;
  readonly sourceUid: string;
  readonly onDelete: string;
  readonly entry: string;
  readonly list: string;
  readonly copiedKeys: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
};

const ABSENT = "\u0000";

/** `template.labels` and `template.annotations` may hold more than the record names. */
export function fingerprint(digest: Digest, template: Face): string {
  const { labels, annotations } = parseRecord(template.copiedKeys);
  return digest([
    template.type,
    template.immutable ? "immutable" : "",
    template.dataDigest,
    refText(template.source),
    template.sourceUid,
    template.onDelete,
    template.entry,
    template.list,
    template.copiedKeys,
    ...labels.map((key) => template.labels[key] ?? ABSENT),
    ...annotations.map((key) => template.annotations[key] ?? ABSENT),
  ]);
}

/** The value of the mark `on-delete`: not written where it is the default. */
export function onDeleteMark(onDelete: OnDelete | undefined): string {
  return onDelete === "keep" ? "keep" : "";
}

export type SourceContent = Ref & {
  readonly uid: string;
  readonly type: string;
  readonly immutable: boolean;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** After the `keys` filter. */
  readonly entries: StringMap;
  /** The list entry that makes it a source, or undefined: its own annotations do. */
  readonly entry: Pick<ListEntry, "key" | "list"> | undefined;
};

export function desiredCopyOf(
  kind: KindRules,
  content: SourceContent,
  text: SourceText,
  copyable: GlobList | undefined,
  digest: Digest,
): { readonly desiredCopy: DesiredCopy; readonly payload: SourcePayload } {
  const { copyLabels, copyAnnotations } = text;
  const { labels: given, annotations: noted } = content;
  const copied = chooseMetadata(given, noted, copyLabels, copyAnnotations, copyable);
  const data = new SecretData(kind, content.entries);
  const type = copyType(content.type, data.keys());
  const dataDigest = digestData(digest, content.entries);
  const { immutable } = content;
  const { labels, annotations, record: copiedKeys, notes } = copied;
  const desiredCopy: DesiredCopy = {
    type,
    immutable,
    dataDigest,
    fingerprint: fingerprint(digest, {
      type,
      immutable,
      dataDigest,
      source: { namespace: content.namespace, name: content.name },
      sourceUid: content.uid,
      onDelete: onDeleteMark(text.rule.onDelete),
      entry: content.entry?.key ?? "",
      list: content.entry?.list ?? "",
      copiedKeys,
      labels,
      annotations,
    }),
    ...sizesOf(data, { labels, annotations, copiedKeys }),
    notes,
  };
  return { desiredCopy, payload: { data, labels, annotations, copiedKeys } };
}

/** What the name, the envelope, our marks and a few keys of data add to one copy, about. */
const METADATA_BYTES = 700;
const KEYS_INCLUDED = 256;
/** The same, when the API server writes it as JSON with its managedFields. */
const METADATA_JSON_BYTES = 2048;
/** What is around a key, and around its repetition in managedFields. */
const KEY_BYTES = 16;

function sizesOf(
  data: SecretData,
  { labels, annotations, copiedKeys }: Omit<SourcePayload, "data">,
): Pick<DesiredCopy, "bytes" | "jsonBytes"> {
  const keys = data.keys().reduce((sum, key) => sum + 2 * key.length + KEY_BYTES, 0);
  let bytes = METADATA_BYTES + Math.max(0, keys - KEYS_INCLUDED) + copiedKeys.length + data.bytes();
  let jsonBytes = METADATA_JSON_BYTES + keys + copiedKeys.length + data.jsonSize();
  for (const [key, value] of [...Object.entries(labels), ...Object.entries(annotations)]) {
    bytes += 2 * key.length + KEY_BYTES + Buffer.byteLength(value);
    jsonBytes += 2 * key.length + KEY_BYTES + jsonSize(value);
  }
  return { bytes, jsonBytes };
}
