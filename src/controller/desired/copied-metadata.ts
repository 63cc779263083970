// Which labels and annotations of a source are copied: those that the source names, never those that
// make other controllers act, and no more than the API accepts. Owner references, finalizers and
// managedFields are not metadata of this kind and are never copied.
import { tooManySteps, type GlobList } from "../../text/globs.ts";
import { isNeverCopied, isNeverReleased, mayBeCopied } from "../annotations/never-copied.ts";
import { invalid, type Invalid } from "../../text/result.ts";
import type { StringMap } from "../../text/string-map.ts";

export type Copied = {
  readonly labels: StringMap;
  readonly annotations: StringMap;
  /** The record of both: "label:KEY" and "annotation:KEY", sorted, joined by ",". */
  readonly record: string;
  readonly notes: readonly string[];
};

/** kube-apiserver: annotations' keys and values together, in bytes. */
const MOST_ANNOTATION_BYTES = 262_144;
/** Room for our own marks, whose values are two places (317 each), a UID and a version. */
const OUR_BYTES = 2048;

/** The limit for a namespace's labels, and for labels or annotations of a source that selects which are copied. */
export const MOST_METADATA_KEYS = 2000;

/** Why the labels or annotations of a source cannot be copied as it asks, and which annotation asks it. */
export function metadataExcess(
  labels: StringMap,
  annotations: StringMap,
  copyLabels: GlobList | undefined,
  copyAnnotations: GlobList | undefined,
  copyable: GlobList | undefined,
): { readonly name: "copy-labels" | "copy-annotations"; readonly fault: Invalid } | undefined {
  const ofLabels =
    copyLabels &&
    (tooWide(labels, copyLabels) ??
      tooMuchToAsk(labels, copyLabels, copyable) ??
      recordExcess(labels, copyLabels, copyable));
  if (ofLabels) return { name: "copy-labels", fault: ofLabels };
  const fault =
    copyAnnotations &&
    (tooWide(annotations, copyAnnotations) ?? tooMuchToAsk(annotations, copyAnnotations, copyable));
  return fault && { name: "copy-annotations", fault };
}

// The administrator's globs cost as much as there are keys that they are asked of.
function tooMuchToAsk(
  texts: StringMap,
  wanted: GlobList,
  copyable: GlobList | undefined,
): Invalid | undefined {
  const checked = copyable ? Object.keys(texts).filter(isNeverCopied) : [];
  if (!copyable || !tooManySteps(copyable, checked)) return undefined;
  const expected = `fewer than ${checked.length} keys that --copyable-keys is compared with, or simpler globs in that flag`;
  return invalid(wanted.text, expected).fault;
}

function tooWide(texts: StringMap, wanted: GlobList): Invalid | undefined {
  const keys = Object.keys(texts);
  if (keys.length <= MOST_METADATA_KEYS) return tooManySteps(wanted, keys);
  const expected = `at most ${MOST_METADATA_KEYS} labels and as many annotations on a source that copies some`;
  return invalid(wanted.text, expected).fault;
}

function recordExcess(
  labels: StringMap,
  wanted: GlobList,
  copyable: GlobList | undefined,
): Invalid | undefined {
  const record = choose(labels, wanted, copyable).map(([key]) => `label:${key}`);
  if (record.join(",").length <= MOST_ANNOTATION_BYTES - OUR_BYTES) return undefined;
  const expected = `fewer labels: the copies' record of them is longer than ${MOST_ANNOTATION_BYTES} bytes, the most that annotations may have`;
  return invalid(wanted.text, expected).fault;
}

/** Drops and notes copied annotations that do not fit beside ours. */
export function chooseMetadata(
  labels: StringMap,
  annotations: StringMap,
  copyLabels: GlobList | undefined,
  copyAnnotations: GlobList | undefined,
  copyable: GlobList | undefined,
): Copied {
  const chosen = choose(labels, copyLabels, copyable);
  const record = chosen.map(([key]) => `label:${key}`);
  let room = MOST_ANNOTATION_BYTES - OUR_BYTES - record.join(",").length;
  const kept: [string, string][] = [];
  const notes: string[] = [];
  for (const [key, value] of choose(annotations, copyAnnotations, copyable)) {
    const mark = `annotation:${key}`;
    const bytes = key.length + Buffer.byteLength(value) + mark.length + 1;
    if (bytes > room) {
      notes.push(`annotation ${key} is not copied: annotations may not exceed 262144 bytes in all`);
      continue;
    }
    room -= bytes;
    record.push(mark);
    kept.push([key, value]);
  }
  return {
    labels: Object.fromEntries(chosen),
    annotations: Object.fromEntries(kept),
    record: record.toSorted().join(","),
    notes,
  };
}

function choose(
  texts: StringMap,
  wanted: GlobList | undefined,
  copyable: GlobList | undefined,
): (readonly [string, string])[] {
  if (!wanted) return [];
  return Object.entries(texts)
    .filter(([key]) => wanted.matches(key) && mayBeCopied(key, copyable))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const MOST_RECORDED = 2 * MOST_METADATA_KEYS;

/**
 * What a copy's record names. It includes keys that are never copied, so that a key that the
 * administrator took back is removed from the copies. Keys that no setting can release are skipped,
 * whatever wrote them there.
 */
export function parseRecord(record: string): {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
} {
  const entries = record.split(",", MOST_RECORDED);
  const of = (prefix: string): string[] =>
    entries
      .filter((entry) => entry.startsWith(prefix))
      .map((entry) => entry.slice(prefix.length))
      .filter((key) => key !== "" && !isNeverReleased(key));
  return { labels: of("label:"), annotations: of("annotation:") };
}
