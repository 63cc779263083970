// Whether a source names the namespace of a pulling Secret or of a copy that is kept, remembered
// between syncs for the rule and the namespace that were asked: globs cost thousands of
// steps where their author wants them to.
import type { CopyObject, PullingObject } from "../model/cluster.ts";
import type { PlanBuilder } from "./plan-builder.ts";
import { covers, type TargetNamespace } from "../desired/targets.ts";
import type { NamespaceMatch } from "../annotations/rules.ts";

/** `rule`: of `allow` and `allow-selector`, or of `to` and `to-selector`. */
export function consents(
  planBuilder: PlanBuilder,
  rule: NamespaceMatch,
  secret: PullingObject | CopyObject,
  target: TargetNamespace,
): boolean {
  const { namespace } = target;
  const before = planBuilder.memory.consents.get(secret);
  if (before?.rule === rule && before.namespace === namespace) return before.allows;
  planBuilder.steps +=
    (rule.globs?.steps(namespace.name.length) ?? 0) + (rule.selector?.steps ?? 0);
  const allows = covers(rule, namespace);
  planBuilder.memory.consents.set(secret, { rule, namespace, allows });
  return allows;
}
