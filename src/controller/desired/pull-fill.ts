// What to write into a pulling Secret, and when its content is ours. The cache keeps digests of such Secrets, not
// their data, so this is asked when a write is due, of the Secret as it then is.
//   it is empty, holds exactly what the source gives it, or holds what we wrote there   it gets what the source gives
//   anything else                                                                       its owner's: nothing changes
// Content is ours while the marks say so: `source-version`, and `placed-at` with the Secret's own place. So a copy of
// the object, in another place or from a backup, is its owner's.
import { listed } from "../../text/listed.ts";
import { because, type Reason } from "../model/reasons.ts";
import { parsePull, type Annotations } from "../annotations/parse.ts";
import { excessOf } from "../../text/bounds.ts";
import { entriesOf, entryBytes, typeOf, type KindRules } from "../model/kinds.ts";
import { SecretData } from "../model/secret-data.ts";
import { filterKeys, recordOf, type KeyFilter } from "../../text/key-filter.ts";
import type { PullingObject, SourcePayload, SourceObject } from "../model/cluster.ts";
import { objectOf, stringOf, stringsOf } from "../model/unstructured.ts";
import { isUid, recordedEntry, recordedList, VERSION } from "./copy.ts";
import { copyType, emptyEntry, isEmptyEntry, requiredKeys } from "../model/secret-types.ts";
import { annotationKey } from "../annotations/vocabulary.ts";
import { problemText, type OnDelete } from "../annotations/rules.ts";
import type { Fill } from "../model/actions.ts";
import type { StringMap } from "../../text/string-map.ts";
import { refText, type Ref } from "../../text/names.ts";

/** What a pulling Secret records of its content. */
type FillRecord = Pick<
  PullingObject,
  "isFilled" | "sourceUid" | "sourceVersion" | "entry" | "list"
>;

/** A pulling Secret as it is now, with its data. */
export type PullState = FillRecord & {
  readonly kind: KindRules;
  readonly place: Ref;
  readonly type: string;
  readonly keys: KeyFilter;
  readonly onDelete: OnDelete;
  readonly data: StringMap;
};

export function readPullState(kind: KindRules, raw: unknown): PullState {
  const object = objectOf(raw);
  const metadata = objectOf(object.metadata);
  const place = { namespace: stringOf(metadata.namespace), name: stringOf(metadata.name) };
  const annotations = stringsOf(metadata.annotations);
  const { keys, onDelete } = parsePull(annotations);
  const type = typeOf(kind, object);
  const data = entriesOf(kind, object);
  return { kind, place, type, keys, onDelete, data, ...recordedFill(place, annotations) };
}

/** The record of what we filled in. A value that we cannot have written is ignored. */
export function recordedFill(place: Ref, annotations: Annotations): FillRecord {
  const uid = annotations[annotationKey("source-uid")] ?? "";
  const version = annotations[annotationKey("source-version")] ?? "";
  const isOurs = annotations[annotationKey("placed-at")] === refText(place);
  return {
    isFilled: isOurs && isUid(uid) && VERSION.test(version),
    sourceUid: isUid(uid) ? uid : undefined,
    sourceVersion: VERSION.test(version) ? version : undefined,
    entry: recordedEntry(annotations),
    list: recordedList(annotations),
  };
}

export type FillResult = {
  /** undefined: it has all that it gets. */
  readonly fill: Fill | undefined;
  /** It held nothing, as a manifest of a type with required keys leaves it. */
  readonly isRefill: boolean;
};

/** What to write so that `pull` has what `source` gives it, or why that is impossible. */
export function fillFor(
  pull: PullState,
  source: SourceObject,
  { data }: SourcePayload,
): FillResult | Reason {
  const filtered = filterKeys(pull.keys, data.reveal());
  if (!filtered.ok) {
    const problem = problemText({ annotation: annotationKey("keys"), ...filtered.fault });
    return because("KeysInvalid", { problem });
  }
  const offered = filtered.value;
  const { type } = pull;
  if (copyType(type, Object.keys(offered)) !== type) return because("PullKeysMissing", { type });
  const set = recordOf<string>([]);
  for (const [key, value] of Object.entries(offered))
    if (!Object.hasOwn(pull.data, key) || pull.data[key] !== value) set[key] = value;
  const remove = Object.keys(pull.data).filter((key) => !Object.hasOwn(offered, key));
  const changes = Object.keys(set).length + remove.length;
  const content = keysHeld(pull.kind, type, pull.data);
  if (!pull.isFilled && changes > 0 && content !== "")
    return because("OwnContent", { keys: content });
  const bytesOf = (entry: string): number => entryBytes(pull.kind, entry);
  const excess = excessOf(offered, bytesOf);
  if (excess) return because("PullTooLarge", { part: excess.part, expected: excess.expected });
  const isRefill = content === "";
  const { key: entry, list } = source.entry ?? {};
  const isRecorded =
    pull.isFilled && pull.sourceUid === source.uid && pull.entry === entry && pull.list === list;
  if (changes === 0 && isRecorded) return { fill: undefined, isRefill };
  const placedAt = refText(pull.place);
  const version = { sourceUid: source.uid, sourceVersion: source.resourceVersion };
  const record = { placedAt, ...version, entry, list };
  return { fill: { set: new SecretData(pull.kind, set), remove, record }, isRefill };
}

/** PullingObject.content. */
export function keysHeld(kind: KindRules, type: string, data: StringMap): string {
  const isEmpty = (key: string, entry: string): boolean =>
    entryBytes(kind, entry) === 0 || isEmptyEntry(type, key, entry);
  return listed(Object.entries(data).flatMap(([key, entry]) => (isEmpty(key, entry) ? [] : [key])));
}

/**
 * Takes the content and the record off. What the type requires cannot be taken out and is left as an empty shell.
 * With `on-delete: keep`, the content stays.
 */
export function emptyingFill({ kind, type, data, onDelete }: PullState): Fill {
  const gone = onDelete === "keep" ? [] : Object.keys(data);
  const set = recordOf<string>(
    gone.filter((key) => requiredKeys(type, key)).map((key) => [key, emptyEntry(type)] as const),
  );
  const remove = gone.filter((key) => !requiredKeys(type, key));
  return { set: new SecretData(kind, set), remove, record: undefined };
}
