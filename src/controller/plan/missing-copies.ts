// The verdict for a place that no copy of ours occupies and that at least one source wants: it is
// empty, or an unmanaged Secret is there. Creates are gathered by source, because the sources share the room for
// them.
import { because } from "../model/reasons.ts";
import type { CachedObject } from "../model/cluster.ts";
import type { Finding, KindSync } from "./plan-builder.ts";
import { takesPlaces, type Candidate, type CandidateGroup } from "../desired/sources.ts";
import { overFanoutLimit } from "./plan-context.ts";
import { holderAt } from "./reserved-places.ts";
import { isWanted } from "../desired/wants.ts";
import {
  adoptionObstacle,
  targetStateWithoutCopy,
  unwantedVerdict,
  wantedVerdict,
} from "./verdict-table.ts";
import { placeIn, type TargetNamespace } from "../desired/targets.ts";
import { unreadableName } from "../model/verdicts.ts";
import { type Ref, refText } from "../../text/names.ts";
import { decisionKeyOf, type Action } from "../model/actions.ts";

const CREATES_PER_TURN = 1024;
// The most creates in one plan. The rest is counted, and planned once these are made: a thousand
// new sources times a thousand namespaces would take half a gigabyte of rows and writes.
const MOST_CREATES = 10_000;
const FEWEST_CREATES = 16;

export class MissingCopies {
  readonly #sync: KindSync;
  readonly #creates = new Map<Candidate, TargetNamespace[]>();

  constructor(sync: KindSync) {
    this.#sync = sync;
  }

  /** A place of `group`'s name in `target`, where `present` is not one of our copies. */
  judge(group: CandidateGroup, target: TargetNamespace, present: CachedObject | undefined): void {
    const state = targetStateWithoutCopy(present);
    const wanting = group.candidates.filter((candidate) => {
      if (isWanted(candidate, target)) return true;
      candidate.tally[unwantedVerdict(state)]++;
      return false;
    });
    const holder = present ? undefined : this.#holderAt(group.copyName, target, wanting);
    const first = wanting.find(takesPlaces) ?? wanting[0];
    const winner = holder ?? adopter(wanting, present) ?? first;
    if (!winner) return;
    const code = winner === first ? "OtherSourceFirst" : "PlaceReserved";
    const reason = because(code, { source: winner.text });
    const lost = { verdict: "conflict", reason, winner: winner.source } as const;
    for (const loser of wanting) if (loser !== winner) this.#report(loser, target, lost);
    this.#win(winner, target, present);
  }

  // As at a place that has its copy: only a source of a stronger rank comes before the holder.
  #holderAt(
    copyName: string,
    target: TargetNamespace,
    wanting: readonly Candidate[],
  ): Candidate | undefined {
    const holder = holderAt(this.#sync.planBuilder, copyName, target, wanting);
    if (!holder) return undefined;
    const stronger = wanting.find((one) => one.rank < holder.rank && takesPlaces(one));
    return stronger ? undefined : holder;
  }

  #report(
    candidate: Candidate,
    target: TargetNamespace,
    finding: Omit<Finding, "place" | "source">,
  ): void {
    const { source, tally } = candidate;
    const place = placeOf(candidate, target);
    this.#sync.planBuilder.report(tally, { place, source, ...finding }, true);
  }

  #win(winner: Candidate, target: TargetNamespace, present: CachedObject | undefined): void {
    const { source, content, tally } = winner;
    const place = placeOf(winner, target);
    if (target.unreadable.has(place.name)) {
      this.#report(winner, target, { verdict: "frozen", reason: unreadableName(place.name) });
      return;
    }
    const obstacle = present && adoptionObstacle(present, content);
    const verdict = wantedVerdict(targetStateWithoutCopy(present), obstacle === undefined);
    if (verdict === "conflict") {
      const reason = obstacle ?? because("PlaceTaken", { source: refText(source) });
      this.#report(winner, target, { verdict, reason });
      return;
    }
    if (source.rule.paused) {
      const reason = because("SourcePaused", { source: winner.text });
      this.#report(winner, target, { verdict: "paused", reason, differs: true });
      return;
    }
    if (verdict === "create" || present?.role !== "unmanaged") {
      if (winner.held) {
        const reason = overFanoutLimit(this.#sync.settings, winner);
        this.#report(winner, target, { verdict: "held", reason });
      } else this.#vacant(winner, target, place);
      return;
    }
    const write = { ...writeOf(winner, place), cause: "new", target: present } as const;
    const action = { kind: verdict, ...write, reason: because("AdoptionAllowed") };
    this.#sync.planBuilder.propose(tally, verdict, action, target.order);
  }

  #vacant(winner: Candidate, target: TargetNamespace, place: Ref): void {
    const { planBuilder } = this.#sync;
    const uncached = planBuilder.memory.backoff.uncachedAt(refText(place));
    if (uncached === undefined) {
      const targets = this.#creates.get(winner);
      if (targets) targets.push(target);
      else this.#creates.set(winner, [target]);
      return;
    }
    const { kind } = planBuilder;
    const reason =
      uncached.unread === undefined
        ? because("UncachedObjectInTheWay", { kind })
        : because("UnreadObjectInTheWay", { kind, error: uncached.unread });
    if (uncached.until > planBuilder.now) {
      this.#report(winner, target, { verdict: "conflict", reason, dueAt: uncached.until });
      return;
    }
    this.#report(winner, target, { verdict: "conflict", reason });
    const { content: _, ...write } = writeOf(winner, place);
    planBuilder.look({ kind: "liveGet", ...write, cause: "new", reason }, target.order);
  }

  /** How many sources have places to be made. */
  get creating(): number {
    return this.#creates.size;
  }

  /**
   * Proposes the creates. Runs once, after every copy is judged. `creating`: sources of all
   * kinds, which share the room.
   */
  *settle(creating: number): Generator<undefined, void> {
    const most = Math.max(FEWEST_CREATES, Math.floor(MOST_CREATES / creating));
    for (const [winner, targets] of this.#creates) {
      const end = this.#sync.planBuilder.proposals.count + most;
      this.#sync.planBuilder.pendingSince(winner.source);
      for (const [index, target] of targets.entries()) {
        if (index % CREATES_PER_TURN === 0) yield;
        if (this.#sync.planBuilder.proposals.count < end) this.#create(winner, target);
        else this.#defer(winner, target);
      }
    }
  }

  // Asked for, so that what is remembered of the place is not forgotten.
  #defer(winner: Candidate, target: TargetNamespace): void {
    const { place, decisionKey } = writeOf(winner, placeOf(winner, target));
    const { backoff } = this.#sync.planBuilder.memory;
    backoff.hasVanished(refText(place));
    if (backoff.placeBackoff(refText(place), decisionKey)) this.#create(winner, target);
    else winner.tally.create++;
  }

  #create(winner: Candidate, target: TargetNamespace): void {
    const place = placeOf(winner, target);
    const deleted = this.#sync.planBuilder.memory.backoff.hasVanished(refText(place));
    const cause = deleted ? "deleted" : "new";
    const reason = because(deleted ? "CopyDeleted" : "NoCopyYet");
    const action: Action = { kind: "create", ...writeOf(winner, place), cause, reason };
    this.#sync.planBuilder.propose(winner.tally, "create", action, target.order);
  }
}

function placeOf({ source }: Candidate, target: TargetNamespace): Ref {
  return placeIn(target, source.rule.copyName);
}

function adopter(
  wanting: readonly Candidate[],
  present: CachedObject | undefined,
): Candidate | undefined {
  if (present?.role !== "unmanaged" || present.adopt?.source === undefined) return undefined;
  const text = refText(present.adopt.source);
  return wanting.find((candidate) => candidate.text === text);
}

function writeOf({ source, content }: Candidate, place: Ref) {
  const decisionKey = decisionKeyOf(content);
  const { kind: objectKind, namespace, name } = source;
  return { objectKind, place, source: { namespace, name }, decisionKey, content };
}
