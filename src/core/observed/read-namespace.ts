// From a Namespace of the API to the planner's.
import { parseAccept } from "../annotations/parse.ts";
import { MOST_METADATA_KEYS } from "../desired/copied-metadata.ts";
import type { Namespace } from "../model/cluster.ts";
import { faulty } from "../annotations/result.ts";
import { objectOf, textOf, textsOf } from "../model/unstructured.ts";
import type { Accept } from "../annotations/rules.ts";

/** A Namespace of the API, reduced for the cache; undefined where it is not one with a name. */
export function readNamespace(raw: unknown): Namespace | undefined {
  const object = objectOf(raw);
  const metadata = objectOf(object.metadata);
  const name = textOf(metadata.name);
  if (name === "") return undefined;
  const terminating =
    textOf(metadata.deletionTimestamp) !== "" || objectOf(object.status).phase === "Terminating";
  const labels = textsOf(metadata.labels);
  return {
    name,
    uid: textOf(metadata.uid),
    resourceVersion: textOf(metadata.resourceVersion),
    createdAt: textOf(metadata.creationTimestamp),
    labels,
    terminating,
    accept: excessOf(labels) ?? parseAccept(textsOf(metadata.annotations)),
  };
}

// Of more labels than that not all may have been read, so that selectors would be answered wrongly.
function excessOf(labels: Namespace["labels"]): Accept | undefined {
  const count = Object.keys(labels).length;
  if (count <= MOST_METADATA_KEYS) return undefined;
  const expected = `at most ${MOST_METADATA_KEYS} labels on a namespace`;
  return {
    kind: "problem",
    problem: { annotation: "labels", ...faulty(`${count} labels`, expected).fault },
  };
}
