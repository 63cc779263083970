// From the ConfigMap that is the source list to what the cache keeps of it: its entries as they are
// written, or why none of them is read. They are understood later, one after the other
// (source-list.ts), because all of them together may be much.
import { MOST_LIST_ENTRIES } from "../annotations/source-list.ts";
import {
  annotationKey,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  MARKS,
  type AnnotationName,
} from "../annotations/vocabulary.ts";
import { objectOf, stringOf, stringsOf } from "../model/unstructured.ts";
import type { StringMap } from "../../text/string-map.ts";

export type ListObject = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** By key, or undefined where the list as a whole is invalid. */
  readonly entries: Readonly<Record<string, string>> | undefined;
  /** Why the list is invalid, in plain English. */
  readonly reason: string;
};

const FOREIGN: readonly AnnotationName[] = [...MARKS, "from", "adopt"];

/** undefined where it is not an object with a name. */
export function readList(raw: unknown): ListObject | undefined {
  const object = objectOf(raw);
  const metadata = objectOf(object.metadata);
  const list = {
    namespace: stringOf(metadata.namespace),
    name: stringOf(metadata.name),
    uid: stringOf(metadata.uid),
    resourceVersion: stringOf(metadata.resourceVersion),
  };
  if (list.namespace === "" || list.name === "") return undefined;
  const data = stringsOf(object.data);
  const reason =
    foreign(stringsOf(metadata.labels), stringsOf(metadata.annotations)) ??
    excess(data, stringsOf(object.binaryData));
  return { ...list, entries: reason === undefined ? data : undefined, reason: reason ?? "" };
}

// What a copy or a pulling object carries. The list's author did not write it.
function foreign(labels: StringMap, annotations: StringMap): string | undefined {
  if (labels[MANAGED_BY_LABEL] === MANAGED_BY) {
    return `it has the label ${MANAGED_BY_LABEL}: ${MANAGED_BY}, as a copy: take it off`;
  }
  const key = FOREIGN.map(annotationKey).find((each) => Object.hasOwn(annotations, each));
  return key && `it carries ${key}, as no list does: take it off`;
}

function excess(data: StringMap, binaryData: StringMap): string | undefined {
  const [binary] = Object.keys(binaryData);
  if (binary !== undefined) return `${binary} is under binaryData: entries are texts under data`;
  const count = Object.keys(data).length;
  if (count <= MOST_LIST_ENTRIES) return undefined;
  return `it has more than ${MOST_LIST_ENTRIES} entries, the most that are read`;
}
