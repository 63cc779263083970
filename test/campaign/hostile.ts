// The controller on a real API server against a tenant that writes everything its account can, with
// faults between. Judges that know the author of every write assert what the README promises: nobody's
// Secret is touched, honest namespaces are right in time, memory, syncs, requests and log are bounded, the
// Lease is kept, no value is printed. In the end, when tenant and faults have stopped, nothing is left to write. The
// same seed gives the same settings, attacks and faults, not the same timing.
import { setTimeout as delay } from "node:timers/promises";
import { imageCommand } from "../../bench/image.ts";
import { LEASE_TIMES } from "../../src/controller/settings/config.ts";
import { leaks } from "../support/programs/eavesdrop.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { seeded } from "../../packages/kube/testing/random.ts";
import { openArena, type Arena } from "./stages/arena.ts";
import { withEndings } from "./stages/proxied-server.ts";
import { ATTACKS } from "./actors/attacks.ts";
import { circumstances, flagsFor, inTurns } from "./circumstances.ts";
import { faults, type Fault } from "./faults/faults.ts";
import { freshWrites } from "./controllers/fresh.ts";
import { Subject } from "./controllers/subject.ts";
import { summarize } from "./summary.ts";
import { Violations } from "./judges/violations.ts";

export type HostileOptions = {
  readonly seed: number;
  /** The folder with etcd, kube-apiserver and kube-controller-manager. */
  readonly assets: string;
  /** It ends after so many minutes, or so many steps. */
  readonly minutes: number;
  readonly steps?: number;
  /** Only these attacks and faults: those whose names contain one of these texts, separated by commas. */
  readonly only?: string;
  readonly print: (line: string) => void;
};

const ROUND_MS = 500;
/** Two thirds of the time within which a Lease must be renewed. */
const AWAY_MS = (2 / 3) * LEASE_TIMES.renewDeadlineMs;
const LEADS_WITHIN_MS = 40_000;
/** The longest back-off of a watch is 30 s. */
const HEARS_WITHIN_MS = 40_000;
const APART_MS = 1100;
const SETTLES_WITHIN_MS = 6000;
const ENDS_WITHIN_MS = 30_000;

/** Resolves with what was violated; empty when nothing was. */
export async function hostile(options: HostileOptions): Promise<readonly string[]> {
  const { assets, seed, print } = options;
  const around = circumstances(seed);
  print(`--seed ${seed}: ${JSON.stringify(around)}`);
  const violations = new Violations(print);
  await withEndings(async (endings) => {
    const arena = await openArena({ assets, seed, around, violations, endings });
    await new Run(options, arena).play();
  });
  return violations.lines;
}

class Run {
  readonly #options: HostileOptions;
  readonly #arena: Arena;
  readonly #violations: Violations;
  readonly #subjects: Subject[] = [];
  readonly #attacked = new Set<string>();
  #watching = true;

  constructor(options: HostileOptions, arena: Arena) {
    this.#options = options;
    this.#arena = arena;
    this.#violations = arena.violations;
  }

  async play(): Promise<void> {
    const { around, platform, neighbours, disturbance } = this.#arena;
    const rounds = this.#rounds();
    try {
      await disturbance.during(async () => {
        await platform.begin();
        await neighbours.begin();
        for (let n = 0; n < around.replicas; n++) this.#subjects.push(this.#subject());
        await this.#somebodyLeads();
      });
      await this.#settled(ENDS_WITHIN_MS);
      await this.#steps();
      await this.#conclude();
    } finally {
      this.#watching = false;
      // Also when the run itself failed: nothing that is ended below is started again.
      await Promise.all(this.#subjects.map((subject) => subject.stop()));
      await rounds;
    }
    summarize(this.#options.print, this.#arena, this.#subjects);
    this.#options.print(`attacks and faults: ${this.#attacked.size}`);
  }

  async #steps(): Promise<void> {
    const { seed, minutes, steps = Infinity, only = "" } = this.#options;
    const texts = only.split(",");
    const chosen = <T extends { readonly name: string }>(all: readonly T[]): readonly T[] => {
      const some = all.filter(({ name }) => texts.some((text) => name.includes(text)));
      return some.length > 0 ? some : all;
    };
    const attacks = Object.entries(ATTACKS).map(([name, attack]) => ({ name, attack }));
    const parts = {
      ...this.#arena,
      addresses: () => this.#subjects.flatMap(({ address }) => address ?? []),
      killLeader: () => this.#killLeader(),
    };
    const attackTurns = inTurns(chosen(attacks), seeded(seed + 4));
    const faultTurns = inTurns(chosen(faults(parts)), seeded(seed + 5));
    const end = performance.now() + minutes * 60_000;
    for (let step = 1; step <= steps && performance.now() < end; step++) {
      const pair = [attackTurns.next().value, attackTurns.next().value];
      const fault = step % 2 === 0 ? faultTurns.next().value : undefined;
      const names = [...pair, ...(fault ? [fault] : [])].map(({ name }) => name);
      this.#violations.step = `step ${step}: ${names.join("; ")}`;
      for (const name of names) this.#attacked.add(name);
      this.#arena.tenant.turn = step;
      await this.#step(step, () => pair.map(({ attack }) => attack(this.#arena.tenant)), fault);
      await this.#arena.tenant.wipe();
    }
    this.#violations.step = "the end";
  }

  async #step(
    step: number,
    attack: () => readonly Promise<void>[],
    fault: Fault | undefined,
  ): Promise<void> {
    const { disturbance } = this.#arena;
    if (fault?.everywhere === true)
      // Life goes on when it is over: what it delays is judged from then.
      await Promise.all([
        ...attack(),
        disturbance.during(() => this.#outlast(fault)).then(() => this.#life(step)),
      ]);
    else {
      await fault?.begin();
      await Promise.all([...attack(), this.#life(step)]);
    }
    await this.#settled(SETTLES_WITHIN_MS);
    await fault?.end();
  }

  /** Until the controllers watch again. A watch that was cut several times waits for seconds. */
  async #outlast(fault: Fault): Promise<void> {
    await fault.begin();
    const all = async (): Promise<boolean> =>
      (await Promise.all(this.#subjects.map((subject) => subject.hears()))).every(Boolean);
    await eventually("all watches are open", all, HEARS_WITHIN_MS).catch(() =>
      this.#violations.add("watches stay closed", `for ${HEARS_WITHIN_MS / 1000} s`),
    );
  }

  /** What honest people do meanwhile. One place is written once a second at most, so these wait. */
  async #life(step: number): Promise<void> {
    const { neighbours, platform } = this.#arena;
    await delay(APART_MS);
    await neighbours.rotate();
    await neighbours.fresh();
    await delay(APART_MS / 2);
    // What the tenant's Secrets pull from changes as well.
    if (step % 3 === 0) await platform.rotate("consented");
    const more = [() => neighbours.come(), () => neighbours.flicker(), () => neighbours.decline()];
    await more[step % more.length]?.();
    await neighbours.fresh();
    await delay(APART_MS);
    await neighbours.repair();
  }

  /** Until everything honest is right, or so long. */
  async #settled(withinMs: number): Promise<void> {
    const { expectations } = this.#arena;
    const until = performance.now() + withinMs;
    while (expectations.pending > 0 && performance.now() < until) await delay(50);
  }

  async #rounds(): Promise<void> {
    const { writes, asked, expectations, proxy } = this.#arena;
    while (this.#watching) {
      writes.round();
      asked.round(proxy.seen);
      expectations.round();
      proxy.forget();
      await delay(ROUND_MS);
    }
  }

  #subject(): Subject {
    const { around, endings, kubeconfig, marker, pace } = this.#arena;
    return new Subject({
      endings,
      kubeconfig,
      flags: flagsFor(around),
      violations: this.#violations,
      marker,
      slackMs: () => pace.slackMs(),
      onEnd: (reported) => void this.#ended(reported),
    });
  }

  /** A Lease is lost by right when the API server was away for about as long as one lasts. */
  async #ended(reported: string): Promise<void> {
    const { disturbance, pace } = this.#arena;
    const away =
      disturbance.lasted(AWAY_MS, 2 * LEASE_TIMES.leaseDurationMs) || pace.slowestMs() > AWAY_MS;
    if (away && reported.includes("lease"))
      this.#options.print("the Lease was lost by right: the API server was away too long");
    else this.#violations.add("the controller ended by itself", reported);
    await disturbance.during(() => this.#somebodyLeads());
  }

  async #leader(): Promise<Subject | undefined> {
    for (const subject of this.#subjects) if (await subject.leading()) return subject;
    return undefined;
  }

  async #somebodyLeads(): Promise<void> {
    await eventually("a controller leads", () => this.#leader(), LEADS_WITHIN_MS).catch(() =>
      this.#violations.add("nobody leads", `for ${LEADS_WITHIN_MS / 1000} s`),
    );
  }

  async #killLeader(): Promise<void> {
    await (await this.#leader())?.kill();
    await this.#somebodyLeads();
  }

  async #conclude(): Promise<void> {
    const { stopTenant, expectations, neighbours } = this.#arena;
    stopTenant();
    await neighbours.rotate();
    await this.#settled(ENDS_WITHIN_MS);
    const until = performance.now() + ENDS_WITHIN_MS;
    while (expectations.ending > 0 && performance.now() < until) await delay(50);
    for (const subject of this.#subjects) {
      const code = await subject.stop();
      if (code !== 0) this.#violations.add("a stop that failed", `exit code ${String(code)}`);
    }
    await this.#quiet();
    expectations.conclude();
  }

  /** A controller from scratch puts right what was left, and the next one finds nothing to write. */
  async #quiet(): Promise<void> {
    const { admin, around, marker, platform, violations } = this.#arena;
    const values = [marker, ...platform.values];
    const fresh = { ...this.#arena, flags: flagsFor(around), command: imageCommand(), values };
    await freshWrites(fresh);
    for (const write of await freshWrites(fresh)) violations.add("not quiet in the end", write);
    const { body } = await admin.send("GET", "/apis/events.k8s.io/v1/events");
    if (leaks(JSON.stringify(body), values).length > 0)
      violations.add("a value was told", "in an Event");
  }
}
