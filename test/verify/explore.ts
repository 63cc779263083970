// Explores a domain until it finds no new state: every event in every state, and every disturbance of every
// transition. A violation is a failure with the history that leads to it, which is the shortest, because
// states are visited in the order of their distance from the start.
import { hash } from "node:crypto";
import { canonical, Run, Violation, type Counts, type Disturbance, type State } from "./run.ts";
import { EXPECTED } from "./expected.ts";
import type { Domain } from "./domains.ts";
import { GRACE_MS, HOLD_MS } from "./subject.ts";

export type Failure = { readonly what: string; readonly history: readonly string[] };
export type Explored = Counts & {
  readonly domain: string;
  states: number;
  transitions: number;
  kills: number;
  pairs: number;
  unseen: number;
  closed: boolean;
  seconds: number;
  readonly failures: Failure[];
  /** The first by the rule of expected.ts. */
  readonly expected: Map<string, Failure>;
};

export type Limits = {
  readonly failures?: number;
  readonly states?: number;
  readonly seconds?: number;
};

type Node = { readonly state: State; readonly history: readonly string[] };

const CODES = [409, 403, 422, 429, 500];
const TIME = { "grace passes": GRACE_MS + 1000, "hold passes": HOLD_MS + 1000 };

export async function explore(domain: Domain, limits: Limits = {}): Promise<Explored> {
  const { failures: most = 1, states = Infinity, seconds = Infinity } = limits;
  const began = performance.now();
  const exploration = new Exploration(domain);
  const { result } = exploration;
  const spent = (): number => (performance.now() - began) / 1000;
  await exploration.begin(most);
  while (result.failures.length < most) {
    if (result.states > states || spent() > seconds) break;
    if (!(await exploration.step(most))) {
      result.closed = true;
      break;
    }
  }
  result.seconds = spent();
  return result;
}

/** Plays one history; what was wrong, if anything. */
export async function replay(
  domain: Domain,
  history: readonly string[],
): Promise<string | undefined> {
  const exploration = new Exploration(domain);
  return exploration.replay(history);
}

class Exploration {
  readonly #domain: Domain;
  /** What undisturbed transitions reach: taken further. */
  readonly #seen = new Set<string>();
  /** What anything reaches: judged at rest. */
  readonly #judged = new Set<string>();
  #nodes: Node[] = [];
  #next = 0;
  readonly result: Explored;

  constructor(domain: Domain) {
    this.#domain = domain;
    this.result = {
      domain: domain.name,
      states: 0,
      transitions: 0,
      kills: 0,
      pairs: 0,
      unseen: 0,
      seconds: 0,
      requests: 0,
      writes: 0,
      removals: 0,
      refused: 0,
      closed: false,
      failures: [],
      expected: new Map(),
    };
  }

  async begin(most: number): Promise<void> {
    const { start, worlds } = this.#domain;
    if (!worlds) await this.#play([], Run.first(start()), []);
    else
      for (const { name, objects } of worlds()) {
        if (this.result.failures.length >= most) return;
        await this.#play([name], Run.first(objects), []);
      }
  }

  /** Takes the next state; false: there is none. */
  async step(most: number): Promise<boolean> {
    const node = this.#nodes[this.#next];
    if (!node) return false;
    this.#nodes[this.#next++] = { state: node.state, history: [] };
    if (this.#next > 1000) {
      this.#nodes = this.#nodes.slice(this.#next);
      this.#next = 0;
    }
    for (const step of this.#plainSteps()) {
      const run = await this.#play(node.history, node.state, [step]);
      if (this.result.failures.length >= most) return true;
      if (!run) continue;
      for (const other of this.#disturbed(step, run)) {
        await this.#play(node.history, node.state, [other], run);
        if (this.result.failures.length >= most) return true;
      }
    }
    return true;
  }

  async replay(history: readonly string[]): Promise<string | undefined> {
    const { settings, start, worlds } = this.#domain;
    const named = [...(worlds?.() ?? [])].find(({ name }) => name === history[0]);
    let state = Run.first(named?.objects ?? start());
    const first = new Run(settings, state);
    try {
      await first.begin();
      state = first.state();
      await new Run(settings, state).rest();
      for (const step of named ? history.slice(1) : history) {
        const run = new Run(settings, state, this.#disturbance(step));
        await this.#take(run, step);
        state = run.state();
        await new Run(settings, state).rest();
      }
    } catch (error) {
      if (error instanceof Violation) return error.message;
      throw error;
    }
    return undefined;
  }

  #plainSteps(): readonly string[] {
    return [...Object.keys(this.#domain.events), ...Object.keys(TIME), "new process"];
  }

  #disturbed(step: string, { counts }: Run): readonly string[] {
    const { disturbed, events } = this.#domain;
    const steps: string[] = [];
    for (let at = 1; at <= counts.requests; at++) {
      if (disturbed.requests) {
        steps.push(
          `${step} ~ killed before ${at}`,
          `${step} ~ killed after ${at}`,
          `${step} ~ lost ${at}`,
        );
        for (const code of CODES) steps.push(`${step} ~ refused ${at} ${code}`);
      }
      if (disturbed.second)
        for (const other of Object.keys(events))
          steps.push(`${step} ~ second ${at} ${other}`, `${step} ~ second unseen ${at} ${other}`);
    }
    if (disturbed.unseen && step in events) {
      steps.push(`${step} ~ missed`);
      for (const other of this.#plainSteps()) steps.push(`${step} ~ unseen before ${other}`);
    }
    return steps;
  }

  /** Plays steps on a state; undefined: they do not apply, or failed. `plain`: the same undisturbed. */
  async #play(
    history: readonly string[],
    state: State,
    steps: readonly string[],
    plain?: Run,
  ): Promise<Run | undefined> {
    const { settings } = this.#domain;
    const whole = [...history, ...steps];
    const [step] = steps;
    const run = new Run(settings, state, step === undefined ? undefined : this.#disturbance(step));
    try {
      if (step === undefined) await run.begin();
      else {
        if (!(await this.#take(run, step))) return undefined;
        this.#count(step, run);
        if (
          plain &&
          !step.includes("second") &&
          !step.includes("unseen") &&
          !step.includes("missed")
        )
          for (const [slot, writes] of run.written)
            if (writes > (plain.written.get(slot) ?? 0) + 1)
              throw new Violation(
                `${slot}: ${writes} writes, undisturbed ${plain.written.get(slot) ?? 0}`,
              );
      }
      const next = run.state();
      const text = hash("sha1", canonical(settings, next), "base64");
      if (!this.#judged.has(text)) {
        this.#judged.add(text);
        await new Run(settings, next).rest();
      }
      const isFurther = step === undefined || !this.#domain.worlds;
      if (!plain && isFurther && !this.#seen.has(text)) {
        this.#seen.add(text);
        this.result.states++;
        this.#nodes.push({ state: next, history: whole });
      }
      return run;
    } catch (error) {
      if (!(error instanceof Violation))
        throw new Error(`in ${whole.join(", ")}`, { cause: error });
      const failure = { what: error.message, history: whole };
      const expected = EXPECTED.find(({ what }) => what.test(error.message));
      if (!expected) this.result.failures.push(failure);
      else if (!this.result.expected.has(expected.rule))
        this.result.expected.set(expected.rule, failure);
      return undefined;
    }
  }

  async #take(run: Run, step: string): Promise<boolean> {
    const [plain = "", how = ""] = step.split(" ~ ");
    const { events } = this.#domain;
    const event = events[plain];
    const hides = how === "missed" || how.startsWith("unseen");
    const ms = (TIME as Readonly<Record<string, number>>)[plain];
    if (event) {
      if (!run.happen(event, !hides)) return false;
      await run.settle();
    } else if (ms === undefined) {
      run.restart();
      await run.settle();
    } else await run.pass(ms);
    if (how.startsWith("unseen before ")) {
      const other = how.slice("unseen before ".length);
      const second = events[other];
      const otherMs = (TIME as Readonly<Record<string, number>>)[other];
      if (second) {
        if (!run.happen(second)) return false;
        await run.settle();
      } else if (otherMs === undefined) run.restart();
      else await run.pass(otherMs);
    }
    if (how === "missed") await run.settle(10 * HOLD_MS);
    if (hides) {
      run.deliver();
      await run.settle();
    }
    await run.quiet();
    return true;
  }

  #disturbance(step: string): Disturbance | undefined {
    const [, how = ""] = step.split(" ~ ");
    const [word, first = "", ...rest] = how.split(" ");
    if (word === "killed") return { kind: "kill", at: Number(rest[0]), acted: first === "after" };
    if (word === "lost") return { kind: "lose", at: Number(first) };
    if (word === "refused") return { kind: "refuse", at: Number(first), code: Number(rest[0]) };
    if (word !== "second") return undefined;
    const [at = "", ...name] = first === "unseen" ? rest : [first, ...rest];
    const event = this.#domain.events[name.join(" ")];
    return event && { kind: "second", at: Number(at), event, seen: first !== "unseen" };
  }

  #count(step: string, { counts }: Run): void {
    const { result } = this;
    result.transitions++;
    result.requests += counts.requests;
    result.writes += counts.writes;
    result.removals += counts.removals;
    result.refused += counts.refused;
    if (step.includes(" ~ killed")) result.kills++;
    if (step.includes(" ~ second") || step.includes(" ~ unseen")) result.pairs++;
    if (step.includes(" ~ missed") || step.includes("unseen")) result.unseen++;
  }
}
