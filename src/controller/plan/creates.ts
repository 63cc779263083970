// The creates of one plan. They are gathered by source, because the sources share the room for them.
import { because } from "../model/reasons.ts";
import type { Finding, KindSync } from "./plan-builder.ts";
import type { Candidate } from "../desired/sources.ts";
import { placeIn, type TargetNamespace } from "../desired/targets.ts";
import { type Ref, refText } from "../../text/names.ts";
import { decisionKeyOf, type Action } from "../model/actions.ts";

const CREATES_PER_TURN = 1024;
// The most creates in one plan. The rest is counted, and planned once these are made: a thousand
// new sources times a thousand namespaces would take half a gigabyte of rows and writes.
const MOST_CREATES = 10_000;
const FEWEST_CREATES = 16;

export class Creates {
  readonly #sync: KindSync;
  readonly #creates = new Map<Candidate, TargetNamespace[]>();

  constructor(sync: KindSync) {
    this.#sync = sync;
  }

  /** Nothing is at the place of `winner` in `target`, as far as the cache shows. */
  add(winner: Candidate, target: TargetNamespace): void {
    const { planBuilder } = this.#sync;
    const place = placeOf(winner, target);
    const uncached = planBuilder.memory.places.uncachedAt(refText(place));
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
      this.#report(winner, place, { reason, dueAt: uncached.until });
      return;
    }
    this.#report(winner, place, { reason });
    const { content: _, ...write } = writeOf(winner, place);
    planBuilder.look({ kind: "liveGet", ...write, cause: "new", reason }, target.order);
  }

  #report(
    { source, tally }: Candidate,
    place: Ref,
    finding: Pick<Finding, "reason"> & Partial<Finding>,
  ): void {
    const { planBuilder } = this.#sync;
    planBuilder.report(tally, { verdict: "conflict", place, source, ...finding }, true);
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
    const { places } = this.#sync.planBuilder.memory;
    places.hasVanished(refText(place));
    if (places.placeBackoff(refText(place), decisionKey)) this.#create(winner, target);
    else winner.tally.create++;
  }

  #create(winner: Candidate, target: TargetNamespace): void {
    const place = placeOf(winner, target);
    const deleted = this.#sync.planBuilder.memory.places.hasVanished(refText(place));
    const cause = deleted ? "deleted" : "new";
    const reason = because(deleted ? "CopyDeleted" : "NoCopyYet");
    const action: Action = { kind: "create", ...writeOf(winner, place), cause, reason };
    this.#sync.planBuilder.propose(winner.tally, "create", action, target.order);
  }
}

function placeOf({ source }: Candidate, target: TargetNamespace): Ref {
  return placeIn(target, source.rule.copyName);
}

function writeOf({ source, content }: Candidate, place: Ref) {
  const decisionKey = decisionKeyOf(content);
  const { kind: objectKind, namespace, name } = source;
  return { objectKind, place, source: { namespace, name }, decisionKey, content };
}
