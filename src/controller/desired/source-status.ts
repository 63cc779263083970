// The status of a source that no sync has planned: it is not read, not one, absent, or it arrived during the plan.
import { because, type Reason } from "../model/reasons.ts";
import type {
  CachedObject,
  ClusterState,
  CopyObject,
  PlannerSettings,
  PullingObject,
} from "../model/cluster.ts";
import { isNameRead, nameToAdd } from "../annotations/name-scope.ts";
import { problemOf, type ListEntry } from "../annotations/list-entry.ts";
import { problemText } from "../annotations/rules.ts";
import { unreadableName, unreadableReason } from "../model/verdicts.ts";
import { type Ref, refText } from "../../text/names.ts";
import { isRead } from "./namespace-rules.ts";

export type UnplannedStatus =
  /** `frozen`: nothing that follows from it changes. `wait`: the next sync knows more. */
  | { readonly kind: "frozen" | "wait"; readonly reason: Reason }
  /** The Secret is there and has nothing to say. */
  | { readonly kind: "notASource"; readonly uid: string; readonly resourceVersion: string }
  | { readonly kind: "absent" };

/** --only-names has its name, and the API server refuses to show it. */
export function isUnreadable(clusterState: ClusterState, { namespace, name }: Ref): boolean {
  return clusterState.unreadableNames?.(namespace).has(name) === true;
}

/** `entry`: what the list says of it, if it could be read. */
export function statusOf(
  ref: Ref,
  clusterState: ClusterState,
  settings: PlannerSettings,
  entry: ListEntry | undefined,
): UnplannedStatus {
  if (!isRead(settings, ref.namespace))
    return frozen(because("SourceNotRead", { source: refText(ref) }));
  if (clusterState.isUnreadable?.(ref.namespace) === true) return frozen(unreadableReason(ref));
  const { onlyNames } = settings;
  if (onlyNames && !isNameRead(onlyNames, ref.name)) {
    const advice = nameToAdd(onlyNames, ref.name);
    return frozen(because("SourceNameNotRead", { source: refText(ref), advice }));
  }
  if (isUnreadable(clusterState, ref)) return frozen(unreadableName(ref.name));
  return statusOfObject(clusterState.objectsIn(ref.namespace).get(ref.name), entry);
}

function statusOfObject(
  object: CachedObject | undefined,
  entry: ListEntry | undefined,
): UnplannedStatus {
  if (object === undefined) return { kind: "absent" };
  switch (object.role) {
    case "source":
      if (object.entry !== entry) return readAgain(object);
      // It arrived during the plan.
      return { kind: "wait", reason: because("SourceChanging", { source: refText(object) }) };
    case "pull": {
      const problem = object.problems[0];
      if (entry) return frozen(notAllowedAsSource(entry, object));
      if (!problem) return notASource(object);
      const [source, text] = [refText(object), problemText(problem)];
      return frozen(because("SourceRefused", { source, problem: text }));
    }
    case "copy":
      return entry ? frozen(notAllowedAsSource(entry, object)) : notASource(object);
    case "unmanaged":
      return entry ? readAgain(object) : notASource(object);
  }
}

/** Why an entry cannot make a source of an object that is something else of ours. */
export function notAllowedAsSource({ key }: ListEntry, object: PullingObject | CopyObject): Reason {
  const what =
    object.role === "copy" ? "a copy is never a source" : "a pulling Secret is no source";
  const problem = problemOf(key, "", { part: refText(object), expected: `another: ${what}` });
  return because("EntryRefused", { problem: problemText(problem) });
}

// The source list says something else of it than when it was read.
function readAgain(source: Ref): UnplannedStatus {
  return { kind: "wait", reason: because("SourceReread", { source: refText(source) }) };
}

function notASource({ uid, resourceVersion }: CachedObject): UnplannedStatus {
  return { kind: "notASource", uid, resourceVersion };
}

function frozen(reason: Reason): UnplannedStatus {
  return { kind: "frozen", reason };
}
