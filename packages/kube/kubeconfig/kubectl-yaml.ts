// YAML as kubectl reads it: YAML 1.1 with merges (`<<`). Only the first document of a kubeconfig counts, and
// if a key occurs twice, the last one wins. Failures are js-yaml's YAMLException, which may quote the text.
import {
  binaryTag,
  boolYaml11Tag,
  defineScalarTag,
  FAILSAFE_SCHEMA,
  floatCoreTag,
  floatYaml11Tag,
  intCoreTag,
  intYaml11Tag,
  load,
  mergeTag,
  NOT_RESOLVED,
  nullYaml11Tag,
} from "js-yaml";

// kubectl's reader accepts the numbers of both versions, except those of base sixty.
const numbers = [intYaml11Tag, intCoreTag, floatYaml11Tag, floatCoreTag];
const numberOf =
  (tags: typeof numbers) =>
  (source: string, isExplicit: boolean, tagName: string): number | typeof NOT_RESOLVED => {
    if (source.includes(":")) return NOT_RESOLVED;
    for (const tag of tags) {
      const value = tag.resolve(source, isExplicit, tagName);
      if (typeof value === "number") return value;
    }
    return NOT_RESOLVED;
  };
const loadOnly = { implicit: true, identify: () => false } as const;
const intTag = defineScalarTag("tag:yaml.org,2002:int", {
  ...loadOnly,
  resolve: numberOf([intYaml11Tag, intCoreTag]),
});
const floatTag = defineScalarTag("tag:yaml.org,2002:float", {
  ...loadOnly,
  resolve: numberOf(numbers),
});
const binaryTextTag = defineScalarTag("tag:yaml.org,2002:binary", {
  identify: () => false,
  resolve: (source, isExplicit, tagName) => {
    const bytes = binaryTag.resolve(source, isExplicit, tagName);
    return bytes instanceof Uint8Array ? Buffer.from(bytes).toString("utf8") : NOT_RESOLVED;
  },
});
/** Time stamps stay text, as in sigs.k8s.io/yaml, which kubectl uses. */
export const KUBECTL_SCHEMA = FAILSAFE_SCHEMA.withTags(
  nullYaml11Tag,
  boolYaml11Tag,
  intTag,
  floatTag,
  mergeTag,
  binaryTextTag,
);

/** The first document's value. Undefined if it is empty. */
export function loadAsKubectl(text: string): unknown {
  const first = firstDocument(text);
  const isEmpty = first.split("\n").every((line) => /^\s*(#.*)?$|^---\s*(#.*)?$/.test(line));
  return isEmpty ? undefined : (load(first, { schema: KUBECTL_SCHEMA, json: true }) ?? undefined);
}

// A marker is at the beginning of a line, where neither a block nor a quoted text can contain one.
function firstDocument(text: string): string {
  const lines = text.replace(/^\uFEFF/, "").split("\n");
  let begun = false;
  const end = lines.findIndex((line) => {
    const isMarker = /^(---|\.\.\.)(\s|$)/.test(line);
    if (isMarker && begun) return true;
    begun ||= isMarker || !/^\s*(#.*)?$|^%/.test(line);
    return false;
  });
  return end < 0 ? lines.join("\n") : lines.slice(0, end).join("\n");
}
