// Computes the namespaces that a source reaches by its new annotations, and which it gains and loses.
import { reasonText } from "../../controller/model/reasons.ts";
import type { MoveContext } from "./move-context.ts";
import { objectTitle, type KindPlace } from "../oldtools/old-objects.ts";
import { namesOf, type OldSource } from "../oldtools/old-tool.ts";
import { refText, type Ref } from "../../text/names.ts";
import { exclusion } from "../../controller/desired/namespace-rules.ts";
import { accepts, covers, withPolicy } from "../../controller/desired/targets.ts";
import type { Namespace, PlannerSettings, SourceObject } from "../../controller/model/cluster.ts";

export type LostNamespace = { readonly namespace: string; readonly why: string };

export type ReachDifference = {
  /** Namespaces that it names after the move and may reach. */
  readonly reached: readonly string[];
  /** Those that it serves and that have no copy of it now. In manifests: that its old rule did not name. */
  readonly gained: readonly string[];
  readonly lost: readonly LostNamespace[];
};

export function reachDifference(
  old: OldSource,
  place: KindPlace,
  source: SourceObject | undefined,
  context: MoveContext,
): ReachDifference {
  const before = reachedBefore(old, place, context);
  const reached: string[] = [];
  const lost: LostNamespace[] = [];
  for (const namespace of context.namespaces) {
    const { name } = namespace;
    const why = source && whyNot(source, place, namespace, context.settings);
    if (source && why === undefined) reached.push(name);
    else if (before.has(name))
      lost.push({ namespace: name, why: why ?? "its source does not move" });
  }
  const { holds } = context;
  if (!holds) return { reached, gained: reached.filter((name) => !before.has(name)), lost };
  const served = new Set([...reached, ...pullingNamespaces(place, source, context)]);
  return { reached, gained: [...served].filter((name) => !holds(old, name)).toSorted(), lost };
}

/** The namespaces with an object that pulls this source already. */
function pullingNamespaces(
  place: KindPlace,
  source: SourceObject | undefined,
  { namespaces, pulling }: MoveContext,
): readonly string[] {
  const allow = source?.rule.allow;
  if (!allow) return [];
  const asking = new Set((pulling.get(objectTitle(place)) ?? []).map(({ namespace }) => namespace));
  return namespaces
    .filter((namespace) => asking.has(namespace.name) && covers(allow, namespace))
    .map(({ name }) => name);
}

function reachedBefore(
  { object, copyName, push, served }: OldSource,
  place: Ref,
  { old, answers }: MoveContext,
): ReadonlySet<string> {
  const set = push && namesOf(push, old, answers);
  if (set === undefined || typeof set === "string") return new Set();
  const self = object ?? place;
  return new Set(
    [...set]
      .filter((name) => served === undefined || served.has(name))
      .filter((name) => name !== self.namespace || copyName !== self.name),
  );
}

/** Why a namespace is not reached. Undefined when it is. */
function whyNot(
  { rule }: SourceObject,
  place: Ref,
  namespace: Namespace,
  settings: PlannerSettings,
): string | undefined {
  if (namespace.name === place.namespace) return "it is the source's own namespace";
  if (!rule.to || !covers(rule.to, namespace)) return "its new words do not name it";
  const excluded = exclusion(settings, namespace.name);
  if (excluded !== undefined) return reasonText(excluded);
  const accept = withPolicy(namespace.accept, settings.namespacePolicy);
  return accepts(accept, refText(place)) ? undefined : "the namespace does not accept it";
}
