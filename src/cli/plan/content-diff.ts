// Lists what a write changes in an object's content, by name: entries, labels and annotations that are
// added, changed or removed. It contains no values and none of secretcast's marks.
import { listed } from "../../text/listed.ts";
import { parseRecord } from "../../controller/desired/copied-metadata.ts";
import { isCopying, type Action, type Fill } from "../../controller/model/actions.ts";
import type { CachedObject } from "../../controller/model/cluster.ts";
import { placeKey } from "../../controller/model/kinds.ts";
import { MANAGED_BY_LABEL } from "../../controller/annotations/vocabulary.ts";
import type { DryPlan } from "../../inspect/cluster/dry-plan.ts";
import type { ClusterBuilder } from "../../inspect/cluster/cluster-builder.ts";

export type NamesDiff = {
  readonly added?: readonly string[];
  readonly changed?: readonly string[];
  readonly removed?: readonly string[];
};

export type ContentDiff = {
  readonly keys?: NamesDiff;
  readonly labels?: NamesDiff;
  readonly annotations?: NamesDiff;
  /** What it becomes. */
  readonly type?: string;
  readonly immutable?: boolean;
};

type Digests = ReadonlyMap<string, string>;

const NOTHING: Digests = new Map();

/** Undefined when the write only changes secretcast's marks, or deletes the object. */
export function contentDiff(
  action: Action,
  builder: ClusterBuilder,
  fills: DryPlan["fills"],
): ContentDiff | undefined {
  if (action.kind === "fill" || action.kind === "clear") {
    const fill = fills.get(placeKey(action.objectKind, action.place));
    return fill && someOf({ keys: filled(fill, shapeKeys(builder, action.target)) });
  }
  if (!isCopying(action)) return undefined;
  const { source, desiredCopy } = action.content;
  const wanted = builder.payloadShape(source);
  if (!wanted) return undefined;
  if (action.kind === "create") {
    const { data, labels, annotations } = wanted;
    return someOf({
      keys: diff(NOTHING, data, []),
      labels: diff(NOTHING, labels, []),
      annotations: diff(NOTHING, annotations, []),
    });
  }
  const present = builder.shapeOf(action.target);
  if (!present) return undefined;
  const recorded = action.kind === "adopt" ? NO_RECORD : parseRecord(present.copiedKeys);
  // A replaced object is created anew and loses what others added to it.
  const labelsGo = action.kind === "replace" ? [...present.labels.keys()] : recorded.labels;
  const annotationsGo =
    action.kind === "replace" ? [...present.annotations.keys()] : recorded.annotations;
  return someOf({
    keys: diff(present.data, wanted.data, [...present.data.keys()]),
    labels: diff(withoutOurs(present.labels), wanted.labels, labelsGo),
    annotations: diff(present.annotations, wanted.annotations, annotationsGo),
    ...(desiredCopy.type !== present.type && { type: desiredCopy.type }),
    ...(desiredCopy.immutable !== present.immutable && { immutable: desiredCopy.immutable }),
  });
}

const NO_RECORD = { labels: [], annotations: [] } as const;

// The label that says who manages it is a mark.
function withoutOurs(labels: Digests): Digests {
  return new Map([...labels].filter(([key]) => key !== MANAGED_BY_LABEL));
}

/** `ends`: the entries of `present` that are removed unless they are wanted. */
function diff(present: Digests, wanted: Digests, ends: readonly string[]): NamesDiff | undefined {
  const added: string[] = [];
  const changed: string[] = [];
  for (const [key, digest] of wanted) {
    const before = present.get(key);
    if (before === undefined) added.push(key);
    else if (before !== digest) changed.push(key);
  }
  const removed = ends.filter((key) => present.has(key) && !wanted.has(key));
  return names({ added, changed, removed });
}

function shapeKeys(builder: ClusterBuilder, target: CachedObject): Digests {
  return builder.shapeOf(target)?.data ?? NOTHING;
}

function filled({ set, remove }: Fill, present: Digests): NamesDiff | undefined {
  const keys = set.keys();
  return names({
    added: keys.filter((key) => !present.has(key)),
    changed: keys.filter((key) => present.has(key)),
    removed: remove.filter((key) => present.has(key)),
  });
}

function names(lists: Required<NamesDiff>): NamesDiff | undefined {
  return someOf({
    added: sorted(lists.added),
    changed: sorted(lists.changed),
    removed: sorted(lists.removed),
  });
}

function sorted(list: readonly string[]): readonly string[] | undefined {
  return list.length > 0 ? list.toSorted() : undefined;
}

type Some<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

// Drops undefined parts. Undefined when nothing is left.
function someOf<T extends object>(parts: T): Some<T> | undefined {
  const given = Object.entries(parts).filter(([, value]) => value !== undefined);
  return given.length > 0 ? (Object.fromEntries(given) as Some<T>) : undefined;
}

const SHOWN = 5;

/** `+tls.crt ~tls.key -old +label:team`. */
export function diffText({ keys, labels, annotations, type, immutable }: ContentDiff): string {
  const words = [
    ...wordsOf(keys, ""),
    ...wordsOf(labels, "label:"),
    ...wordsOf(annotations, "annotation:"),
    ...(type === undefined ? [] : [`type=${type}`]),
    ...(immutable === undefined ? [] : [`immutable=${immutable}`]),
  ];
  return listed(words, SHOWN, { between: " " });
}

function wordsOf(diffs: NamesDiff | undefined, what: string): readonly string[] {
  const { added = [], changed = [], removed = [] } = diffs ?? {};
  return [
    ...added.map((name) => `+${what}${name}`),
    ...changed.map((name) => `~${what}${name}`),
    ...removed.map((name) => `-${what}${name}`),
  ];
}
