// In what an object is not what it must be, each as the name of what differs: for both judges.
import { dataOf, placeOf, wordOf } from "../model/raw.ts";
import type { Content, Raw, Source, Texts } from "../model/raw.ts";
import { isOurs } from "../model/standing.ts";

const falseOf = (checks: Readonly<Record<string, boolean>>): readonly string[] =>
  Object.keys(checks).filter((check) => checks[check] === false);
const byCode = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
const holds = (all: Texts = {}, some: Texts): boolean =>
  Object.entries(some).every(([key, value]) => all[key] === value);

/** Between an object and the copy of a source; empty: it is one. */
export function copyDifferences(present: Raw, source: Source): readonly string[] {
  const { content, raw, words, entry, list } = source;
  const kept = words["on-delete"] === "keep" ? "keep" : undefined;
  const from = { source: placeOf(raw), "source-uid": raw.metadata.uid };
  const marks = { ...from, entry, list, "on-delete": kept };
  const wrong = Object.entries(marks).filter(([word, value]) => wordOf(present, word) !== value);
  const plain = { marks: isOurs(present), "source-version": !!wordOf(present, "source-version") };
  return [
    ...falseOf(plain),
    ...wrong.map(([word]) => word),
    ...contentDifferences(present, content),
  ];
}

export function contentDifferences(present: Raw, content: Content): readonly string[] {
  const data = dataOf(present);
  // What is never copied must not be there either, but others' labels may: the record tells them apart.
  const copied = [
    ...Object.keys(content.labels).map((key) => `label:${key}`),
    ...Object.keys(content.annotations).map((key) => `annotation:${key}`),
  ];
  return falseOf({
    "copied-keys": (wordOf(present, "copied-keys") ?? "") === copied.toSorted(byCode).join(","),
    data: holds(data, content.data) && holds(content.data, data),
    type: (present.type ?? "Opaque") === content.type,
    immutable: (present.immutable === true) === content.immutable,
    labels: holds(present.metadata.labels, content.labels),
    annotations: holds(present.metadata.annotations, content.annotations),
  });
}
