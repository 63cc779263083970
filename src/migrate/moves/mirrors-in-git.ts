// Mirrors in manifests. They hold no data of their source, and often the source is created by something
// else. An object of a dump of a cluster has a UID, and a manifest has none.
import type { JudgedCopy } from "./judge-copies.ts";
import { annotationKey } from "../../controller/annotations/vocabulary.ts";
import { requiredKeys } from "../../controller/desired/copy.ts";
import { refText } from "../../text/names.ts";

/** Each apply of such a manifest empties the keys that its type requires. */
export function typedMirrors(copies: readonly JudgedCopy[]): readonly string[] {
  const typed = copies.filter(
    ({ object, pulls }) =>
      pulls &&
      object.uid === "" &&
      object.data.keys().some((key) => requiredKeys(object.type, key)),
  );
  return typed.map(
    ({ object }) =>
      `Secret ${refText(object)} has the type ${object.type}, so its manifest contains keys that each apply empties: set what docs/operations.md (GitOps) names for your tool, or use the type Opaque without data`,
  );
}

/** Mirrors in manifests whose sources are created by something else; a dump of a cluster has UIDs. */
export function mirrorsAlone(copies: readonly JudgedCopy[]): readonly string[] {
  return copies.flatMap(({ object, pulls, state, named }) => {
    const isInGit = pulls && state === "orphan" && named !== undefined && object.uid === "";
    if (!isInGit || annotationKey("from") in object.annotations) return [];
    return [
      `Secret ${refText(object)}: its source ${named} is not in the files: add ${annotationKey("from")}: ${named} to it, and ${annotationKey("allow")}: ${object.namespace} to its source`,
    ];
  });
}
