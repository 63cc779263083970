// What planning a single place needs of the sync that it belongs to, and what is remembered for it.
import type { IgnoredObjects } from "./plan-reports.ts";
import type { Creates } from "./creates.ts";
import type { View } from "./view.ts";
import type { Removals } from "./removals.ts";
import type { NamespaceMatch } from "../annotations/rules.ts";
import type { ClusterState, CopyObject, PullingObject } from "../model/cluster.ts";
import type { PlannerState } from "../state/planner-state.ts";
import { STEPS_PER_TURN } from "../desired/wants.ts";
import type { Desired } from "../model/actions.ts";
import { refText } from "../../text/names.ts";
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

/** A result is of one version of the object. */
export function rememberedOf(
  { lastFills, pullResults }: PlannerState,
  pull: PullingObject,
): ReturnType<View["rememberedOf"]> {
  const place = refText(pull);
  const result = pullResults.get(place);
  const isOfThis = result?.uid === pull.uid && result.resourceVersion === pull.resourceVersion;
  return { lastFill: lastFills.get(place), result: isOfThis ? result : undefined };
}

/** What a version of a source offers is digested once for a version of the pulling object. */
export function offerDigest(
  planBuilder: PlanBuilder,
  clusterState: ClusterState,
  pull: PullingObject,
  { source, desiredCopy }: Desired,
): string | undefined {
  const { pullableDigests } = planBuilder.memory;
  const before = pullableDigests.get(pull);
  if (before?.desiredCopy === desiredCopy) return before.digest;
  if (pull.keys === undefined) return undefined;
  // What it asks of 1,000 entries takes a turn of its own.
  planBuilder.steps += STEPS_PER_TURN;
  const digest = clusterState.pullableDigestOf(source, pull.keys);
  if (digest !== undefined) pullableDigests.set(pull, { desiredCopy, digest });
  return digest;
}
