// Follows what the caches show of copies and writes a receipt for each change. Promises:
// - Replaying the lines of one process from its last `begin` yields what its caches show, whatever happened in
//   between: lost answers, deletions by others, relists.
// - At the first sync, and after lines were lost, every existing copy has a line. So nothing of an earlier
//   process has to be known, and a crash between a write and its receipt loses no copy.
// - A line with `found` follows from the watch. A line without it follows from the answer to our own write.
// - It holds no copy of the cache: one entry for each write in flight, and the last lost answers.
import type { Outcome } from "../controller/writes/outcome.ts";
import type { CachedObject, Namespace } from "../controller/model/cluster.ts";
import type { Action } from "../controller/model/actions.ts";
import { placeKey, type ObjectKind } from "../controller/model/kinds.ts";
import { objectOf, stringOf } from "../controller/model/unstructured.ts";
import type { RecentChanges } from "./recent-changes.ts";
import type { Ref } from "../text/names.ts";
import type { Clock, Timer } from "../../packages/kube/time/clock.ts";
import { nextTurn } from "../../packages/kube/time/turns.ts";
import {
  beginLine,
  endLine,
  holdingOf,
  isSameHolding,
  mayHold,
  receiptLine,
  objectVersion,
  type FindingCode,
  type LineNumber,
  type Receipt,
  type Version,
} from "./receipt-line.ts";
import { LostAnswers, wordOf } from "./lost-answers.ts";
import type { SyncHooks } from "../controller/report/sync-log.ts";

/** Where lines are sent. */
export type ReceiptSink = {
  /** Never waits. A line for which there is no room is lost. */
  write(line: string): void;
  /** Lines that were lost so far. */
  readonly lost: number;
  /** Every further line is lost. */
  readonly isEnded: boolean;
  /** Little is unsent. */
  readonly drained: boolean;
  /** Resolves when it is drained, or no more lines are taken. */
  whenDrained(): Promise<void>;
};

/** The cache of one kind. */
export type JournalCache = {
  readonly kind: ObjectKind;
  readonly list: () => readonly CachedObject[];
  get(place: Ref): CachedObject | undefined;
  read(raw: unknown): CachedObject | undefined;
};

export type JournalOptions = {
  readonly sink: ReceiptSink;
  readonly clock: Clock;
  readonly caches: () => readonly JournalCache[];
  readonly namespace: (name: string) => Namespace | undefined;
  readonly changes: Pick<RecentChanges, "triggerOf">;
  /** Unique to this process. */
  readonly run: () => string;
  /** Undefined without a Lease. */
  readonly term: () => number | undefined;
};

/** After lost lines, all copies are stated anew at most this often. */
const ANEW_MS = 60_000;
const LINES_A_TURN = 256;

export class ReceiptJournal implements SyncHooks {
  readonly #options: JournalOptions;
  /** What the receipts say of the place of each write in flight. */
  readonly #inFlight = new Map<string, CachedObject | undefined>();
  readonly #lostAnswers = new LostAnswers();
  #seq = 0;
  #active = false;
  #stating = false;
  /** The sink's count when all copies were last stated. */
  #lostBefore = 0;
  #anew: Timer | undefined;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  onSync(): void {
    if (this.#active) return;
    this.#active = true;
    void this.#state("Started");
  }

  onBegin(action: Action): void {
    const { kind, objectKind, place } = action;
    if (kind === "confirm" || kind === "liveGet") return;
    this.#inFlight.set(placeKey(objectKind, place), this.#shown(objectKind, place));
  }

  /** The cache has recorded the outcome. */
  onOutcome(outcome: Outcome): void {
    const { action } = outcome;
    const { kind, objectKind, place } = action;
    if (kind === "confirm" || kind === "liveGet") return;
    const key = placeKey(objectKind, place);
    const before = this.#inFlight.get(key);
    this.#inFlight.delete(key);
    if (!this.#active) return;
    const written = this.#written(outcome);
    if (written) this.#lostAnswers.forget(key);
    else this.#lostAnswers.ended(key, outcome);
    const said = written ? written.now : before;
    this.#observed(objectKind, place, said, this.#shown(objectKind, place));
  }

  /** Called at each change of what the cache of `kind` shows. */
  onShown(kind: ObjectKind, old: CachedObject | undefined, now: CachedObject | undefined): void {
    const place = now ?? old;
    if (!this.#active || !place || !(mayHold(old) || mayHold(now))) return;
    if (!this.#inFlight.has(placeKey(kind, place))) this.#observed(kind, place, old, now);
  }

  onStop(): void {
    this.#active = false;
    this.#anew?.cancel();
  }

  /** Writes the receipt of a successful write. `now`: what it left at the place. */
  #written(outcome: Outcome): { readonly now: CachedObject | undefined } | undefined {
    if (outcome.kind !== "done" && outcome.kind !== "removed" && outcome.kind !== "leaving")
      return undefined;
    // Another client deleted it, or a delete of ours whose answer was lost.
    if (outcome.kind === "removed" && outcome.absent) return undefined;
    const { action } = outcome;
    const { objectKind, place } = action;
    const left =
      outcome.kind === "removed" ? undefined : this.#objectIn(objectKind, outcome.object);
    const target = "target" in action ? action.target : undefined;
    this.#write({
      word: outcome.kind === "leaving" ? "delete" : wordOf(action),
      kind: objectKind,
      place,
      holding: holdingOf(left?.object),
      before: holdingOf(target),
      versions: { before: objectVersion(target), after: left?.version },
      why: {
        kind: "write",
        reason: action.reason,
        trigger: this.#options.changes.triggerOf(action),
      },
    });
    return { now: left?.object };
  }

  // The watch shows something that no receipt says.
  #observed(
    kind: ObjectKind,
    { namespace, name }: Ref,
    old: CachedObject | undefined,
    now: CachedObject | undefined,
  ): void {
    const [before, holding] = [holdingOf(old), holdingOf(now)];
    if (isSameHolding(before, holding)) return;
    const place = { namespace, name };
    const versions = { before: objectVersion(old), after: objectVersion(now) };
    const receipt = { kind, place, holding, before, versions };
    const key = placeKey(kind, place);
    const action = this.#lostAnswers.take(key, receipt);
    if (action) {
      const trigger = this.#options.changes.triggerOf(action);
      const why = { kind: "lost answer", reason: action.reason, trigger } as const;
      // A replace of which only the delete was carried out.
      const isHalf = action.kind === "replace" && !holding;
      this.#write({ ...receipt, word: isHalf ? "delete" : wordOf(action), why });
      return;
    }
    const manager = now?.role === "copy" ? now.template.changedBy : undefined;
    const why = { kind: "finding", code: this.#findingOf(receipt), manager } as const;
    this.#write({ ...receipt, word: holding ? "found" : "gone", why });
  }

  #findingOf({ place, holding, before, versions }: Omit<Receipt, "word" | "why">): FindingCode {
    if (holding) return before?.uid === holding.uid ? "ChangedByOthers" : "Appeared";
    if (versions.after && versions.after.uid === versions.before?.uid) return "MarksRemoved";
    const namespace = this.#options.namespace(place.namespace);
    if (!namespace || namespace.terminating) return "NamespaceDeleted";
    return before?.deleting === true ? "FinalizersDone" : "DeletedByOthers";
  }

  /** States every copy that exists, as fast as lines are taken. Changes meanwhile have lines of their own. */
  async #state(code: "Started" | "LinesLost"): Promise<void> {
    if (this.#stating) return;
    this.#stating = true;
    const { sink, caches, term } = this.#options;
    await sink.whenDrained();
    if (this.#active) {
      this.#lostBefore = sink.lost;
      this.#send(beginLine(this.#number(), code, term()));
      const all = caches().map(({ kind, list }) => ({ kind, objects: list().filter(mayHold) }));
      let count = 0;
      for (const { kind, objects } of all) count += await this.#stateEach(kind, objects);
      if (this.#active) this.#send(endLine(this.#number(), count));
    }
    this.#stating = false;
    this.#stateAnewLater();
  }

  async #stateEach(kind: ObjectKind, objects: readonly CachedObject[]): Promise<number> {
    let count = 0;
    for (const [index, object] of objects.entries()) {
      if (index % LINES_A_TURN === LINES_A_TURN - 1) await nextTurn();
      if (!this.#options.sink.drained) await this.#options.sink.whenDrained();
      if (!this.#active) break;
      // A copy that has changed since `begin` has a line already.
      const place = { namespace: object.namespace, name: object.name };
      const now = this.#shown(kind, place);
      const holding = holdingOf(now);
      if (!holding || !isSameHolding(holdingOf(object), holding)) continue;
      count++;
      const versions = { before: undefined, after: objectVersion(now) };
      const why = { kind: "finding", code: "Present", manager: undefined } as const;
      this.#write({ word: "found", kind, place, holding, before: undefined, versions, why });
    }
    return count;
  }

  #stateAnewLater(): void {
    const { sink, clock } = this.#options;
    const isLost = sink.lost > this.#lostBefore;
    if (!isLost || sink.isEnded || !this.#active || this.#stating || this.#anew) return;
    this.#anew = clock.setTimeout(() => {
      this.#anew = undefined;
      void this.#state("LinesLost");
    }, ANEW_MS);
  }

  #write(receipt: Receipt): void {
    this.#send(receiptLine(this.#number(), receipt));
  }

  #send(line: string): void {
    this.#options.sink.write(line);
    this.#stateAnewLater();
  }

  #number(): LineNumber {
    const { clock, run } = this.#options;
    return { time: new Date(clock.now()).toISOString(), run: run(), seq: ++this.#seq };
  }

  #shown(kind: ObjectKind, place: Ref): CachedObject | undefined {
    return this.#cache(kind)?.get(place);
  }

  // The cache has read it already, unless the watch was faster.
  #objectIn(
    kind: ObjectKind,
    raw: unknown,
  ): { readonly object: CachedObject | undefined; readonly version: Version } | undefined {
    const { namespace, name, uid, resourceVersion } = objectOf(objectOf(raw).metadata);
    const version = { uid: stringOf(uid), version: stringOf(resourceVersion) };
    if (version.uid === "") return undefined;
    const shown = this.#shown(kind, { namespace: stringOf(namespace), name: stringOf(name) });
    const isShown = shown?.uid === version.uid && shown.resourceVersion === version.version;
    return { object: isShown ? shown : this.#cache(kind)?.read(raw), version };
  }

  #cache(kind: ObjectKind): JournalCache | undefined {
    return this.#options.caches().find((cache) => cache.kind === kind);
  }
}
