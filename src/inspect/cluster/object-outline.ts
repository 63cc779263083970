// The part of an object's content that a diff needs: the names of entries, labels and annotations, each
// with a keyed digest of the value. Objects with equal content share one outline, so copies need almost no
// memory.
import { createShare } from "../../text/intern.ts";
import { objectOf, stringsOf } from "../../controller/model/unstructured.ts";
import { annotationKey, PREFIX } from "../../controller/annotations/vocabulary.ts";
import { entriesOf, typeOf, type KindRules } from "../../controller/model/kinds.ts";
import type { Digest } from "../../controller/model/secret-data.ts";
import type { SourcePayload } from "../../controller/model/cluster.ts";

type Digests = ReadonlyMap<string, string>;

export type ObjectOutline = {
  readonly type: string;
  readonly immutable: boolean;
  readonly data: Digests;
  readonly labels: Digests;
  /** Without secretcast's annotations. */
  readonly annotations: Digests;
  /** The mark `copied-keys`. */
  readonly copiedKeys: string;
};

export type OutlineOf = (kind: KindRules, raw: unknown) => ObjectOutline;

export function createOutlines(digest: Digest): {
  readonly ofObject: OutlineOf;
  readonly ofPayload: (
    payload: SourcePayload,
  ) => Pick<ObjectOutline, "data" | "labels" | "annotations">;
} {
  const share = createShare<ObjectOutline>();
  const digests = (texts: Readonly<Record<string, string>>, all = true): Digests => {
    const found = new Map<string, string>();
    for (const key of Object.keys(texts))
      if (all || !key.startsWith(PREFIX)) found.set(key, digest([texts[key] ?? ""]));
    return found;
  };
  return {
    ofObject: (kind, raw) => {
      const object = objectOf(raw);
      const metadata = objectOf(object.metadata);
      const annotations = stringsOf(metadata.annotations);
      const outline = {
        type: typeOf(kind, object),
        immutable: object.immutable === true,
        data: digests(entriesOf(kind, object)),
        labels: digests(stringsOf(metadata.labels)),
        annotations: digests(annotations, false),
        copiedKeys: annotations[annotationKey("copied-keys")] ?? "",
      };
      const { data, labels, annotations: others, ...rest } = outline;
      return share(JSON.stringify([...data, ...labels, ...others, rest]), outline);
    },
    ofPayload: ({ data, labels, annotations }) => ({
      data: digests(data.reveal()),
      labels: digests(labels),
      annotations: digests(annotations),
    }),
  };
}
