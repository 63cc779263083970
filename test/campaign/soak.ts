// The controller against a world that changes and a network that fails, every second, for as long as
// asked. In the end the faults stop, and then: the right state is reached, a fresh controller finds
// nothing to write, no stranger was touched, no value was told, /healthz never failed, nothing is
// leaked and the memory is flat. The same seed gives the same changes and faults, not the same timing.
import { setTimeout } from "node:timers/promises";
import type { ApiClient } from "../../src/kube/rest/api-client.ts";
import { createClient } from "../../src/kube/rest/client.ts";
import { systemClock } from "../../src/kube/time/clock.ts";
import { startSandbox, type Sandbox } from "../../src/sandbox/server.ts";
import { startFaultProxy, type FaultProxy } from "../support/api-server/fault-proxy.ts";
import { kubeConfigFor } from "../support/kube/kubeconfig-text.ts";
import { seeded } from "../support/time/random.ts";
import { leaked, liveHeap, onWarning, openResources } from "./judges/leaks.ts";
import { Subject } from "./controllers/own-subject.ts";
import { Skies } from "./faults/skies.ts";
import { OWN_NAMESPACE } from "./actors/actors.ts";
import { SoakWorld } from "./stages/soak-world.ts";

export type SoakOptions = {
  readonly minutes: number;
  readonly seed: number;
  readonly print: (line: string) => void;
};

const CHANGES_A_SECOND = 5;
const RESTART_LIKELIHOOD = 1 / 90;
// Silence is found within five minutes, and a place that kept failing waits as long.
const LONG_MINUTES = 5;
const CONVERGE_MS = { long: 7 * 60_000, short: 60_000 };
const MOST_CONNECTIONS = 40;
// Caches, compiled code and the like may come late; a leak of ten minutes is more.
const GROWTH = 1.5;
const GROWTH_BYTES = 20 * 1024 * 1024;

/** Resolves with what was wrong; empty when nothing was. */
export async function soak(options: SoakOptions): Promise<readonly string[]> {
  const problems: string[] = [];
  const before = openResources();
  const heard = onWarning((text) => problems.push(text));
  const ends: (() => Promise<void>)[] = [];
  const sandbox = await startSandbox({ historyLimit: 2000 });
  const proxy = await startFaultProxy({ after: (end) => ends.push(end) }, { url: sandbox.url });
  const direct = kubeConfigFor(sandbox.url);
  const client = createClient(direct, { clock: systemClock, userAgent: "soak" });
  const run = new Soak(options, sandbox, proxy, client);
  try {
    problems.push(...(await run.play()));
    await run.subject.again(direct);
    problems.push(...(await run.world.wrong()), ...run.subject.problems);
    run.summary();
  } finally {
    run.world.close();
    await client.close();
    for (const end of ends) await end();
    await sandbox.stop();
  }
  problems.push(...(await leaked(before)));
  heard();
  return problems;
}

class Soak {
  readonly world: SoakWorld;
  readonly subject: Subject;
  readonly #options: SoakOptions;
  readonly #sandbox: Sandbox;
  readonly #proxy: FaultProxy;
  readonly #skies: Skies;
  readonly #chance: () => number;
  #heapEarly = 0;
  #requests = 0;
  #connections = 0;
  #convergedMs = 0;

  constructor(options: SoakOptions, sandbox: Sandbox, proxy: FaultProxy, client: ApiClient) {
    this.#options = options;
    this.#sandbox = sandbox;
    this.#proxy = proxy;
    this.#chance = seeded(options.seed);
    this.subject = new Subject(kubeConfigFor(proxy.url));
    this.world = new SoakWorld({
      client,
      proxy,
      seed: options.seed + 1,
      ownNamespace: OWN_NAMESPACE,
      onWrong: (what) => this.subject.problems.push(what),
    });
    const silence = options.minutes >= LONG_MINUTES;
    this.#skies = new Skies(proxy, seeded(options.seed + 2), silence);
  }

  async play(): Promise<readonly string[]> {
    const { minutes, seed, print } = this.#options;
    print(`soak of ${minutes} minutes, --seed ${seed}`);
    await this.world.begin();
    this.subject.start();
    await this.world.settled(CONVERGE_MS.short);
    const seconds = Math.round(minutes * 60);
    for (let second = 1; second <= seconds; second++) {
      await this.#second();
      if (second === Math.ceil(seconds / 5)) this.#heapEarly = await liveHeap();
      if (second % 60 === 0) await this.#tell(`minute ${second / 60}`);
    }
    return this.#conclude();
  }

  async #second(): Promise<void> {
    this.#skies.change();
    if (this.#chance() < RESTART_LIKELIHOOD) {
      await this.subject.stop();
      this.subject.start();
    }
    for (let n = 0; n < CHANGES_A_SECOND; n++) {
      await this.world.change();
      await setTimeout(1000 / CHANGES_A_SECOND);
    }
    await this.subject.probe();
    this.#connections = Math.max(this.#connections, this.#proxy.connections);
  }

  async #conclude(): Promise<readonly string[]> {
    this.#skies.clear();
    await this.world.conclude();
    const { long, short } = CONVERGE_MS;
    const from = performance.now();
    const wrong = await this.world.settled(this.#options.minutes >= LONG_MINUTES ? long : short);
    this.#convergedMs = performance.now() - from;
    const problems = [...wrong, ...(await this.#memory())];
    if (this.#proxy.connections > MOST_CONNECTIONS)
      problems.push(`${this.#proxy.connections} connections are open`);
    await this.subject.stop();
    return problems;
  }

  async #memory(): Promise<readonly string[]> {
    const late = await liveHeap();
    const ratio = late / this.#heapEarly;
    const text = `heap ${mebibytes(this.#heapEarly)} at a fifth, ${mebibytes(late)} at the end: ${ratio.toFixed(2)}`;
    this.#options.print(text);
    return ratio > GROWTH && late - this.#heapEarly > GROWTH_BYTES ? [text] : [];
  }

  async #tell(when: string): Promise<void> {
    const { passes, outcomes } = this.subject;
    this.#requests += this.#proxy.seen.length;
    this.#proxy.forget();
    this.#sandbox.requests.splice(0);
    const heap = mebibytes(await liveHeap());
    const rss = mebibytes(process.memoryUsage().rss);
    const writes = Array.from(outcomes, ([kind, times]) => `${kind} ${times}`).join(" ");
    this.#options.print(
      `${when}: heap ${heap}, rss ${rss}, ${this.#proxy.connections} connections, ${passes} passes; writes: ${writes}`,
    );
  }

  summary(): void {
    const { print } = this.#options;
    const { said, ends, outcomes, passes } = this.subject;
    this.#requests += this.#proxy.seen.length;
    const rows: readonly (readonly [string, ReadonlyMap<string, number>])[] = [
      ["changes of the world", this.world.changes],
      ["seconds of weather", this.#skies.sent],
      ["outcomes of writes", outcomes],
      ["log lines", said],
      ["ends of the controller", ends],
    ];
    for (const [title, counts] of rows) {
      print(`\n${title}`);
      for (const [name, times] of Array.from(counts).toSorted(([, a], [, b]) => b - a))
        print(`${String(times).padStart(8)}  ${name}`);
    }
    print(`\n${passes} passes, ${this.#requests} requests through the proxy`);
    print(`${this.#connections} connections at most`);
    print(`right state ${(this.#convergedMs / 1000).toFixed(1)} s after the faults`);
  }
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
