// Updates as JSON patches (RFC 6902): they replace the data of a copy as a whole, so that nobody need
// remember which keys it has. What they do not name stays, as with a merge patch.

export type Operation = {
  readonly op: "add" | "replace" | "remove";
  /** A JSON pointer. */
  readonly path: string;
  readonly value?: unknown;
};

/** Values to set, with null for a key to remove. */
export type Texts = Readonly<Record<string, string | null>>;

type Version = { readonly uid: string; readonly resourceVersion: string };

/** Refused with 409 where the object is another, or in another version, by then. */
export function preconditions({ uid, resourceVersion }: Version): readonly Operation[] {
  return [
    { op: "replace", path: "/metadata/uid", value: uid },
    { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
  ];
}

/** `present`: the object has a map of that name. */
export function textOperations(
  map: "labels" | "annotations",
  texts: Texts,
  present = true,
): readonly Operation[] {
  const root = `/metadata/${map}`;
  const begun: Operation[] = present ? [] : [{ op: "add", path: root, value: {} }];
  return begun.concat(
    Object.entries(texts).flatMap(([key, value]): Operation[] => {
      const path = `${root}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      if (value !== null) return [{ op: "add", path, value }];
      // What is not there cannot be removed.
      return [
        { op: "add", path, value: "" },
        { op: "remove", path },
      ];
    }),
  );
}
