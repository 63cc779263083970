// Which targets each source matches, remembered between syncs: a pair is decided once for the rule
// of its source and the labels and `accept` of its namespace, however many syncs use it. Two bits a pair
// (decided, wanted): 1,000 sources × 10,000 namespaces take 2.5 MB. Deleted objects leave nothing behind.
// It also knows, for one sync, what was wanted in the sync before: a copy at such a place is the source's own.
// Namespaces have slots, the columns of the table, and sources have rows. An aborted sync does no
// harm: a column is read, or assigned to another namespace, only when all of it was cleared.
import { isDeepStrictEqual } from "node:util";
import type { Namespace, PlannerSettings } from "../model/cluster.ts";
import type { Ref } from "../../text/names.ts";
import type { Candidate } from "./sources.ts";
import { setWanted } from "./target-batch.ts";
import { accepts, covers, sameAccept, sameMatch, type TargetNamespace } from "./targets.ts";

/** The results of a source, a bit for each slot. */
type Row = {
  /** What they follow from on the source's side. */
  to: Candidate["to"];
  copyName: string;
  decided: Int32Array;
  wanted: Int32Array;
  /** Wanted in the sync before, and to be decided anew, or undefined if nothing was. */
  lost: Int32Array | undefined;
  /** With `lost`: how many places were wanted in the sync before. */
  before: number;
};
type Slot = { readonly at: number; namespace: Namespace };

const NONE: ReadonlySet<string> = new Set();
const ROWS_PER_TURN = 256;
/** A remembered pair. Deciding one takes its own steps as well, of 10 ns at most. */
const STEPS_A_PAIR = 64;
/** 4,096 pairs that are remembered: half a millisecond, and two and a half at most. */
export const STEPS_PER_TURN = 4096 * STEPS_A_PAIR;

export class MatchCache {
  #settings: PlannerSettings | undefined;
  readonly #slots = new Map<string, Slot>();
  /** Cleared, and not assigned. */
  readonly #free: number[] = [];
  /** Released by their namespaces, and to be cleared. */
  #released: number[] = [];
  /** Steps until the next yield. */
  #left = STEPS_PER_TURN;
  /** Number of slots. */
  #size = 0;
  /** Bits of the slots whose results are invalid. */
  #stale = new Int32Array(1);
  /** By source, "NAMESPACE/NAME". */
  #rows = new Map<string, Row>();
  /** Rows of the sync before whose source has another rule now, or stopped asking for copies. */
  #former = new Map<string, Row>();
  /** The slot of each target of the running sync. */
  #slotOf = new Int32Array(0);

  /**
   * Runs once a sync, before `evaluate`, with the targets in the order of the batches. `frozen`:
   * sources whose copies must not change now, and whose results are kept.
   */
  *begin(
    settings: PlannerSettings,
    targets: readonly TargetNamespace[],
    candidates: readonly Candidate[],
    frozen: ReadonlySet<string> = NONE,
  ): Generator<undefined, void> {
    if (this.#settings !== settings) this.#rows.clear();
    this.#settings = settings;
    this.#slotOf = Int32Array.from(targets, ({ namespace }) => this.#slotFor(namespace));
    this.#releaseUnused(targets);
    let count = 0;
    this.#former = new Map();
    const stale = this.#stale.some((bits) => bits !== 0);
    for (const row of this.#rows.values()) {
      row.lost = undefined;
      if (stale) clear(row, this.#stale);
      if (++count % ROWS_PER_TURN === 0) yield;
    }
    const rows = new Map<string, Row>();
    for (const candidate of candidates) {
      rows.set(candidate.text, this.#rowFor(candidate));
      if (++count % ROWS_PER_TURN === 0) yield;
    }
    for (const [text, row] of this.#rows) {
      if (rows.get(text) === row) continue;
      if (frozen.has(text) && !rows.has(text)) rows.set(text, row);
      else this.#former.set(text, row);
    }
    this.#rows = rows;
    this.#stale.fill(0);
    for (const slot of this.#released) this.#free.push(slot);
    this.#released = [];
  }

  /** Notes in each candidate which of `batch` it wants. `from`: place of the batch among the targets. */
  *evaluate(
    candidates: readonly Candidate[],
    batch: readonly TargetNamespace[],
    from: number,
  ): Generator<undefined, void> {
    for (const candidate of candidates) {
      const row = this.#rows.get(candidate.text);
      if (!row) continue;
      this.#left -= STEPS_A_PAIR * batch.length;
      let wanted = this.#remembered(row, from, batch.length);
      if (wanted < 0) {
        for (const [index, target] of batch.entries()) {
          this.#left -= decide(row, this.#slotOf[from + index] ?? 0, candidate, target);
          if (this.#left > 0) continue;
          yield;
          this.#left = STEPS_PER_TURN;
        }
        wanted = this.#remembered(row, from, batch.length);
      }
      setWanted(candidate, wanted);
      if (this.#left > 0) continue;
      yield;
      this.#left = STEPS_PER_TURN;
    }
  }

  /** How many places the source wants. Valid after all targets were evaluated. */
  count(source: string): number {
    const row = this.#rows.get(source);
    return row ? countOf(row) : 0;
  }

  /** How many it wanted in the sync before. */
  countBefore(source: string): number {
    const row = this.#former.get(source) ?? this.#rows.get(source);
    if (!row) return 0;
    return row.lost ? row.before : countOf(row);
  }

  /** Whether it wanted its copy of this name there in the sync before, and is to be decided again. */
  wasWanted(source: string, { namespace, name }: Ref): boolean {
    const slot = this.#slots.get(namespace)?.at;
    if (slot === undefined) return false;
    const [word, bit] = [slot >> 5, 1 << (slot & 31)];
    const former = this.#former.get(source);
    if (former?.copyName === name) {
      const bits = (former.wanted[word] ?? 0) & (former.decided[word] ?? 0);
      if (((bits | (former.lost?.[word] ?? 0)) & bit) !== 0) return true;
    }
    const row = this.#rows.get(source);
    return row?.copyName === name && ((row.lost?.[word] ?? 0) & bit) !== 0;
  }

  // As bits, the first target the lowest, or -1 where one of the results is not known.
  #remembered({ decided, wanted }: Row, from: number, count: number): number {
    let bits = 0;
    for (let index = 0; index < count; index++) {
      const slot = this.#slotOf[from + index] ?? 0;
      const word = slot >> 5;
      if ((((decided[word] ?? 0) >> (slot & 31)) & 1) === 0) return -1;
      bits |= (((wanted[word] ?? 0) >> (slot & 31)) & 1) << index;
    }
    return bits;
  }

  #slotFor(namespace: Namespace): number {
    const known = this.#slots.get(namespace.name);
    if (known) {
      if (!sameResults(known.namespace, namespace)) this.#mark(known.at);
      known.namespace = namespace;
      return known.at;
    }
    const at = this.#free.pop() ?? this.#size++;
    this.#slots.set(namespace.name, { at, namespace });
    if (at >> 5 >= this.#stale.length) this.#stale = grown(this.#stale, 2 * this.#stale.length);
    return at;
  }

  #releaseUnused(targets: readonly TargetNamespace[]): void {
    if (this.#slots.size === targets.length) return;
    const living = new Set(targets.map(({ name }) => name));
    for (const [name, { at }] of this.#slots) {
      if (living.has(name)) continue;
      this.#slots.delete(name);
      this.#mark(at);
      this.#released.push(at);
    }
  }

  #mark(slot: number): void {
    this.#stale[slot >> 5] = (this.#stale[slot >> 5] ?? 0) | (1 << (slot & 31));
  }

  #rowFor({ text, to, source }: Candidate): Row {
    const words = this.#stale.length;
    const { copyName } = source.rule;
    const row = this.#rows.get(text);
    if (!row || row.copyName !== copyName || !sameMatch(row.to, to)) {
      const [decided, wanted] = [new Int32Array(words), new Int32Array(words)];
      return { to, copyName, decided, wanted, lost: undefined, before: 0 };
    }
    row.to = to;
    if (row.decided.length < words) {
      row.decided = grown(row.decided, words);
      row.wanted = grown(row.wanted, words);
    }
    return row;
  }
}

// Returns the steps that it took. `accept` is checked first: where it declines, no globs are matched.
function decide(row: Row, slot: number, candidate: Candidate, target: TargetNamespace): number {
  const [word, bit] = [slot >> 5, 1 << (slot & 31)];
  if (((row.decided[word] ?? 0) & bit) !== 0) return 0;
  row.decided[word] = (row.decided[word] ?? 0) | bit;
  row.wanted[word] = (row.wanted[word] ?? 0) & ~bit;
  if (candidate.namespace === target.name || target.excluded !== undefined) return 1;
  const { accept, name, namespace } = target;
  let steps = accept.kind === "sources" ? accept.globs.steps(candidate.text.length) : 1;
  if (!accepts(accept, candidate.text)) return steps;
  const { globs, selector } = candidate.to;
  steps += (globs?.steps(name.length) ?? 0) + (selector?.steps ?? 0);
  if (covers(candidate.to, namespace)) row.wanted[word] = (row.wanted[word] ?? 0) | bit;
  return steps;
}

function clear(row: Row, stale: Int32Array): void {
  const { decided, wanted } = row;
  for (let word = 0; word < decided.length; word++) {
    const bits = (decided[word] ?? 0) & (wanted[word] ?? 0) & (stale[word] ?? 0);
    if (bits !== 0) {
      if (!row.lost) {
        row.before = countOf(row);
        row.lost = new Int32Array(decided.length);
      }
      row.lost[word] = bits;
    }
  }
  for (let word = 0; word < decided.length; word++) {
    decided[word] = (decided[word] ?? 0) & ~(stale[word] ?? 0);
  }
}

function countOf({ decided, wanted }: Row): number {
  let count = 0;
  for (let word = 0; word < decided.length; word++) {
    for (let bits = (decided[word] ?? 0) & (wanted[word] ?? 0); bits !== 0; bits &= bits - 1)
      count++;
  }
  return count;
}

function grown(bits: Int32Array, words: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(words);
  larger.set(bits);
  return larger;
}

function sameResults(a: Namespace, b: Namespace): boolean {
  return a === b || (sameAccept(a.accept, b.accept) && isDeepStrictEqual(a.labels, b.labels));
}
