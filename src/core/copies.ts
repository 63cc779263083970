// The verdict for a place that one of our copies occupies, whatever brought it there: first what its
// source says of it, then who else wants the place, and only then whether it ends.
//   its source wants the place        current, update, replace, wait
//   paused / refused / unreadable / out of scope / namespace excluded or not understood
//                                     paused, frozen: it stays as it is and keeps the place
//   absent, within the grace          wait, and it keeps the place
//   gone, or wants it no more         the strongest other source that wants the place takes it over
//                                     by one update; where there is none it ends
import type { Endings } from "./endings.ts";
import { going } from "./absent.ts";
import { problemText, refText, type CopySecret, type OnDelete, type Settings } from "./model.ts";
import type { Pass } from "./pass.ts";
import type { Contender, Entry, Sources, Standing } from "./sources.ts";
import { situationOf, TABLE } from "./table.ts";
import { wantOf, type Target } from "./targets.ts";
import type { Cause, Confirm } from "./verdicts.ts";

export type Desk = {
  readonly pass: Pass;
  readonly settings: Settings;
  readonly sources: Sources;
  readonly endings: Endings;
};

/** Why the source that a copy names has no claim to the place any more. */
type Lapse = {
  readonly cause: "unwanted" | "gone";
  readonly reason: string;
  readonly onDelete: OnDelete;
  readonly confirm: Confirm | undefined;
  readonly vanished: { readonly key: string; readonly since: number } | undefined;
};

/** What the copy's source says: the place is still taken, or it has lapsed. */
type Claim =
  | { readonly kind: "serve"; readonly contender: Contender }
  | {
      readonly kind: "hold";
      readonly verdict: "paused" | "frozen" | "wait";
      readonly reason: string;
      readonly dueAt?: number;
    }
  | ({ readonly kind: "lapsed" } & Lapse);

export function judgeCopy(desk: Desk, copy: CopySecret, target: Target): void {
  const { pass, sources } = desk;
  const standing = sources.standing(copy.source);
  const tally = standing.kind === "entry" ? standing.entry.tally : pass.orphans;
  const group = sources.contendersFor(copy.name);
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

function claimOf(desk: Desk, copy: CopySecret, target: Target, standing: Standing): Claim {
  if (target.excluded !== undefined) return hold("frozen", target.excluded);
  if (target.accept.kind === "problem") {
    return hold("frozen", `namespace ${target.name}: ${problemText(target.accept.problem)}`);
  }
  switch (standing.kind) {
    case "entry":
      return claimOfEntry(desk, copy, target, standing.entry, standing.contender);
    case "frozen":
      return hold("frozen", standing.reason);
    case "unsettled":
      return hold("wait", `source ${refText(copy.source)} has just arrived`);
    case "silent": {
      if (standing.uid !== copy.sourceUid) return claimOfAbsent(desk, copy);
      const reason = `${refText(copy.source)} carries neither to nor to-selector any more`;
      return lapsed(reason, copy.onDelete);
    }
    case "absent":
      return claimOfAbsent(desk, copy);
  }
}

function claimOfEntry(
  desk: Desk,
  copy: CopySecret,
  target: Target,
  entry: Entry,
  contender: Contender | undefined,
): Claim {
  const { source, text, frozen } = entry;
  if (frozen !== undefined) return hold("frozen", frozen);
  if (source.rule.paused) return hold("paused", `source ${text} is paused`);
  const named = source.rule.copyName === copy.name;
  const want = contender && named ? wantOf(contender, target) : "globs";
  if (contender && want === "wanted") return { kind: "serve", contender };
  // Another object under the source's old name says nothing of the source's copies.
  if (source.uid !== copy.sourceUid) return claimOfAbsent(desk, copy);
  const word = source.rule.onDelete ?? (source.rule.push ? "delete" : copy.onDelete);
  if (want === "declined") {
    return lapsed(`namespace ${target.name} does not accept copies of ${text}`, word);
  }
  return lapsed(`source ${text} no longer wants this place`, word);
}

function claimOfAbsent(desk: Desk, copy: CopySecret): Claim {
  const confirm = { source: copy.source, uid: copy.sourceUid };
  const state = going(desk.pass, desk.settings, confirm);
  switch (state.kind) {
    case "grace":
      return { kind: "hold", verdict: "wait", reason: state.reason, dueAt: state.dueAt };
    case "unreadable":
      return { kind: "hold", verdict: "frozen", reason: state.reason, dueAt: state.dueAt };
    case "gone": {
      const reason = `source ${refText(copy.source)} is gone`;
      const { vanished } = state;
      return {
        kind: "lapsed",
        cause: "gone",
        reason,
        onDelete: copy.onDelete,
        confirm: state.confirm,
        vanished,
      };
    }
  }
}

function hold(verdict: "frozen" | "paused" | "wait", reason: string): Claim {
  return { kind: "hold", verdict, reason };
}

function lapsed(reason: string, onDelete: OnDelete): Claim {
  const none = undefined;
  return { kind: "lapsed", cause: "unwanted", reason, onDelete, confirm: none, vanished: none };
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
