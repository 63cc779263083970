// Whether a source and a Namespace still decide as they did, whatever else of them is new. A write that
// waits, or is in flight, was decided by earlier versions of both. It may continue only while the rule is
// the same, so that newer content is never written under an older rule.
import type { ListEntry } from "../annotations/list-entry.ts";
import { type Ref, refText } from "../../text/names.ts";
import type { CachedObject, Namespace, SourceObject } from "../model/cluster.ts";
import { acceptance, covers } from "./targets.ts";

/** The same source with the same rule. `entry`: what the source list says of it by now. */
export function hasSameRule(
  planned: SourceObject,
  latest: CachedObject | undefined,
  entry: ListEntry | undefined,
): latest is SourceObject {
  return (
    latest?.role === "source" &&
    latest.uid === planned.uid &&
    latest.ruleDigest === planned.ruleDigest &&
    latest.entry === planned.entry &&
    latest.entry === entry &&
    latest.deleting === planned.deleting &&
    latest.problems.length === 0 &&
    planned.problems.length === 0
  );
}

/** Whether a source with this rule copies to `place` now, whatever the policy for namespaces without `accept`. */
export function copiesTo(source: SourceObject, place: Ref, namespace: Namespace): boolean {
  const { to, copyName } = source.rule;
  if (to === undefined || copyName !== place.name || !covers(to, namespace)) return false;
  const { accept } = namespace;
  return accept.kind === "absent" || acceptance(refText(source), accept) === "wanted";
}

/** Whether a source lets Secrets of this namespace pull now. */
export function letsPull({ rule: { allow } }: SourceObject, namespace: Namespace): boolean {
  return allow !== undefined && covers(allow, namespace);
}
