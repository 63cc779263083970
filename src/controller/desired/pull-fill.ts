// What to write into a pulling Secret and take out of it, entry by entry. The cache keeps digests of
// such Secrets, not their data, so this is asked when a write is due, of the Secret as it then is.
//   an entry of its owner's stays theirs, also where it equals the source's: only what we wrote, or what
//   the type requires and its owner could not leave out, is ours to change and to take out
import { listed } from "../../text/listed.ts";
import { because, type Reason } from "../model/reasons.ts";
import { parsePull, type Annotations } from "../annotations/parse.ts";
import { excessOf, MOST_DATA_ENTRIES } from "../../text/bounds.ts";
import { entriesOf, entryBytes, typeOf, type KindRules } from "../model/kinds.ts";
import { SecretData } from "../model/secret-data.ts";
import { filterKeys, recordOf, type KeyFilter } from "../../text/key-filter.ts";
import type { PullingObject, SourcePayload, SourceObject } from "../model/cluster.ts";
import { isDataKey } from "../../text/names.ts";
import { objectOf, stringsOf } from "../model/unstructured.ts";
import { isUid, recordedEntry, recordedList, requiredKeys, VERSION } from "./copy.ts";
import { annotationKey } from "../annotations/vocabulary.ts";
import { problemText } from "../annotations/rules.ts";
import type { Fill } from "../model/actions.ts";
import type { StringMap } from "../../text/string-map.ts";

/** A pulling Secret as it is now, with its data. */
export type PullState = {
  readonly kind: KindRules;
  readonly type: string;
  readonly immutable: boolean;
  readonly keys: KeyFilter;
  readonly data: StringMap;
  readonly pulledKeys: ReadonlySet<string>;
  readonly sourceUid: string | undefined;
  readonly entry: string | undefined;
  readonly list: string | undefined;
};

export function readPullState(kind: KindRules, raw: unknown): PullState {
  const object = objectOf(raw);
  const annotations = stringsOf(objectOf(object.metadata).annotations);
  const { sourceUid, entry, list } = recordedSource(annotations);
  return {
    kind,
    type: typeOf(kind, object),
    immutable: object.immutable === true,
    keys: parsePull(annotations).keys,
    data: entriesOf(kind, object),
    pulledKeys: new Set(parsePulledKeys(annotations)),
    sourceUid,
    entry,
    list,
  };
}

// We fill in so many at most, so no further keys of the record are read.
function parsePulledKeys(annotations: Annotations): readonly string[] {
  const text = annotations[annotationKey("pulled-keys")] ?? "";
  return text.split(",", MOST_DATA_ENTRIES).filter(isDataKey);
}

const ABSENT = "\u0000";

/** The entries that its record names, as they are. An absent entry has a value that no real entry can have. */
export function filledEntries(annotations: Annotations, data: StringMap): StringMap {
  return recordOf(
    parsePulledKeys(annotations).map((key) => {
      return [key, Object.hasOwn(data, key) ? (data[key] ?? ABSENT) : ABSENT] as const;
    }),
  );
}

/** The recorded source of its entries. A value that we cannot have written is ignored. */
export function recordedSource(
  annotations: Annotations,
): Pick<PullingObject, "sourceUid" | "sourceVersion" | "entry" | "list"> {
  const uid = annotations[annotationKey("source-uid")] ?? "";
  const version = annotations[annotationKey("source-version")] ?? "";
  return {
    sourceUid: isUid(uid) ? uid : undefined,
    sourceVersion: VERSION.test(version) ? version : undefined,
    entry: recordedEntry(annotations),
    list: recordedList(annotations),
  };
}

/** `shadowed`: entries that it does not get because its owner has others there. */
export type FillResult = {
  readonly fill: Fill | undefined;
  readonly shadowed: Reason | undefined;
  /** All that it sets is empty or absent now, as a manifest of a type with required keys leaves it. */
  readonly isRefill: boolean;
};

/** What to write so that `pull` has what `source` gives it, or why that is impossible. */
export function fillFor(
  pull: PullState,
  source: SourceObject,
  { data }: SourcePayload,
): FillResult | Reason {
  const offered = filterKeys(pull.keys, data.reveal());
  if (!offered.ok) {
    const problem = problemText({ annotation: annotationKey("keys"), ...offered.fault });
    return because("KeysInvalid", { problem });
  }
  const set = recordOf<string>([]);
  const keys: string[] = [];
  const kept: string[] = [];
  for (const [key, value] of Object.entries(offered.value)) {
    const present = Object.hasOwn(pull.data, key) ? pull.data[key] : undefined;
    const ours = pull.pulledKeys.has(key);
    if (present === value) {
      if (ours) keys.push(key);
      continue;
    }
    if (present !== undefined && !ours && !requiredKeys(pull.type, key)) kept.push(key);
    else {
      keys.push(key);
      set[key] = value;
    }
  }
  const stay = new Set([...keys, ...kept]);
  const gone = [...pull.pulledKeys].filter((key) => !stay.has(key));
  const { key: entry, list } = source.entry ?? {};
  const version = { sourceUid: source.uid, sourceVersion: source.resourceVersion, entry, list };
  const record = keys.length > 0 ? { keys: keys.toSorted(), ...version } : undefined;
  const fill = emptied(pull, gone, set, record);
  const shadowed = kept.length > 0 ? ownEntriesKept(kept) : undefined;
  const recorded = [...pull.pulledKeys].toSorted().join(",") === (record?.keys ?? []).join(",");
  const sameSource =
    record === undefined ||
    (pull.sourceUid === source.uid && pull.entry === entry && pull.list === list);
  const changes = fill.set.keys().length + fill.remove.length;
  if (changes === 0 && recorded && sameSource)
    return { fill: undefined, shadowed, isRefill: false };
  if (changes > 0 && pull.immutable) return because("PullImmutable");
  const bytesOf = (entry: string): number => entryBytes(pull.kind, entry);
  const excess = changes > 0 ? excessOf(after(pull.data, fill), bytesOf) : undefined;
  if (excess) return because("PullTooLarge", { part: excess.part, expected: excess.expected });
  const isEmpty = (key: string): boolean => {
    const present = Object.hasOwn(pull.data, key) ? pull.data[key] : undefined;
    return present === undefined || present === "" || present === shell(pull.type);
  };
  const isRefill = fill.remove.length === 0 && fill.set.keys().every(isEmpty);
  return { fill, shadowed, isRefill };
}

function ownEntriesKept(kept: readonly string[]): Reason {
  return because("OwnEntriesKept", { keys: listed(kept) });
}

/** Takes out everything that we filled in. */
export function emptyingFill(pull: PullState): Fill {
  return emptied(pull, [...pull.pulledKeys], recordOf([]), undefined);
}

function after(own: StringMap, { set, remove }: Fill): StringMap {
  const entries = recordOf(Object.entries({ ...own, ...set.reveal() }));
  for (const key of remove) delete entries[key];
  return entries;
}

// Takes `gone` out. What the type requires cannot be taken out and is left as an empty shell.
function emptied(
  pull: PullState,
  gone: readonly string[],
  set: Record<string, string>,
  record: Fill["record"],
): Fill {
  const remove: string[] = [];
  for (const key of gone) {
    if (!Object.hasOwn(pull.data, key)) continue;
    if (requiredKeys(pull.type, key)) set[key] = shell(pull.type);
    else remove.push(key);
  }
  return { set: new SecretData(pull.kind, set), remove, record };
}

const EMPTY_JSON = "e30="; // {}
const NEWLINE = "Cg==";

function shell(type: string): string {
  if (type === "kubernetes.io/ssh-auth") return NEWLINE;
  return type.startsWith("kubernetes.io/docker") ? EMPTY_JSON : "";
}
