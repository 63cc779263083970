// From a Namespace of the API to the planner's.
import { parseAccept } from "./annotations.ts";
import type { Namespace } from "./model.ts";
import { objectOf, textOf, textsOf } from "./raw.ts";

/** A Namespace of the API, reduced for the cache; undefined where it is not one with a name. */
export function readNamespace(raw: unknown): Namespace | undefined {
  const object = objectOf(raw);
  const metadata = objectOf(object.metadata);
  const name = textOf(metadata.name);
  if (name === "") return undefined;
  const terminating =
    textOf(metadata.deletionTimestamp) !== "" || objectOf(object.status).phase === "Terminating";
  return {
    name,
    uid: textOf(metadata.uid),
    resourceVersion: textOf(metadata.resourceVersion),
    createdAt: textOf(metadata.creationTimestamp),
    labels: textsOf(metadata.labels),
    terminating,
    accept: parseAccept(textsOf(metadata.annotations)),
  };
}
