// The verdict for a place that one of our copies occupies, whatever brought it there: first what its
// source says of it, then who else wants the place, and only then whether it ends.
//   its source wants the place        current, update, replace, wait
//   paused / refused / unreadable / out of scope / namespace excluded or not understood
//                                     paused, frozen: it stays as it is and keeps the place
//   absent, within the grace          wait, and it keeps the place
//   gone, or wants it no more         the strongest other source that wants the place takes it over
//                                     by one update; where there is none it ends
import { claimOf, type Lapse } from "./claims.ts";
import type { Desk } from "./desk.ts";
import { refText, type CopySecret } from "./model.ts";
import type { Contender, Entry, Group } from "./sources.ts";
import { situationOf, TABLE } from "./table.ts";
import { wantOf, type Target } from "./targets.ts";
import type { Cause, Confirm } from "./verdicts.ts";

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
    copy.fingerprint === sole.fingerprint &&
    !copy.deleting &&
    !sole.paused &&
    (sole.wanted & target.bit) !== 0
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
      if (group.length > 1) noteLosers(desk, copy, target, group, claim.contender);
      serve(desk, copy, target, claim.contender, "changed", undefined);
      return;
    case "hold": {
      const { verdict, reason } = claim;
      const dueAt = claim.dueAt === undefined ? {} : { dueAt: claim.dueAt };
      noteLosers(desk, copy, target, group, undefined);
      pass.note(tally, { verdict, place: copy, source: copy.source, reason, ...dueAt });
      return;
    }
    case "lapsed":
      succeed(desk, copy, target, group, claim, tally);
  }
}

// The copy's place with the source that has it: the table's upper line.
function serve(
  desk: Desk,
  copy: CopySecret,
  target: Target,
  winner: Contender,
  cause: Cause,
  confirm: Confirm | undefined,
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
    inputs: `${winner.source.uid} ${content.replica.fingerprint}`,
    content,
    target: copy,
    ...(confirm ? { confirm } : {}),
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
  tally: Entry["tally"],
): void {
  const { pass, endings } = desk;
  const heir = group.find((contender) => wantOf(contender, target) === "wanted");
  if (!heir) {
    endings.add({ copy, tally, order: target.order, ...lapse });
    return;
  }
  noteLosers(desk, copy, target, group, heir);
  if (heir.source.rule.paused) {
    const reason = `source ${heir.text}, which has this place now, is paused`;
    pass.note(heir.tally, { verdict: "paused", place: copy, source: heir.source, reason });
    return;
  }
  serve(desk, copy, target, heir, "handover", lapse.confirm);
}

// Whoever else wants the place is told that it is taken.
function noteLosers(
  desk: Desk,
  copy: CopySecret,
  target: Target,
  group: readonly Contender[],
  winner: Contender | undefined,
): void {
  const holder = winner?.text ?? refText(copy.source);
  for (const contender of group) {
    if (contender === winner || contender.text === holder) continue;
    if (wantOf(contender, target) !== "wanted") continue;
    const reason = `the copy of ${holder} has this place`;
    desk.pass.note(contender.tally, {
      verdict: "conflict",
      place: copy,
      source: contender.source,
      reason,
    });
  }
}
