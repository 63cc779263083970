// Advice about mirrors: how secretcast treats them differently, and what to do about those in manifests.
// The latter hold no data of their source, and often another tool creates the source. An object in a
// cluster dump has a UID. A manifest has none.
import { listed } from "../../text/listed.ts";
import type { JudgedCopy } from "./judge-copies.ts";
import { annotationKey } from "../../controller/annotations/vocabulary.ts";
import { isEmptyEntry, requiredKeys } from "../../controller/model/secret-types.ts";
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
      `Secret ${refText(object)} has the type ${object.type}, so its manifest contains keys that each apply empties: set what docs/reference.md (GitOps tools) names for your tool, or use the type Opaque without data`,
  );
}

/** Mirrors in manifests whose sources another tool creates. Objects in a cluster dump have UIDs. */
export function mirrorsAlone(copies: readonly JudgedCopy[]): readonly string[] {
  return copies.flatMap(({ object, pulls, state, named }) => {
    const isInGit = pulls && state === "orphan" && named !== undefined && object.uid === "";
    if (!isInGit || annotationKey("from") in object.annotations) return [];
    return [
      `Secret ${refText(object)}: its source ${named} is not in the files: add ${annotationKey("from")}: ${named} to it, and ${annotationKey("allow")}: ${object.namespace} to its source`,
    ];
  });
}

const MOST_NAMED = 5;

/** The differences for mirrors that occur in the cluster or the files. docs/reference.md lists all. */
export function mirrorHints(copies: readonly JudgedCopy[]): readonly string[] {
  const mirrors = copies.filter(({ pulls, state }) => pulls && state !== "orphan");
  if (mirrors.length === 0) return [];
  const hints = [
    `when a source no longer allows a mirror, secretcast removes its content; ${annotationKey("on-delete")}: keep on the mirror leaves it`,
    "a mirror that is created again with content of its own is a conflict: leave data out of its manifest",
  ];
  // In a manifest the entries may be absent, and then they are filled.
  const placeholders = mirrors.filter(
    ({ object, state }) =>
      (state === "drifted" || state === "merged") &&
      Object.entries(object.data.reveal()).some(
        ([key, value]) => !isEmptyEntry(object.type, key, value),
      ),
  );
  if (placeholders.length === 0) return hints;
  const named = placeholders.map(({ object }) => refText(object));
  return [
    `mirrors with other content than their source, which stay as they are and are a conflict until they are emptied: ${listed(named, MOST_NAMED)}`,
    ...hints,
  ];
}
