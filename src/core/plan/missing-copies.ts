// The verdict for a place that no copy of ours occupies and that at least one source wants: it is
// empty, or somebody else's Secret is there. Creates are gathered per source, because whether they may
// go depends on how many places it has (the fan-out limit).
import { type Secret, type Settings } from "../model/cluster.ts";
import type { Pass } from "./plan-builder.ts";
import { wants, type Contender } from "../desired/sources.ts";
import { obstacle } from "./verdict-table.ts";
import { placeIn, wantOf, type Target } from "../desired/targets.ts";
import type { Action, SourceReport } from "../model/verdicts.ts";
import { type Ref, refText } from "../annotations/names.ts";

const CREATES_PER_TURN = 1024;
// A plan holds so many creates; what is beyond is counted, and planned once these are made: a thousand
// new sources times a thousand namespaces would take half a gigabyte of rows and writes.
const MOST_CREATES = 50_000;
const FEWEST_CREATES = 16;

export class Vacancies {
  readonly #pass: Pass;
  readonly #settings: Settings;
  readonly #creates = new Map<Contender, Target[]>();
  readonly #held = new Set<Contender>();

  constructor(pass: Pass, settings: Settings) {
    this.#pass = pass;
    this.#settings = settings;
  }

  /** A place of `group`'s name in `target`; `present` is not one of our copies. */
  judge(group: readonly Contender[], target: Target, present: Secret | undefined): void {
    const wanting = group.filter((contender) => {
      if (wants(contender, target) || this.#isOwed(contender, target)) return true;
      contender.tally.skip++;
      return false;
    });
    // A paused one takes no place that it does not hold.
    const winner = adopter(wanting, present) ?? wanting.find(({ paused }) => !paused) ?? wanting[0];
    if (!winner) return;
    for (const loser of wanting) {
      if (loser !== winner) this.#lose(loser, target, winner);
    }
    this.#win(winner, target, present);
  }

  /** A copy may be due there although the target takes nothing new. */
  mayOwe({ accept }: Target): boolean {
    return accept.kind === "kept" && this.#pass.memory.pairs.owesAny;
  }

  // Where nothing new comes, the successor of a copy that we deleted is nothing new.
  #isOwed(contender: Contender, target: Target): boolean {
    const { pairs } = this.#pass.memory;
    return (
      this.mayOwe(target) &&
      pairs.isOwed(refText(placeIn(target, contender.source.rule.copyName))) &&
      wantOf(contender, target) === "kept"
    );
  }

  #lose(loser: Contender, target: Target, winner: Contender): void {
    const place = placeIn(target, loser.source.rule.copyName);
    const reason = `source ${winner.text} wants the same place and comes first`;
    this.#pass.note(loser.tally, { verdict: "conflict", place, source: loser.source, reason });
  }

  #win(winner: Contender, target: Target, present: Secret | undefined): void {
    const { source, content, tally } = winner;
    const place = placeIn(target, source.rule.copyName);
    const reason = present && obstacle(present, content);
    if (reason !== undefined) {
      this.#pass.note(tally, { verdict: "conflict", place, source, reason });
      return;
    }
    if (source.rule.paused) {
      const reason = `source ${winner.text} is paused`;
      this.#pass.note(tally, { verdict: "paused", place, source, reason });
      return;
    }
    if (present?.role !== "stranger") {
      this.#vacant(winner, target, place);
      return;
    }
    const write = { ...writeOf(winner, place), cause: "new", target: present } as const;
    const why = "its owner lets this source adopt it";
    this.#pass.propose(tally, "adopt", { kind: "adopt", ...write, reason: why }, target.order);
  }

  #vacant(winner: Contender, target: Target, place: Ref): void {
    const hidden = this.#pass.memory.pairs.hiddenAt(refText(place));
    if (hidden === undefined) {
      const targets = this.#creates.get(winner);
      if (targets) targets.push(target);
      else this.#creates.set(winner, [target]);
      return;
    }
    const unread = hidden.unread === undefined ? "" : ` and cannot be read: ${hidden.unread}`;
    const reason = `a Secret that the cache does not show is in the way${unread}`;
    const { source, tally } = winner;
    const finding = { verdict: "conflict", place, source, reason } as const;
    if (hidden.until > this.#pass.now) {
      this.#pass.note(tally, { ...finding, dueAt: hidden.until });
      return;
    }
    this.#pass.note(tally, finding);
    const { content: _, ...write } = writeOf(winner, place);
    this.#pass.look({ kind: "look", ...write, cause: "new", reason }, target.order);
  }

  /** Proposes or holds the creates; to be run once, when every copy has been judged. */
  *settle(): Generator<undefined, void> {
    const most = Math.max(FEWEST_CREATES, Math.floor(MOST_CREATES / this.#creates.size));
    for (const [winner, targets] of this.#creates) {
      const end = this.#pass.proposed + most;
      const places = placesOf(winner) + targets.length;
      const bytes = places * winner.content.replica.bytes;
      const held = bytes > this.#settings.fanoutLimitBytes;
      if (held) this.#held.add(winner);
      for (const [index, target] of targets.entries()) {
        if (index % CREATES_PER_TURN === 0) yield;
        if (held) this.#hold(winner, target, places, bytes);
        else if (this.#pass.proposed < end) this.#create(winner, target);
        else this.#defer(winner, target);
      }
    }
    this.#pass.memory.held = new Set([...this.#held].map(({ source }) => source.uid));
  }

  fanout(contender: Contender): Pick<SourceReport, "fanoutBytes" | "fanoutHeld"> {
    const held = this.#held.has(contender);
    const places = placesOf(contender) + (held ? contender.tally.held : contender.tally.create);
    return { fanoutBytes: places * contender.content.replica.bytes, fanoutHeld: held };
  }

  #hold({ source, tally }: Contender, target: Target, places: number, bytes: number): void {
    const { fanoutLimitBytes } = this.#settings;
    const reason = `${places} places need ${bytes} bytes, more than ${fanoutLimitBytes} (--fanout-limit)`;
    const place = placeIn(target, source.rule.copyName);
    this.#pass.note(tally, { verdict: "held", place, source, reason });
  }

  // Asked for, so that what is remembered of the place is not forgotten.
  #defer(winner: Contender, target: Target): void {
    const { place, inputs } = writeOf(winner, placeIn(target, winner.source.rule.copyName));
    const { pairs } = this.#pass.memory;
    pairs.hasVanished(refText(place));
    if (pairs.trouble(refText(place), inputs)) this.#create(winner, target);
    else winner.tally.create++;
  }

  #create(winner: Contender, target: Target): void {
    const place = placeIn(target, winner.source.rule.copyName);
    const deleted = this.#pass.memory.pairs.hasVanished(refText(place));
    const cause = deleted ? "deleted" : "new";
    const reason = deleted ? "the copy was deleted by somebody else" : "there is no copy yet";
    const action: Action = { kind: "create", ...writeOf(winner, place), cause, reason };
    this.#pass.propose(winner.tally, "create", action, target.order);
  }
}

// The places that a source has already, so that a create beyond them shows the whole size.
function placesOf({ tally }: Contender): number {
  return tally.current + tally.update + tally.replace + tally.adopt;
}

function adopter(
  wanting: readonly Contender[],
  present: Secret | undefined,
): Contender | undefined {
  if (present?.role !== "stranger" || present.adopt?.source === undefined) return undefined;
  const text = refText(present.adopt.source);
  return wanting.find((contender) => contender.text === text);
}

function writeOf({ source, content }: Contender, place: Ref) {
  const inputs = `${source.uid} ${content.replica.fingerprint}`;
  return { place, source: { namespace: source.namespace, name: source.name }, inputs, content };
}
