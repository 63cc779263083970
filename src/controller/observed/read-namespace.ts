// From a Namespace of the API to the planner's.
import { parseAccept } from "../annotations/parse.ts";
import { MOST_METADATA_KEYS } from "../desired/copied-metadata.ts";
import type { Namespace } from "../model/cluster.ts";
import { invalid } from "../../text/result.ts";
import { objectOf, stringOf, stringsOf } from "../model/unstructured.ts";
import type { Accept } from "../annotations/rules.ts";

/** A Namespace of the API, reduced for the cache, or undefined where it is not one with a name. */
export function readNamespace(raw: unknown): Namespace | undefined {
  const object = objectOf(raw);
  const metadata = objectOf(object.metadata);
  const name = stringOf(metadata.name);
  if (name === "") return undefined;
  const terminating =
    stringOf(metadata.deletionTimestamp) !== "" || objectOf(object.status).phase === "Terminating";
  const labels = stringsOf(metadata.labels);
  return {
    name,
    uid: stringOf(metadata.uid),
    resourceVersion: stringOf(metadata.resourceVersion),
    createdAt: stringOf(metadata.creationTimestamp),
    labels,
    terminating,
    accept: excessOf(labels) ?? parseAccept(stringsOf(metadata.annotations)),
  };
}

// With more labels, not all may have been read, so that selectors would be answered wrongly.
function excessOf(labels: Namespace["labels"]): Accept | undefined {
  const count = Object.keys(labels).length;
  if (count <= MOST_METADATA_KEYS) return undefined;
  const expected = `at most ${MOST_METADATA_KEYS} labels on a namespace`;
  return {
    kind: "problem",
    problem: { annotation: "labels", ...invalid(`${count} labels`, expected).fault },
  };
}
