// Unwanted copies and filled pulling objects, gathered over a sync, because how many namespaces a source lost decides
// how long each waits (removal-wait.ts). Afterwards a live read confirms the reason. A copy is then deleted or, with
// `keep`, released, and a pulling object is cleared.
import { because, followedBy } from "../model/reasons.ts";
import { FRESH, unconfirmed, type AsksFor, type RemovalReason } from "./removal-conditions.ts";
import { recordOn, type CopyObject, type PullingObject } from "../model/cluster.ts";
import type { ReportedWait, UnwantedPlace } from "../state/unwanted-places.ts";
import { awaited } from "../model/finalizers.ts";
import type { Finding, KindSync } from "./plan-builder.ts";
import { unwantedVerdict } from "./verdict-table.ts";
import type { RowRemoval, Tally } from "../model/verdicts.ts";
import type { OnDelete } from "../annotations/rules.ts";
import { type Ref, refText } from "../../text/names.ts";
import type { EndAction } from "../model/actions.ts";
import { covers, stepsOf, type TargetNamespace } from "../desired/targets.ts";
import { MOST_LOST, removalWait } from "./removal-wait.ts";
import { removalWaits } from "../model/removal-holds.ts";

type Because = {
  readonly tally: Tally;
  readonly order: number;
  readonly removalReason: RemovalReason;
};

type CopyEnding = Because & { readonly copy: CopyObject; readonly onDelete: OnDelete };
type PullEnding = Because & { readonly pull: PullingObject; readonly source: Ref };
type Ending = {
  readonly because: Because;
  readonly verdict: "delete" | "release";
  /** What becomes of the content. */
  readonly end: "delete" | "release";
  readonly action: EndAction;
  readonly unwanted: UnwantedPlace;
};

/** How many namespaces may pull from a source. */
type Allowed = { readonly asks: AsksFor; count: number };

const ENDINGS_PER_TURN = 1024;

export class Removals {
  readonly #endings: Ending[] = [];
  /** By source: the namespaces that keep its copy, although they accept nothing new. */
  readonly #kept = new Map<string, number>();
  /** By source that pulling objects lost. */
  readonly #allowed = new Map<string, Allowed>();
  readonly #sync: KindSync;
  readonly #targets: readonly TargetNamespace[];

  constructor(sync: KindSync, targets: readonly TargetNamespace[]) {
    this.#sync = sync;
    this.#targets = targets;
  }

  /** Nobody wants the copy's place. */
  add(ending: CopyEnding): void {
    const { copy, removalReason, tally } = ending;
    const { source, sourceUid } = copy.template;
    const verdict = unwantedVerdict(copy.deleting ? "deleting" : "equal", ending.onDelete);
    const place = placeOf(copy);
    if (verdict === "wait") {
      const reason = followedBy(removalReason.reason, awaited(copy));
      this.#sync.planBuilder.report(tally, { verdict, place, source, reason });
      return;
    }
    const write = this.#write(place, source, removalReason);
    const decisionKey = `${verdict} ${sourceUid}`;
    const action = { kind: verdict, target: copy, ...write, decisionKey } as const;
    const unwanted = this.#note(copy, removalReason);
    this.#endings.push({ because: ending, verdict, end: verdict, action, unwanted });
  }

  addPull(ending: PullEnding): void {
    const { pull, source, removalReason } = ending;
    const write = this.#write(placeOf(pull), source, removalReason);
    const decisionKey = `clear ${pull.sourceUid ?? ""}`;
    const action = { kind: "clear", target: pull, ...write, decisionKey } as const;
    // Its owner chooses its name, so names do not keep losses apart.
    const unwanted = this.#note(pull, removalReason, `pull ${refText(source)}`);
    if (removalReason.kind === "narrowed") this.#countLater(removalReason.asks);
    // The object stays. Its content goes, unless its owner keeps it.
    const end = pull.onDelete === "keep" ? "release" : "delete";
    this.#endings.push({ because: ending, verdict: "release", end, action, unwanted });
  }

  /**
   * Whether a copy whose source no longer exists still keeps its place from a successor. It is reported then.
   */
  keepsPlace(copy: CopyObject, removalReason: RemovalReason): boolean {
    const wait = this.#waitOf(this.#note(copy, removalReason), removalReason);
    const { planBuilder } = this.#sync;
    if (wait.dueAt <= planBuilder.now) return false;
    const { source } = copy.template;
    planBuilder.report(planBuilder.withoutSource, {
      place: placeOf(copy),
      source,
      ...this.#waiting(wait, removalReason, { verdict: "delete", end: "takeover" }, copy),
    });
    return true;
  }

  /** Its namespace keeps a copy of `source`, although it accepts nothing new. */
  kept(source: string): void {
    this.#kept.set(source, (this.#kept.get(source) ?? 0) + 1);
  }

  #countLater(asks: AsksFor): void {
    const { text } = asks.source;
    if (asks.kind === "allow" && !this.#allowed.has(text))
      this.#allowed.set(text, { asks, count: 0 });
  }

  /** How many existing namespaces a source still wants. */
  #leftOf(asks: AsksFor): number {
    const { text } = asks.source;
    if (asks.kind === "allow") return this.#allowed.get(text)?.count ?? 0;
    return asks.source.wantedTotal + (this.#kept.get(text) ?? 0);
  }

  /** Removes what is due and reports what waits. Runs once, after all places were judged. */
  *settle(): Generator<undefined, void> {
    yield* this.#countAllowed();
    for (const [index, ending] of this.#endings.entries()) {
      if (index % ENDINGS_PER_TURN === 0) yield;
      this.#settle(ending);
    }
    yield* this.#places.endSync(this.#sync.planBuilder.now);
  }

  *#countAllowed(): Generator<undefined, void> {
    const { planBuilder } = this.#sync;
    for (const allowed of this.#allowed.values()) {
      const { match, source } = allowed.asks;
      for (const target of this.#targets) {
        planBuilder.steps += stepsOf(match, target.name.length);
        if (planBuilder.turnIsOver()) yield;
        if (target.name === source.namespace || target.excluded !== undefined) continue;
        if (covers(match, target.namespace)) allowed.count++;
        // More say nothing new.
        if (allowed.count > MOST_LOST) break;
      }
    }
  }

  get #places() {
    return this.#sync.planBuilder.memory.unwantedPlaces;
  }

  #settle(ending: Ending): void {
    const { because, verdict, end, action, unwanted } = ending;
    const { removalReason, tally, order } = because;
    const wait = this.#waitOf(unwanted, removalReason);
    if (wait.dueAt > this.#sync.planBuilder.now) {
      this.#report(ending, this.#waiting(wait, removalReason, { verdict, end }, action.target));
      return;
    }
    const { planBuilder } = this.#sync;
    const { reason, evidence } = removalReason;
    const open = unconfirmed(planBuilder, reason, evidence, action.place, FRESH);
    if (open) this.#report(ending, { verdict, ...open });
    else planBuilder.propose(tally, verdict, action, order);
  }

  #note(
    object: CopyObject | PullingObject,
    { kind }: RemovalReason,
    of = `${refText(recordSource(object))} ${object.name}`,
  ): UnwantedPlace {
    const { planBuilder, settings } = this.#sync;
    const { holdMs: keepMs } = removalWaits(settings);
    const { namespace } = object;
    const counted = { namespace, of, counts: kind !== "declined", keepMs };
    return this.#places.note(refText(object), counted, planBuilder.now);
  }

  #waitOf(unwanted: UnwantedPlace, removalReason: RemovalReason): ReportedWait {
    const { planBuilder, settings } = this.#sync;
    const { now, memory } = planBuilder;
    const counts = () => ({
      lost: this.#places.lostNamespaces(unwanted, now - removalWaits(settings).holdMs),
      left: removalReason.kind === "narrowed" ? this.#leftOf(removalReason.asks) : 0,
      foundAtStart: unwanted.since === memory.shared.beganAt,
    });
    return this.#places.report(unwanted, removalWait(settings, removalReason, counts), now);
  }

  #waiting(
    { dueAt, hold }: ReportedWait,
    { kind, reason }: RemovalReason,
    { verdict, end }: { verdict: "delete" | "release"; end: RowRemoval["end"] },
    target: CopyObject | PullingObject,
  ): Pick<Finding, "verdict" | "reason" | "dueAt" | "removal"> {
    if (!hold) {
      const seconds = removalWaits(this.#sync.settings).graceMs / 1000;
      const later = because("RemovedLater", { seconds, flag: "--delete-grace" });
      const removal = { end, hold: undefined };
      return { verdict, reason: followedBy(reason, later), dueAt, removal };
    }
    const { entry } = recordOn(target);
    const source = recordSource(target);
    const { planBuilder, settings } = this.#sync;
    const isNamed =
      entry !== undefined || settings.namedSources?.matches(source.namespace) === true;
    planBuilder.heldRemovals[isNamed ? "named" : "any"]++;
    const removal = { end, hold: hold.cause, entry, lost: kind === "gone" };
    return { verdict: "held", reason: followedBy(reason, hold.why), dueAt, removal };
  }

  #write(place: Ref, source: Ref, { kind, reason }: RemovalReason) {
    const { kind: objectKind } = this.#sync.planBuilder;
    const cause = kind === "gone" ? "gone" : "unwanted";
    return { objectKind, place, source, cause, reason } as const;
  }

  #report(
    { because: { tally }, action }: Ending,
    finding: Omit<Finding, "place" | "source">,
  ): void {
    const { place, source, kind } = action;
    this.#sync.planBuilder.report(tally, { place, source, pulling: kind === "clear", ...finding });
  }
}

function recordSource(object: CopyObject | PullingObject): Ref {
  return object.role === "copy" ? object.template.source : (object.from ?? object);
}

function placeOf({ namespace, name }: Ref): Ref {
  return { namespace, name };
}
