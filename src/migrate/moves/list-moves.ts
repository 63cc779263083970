// Sources that something else makes, moved by entries of the source list: the objects themselves are not
// written. The list is one ConfigMap, written at once, under the version that was read.
import { parseEntry, type ListEntry } from "../../controller/annotations/list-entry.ts";
import { refText, type Ref } from "../../text/names.ts";
import { MANAGED_BY_LABEL, PREFIX } from "../../controller/annotations/vocabulary.ts";
import { objectOf, stringOf, stringsOf } from "../../controller/model/unstructured.ts";

type Texts = Readonly<Record<string, string>>;

export type MoveList = {
  readonly ref: Ref;
  /** undefined: it is not there. */
  readonly present:
    | {
        readonly uid: string;
        readonly resourceVersion: string;
        readonly data: Texts | undefined;
        /** Who makes it anew; undefined: nobody that shows. */
        readonly keeper: string | undefined;
      }
    | undefined;
};

/** `raw`: the ConfigMap as it is; undefined: it is not there. */
export function readMoveList(ref: Ref, raw: unknown): MoveList {
  if (raw === undefined) return { ref, present: undefined };
  const object = objectOf(raw);
  const { uid, resourceVersion, labels } = objectOf(object.metadata);
  const data = typeof object.data === "object" && object.data !== null;
  return {
    ref,
    present: {
      uid: stringOf(uid),
      resourceVersion: stringOf(resourceVersion),
      data: data ? stringsOf(object.data) : undefined,
      keeper: stringsOf(labels)[MANAGED_BY_LABEL],
    },
  };
}

const LONGEST_KEY = 253;

/** The words of the annotations without their prefix. */
export function entryFor(place: Ref, annotations: Texts, list: Ref): ListEntry {
  const lines = Object.entries(annotations).map(
    ([key, value]) => `${key.slice(PREFIX.length)}: ${JSON.stringify(value)}\n`,
  );
  const text = `secret: ${refText(place)}\n${lines.join("")}`;
  const key = `${place.namespace}.${place.name}`.slice(0, LONGEST_KEY);
  const reading = parseEntry(key, text, { list, configMaps: false });
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
  }
}
