// How a user names a kind, as kubectl: in the singular, in the plural, or by its short name.
import { KINDS, OBJECT_KINDS, type ObjectKind } from "../../controller/model/kinds.ts";

const SHORT_NAMES: Readonly<Record<ObjectKind, readonly string[]>> = {
  Secret: [],
  ConfigMap: ["cm"],
};

const KIND_OF: ReadonlyMap<string, ObjectKind> = new Map(
  OBJECT_KINDS.flatMap((kind) => {
    const words = [kind.toLowerCase(), KINDS[kind].resource.plural, ...SHORT_NAMES[kind]];
    return words.map((word) => [word, kind] as const);
  }),
);

/** Undefined for the word of any other kind. */
export function kindOfWord(word: string): ObjectKind | undefined {
  return KIND_OF.get(word.toLowerCase());
}

/** The kind of the resource that an item of ours names. */
export function kindOfResource(plural: string): ObjectKind {
  return KIND_OF.get(plural) ?? "Secret";
}
