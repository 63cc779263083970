// What honest namespaces must hold, since when, and how long it took. Time is judged from the change
// itself, or from the end of a disturbance that everybody feels (the API server or the controller gone).
import type { Violations } from "./violations.ts";

export type Change = "fresh" | "rotated" | "repaired" | "pulled" | "ended";

type Expected = {
  /** Undefined: nothing may be there. */
  digest: string | undefined;
  change: Change;
  /** Which change of the run it is part of. */
  turn: number;
  sinceMs: number;
  /** For how long it is no delay; a new controller counts anew. */
  graceMs: number;
  pending: boolean;
  reported: boolean;
  /** Being changed by the run itself: judged when that is done. */
  inHand: boolean;
};

export type Around = {
  /** When the last disturbance ended of those that delay such a change; Infinity while it lasts. */
  disturbedMs(change: Change): number;
  /** By how much limits give way on this machine now. */
  slackMs(): number;
};

const P99_MS = 1000;
const AT_MOST_MS = 5000;
/** Deletes wait up to five seconds for creates and updates. */
const BEHIND_OTHERS_MS = 5000;
const SAME_CHANGE_MS = 250;
const MOST_NAMED = 12;

export class Expectations {
  readonly #violations: Violations;
  readonly #around: Around;
  readonly #expected = new Map<string, Expected>();
  /** Undisturbed, in ms. */
  readonly took = new Map<Change, number[]>();
  /** After the end of a disturbance, in ms. */
  readonly recovered: number[] = [];
  #turn = 0;
  #lastMs = -Infinity;
  /** Changes, and those of them that were late somewhere. */
  readonly #began = new Map<Change, Set<number>>();
  readonly #late = new Map<Change, Set<number>>();
  /** The first of those that were late, in words. */
  readonly #lateOnes: string[] = [];

  constructor(violations: Violations, around: Around) {
    this.#violations = violations;
    this.#around = around;
  }

  /** Places that are not right yet, but for those that wait for an end. */
  get pending(): number {
    return this.#open.filter(({ change }) => change !== "ended").length;
  }

  /** Places that must end and have not. */
  get ending(): number {
    return this.#open.filter(({ change }) => change === "ended").length;
  }

  get #open(): readonly Expected[] {
    return Array.from(this.#expected.values()).filter(({ pending }) => pending);
  }

  /** Is about to be changed by the run itself, until the next `expect`. */
  take(place: string): void {
    const one = this.#expected.get(place);
    if (one) one.inHand = true;
  }

  /** From now on; `present` is what is there. It may be wrong until `graceMs` are over. */
  expect(
    place: string,
    digest: string | undefined,
    change: Change,
    { present, graceMs = 0 }: { readonly present: string | undefined; readonly graceMs?: number },
  ): void {
    const sinceMs = performance.now();
    // Places that change at about the same time are one change.
    if (sinceMs - this.#lastMs > SAME_CHANGE_MS) this.#turn++;
    this.#lastMs = sinceMs;
    this.#expected.set(place, {
      digest,
      change,
      turn: this.#turn,
      sinceMs,
      graceMs,
      pending: true,
      reported: false,
      inHand: false,
    });
    this.seen(place, present);
  }

  /** Of a namespace that is being deleted nothing is expected. */
  forget(namespace: string): void {
    for (const place of this.#expected.keys())
      if (place.startsWith(`${namespace}/`)) this.#expected.delete(place);
  }

  /** What is there now. */
  seen(place: string, digest: string | undefined): void {
    const one = this.#expected.get(place);
    if (one === undefined || one.inHand) return;
    const right = digest === one.digest;
    if (right && one.pending) this.#settle(place, one);
    else if (!right && !one.pending) {
      const what = digest === undefined ? "deleted" : "changed";
      this.#violations.add(`a good copy was ${what}`, place);
      Object.assign(one, { pending: true, sinceMs: performance.now(), change: "repaired" });
    }
  }

  /** Tells of what is overdue. */
  round(): void {
    for (const [place, one] of this.#expected) {
      const behindMs = one.change === "ended" ? BEHIND_OTHERS_MS : 0;
      const limit = AT_MOST_MS + behindMs + this.#around.slackMs();
      const lateMs = this.#lateMs(one);
      if (!one.pending || one.inHand || one.reported || lateMs <= limit) continue;
      one.reported = true;
      const after = this.#isDisturbed(one) ? "after the disturbance" : "";
      this.#violations.add(
        `not ${one.digest === undefined ? "ended" : "right"} in time`,
        `${place} (${one.change}) for ${Math.round(lateMs)} ms ${after}`.trimEnd(),
      );
    }
  }

  /** Tells whose 99th percentile was over its bound. */
  conclude(): void {
    for (const [change, { size: late }] of this.#late) {
      const of = this.#began.get(change)?.size ?? 0;
      if (late > Math.max(1, of / 100))
        this.#violations.add(
          "the 99th percentile is over a second",
          `${change}: ${late} of ${of} took longer: ${this.#lateOnes.join("; ")}`,
        );
    }
  }

  #settle(place: string, one: Expected): void {
    const lateMs = Math.max(0, this.#lateMs(one));
    one.pending = false;
    if (this.#isDisturbed(one)) {
      if (Number.isFinite(lateMs)) this.recovered.push(lateMs);
      return;
    }
    const took = this.took.get(one.change);
    if (took) took.push(lateMs);
    else this.took.set(one.change, [lateMs]);
    addTo(this.#began, one.change, one.turn);
    // An ending may wait behind younger writes for some seconds.
    if (one.change === "ended" || lateMs <= P99_MS + this.#around.slackMs()) return;
    addTo(this.#late, one.change, one.turn);
    if (this.#lateOnes.length < MOST_NAMED)
      this.#lateOnes.push(
        `${place} (${one.change}) after ${Math.round(lateMs)} ms, ${this.#violations.step}`,
      );
  }

  #isDisturbed({ change, sinceMs, graceMs }: Expected): boolean {
    return sinceMs + graceMs < this.#around.disturbedMs(change);
  }

  #lateMs({ change, sinceMs, graceMs }: Expected): number {
    const from = Math.max(sinceMs, this.#around.disturbedMs(change));
    return performance.now() - from - graceMs;
  }
}

function addTo(sets: Map<Change, Set<number>>, change: Change, at: number): void {
  const set = sets.get(change);
  if (set) set.add(at);
  else sets.set(change, new Set([at]));
}

/** "p50 …, p99 …, most … ms of N". */
export function percentiles(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number): number => Math.round(sorted[Math.ceil(part * sorted.length) - 1] ?? 0);
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)} ms of ${sorted.length}`;
}
