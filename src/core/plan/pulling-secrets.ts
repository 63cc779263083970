// Pulling Secrets: filled from a source that allows it, through its `keys` and then through their own.
// The cache keeps digests of them: where those do not show that one is as it is to be, a look at the
// Secret itself (pull-fill.ts) decides what to write, if anything. It is its owner's object: never deleted, entries of its own survive; what we filled is recorded and
// taken out when consent or source goes. To its owner there is one reason for both.
import { gone, namespaceQuestion, sourceQuestion, type Lapse } from "./removal-conditions.ts";
import { consents } from "./consent.ts";
import type { Desk } from "./plan-context.ts";
import { type PullSecret, type Replica } from "../model/cluster.ts";
import type { Standing } from "../desired/sources.ts";
import type { Target } from "../desired/targets.ts";
import type { Content } from "../model/verdicts.ts";
import { STEPS_PER_TURN } from "../desired/wants.ts";
import { problemText } from "../annotations/rules.ts";
import { type Ref, refText } from "../annotations/names.ts";

function noConsent(from: Ref): string {
  return `there is no source ${refText(from)}, or it does not allow this namespace`;
}

export function judgePull(desk: Desk, pull: PullSecret, target: Target): void {
  const { from } = pull;
  const problem = pull.problems[0];
  if (from === undefined || problem) {
    const reason = problem ? problemText(problem) : "";
    note(desk, pull, from ?? pull, "frozen", reason);
  } else if (pull.deleting) note(desk, pull, from, "wait", "it is being deleted");
  else if (target.excluded !== undefined) {
    note(desk, pull, from, isFilled(pull) ? "frozen" : "conflict", target.excluded);
  } else judgeStanding(desk, pull, from, target, desk.sources.standing(from));
}

type Noted = "frozen" | "wait" | "conflict" | "paused" | "current";

function note(desk: Desk, pull: PullSecret, source: Ref, verdict: Noted, reason: string): void {
  const place = { namespace: pull.namespace, name: pull.name };
  desk.pass.note(desk.pass.orphans, { verdict, place, source, reason, pulling: true });
}

function isFilled(pull: PullSecret): boolean {
  return pull.filled > 0;
}

function judgeStanding(
  desk: Desk,
  pull: PullSecret,
  from: Ref,
  target: Target,
  standing: Standing,
): void {
  switch (standing.kind) {
    case "entry":
      judgeEntry(desk, pull, from, target, standing);
      return;
    case "frozen":
      if (isFilled(pull)) note(desk, pull, from, "frozen", standing.reason);
      else note(desk, pull, from, "conflict", noConsent(from));
      return;
    case "unsettled":
      note(desk, pull, from, "wait", `source ${refText(from)} has just arrived`);
      return;
    case "silent":
      if (standing.uid === pull.sourceUid) {
        end(desk, pull, from, target, unwanted(from, [sourceQuestion(from, standing)]));
      } else judgeAbsent(desk, pull, from, target, standing);
      return;
    case "absent":
      judgeAbsent(desk, pull, from, target, standing);
  }
}

function judgeEntry(
  desk: Desk,
  pull: PullSecret,
  from: Ref,
  target: Target,
  standing: Extract<Standing, { kind: "entry" }>,
): void {
  const { entry } = standing;
  const { source, content, frozen } = entry;
  const mine = source.uid === pull.sourceUid;
  if (frozen !== undefined || content === undefined) {
    if (isFilled(pull) && mine) note(desk, pull, from, "frozen", frozen ?? "");
    else note(desk, pull, from, "conflict", noConsent(from));
    return;
  }
  const { pull: allowed, paused } = source.rule;
  const allows = allowed !== undefined && consents(desk.pass, allowed, pull, target);
  if (allows && paused) note(desk, pull, from, "paused", `source ${entry.text} is paused`);
  else if (allows) fillFrom(desk, pull, from, target, content);
  else if (mine && paused) note(desk, pull, from, "paused", `source ${entry.text} is paused`);
  else if (mine) {
    const bySelector = allowed?.selector !== undefined;
    const asked = sourceQuestion(source, source);
    const follows = bySelector ? [asked, namespaceQuestion(target)] : [asked];
    end(desk, pull, from, target, unwanted(from, follows));
  } else judgeAbsent(desk, pull, from, target, standing);
}

function unwanted(from: Ref, follows: Lapse["follows"]): Lapse {
  return { cause: "unwanted", reason: noConsent(from), follows };
}

// What it was filled from is not there any more: gone, or `from` names another source now.
function judgeAbsent(
  desk: Desk,
  pull: PullSecret,
  from: Ref,
  target: Target,
  standing: Standing,
): void {
  if (!isFilled(pull)) {
    note(desk, pull, from, "conflict", noConsent(from));
    return;
  }
  const { pass, settings } = desk;
  const uid = pull.sourceUid ?? "";
  end(desk, pull, from, target, gone(pass, settings, from, uid, standing, noConsent(from)));
}

function end(desk: Desk, pull: PullSecret, source: Ref, target: Target, lapse: Lapse): void {
  if (!isFilled(pull) || pull.onDelete === "keep") {
    note(desk, pull, source, "conflict", lapse.reason);
    return;
  }
  const { order } = target;
  desk.endings.addPull({ pull, source, tally: desk.pass.orphans, order, lapse });
}

function fillFrom(desk: Desk, pull: PullSecret, from: Ref, target: Target, content: Content): void {
  const { source, replica } = content;
  const { memory } = desk.pass;
  const place = { namespace: pull.namespace, name: pull.name };
  const inputs = `${source.uid} ${replica.fingerprint}`;
  const sameFill = memory.pairs.lastFill(refText(place)) === inputs;
  const known = memory.resolutions.of(refText(place), pull, inputs);
  if (known?.conflict !== undefined) {
    note(desk, pull, from, "conflict", known.conflict);
    return;
  }
  if (known || isCurrent(desk, pull, content)) {
    desk.pass.orphans.current++;
    return;
  }
  const sameVersion =
    pull.sourceUid === source.uid && pull.sourceVersion === source.resourceVersion;
  const edited = sameFill || (isFilled(pull) && sameVersion);
  const action = {
    kind: "fill",
    place,
    source: from,
    cause: edited ? "edited" : isFilled(pull) ? "changed" : "new",
    reason: "its entries are not the source's, as far as is known",
    inputs,
    target: pull,
    content,
  } as const;
  desk.pass.propose(desk.pass.orphans, "update", action, target.order);
}

// What the source offers to the keys of a pulling Secret; the answer holds for these two versions.
const offers = new WeakMap<PullSecret, { readonly replica: Replica; readonly digest: string }>();

// All that the source offers is there and recorded as ours, and nothing else is recorded.
function isCurrent(desk: Desk, pull: PullSecret, { source, replica }: Content): boolean {
  if (pull.sourceUid !== source.uid || pull.keys === undefined) return false;
  if (pull.keys.text === undefined) return pull.filledDigest === replica.dataDigest;
  const before = offers.get(pull);
  if (before?.replica === replica) return before.digest === pull.filledDigest;
  // What it asks of 1,000 entries takes a turn of its own.
  desk.pass.steps += STEPS_PER_TURN;
  const digest = desk.offerOf(source, pull.keys);
  if (digest === undefined) return false;
  offers.set(pull, { replica, digest });
  return digest === pull.filledDigest;
}
