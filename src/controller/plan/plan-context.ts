// What planning a single place needs: of the sync that it belongs to, and of the place itself.
import type { IgnoredObjects } from "./plan-reports.ts";
import type { Creates } from "./creates.ts";
import type { View } from "./view.ts";
import type { Removals } from "./removals.ts";
import type { NamespaceMatch } from "../annotations/rules.ts";
import type { CopyObject, PullingObject } from "../model/cluster.ts";
import { covers, stepsOf, type TargetNamespace } from "../desired/targets.ts";
import type { KindSync, PlanBuilder } from "./plan-builder.ts";

export type PlanContext = KindSync & {
  readonly removals: Removals;
  readonly creates: Creates;
  readonly ignored: IgnoredObjects;
  readonly view: View;
};

/**
 * Whether a source names the namespace of a pulling Secret or of a copy that is kept. It is remembered between
 * syncs for the rule and the namespace that were asked, because globs cost thousands of steps where their author
 * wants them to. `rule`: of `allow` and `allow-selector`, or of `to` and `to-selector`.
 */
export function consents(
  planBuilder: PlanBuilder,
  rule: NamespaceMatch,
  object: PullingObject | CopyObject,
  { namespace }: TargetNamespace,
): boolean {
  const known = planBuilder.memory.consents.get(object);
  if (known?.rule === rule && known.namespace === namespace) return known.allows;
  planBuilder.steps += stepsOf(rule, namespace.name.length);
  const allows = covers(rule, namespace);
  planBuilder.memory.consents.set(object, { rule, namespace, allows });
  return allows;
}
