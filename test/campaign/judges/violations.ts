// What was broken, by rule: told at once when it first happens, counted afterwards. Names only.

/** Repeats of one rule that are told one by one. */
const TOLD_ONE_BY_ONE = 3;

export class Violations {
  readonly #print: (line: string) => void;
  readonly #counts = new Map<string, number>();
  readonly #lines: string[] = [];
  /** Where the run is; part of every line. */
  step = "before the first step";

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** `rule` in constant words; `what` names objects and figures, never a value. */
  add(rule: string, what: string): void {
    const count = (this.#counts.get(rule) ?? 0) + 1;
    this.#counts.set(rule, count);
    if (count > TOLD_ONE_BY_ONE) return;
    const line = `${rule}: ${what} (${this.step})`;
    this.#lines.push(line);
    this.#print(`VIOLATED ${line}`);
  }

  /** The first of each rule, and how often it was broken. */
  get lines(): readonly string[] {
    const often = Array.from(this.#counts).filter(([, count]) => count > TOLD_ONE_BY_ONE);
    return [...this.#lines, ...often.map(([rule, count]) => `${rule}: ${count} times in all`)];
  }
}
