// One pass: read the world from the cache, plan, hand the writes to the pipe, report. Promises: every
// pass starts from scratch, so lost, doubled or disordered events end in the same state; a failed
// write belongs to its pair and does not fail the pass; while writes wait, a new event makes a new
// plan that takes their place. A pass is settled when it found nothing to write and nothing flies.
import { setImmediate } from "node:timers/promises";
import type { Apply } from "./apply.ts";
import type { Memory } from "./core/memory.ts";
import { refText, type Secret, type Settings, type World } from "./core/model.ts";
import { plan } from "./core/plan.ts";
import { METRIC_STATE, type Action, type Plan, type Row } from "./core/verdicts.ts";
import type { Clock } from "./kube/clock.ts";
import { learn, type Cache } from "./outcome.ts";
import type { Ended, WritePipe } from "./pipe.ts";
import type { Reporter } from "./report.ts";

export type ActionWrite = { readonly key: string; readonly action: Action };

export type SyncDeps = {
  readonly world: World;
  readonly settings: Settings;
  readonly memory: Memory;
  /** The cache of Secrets, told of our own writes at once so that no pass repeats them. */
  readonly cache: Cache;
  readonly apply: Apply;
  readonly pipe: WritePipe<ActionWrite>;
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly dryRun: boolean;
};

export type PassResult = {
  readonly settled: boolean;
  /** Milliseconds until something becomes due without any event. */
  readonly dueMs: number | undefined;
  /** Something is on its way to another state and will be there without anybody's doing. */
  readonly waiting: boolean;
  /** Everything that is wanted is there. */
  readonly ok: boolean;
  readonly planMs: number;
};

// A plan may hold the event loop this long; probes, lease and watches wait meanwhile.
const TURN_MS = 10;
// A newer plan takes over at the earliest after this much work, so that a stream of events cannot
// starve the writes.
const SLICE_MS = 250;
const SLICE_WRITES = 64;
// Writes were refused because the lease is not ours: look again when that is decided.
const NO_PERMISSION_MS = 1000;
// What flies at the end may land for this long; lease and Events then have their turn within 30 s.
const LANDING_MS = 10_000;

export class Sync {
  readonly #deps: SyncDeps;
  #wantedNames: ReadonlySet<string> = new Set();
  #dirty = false;
  #stopping = false;
  #refused = false;

  constructor(deps: SyncDeps) {
    this.#deps = deps;
  }

  /** An event came: a running pass hands over to the next as soon as its slice is done. */
  markDirty(urgent: boolean): void {
    this.#dirty = true;
    if (urgent) this.#deps.reporter.changed();
    this.#deps.pipe.nudge();
  }

  /** Whether a change of one Secret can change the plan, and whether somebody waits for it. */
  concerns(old: Secret | undefined, secret: Secret | undefined): "urgent" | "later" | "no" {
    const present = secret ?? old;
    if (!present || (old && secret && old.resourceVersion === secret.resourceVersion)) return "no";
    const roles = [old?.role, secret?.role];
    if (roles.includes("source") || roles.includes("pull")) return "urgent";
    // Our own write: the pass that waits for its answer looks again anyway.
    if (this.#deps.pipe.inFlight.has(refText(present))) return "no";
    if (old?.role === "copy" && !secret) this.#deps.memory.copyVanished(old);
    if (roles.includes("copy")) return "later";
    return this.#wantedNames.has(present.name) || mayBeAdopted(secret) ? "later" : "no";
  }

  /** Rejects when the pass as a whole failed; a failed write does not make it fail. */
  async pass(): Promise<PassResult> {
    const { clock, reporter } = this.#deps;
    const started = clock.monotonic();
    try {
      return await this.#pass(started);
    } catch (error) {
      reporter.passFailed(clock.monotonic() - started);
      throw error;
    }
  }

  /** Monotonic time at which a write last ended. */
  get lastWriteMs(): number {
    return this.#deps.pipe.lastEndedMs;
  }

  async #pass(started: number): Promise<PassResult> {
    const { pipe, apply, clock, reporter, dryRun } = this.#deps;
    this.#dirty = false;
    this.#refused = false;
    const quiet = pipe.idle;
    if (quiet) apply.forgetAbsences();
    const made = await this.#plan(started);
    const planMs = clock.monotonic() - started;
    const settled = quiet && (made.actions.length === 0 || dryRun);
    if (!settled && !this.#stopping) await this.#write(made, started);
    reporter.planned(made, { settled, planMs, dryRun, tookMs: clock.monotonic() - started });
    return this.#result(made, settled, planMs);
  }

  /** No further write is begun. */
  interrupt(): void {
    this.#stopping = true;
    this.#deps.pipe.replace([]);
  }

  /** Resolves when nothing is in flight any more; what takes too long is cut off. */
  async stop(): Promise<void> {
    const { apply, clock, pipe } = this.#deps;
    this.interrupt();
    const patience = clock.setTimeout(() => apply.cancel(), LANDING_MS);
    await pipe.stop();
    patience.cancel();
  }

  /** As stop, but cuts off at once what is in flight: we may not write any more. */
  async abandon(): Promise<void> {
    this.#deps.apply.cancel();
    await this.stop();
  }

  /** What became of one action; the pipe calls this for each. */
  async perform({ action }: ActionWrite): Promise<Ended> {
    const { apply, memory, cache, clock, reporter } = this.#deps;
    const outcome = await apply.perform(action);
    if (outcome.kind === "stopped") this.#refused = true;
    // What is still to be done there has a time, which the next plan knows.
    else if (outcome.kind !== "done" && outcome.kind !== "removed") this.#dirty = true;
    learn(outcome, { memory, cache, now: clock.monotonic(), chance: clock.random() });
    reporter.ended(outcome);
    const throttled = outcome.kind === "failed" && outcome.error === "throttled";
    return { throttled, retryAfterMs: throttled ? outcome.retryAfterMs : undefined };
  }

  async #plan(now: number): Promise<Plan> {
    const { world, settings, memory, pipe, clock } = this.#deps;
    this.#wantedNames = wantedNames(world);
    const planning = plan(world, settings, memory, now, new Set(pipe.inFlight.keys()));
    // The writes of the plan before go on while this one is made.
    pipe.mark();
    let turn = clock.monotonic();
    for (;;) {
      const step = planning.next();
      if (step.done) return step.value;
      if (clock.monotonic() - turn < TURN_MS) continue;
      await setImmediate();
      turn = clock.monotonic();
    }
  }

  async #write({ actions, nextAt = Infinity }: Plan, started: number): Promise<void> {
    const { pipe, clock } = this.#deps;
    const before = pipe.started;
    pipe.replace(actions.map((action) => ({ key: refText(action.place), action })));
    // When the slice ends and when something else becomes due: a write that hangs must hold up
    // neither fresh work nor retries, once no other waits.
    const timers = [started + SLICE_MS, nextAt]
      .filter((at) => at < Infinity)
      // Timers count whole milliseconds and may be one early.
      .map((at) => clock.setTimeout(() => pipe.nudge(), Math.ceil(at - clock.monotonic()) + 1));
    const sliceDone = (now: number): boolean =>
      (this.#dirty || now >= nextAt) &&
      now - started >= SLICE_MS &&
      (pipe.started - before >= SLICE_WRITES || pipe.waiting === 0);
    await pipe.until(() => pipe.idle || this.#stopping || sliceDone(clock.monotonic()));
    for (const timer of timers) timer.cancel();
  }

  #result(made: Plan, settled: boolean, planMs: number): PassResult {
    const { nextAt } = made;
    const now = this.#deps.clock.monotonic();
    const due = nextAt === undefined ? undefined : nextAt - now;
    return {
      settled: settled || this.#refused,
      dueMs: this.#refused ? NO_PERMISSION_MS : due,
      waiting: this.#refused || this.#dirty || made.rows.some(isUnderWay),
      ok: isAllCurrent(made),
      planMs,
    };
  }
}

/** It becomes due by itself; a retry after a failure does not count, for it may fail for ever. */
function isUnderWay({ verdict, dueAt }: Row): boolean {
  return dueAt !== undefined && METRIC_STATE[verdict] === "pending";
}

function mayBeAdopted(secret: Secret | undefined): boolean {
  return secret?.role === "stranger" && secret.adopt !== undefined;
}

function wantedNames(world: World): ReadonlySet<string> {
  const names = new Set<string>();
  for (const source of world.sources) if (source.role === "source") names.add(source.rule.copyName);
  return names;
}

/** Every place is as its source wants it and no source is refused; a paused one is as its owner wants. */
export function isAllCurrent({ states, sources }: Plan): boolean {
  const { conflict, failed, held, pending, frozen } = states;
  return (
    conflict + failed + held + pending + frozen === 0 &&
    sources.every(({ state }) => state === "ok")
  );
}
