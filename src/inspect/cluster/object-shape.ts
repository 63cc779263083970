// The part of an object's content that a diff needs: the names of entries, labels and annotations, each
// with a keyed digest of the value. Objects with equal content share one shape, so copies need almost no
// memory.
import { createShare } from "../../text/intern.ts";
import { objectOf, stringsOf } from "../../controller/model/unstructured.ts";
import { annotationKey, PREFIX } from "../../controller/annotations/vocabulary.ts";
import { entriesOf, typeOf, type KindRules } from "../../controller/model/kinds.ts";
import type { Digest } from "../../controller/model/secret-data.ts";
import type { SourcePayload } from "../../controller/model/cluster.ts";

type Digests = ReadonlyMap<string, string>;

export type ObjectShape = {
  readonly type: string;
  readonly immutable: boolean;
  readonly data: Digests;
  readonly labels: Digests;
  /** Without secretcast's annotations. */
  readonly annotations: Digests;
  /** The mark `copied-keys`. */
  readonly copiedKeys: string;
};

export type ShapeOf = (kind: KindRules, raw: unknown) => ObjectShape;

export function createShapes(digest: Digest): {
  readonly ofObject: ShapeOf;
  readonly ofPayload: (
    payload: SourcePayload,
  ) => Pick<ObjectShape, "data" | "labels" | "annotations">;
} {
  const share = createShare<ObjectShape>();
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
      const shape = {
        type: typeOf(kind, object),
        immutable: object.immutable === true,
        data: digests(entriesOf(kind, object)),
        labels: digests(stringsOf(metadata.labels)),
        annotations: digests(annotations, false),
        copiedKeys: annotations[annotationKey("copied-keys")] ?? "",
      };
      const { data, labels, annotations: others, ...rest } = shape;
      return share(JSON.stringify([...data, ...labels, ...others, rest]), shape);
    },
    ofPayload: ({ data, labels, annotations }) => ({
      data: digests(data.reveal()),
      labels: digests(labels),
      annotations: digests(annotations),
    }),
  };
}
