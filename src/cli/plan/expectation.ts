// Implements `plan --expect FILE`. It compares the verdicts in a file, in the format of `plan -o yaml`,
// with those of a plan. The file must have every place of the plan with its verdict, and every item of the
// file must match. `current` and `skip` may be expected too. Reasons are not compared.
import { because, reasonText } from "../../controller/model/reasons.ts";
import { UsageError } from "../../controller/settings/config.ts";
import { VERDICTS } from "../../controller/model/verdicts.ts";
import { parseRef, refText } from "../../text/names.ts";
import { KINDS, OBJECT_KINDS } from "../../controller/model/kinds.ts";
import type { ClusterState, PlannerSettings } from "../../controller/model/cluster.ts";
import { Decisions, type Decided, type PullLooks } from "../../inspect/cluster/decisions.ts";
import { CLI_API_VERSION } from "../../inspect/kubectl/listing.ts";
import type { FileObject } from "../../inspect/files/file-objects.ts";
import type { ItemVerdict, PlanItem } from "./plan-items.ts";

export type ExpectedItem = Pick<PlanItem, "resource" | "namespace" | "name" | "source" | "verdict">;

const RESOURCES = OBJECT_KINDS.map((kind) => KINDS[kind].resource.plural);

export type Unexpected = PlanItem & {
  /** undefined: the file does not name the place. */
  readonly expected?: ItemVerdict;
};

/** Objects of the file are its items, since a List is its items. */
export function readExpectation(
  file: string,
  objects: readonly FileObject[],
): readonly ExpectedItem[] {
  return objects.map(({ raw, where }) => {
    const {
      apiVersion,
      kind,
      resource = KINDS.Secret.resource.plural,
      namespace,
      name,
      source,
      verdict,
    } = raw;
    if (apiVersion !== CLI_API_VERSION || kind !== "Plan")
      throw new UsageError(
        `--expect ${file}: ${where} is no PlanList of ${CLI_API_VERSION}, which plan -o yaml prints`,
      );
    if (typeof namespace !== "string" || typeof name !== "string")
      throw new UsageError(`--expect ${file}: an item at ${where} has no namespace or no name`);
    const place = `${namespace}/${name}`;
    if (!RESOURCES.some((each) => each === resource))
      throw new UsageError(
        `--expect ${file}: resource of ${place} is none of ${RESOURCES.join(", ")}`,
      );
    if (typeof source !== "string" || !parseRef(source))
      throw new UsageError(`--expect ${file}: source of ${place} is not NAMESPACE/NAME`);
    const found = [...VERDICTS, "refused" as const].find((each) => each === verdict);
    if (found === undefined)
      throw new UsageError(
        `--expect ${file}: verdict of ${place} is none of ${VERDICTS.join(", ")}, refused`,
      );
    return { resource: String(resource), namespace, name, source, verdict: found };
  });
}

export function unexpected(
  items: readonly PlanItem[],
  expectations: readonly ExpectedItem[],
  clusterStates: readonly ClusterState[],
  settings: PlannerSettings,
  looks: PullLooks,
): readonly Unexpected[] {
  const expected = new Map(expectations.map((item) => [keyOf(item), item.verdict]));
  const found = new Map(items.map((item) => [keyOf(item), item]));
  const other = items.flatMap((item): readonly Unexpected[] => {
    const wanted = expected.get(keyOf(item));
    if (wanted === item.verdict) return [];
    return [wanted === undefined ? item : { ...item, expected: wanted }];
  });
  const decide = decider(clusterStates, settings, looks);
  const missing = expectations.flatMap((item): readonly Unexpected[] => {
    if (found.has(keyOf(item))) return [];
    const { verdict, reason } = decide(item);
    if (verdict === item.verdict) return [];
    const { code } = reason;
    return [{ ...item, verdict, code, reason: reasonText(reason), expected: item.verdict }];
  });
  return [...other, ...missing];
}

/** For a place that the plan does not list. */
function decider(
  clusterStates: readonly ClusterState[],
  settings: PlannerSettings,
  looks: PullLooks,
): (item: ExpectedItem) => Decided {
  const kinds = new Map(
    clusterStates.map((clusterState) => [
      KINDS[clusterState.kind].resource.plural,
      { clusterState, decisions: new Decisions(clusterState, settings, looks) },
    ]),
  );
  return ({ resource, namespace, name, source }) => {
    const kind = kinds.get(resource);
    const from = parseRef(source);
    if (!kind || !from) return { verdict: "skip", reason: because("NothingWanted") };
    const object = kind.clusterState.objectsIn(namespace).get(name);
    return object?.role === "pull" && object.from && refText(object.from) === source
      ? kind.decisions.ofPull(object)
      : kind.decisions.ofCopy(from, { namespace, name });
  };
}

function keyOf({ resource, namespace, name, source }: ExpectedItem): string {
  return `${resource} ${namespace}/${name} ${source}`;
}
