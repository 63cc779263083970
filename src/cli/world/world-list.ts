// The source list as one look finds it: understood at once, or the reason why none of its entries counts.
import type { ListedKind } from "../../core/annotations/list-entry.ts";
import { refText, type Ref } from "../../core/annotations/names.ts";
import {
  NO_ENTRIES,
  parseSourceList,
  type SourceList,
} from "../../core/annotations/source-list.ts";
import { KINDS } from "../../core/model/kinds.ts";
import type { ListState } from "../../core/model/cluster.ts";
import { readList } from "../../core/observed/read-list.ts";

export type WorldList = {
  /** What it says of objects of `kind`. */
  stateFor(kind: ListedKind): ListState;
};

/** `--source-list ''`. */
export const NO_LIST: WorldList = {
  stateFor: () => ({ state: "off", reason: "the source list is turned off (--source-list)" }),
};

function unheard(ref: Ref, state: "absent" | "unread", what: string): WorldList {
  const reason = `the source list ${refText(ref)} ${what}`;
  return { stateFor: () => ({ state, reason }) };
}

export function forbiddenList(ref: Ref): WorldList {
  return unheard(ref, "unread", "cannot be read: the API server answers 403 (get, list, watch)");
}

/** `raw`: the ConfigMap; undefined: there is none. */
export function worldList(raw: unknown, ref: Ref, configMaps: boolean): WorldList {
  const object = raw === undefined ? undefined : readList(raw);
  if (!object) return unheard(ref, "absent", "is not there");
  if (!object.entries) return unheard(ref, "unread", `is not read: ${object.reason}`);
  const list = understood(object.entries, ref, configMaps);
  const { uid, resourceVersion } = object;
  return {
    stateFor: (kind) => ({
      state: "read",
      ref,
      uid,
      resourceVersion,
      get: (key) => list.get(key),
      of: (of) => list.of(kind, of),
      entries: () => list.entries(),
    }),
  };
}

function understood(
  entries: Readonly<Record<string, string>>,
  list: Ref,
  configMaps: boolean,
): SourceList {
  const { reserved } = KINDS.ConfigMap;
  const steps = parseSourceList(entries, { list, configMaps, reserved }, NO_ENTRIES);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
