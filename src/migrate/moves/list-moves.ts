// Moves sources that another tool creates by entries in the source list, without writing the objects. The
// list is one ConfigMap, written by one request with the version that was read. Users edit it as well, so
// their entries are never changed. A second entry for the same object would freeze all its copies. Both
// cases are problems of that source.
import { OBJECT_FIELDS, type ListEntry } from "../../controller/annotations/list-entry.ts";
import { type KindPlace, objectTitle } from "../oldtools/old-objects.ts";
import {
  NO_ENTRIES,
  sourceListOf,
  type SourceList,
} from "../../controller/annotations/source-list.ts";
import { OBJECT_KINDS } from "../../controller/model/kinds.ts";
import { refText, type Ref } from "../../text/names.ts";
import { MANAGED_BY_LABEL, PREFIX } from "../../controller/annotations/vocabulary.ts";
import { objectOf, stringOf, stringsOf } from "../../controller/model/unstructured.ts";
import type { StringMap } from "../../text/string-map.ts";

export type MoveList = {
  readonly ref: Ref;
  readonly entries: SourceList;
  /** Undefined when the list does not exist. */
  readonly present:
    | {
        readonly uid: string;
        readonly resourceVersion: string;
        readonly data: StringMap | undefined;
        /** The tool that recreates the list. Undefined when none is recognized. */
        readonly keeper: string | undefined;
      }
    | undefined;
};

/** `raw` is the current ConfigMap. Undefined when it does not exist. */
export function readMoveList(ref: Ref, raw: unknown): MoveList {
  if (raw === undefined) return { ref, entries: NO_ENTRIES, present: undefined };
  const object = objectOf(raw);
  const { uid, resourceVersion, labels } = objectOf(object.metadata);
  const data = typeof object.data === "object" && object.data !== null;
  const terms = { list: ref, kinds: OBJECT_KINDS };
  return {
    ref,
    entries: sourceListOf(stringsOf(object.data), terms),
    present: {
      uid: stringOf(uid),
      resourceVersion: stringOf(resourceVersion),
      data: data ? stringsOf(object.data) : undefined,
      keeper: stringsOf(labels)[MANAGED_BY_LABEL],
    },
  };
}

/** Whether the list has an entry for an object. */
export function isListed(place: KindPlace, list: MoveList | undefined): boolean {
  return entriesFor(place, list).length > 0;
}

function entriesFor(place: KindPlace, list: MoveList | undefined): readonly ListEntry[] {
  return [...(list?.entries.entries() ?? [])].filter(
    ({ object }) => object && objectTitle(object) === objectTitle(place),
  );
}

const LONGEST_KEY = 253;

/** Names contain no "_", so the kinds never share a key. Writes the annotations without their prefix. */
export function entryFor(place: KindPlace, annotations: StringMap, list: Ref): ListEntry {
  const lines = Object.entries(annotations).map(
    ([key, value]) => `${key.slice(PREFIX.length)}: ${JSON.stringify(value)}\n`,
  );
  const field = Object.entries(OBJECT_FIELDS).find(([, kind]) => kind === place.kind)?.[0];
  const text = `${field}: ${refText(place)}\n${lines.join("")}`;
  const suffix = place.kind === "Secret" ? "" : `_${place.kind}`;
  const key = `${place.namespace}.${place.name}`.slice(0, LONGEST_KEY - suffix.length) + suffix;
  const entry = sourceListOf({ [key]: text }, { list, kinds: OBJECT_KINDS }).get(key);
  if (!entry) throw new Error(`no entry ${key} was read`);
  return entry;
}

/** Why users' entries in the list prevent the move of this source. Undefined when they do not. */
export function listProblem(
  place: KindPlace,
  entry: ListEntry | undefined,
  moveList: MoveList,
): string | undefined {
  const { ref, entries } = moveList;
  const others = entriesFor(place, moveList).filter(
    ({ key, text }) => !(key === entry?.key && text === entry.text),
  );
  const list = `the source list ${refText(ref)}`;
  if (others.length > 0) {
    const keys = others.map(({ key }) => key).join(", ");
    const why =
      entry === undefined
        ? "the annotations of an object with an entry have no effect"
        : "two entries for one object are refused, and an entry that somebody wrote is not changed";
    return `${list} has an entry for it already (${keys}): ${why}; edit that entry, or remove it and run migrate again`;
  }
  const same = entry && entries.get(entry.key);
  if (!same || same.text === entry.text) return undefined;
  return `${list} uses the key ${entry.key} for something else, and an entry that somebody wrote is not changed; rename that key, then run migrate again`;
}
