// What to change in Kyverno's policies before, during and after a move. While a rule synchronizes, Kyverno
// reverts marks on its copies. From 1.19 on, it deletes them when the rule is deleted. So a rule is made
// harmless first, and that is read again before each write.
import { clones, titleOfPolicy, type CloneRule, type PolicyReading } from "./kyverno-rules.ts";
import {
  copyableObjects,
  customPlace,
  fields,
  objectsIn,
  type OldCluster,
  type OldCustom,
} from "../old-objects.ts";
import type { MoveStepName, OldSource } from "../old-tool.ts";
import { OBJECT_KINDS } from "../../../controller/model/kinds.ts";
import { stringOf } from "../../../controller/model/unstructured.ts";
import { shellCommand } from "../../../text/shell-word.ts";

/** The policies, and the sources that move. */
export type KyvernoSteps = {
  readonly policyReadings: readonly PolicyReading[];
  readonly moving: readonly OldSource[];
};

/** A line for each rule that is not harmless for this step. */
export function armedRules(
  steps: KyvernoSteps,
  customs: readonly OldCustom[],
  step: MoveStepName,
): readonly string[] {
  const waiting = [...preparationsOf(steps), ...pendingOf(customs, steps)];
  return waiting.length > 0 || step === "move" ? waiting : deletionsOf(steps);
}

/** A rule that synchronizes copies our annotations too, whether or not it moves itself. */
export function preparationsOf(steps: KyvernoSteps): readonly string[] {
  return disarmLines(rulesOf(steps).filter(({ sync }) => sync === "follows"));
}

export function deletionsOf(steps: KyvernoSteps): readonly string[] {
  const moved = rulesOf(steps).filter(
    (rule) =>
      rule.sync !== "once" &&
      steps.moving.some((source) => {
        const name = rule.copyName ?? source.object?.name;
        return isOf(rule, source) && source.copyName === name;
      }),
  );
  return deletionLines(steps.policyReadings, new Set(moved));
}

function rulesOf({ policyReadings, moving }: KyvernoSteps): readonly CloneRule[] {
  return policyReadings
    .flatMap((reading) => reading.rules)
    .filter((rule) => rule.scope.kind !== "never" && moving.some((one) => isOf(rule, one)));
}

function isOf(rule: CloneRule, { object }: OldSource): boolean {
  return object !== undefined && clones(rule, object);
}

/** Requests that Kyverno has accepted and not carried out yet. */
function pendingOf(customs: readonly OldCustom[], steps: KyvernoSteps): readonly string[] {
  const names = new Set(rulesOf(steps).map(({ policy }) => customPlace(policy)));
  return customs.flatMap((custom) => {
    if (custom.kind !== "UpdateRequest") return [];
    const [spec, status] = [fields(custom.fields["spec"]), fields(custom.fields["status"])];
    const policy = stringOf(spec["policy"]);
    const isPending = ["", "Pending"].includes(stringOf(status["state"]));
    if (!isPending || !names.has(policy)) return [];
    return [`${titleOfPolicy(custom)} of ${policy} is pending: wait until it is done`];
  });
}

function disarmLines(rules: readonly CloneRule[]): readonly string[] {
  return [...Map.groupBy(rules, ({ policy }) => policy)].map(([policy, own]) => {
    const patch = own.flatMap(({ disarming }) => disarming);
    const titles = own.map(({ title }) => title).join(", ");
    return `${titles}: set synchronize: false and orphanDownstreamOnPolicyDelete: true${keeperOf(policy)}: ${patchCommand(policy, patch)}`;
  });
}

function keeperOf({ labels, annotations }: OldCustom): string {
  const keys = [...Object.keys(labels), ...Object.keys(annotations)];
  if (keys.some((key) => key.startsWith("argocd.argoproj.io/")))
    return " in Git, because Argo CD would undo it";
  if (keys.some((key) => key.includes("fluxcd.io/"))) return " in Git, because Flux would undo it";
  return keys.includes("meta.helm.sh/release-name") ? " in its chart too" : "";
}

function patchCommand(policy: OldCustom, patch: unknown): string {
  const how = ["--type=json", "-p", JSON.stringify(patch)];
  return shellCommand("kubectl", "patch", ...wordsFor(policy), ...how);
}

function wordsFor({ kind, group, name, namespace }: OldCustom): readonly string[] {
  const where = namespace === undefined ? [] : ["-n", namespace];
  return [`${kind.toLowerCase()}.${group}`, name, ...where];
}

// Rules are deleted from the last to the first, because a deletion moves those behind it.
function deletionLines(
  policyReadings: readonly PolicyReading[],
  rules: ReadonlySet<CloneRule>,
): readonly string[] {
  return policyReadings.flatMap((reading) => {
    const own = reading.rules.filter((rule) => rules.has(rule));
    const [first] = own;
    if (!first) return [];
    const { policy } = first;
    const isWhole = reading.isOnlyClones && own.length === reading.rules.length;
    if (isWhole) return [shellCommand("kubectl", "delete", ...wordsFor(policy))];
    const operations = own.toReversed().flatMap(({ deleting }) => deleting);
    const byHand = own.filter(({ deleting }) => deleting.length === 0);
    return [
      ...(operations.length === 0 ? [] : [patchCommand(policy, operations)]),
      ...byHand.map(({ title }) => `${title}: take the copies that moved out of it by hand`),
    ];
  });
}

export type KyvernoLeftovers = {
  readonly besides: readonly string[];
  readonly steps: readonly string[];
};

const KEPT_UP_TO = 18;

export function leftoversOf(
  policyReadings: readonly PolicyReading[],
  cluster: OldCluster,
  images: RegExp,
): KyvernoLeftovers {
  const { customs } = cluster;
  const moved = policyReadings.flatMap(({ rules }) => rules).filter(({ sync }) => sync !== "once");
  const version = versionOf(customs, images);
  const besides = [
    ...(version === undefined || moved.length === 0 ? [] : [deletionText(version)]),
    ...otherPolicies(policyReadings, customs),
  ];
  const hooks = customs.filter(
    ({ kind, labels, name }) =>
      kind.endsWith("WebhookConfiguration") &&
      (labels["webhook.kyverno.io/managed-by"] === "kyverno" || name.startsWith("kyverno-")),
  );
  const hookNames = hooks.map(({ kind, name }) => `${kind} ${name}`);
  const isMarked = copyableObjects(cluster).some(
    ({ labels }) => "generate.kyverno.io/source-uid" in labels,
  );
  const kinds = OBJECT_KINDS.filter((kind) => moved.some((rule) => rule.kinds.includes(kind)));
  const named = (kinds.length > 0 ? kinds : ["Secret"]).map((kind) => `${kind}s`).join(" and ");
  const rest =
    moved.length === 0 && !isMarked
      ? []
      : [
          `after --cleanup, take the rights for ${named} from Kyverno's background controller, if no other rule needs them`,
          `if nothing else needs Kyverno, scale its admission controller to zero and wait until its webhooks are deleted, then uninstall it: a webhook that stays refuses writes in the whole cluster${hookNames.length === 0 ? "" : ` (${hookNames.join(", ")})`}`,
        ];
  return { besides, steps: rest };
}

function versionOf(customs: readonly OldCustom[], images: RegExp): string | undefined {
  for (const { kind, fields: all } of customs) {
    if (kind !== "Deployment") continue;
    const spec = fields(fields(fields(all["spec"])["template"])["spec"]);
    for (const container of objectsIn(spec["containers"])) {
      const image = stringOf(container["image"]);
      const version = /:v?(\d+\.\d+(?:\.\d+)?)/.exec(image)?.[1];
      if (images.test(image) && version !== undefined) return version;
    }
  }
  return undefined;
}

function deletionText(version: string): string {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 1 || minor > KEPT_UP_TO
    ? `Kyverno ${version} deletes the copies of a rule that synchronizes when the rule or its policy is deleted`
    : `Kyverno ${version} keeps the copies of a deleted rule, and then updates no other copy of the same source until their labels are removed`;
}

function otherPolicies(
  policyReadings: readonly PolicyReading[],
  customs: readonly OldCustom[],
): readonly string[] {
  const policies = customs.filter(({ kind }) => kind.endsWith("Policy"));
  const copying = new Set(policyReadings.flatMap(({ rules }) => rules.map(({ policy }) => policy)));
  const others = policies.filter((policy) => !copying.has(policy)).length;
  return others === 0 ? [] : [`${others} policies of Kyverno copy nothing that moves: they stay`];
}
