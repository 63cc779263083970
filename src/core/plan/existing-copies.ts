// The verdict for a place that one of our copies occupies, whatever brought it there: first what its
// source says of it, then who else wants the place, and only then whether it ends.
//   its source wants the place        current, update, replace, wait
//   paused / refused / unreadable / out of scope / namespace excluded or not understood
//                                     paused, frozen: it stays as it is and keeps the place
//   absent, within the grace          wait, and it keeps the place
//   gone, or wants it no more         the strongest other source that wants the place takes it over
//                                     by one update; where there is none it ends
import {
  namespaceQuestion,
  sourceQuestion,
  stayOfHandover,
  unconfirmed,
  type Lapse,
} from "./removal-conditions.ts";
import { claimOf } from "./copy-source.ts";
import type { Desk } from "./plan-context.ts";
import { type CopySecret } from "../model/cluster.ts";
import type { Finding, Pass } from "./plan-builder.ts";
import { wants, type Contender, type Entry, type Group } from "../desired/sources.ts";
import { situationOf, TABLE } from "./verdict-table.ts";
import type { Target } from "../desired/targets.ts";
import type { Cause } from "../model/verdicts.ts";
import type { OnDelete } from "../annotations/rules.ts";
import { refText } from "../annotations/names.ts";

/** `group`: who wants places of the copy's name. */
export function judgeCopy(
  desk: Desk,
  copy: CopySecret,
  target: Target,
  group: Group | undefined,
): void {
  const sole = group?.sole;
  if (sole && isCurrent(copy, target, sole)) sole.tally.current++;
  else judgeClaim(desk, copy, target, group?.contenders ?? []);
}

// Almost every copy of a quiet cluster ends here, so nothing is allocated, and of the copy as little is
// read as can be: the long way round gives the same answer.
function isCurrent(copy: CopySecret, target: Target, sole: Contender): boolean {
  return (
    copy.fingerprint === sole.fingerprint && !copy.deleting && !sole.paused && wants(sole, target)
  );
}

function judgeClaim(
  desk: Desk,
  copy: CopySecret,
  target: Target,
  group: readonly Contender[],
): void {
  const { pass, sources } = desk;
  const standing = sources.standing(copy.source);
  const tally = standing.kind === "entry" ? standing.entry.tally : pass.orphans;
  const claim = claimOf(desk, copy, target, standing);
  switch (claim.kind) {
    case "serve":
      if (group.length > 1) contest(desk, copy, target, group, claim.contender);
      else serve(desk, copy, target, claim.contender, "changed");
      return;
    case "hold": {
      const { verdict, reason } = claim;
      noteLosers(desk, copy, target, group, undefined);
      pass.note(tally, { verdict, place: copy, source: copy.source, reason });
      return;
    }
    case "lapsed":
      succeed(desk, copy, target, group, claim.lapse, claim.onDelete, tally);
  }
}

// The order of --source-namespaces decides, whoever came first; within one entry of it the holder keeps
// the place. While the stronger cannot take it, the holder goes on being served.
function contest(
  desk: Desk,
  copy: CopySecret,
  target: Target,
  group: readonly Contender[],
  holder: Contender,
): void {
  const { pass } = desk;
  const { held } = pass.memory;
  const taker = group.find(
    (one) =>
      one.rank < holder.rank && wants(one, target) && !one.paused && !held.has(one.source.uid),
  );
  if (!taker || copy.deleting) {
    noteLosers(desk, copy, target, group, holder);
    serve(desk, copy, target, holder, "changed");
    return;
  }
  const stay = failingTakeover(pass, copy, taker) ?? unreadTakeover(pass, copy, target, taker);
  noteLosers(desk, copy, target, group, stay ? holder : taker, taker);
  if (!stay) {
    serve(desk, copy, target, taker, "handover");
    return;
  }
  pass.note(taker.tally, { place: copy, source: taker.source, ...stay });
  serve(desk, copy, target, holder, "changed");
}

type Stayed = Pick<Finding, "verdict" | "reason" | "dueAt">;

function failingTakeover(pass: Pass, copy: CopySecret, taker: Contender): Stayed | undefined {
  const trouble = pass.memory.pairs.trouble(refText(copy), inputsOf(taker));
  if (trouble?.kind !== "failed" || trouble.until <= pass.now) return undefined;
  return {
    verdict: "conflict",
    reason: `it cannot take this place over: ${trouble.reason}`,
    dueAt: trouble.until,
  };
}

// A take-over follows from what the cache shows of the taker and of the namespace.
function unreadTakeover(pass: Pass, copy: CopySecret, target: Target, taker: Contender) {
  const reason = `source ${taker.text} comes before ${refText(copy.source)}`;
  const asked = [sourceQuestion(taker.source, taker.source), namespaceQuestion(target)];
  const stay = unconfirmed(pass, reason, asked);
  return stay && { ...stay, verdict: "conflict" as const };
}

function inputsOf({ source, content }: Contender): string {
  return `${source.uid} ${content.replica.fingerprint}`;
}

// The copy's place with the source that has it: the table's upper line.
function serve(
  desk: Desk,
  copy: CopySecret,
  target: Target,
  winner: Contender,
  cause: Cause,
): void {
  const { pass } = desk;
  const { content, tally } = winner;
  const situation = situationOf(copy, content);
  if (situation === "equal") {
    tally.current++;
    return;
  }
  const [verdict] = TABLE.wanted[situation];
  const write = {
    place: { namespace: copy.namespace, name: copy.name },
    source: { namespace: winner.source.namespace, name: winner.source.name },
    cause: cause === "changed" && isEdited(desk, copy, content) ? "edited" : cause,
    inputs: inputsOf(winner),
    content,
    target: copy,
  } as const;
  const why = WHY[write.cause] ?? "";
  if (verdict === "update") {
    pass.propose(tally, verdict, { kind: "update", ...write, reason: why }, target.order);
  } else if (verdict === "replace") {
    const reason = `${why}; ${unalterable(copy, winner)}`;
    pass.propose(tally, verdict, { kind: "replace", ...write, reason }, target.order);
  } else {
    const reason = "the copy is being deleted; it is made again afterwards";
    pass.note(tally, { verdict, place: write.place, source: write.source, reason });
  }
}

const WHY: Readonly<Partial<Record<Cause, string>>> = {
  changed: "the source changed",
  edited: "the copy was changed by somebody else",
  handover: "another source has this place now",
};

function unalterable(copy: CopySecret, { content }: Contender): string {
  if (copy.type !== content.replica.type) {
    return `the type ${copy.type} cannot be changed to ${content.replica.type}`;
  }
  return "the copy is immutable";
}

// Somebody changed the copy although its source has not changed since it was written.
function isEdited(
  desk: Desk,
  copy: CopySecret,
  { source, replica }: Contender["content"],
): boolean {
  if (copy.sourceUid !== source.uid) return false;
  const settled = desk.pass.memory.settled.get(source.uid);
  return settled === replica.fingerprint || copy.sourceVersion === source.resourceVersion;
}

function succeed(
  desk: Desk,
  copy: CopySecret,
  target: Target,
  group: readonly Contender[],
  lapse: Lapse,
  onDelete: OnDelete,
  tally: Entry["tally"],
): void {
  const { pass, settings, endings } = desk;
  const heirs = group.filter((contender) => wants(contender, target));
  // A paused one takes no place that it does not hold.
  const heir = heirs.find(({ paused }) => !paused) ?? heirs[0];
  if (!heir) {
    endings.add({ copy, tally, order: target.order, lapse, onDelete });
    return;
  }
  noteLosers(desk, copy, target, group, heir);
  if (heir.source.rule.paused) {
    const reason = `source ${heir.text}, which has this place now, is paused`;
    pass.note(heir.tally, { verdict: "paused", place: copy, source: heir.source, reason });
    return;
  }
  const stay = copy.deleting ? undefined : stayOfHandover(pass, settings, lapse);
  if (!stay) {
    serve(desk, copy, target, heir, "handover");
    return;
  }
  const [verdict] = TABLE.wanted[situationOf(copy, heir.content)];
  pass.note(heir.tally, { verdict, place: copy, source: heir.source, ...stay });
}

// Whoever else wants the place is told that it is taken.
function noteLosers(
  desk: Desk,
  copy: CopySecret,
  target: Target,
  group: readonly Contender[],
  winner: Contender | undefined,
  told?: Contender,
): void {
  const holder = winner?.text ?? refText(copy.source);
  for (const contender of group) {
    if (contender === winner || contender === told || contender.text === holder) continue;
    if (!wants(contender, target)) continue;
    const reason = `the copy of ${holder} has this place`;
    desk.pass.note(contender.tally, {
      verdict: "conflict",
      place: copy,
      source: contender.source,
      reason,
    });
  }
}
