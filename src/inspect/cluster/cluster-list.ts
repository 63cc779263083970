// The source list as one read finds it: the parsed list, or the reason why its entries are ignored.
import type { ListedKind, ListTerms } from "../../controller/annotations/list-entry.ts";
import { sourceListOf } from "../../controller/annotations/source-list.ts";
import { KINDS } from "../../controller/model/kinds.ts";
import type { ListState } from "../../controller/model/cluster.ts";
import {
  readListState,
  LIST_OFF,
  unusableListState,
} from "../../controller/observed/list-state.ts";
import { readList } from "../../controller/observed/read-list.ts";

/** The list's state for a kind of objects. */
export type ClusterList = (kind: ListedKind) => ListState;

/** `--source-list ''`. */
export const NO_LIST: ClusterList = () => LIST_OFF;

/** `raw` is the ConfigMap. Undefined when it does not exist. */
export function clusterList(raw: unknown, terms: Omit<ListTerms, "reserved">): ClusterList {
  const ref = terms.list;
  const object = raw === undefined ? undefined : readList(raw);
  if (!object?.entries) {
    const state = unusableListState(ref, object);
    return () => state;
  }
  const { reserved } = KINDS.ConfigMap;
  const list = sourceListOf(object.entries, { ...terms, reserved });
  return (kind) => readListState(ref, object, list, kind);
}
