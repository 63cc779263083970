// Turns the decision for one place into rows and writes: unless live reads must confirm it first, or the take-over
// that it asks for keeps failing.
import { because, reasonText } from "../model/reasons.ts";
import type { Action } from "../model/actions.ts";
import { type Ref, refText } from "../../text/names.ts";
import { placeIn } from "../desired/targets.ts";
import type { Candidate } from "../desired/sources.ts";
import type { Decision, Evidence, Given, Unwanted } from "./decide.ts";
import type { PullDecision, PullPlace } from "./decide-pull.ts";
import type { TargetPlace } from "./view.ts";
import type { Finding } from "./plan-builder.ts";
import type { PlanContext } from "./plan-context.ts";
import { FRESH, unconfirmed } from "./removal-conditions.ts";

export function enact(context: PlanContext, place: TargetPlace, decision: Decision): void {
  const { planBuilder } = context;
  switch (decision.kind) {
    case "skip":
      return;
    case "stays": {
      reportLosers(context, place, decision);
      const { planned, source, verdict, reason, differs, isOthers = false } = decision;
      if (planned && decision.isKept) context.removals.kept(planned.text);
      if (isOthers) planBuilder.others++;
      else report(context, place, planned, source, { verdict, reason, differs });
      return;
    }
    case "unwanted":
      enactUnwanted(context, place, decision);
      return;
    case "inherited": {
      const { present } = place;
      const { removalReason, successor } = decision;
      if (present?.role === "copy" && context.removals.keepsPlace(present, removalReason))
        reportLosers(context, place, decision);
      else enact(context, place, successor);
      return;
    }
    case "given":
      enactGiven(context, place, decision);
  }
}

export function enactPull(
  { planBuilder, removals }: PlanContext,
  { pull, target }: PullPlace,
  decision: PullDecision,
): void {
  const { withoutSource: tally, kind: objectKind } = planBuilder;
  const { namespace, name, from: source = pull } = pull;
  const place = { namespace, name };
  switch (decision.kind) {
    case "others":
      planBuilder.others++;
      return;
    case "current":
      tally.current++;
      return;
    case "stays": {
      const { verdict, reason, differs, forOwner } = decision;
      const finding = { verdict, place, source, reason, pulling: true, differs, forOwner };
      planBuilder.report(tally, finding);
      return;
    }
    case "unwanted": {
      const { from, removalReason } = decision;
      removals.addPull({ pull, source: from, tally, order: target.order, removalReason });
      return;
    }
    case "fill": {
      const { cause, content, key: decisionKey } = decision;
      const reason = because("EntriesDiffer");
      const write = {
        kind: "fill",
        objectKind,
        place,
        source,
        cause,
        reason,
        decisionKey,
      } as const;
      planBuilder.propose(tally, "update", { ...write, target: pull, content }, target.order);
    }
  }
}

function enactUnwanted(context: PlanContext, place: TargetPlace, decision: Unwanted): void {
  const { present: copy, target } = place;
  if (copy?.role !== "copy") return;
  const { planned, removalReason, onDelete } = decision;
  const tally = planned?.tally ?? context.planBuilder.withoutSource;
  context.removals.add({ copy, tally, order: target.order, removalReason, onDelete });
}

function enactGiven(context: PlanContext, place: TargetPlace, decision: Given): void {
  const { winner, evidence, meanwhile, isKept } = decision;
  if (isKept) context.removals.kept(winner.text);
  if (meanwhile) enactTakeover(context, place, decision, meanwhile);
  else serve(context, place, decision, open(context, place, evidence));
}

/** The holder keeps the place, as `meanwhile` says, while the take-over fails or waits for a live read. */
function enactTakeover(
  context: PlanContext,
  place: TargetPlace,
  takeover: Given,
  meanwhile: Decision,
): void {
  const { winner: taker, evidence, lost } = takeover;
  const failed = failing(context, place, takeover);
  const hold = failed ?? open(context, place, evidence);
  if (!hold) {
    serve(context, place, takeover, undefined);
    return;
  }
  const winner = lost === undefined ? undefined : holderOf(meanwhile);
  report(context, place, taker, taker.source, { ...hold, verdict: "conflict", winner });
  if (failed || meanwhile.kind !== "given" || meanwhile.verdict !== "replace") {
    enact(context, place, meanwhile);
    return;
  }
  // A replace for a source that is about to lose the place would be one delete too many.
  reportLosers(context, place, meanwhile);
  const { winner: holder } = meanwhile;
  report(context, place, holder, holder.source, { verdict: "replace", reason: hold.reason });
}

/** Writes what the winner gets. `hold`: a live read must confirm it first. */
function serve(
  context: PlanContext,
  place: TargetPlace,
  decision: Given,
  hold: ReturnType<typeof open>,
): void {
  const { winner, verdict } = decision;
  reportLosers(context, place, decision);
  if (hold) report(context, place, winner, winner.source, { verdict, ...hold });
  else if (verdict === "current") winner.tally.current++;
  else if (verdict === "create") context.creates.add(winner, place.target);
  else write(context, place, decision);
}

// The source that has the place meanwhile.
function holderOf(decision: Decision): Ref | undefined {
  if (decision.kind === "given") return decision.winner.source;
  return decision.kind === "stays" ? decision.source : undefined;
}

type TakeoverHold = Pick<Finding, "reason" | "failure" | "dueAt">;

function failing(
  { planBuilder }: PlanContext,
  { target, name }: TargetPlace,
  { key }: Given,
): TakeoverHold | undefined {
  const { places } = planBuilder.memory;
  const placeBackoff = places.placeBackoff(refText(placeIn(target, name)), key);
  if (placeBackoff?.kind !== "failed" || placeBackoff.until <= planBuilder.now) return undefined;
  const { reason, cause, triedAt, until: dueAt } = placeBackoff;
  const failed = because("TakeoverFailed", { error: reasonText(reason) });
  return { reason: failed, failure: { cause, triedAt }, dueAt };
}

function open(
  { planBuilder }: PlanContext,
  { target, name }: TargetPlace,
  evidence: Evidence | undefined,
): ReturnType<typeof unconfirmed> {
  if (!evidence) return undefined;
  const { reason, reads, fresh } = evidence;
  return unconfirmed(planBuilder, reason, reads, placeIn(target, name), fresh ? FRESH : undefined);
}

function write({ planBuilder }: PlanContext, place: TargetPlace, decision: Given): void {
  const { target, name, present } = place;
  const { winner, verdict, cause, reason, key: decisionKey } = decision;
  const { source, content, tally } = winner;
  const base = {
    objectKind: planBuilder.kind,
    place: placeIn(target, name),
    source: { namespace: source.namespace, name: source.name },
    cause,
    reason,
    decisionKey,
    content,
  } as const;
  const action = actionOn(present, verdict, base);
  if (action) planBuilder.propose(tally, verdict, action, target.order);
}

function actionOn(
  present: TargetPlace["present"],
  kind: Given["verdict"],
  base: Omit<Action & { kind: "create" }, "kind">,
): Action | undefined {
  if (present?.role === "copy" && (kind === "update" || kind === "replace"))
    return { kind, ...base, target: present };
  if (present?.role === "unmanaged" && kind === "adopt") return { kind, ...base, target: present };
  return undefined;
}

function reportLosers(
  context: PlanContext,
  place: TargetPlace,
  { losers, lost }: Pick<Given, "losers" | "lost">,
): void {
  if (!lost) return;
  for (const loser of losers)
    report(context, place, loser, loser.source, { verdict: "conflict", ...lost });
}

function report(
  { planBuilder }: PlanContext,
  { target, name, present }: TargetPlace,
  planned: Pick<Candidate, "tally"> | undefined,
  source: Ref,
  finding: Omit<Finding, "place" | "source">,
): void {
  const tally = planned?.tally ?? planBuilder.withoutSource;
  const isVacant = present?.role !== "copy";
  const without = isVacant || finding.winner !== undefined;
  planBuilder.report(tally, { place: placeIn(target, name), source, ...finding }, without);
}
