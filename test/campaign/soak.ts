// The program as a process for minutes or hours, among so many changes a second and faults of the network. On
// an API server in memory the faults have no end, and the process is stopped now and then as in a roll-out;
// on a real one there are faults in a third of each minute, every fifteenth minute all connections are
// silent, and between the faults it is measured how long the controller takes. What the process holds is
// written down. In the end the faults stop, and the state must be right, and a fresh controller must find
// nothing to write. What the figures say is judged by verdict.ts, from the file.
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { imageCommand } from "../../bench/image.ts";
import type { Ending } from "../../packages/kube/testing/fault-proxy.ts";
import { seeded } from "../../packages/kube/testing/random.ts";
import { MARKER } from "./actors/actors.ts";
import { freshWrites } from "./controllers/fresh.ts";
import { WatchedProcess } from "./controllers/watched-process.ts";
import { Skies } from "./faults/skies.ts";
import { LatencyProbe } from "./judges/latency.ts";
import { LOST_LEASE, type Latency, type SoakRecord } from "./judges/records.ts";
import { Violations } from "./judges/violations.ts";
import { vitalsOf } from "./judges/vitals.ts";
import {
  proxiedCluster,
  proxiedSandbox,
  withEndings,
  type ProxiedServer,
} from "./stages/proxied-server.ts";
import { SOAK_FLAGS, SoakWorld } from "./stages/soak-world.ts";

export type SoakOptions = {
  readonly hours: number;
  /** Changes a second. */
  readonly rate: number;
  readonly seed: number;
  /** The folder with etcd, kube-apiserver and kube-controller-manager; undefined: in memory. */
  readonly assets: string | undefined;
  /** Where the records go. */
  readonly folder: string;
  readonly print: (line: string) => void;
};

const RECORDS = "soak.jsonl";
const LONGEST_SAMPLE_MS = 10_000;
const SAMPLES = 25;
/** Of the time between two of them: so much of it a moment is drawn from. */
const DRAWN_FROM = 0.9;
/** Of each minute on a real server: so long there are faults, from then on it is fine. */
const FAULTS_S = 20;
/** Long enough for every back-off of seconds to be over. */
const SETTLED_S = 35;
const SILENCE_EVERY_MIN = 15;
/** A watch that says nothing more is found out by then. */
const SILENCE_S = 310;
/** In memory, each second. */
const RESTART_LIKELIHOOD = 1 / 90;
const CONVERGE_MS = 7 * 60_000;
const MOST_CONNECTIONS = 40;
/** Which Lease was lost is not in the very last line. */
const LAST_LINES = 5;

/** Resolves with the path of the records. */
export async function soak(options: SoakOptions): Promise<string> {
  const { assets } = options;
  return withEndings(async (endings) => {
    const server = await (assets === undefined
      ? proxiedSandbox(endings)
      : proxiedCluster(assets, endings));
    const run = new Soak(options, server, endings);
    endings.after(async () => run.world.close());
    await run.play();
    return run.file;
  });
}

class Soak {
  readonly file: string;
  readonly world: SoakWorld;
  readonly #options: SoakOptions;
  readonly #server: ProxiedServer;
  readonly #endings: Ending;
  readonly #command: readonly string[] | undefined;
  readonly #skies: Skies;
  readonly #probe: LatencyProbe | undefined;
  readonly #random: () => number;
  readonly #violations: Violations;
  readonly #began = performance.now();
  #subject: WatchedProcess | undefined;
  #last: readonly string[] = [];
  #faultsUntilS = 0;
  #silenceAtS = 60;
  #changes = 0;

  constructor(options: SoakOptions, server: ProxiedServer, endings: Ending) {
    const { seed, folder, hours, assets } = options;
    this.#options = options;
    this.#server = server;
    this.#endings = endings;
    this.#command = assets === undefined ? undefined : imageCommand();
    this.file = join(folder, RECORDS);
    const { client, proxy, admin } = server;
    const violations = new Violations(options.print);
    this.#violations = violations;
    this.world = new SoakWorld({ client, proxy, seed: seed + 1, violations });
    // Silence lasts minutes: on a real server it comes by itself, and else only to runs that last as long.
    const silence = assets === undefined && hours * 3600 > SILENCE_S;
    this.#skies = new Skies(proxy, seeded(seed + 2), silence);
    this.#probe = assets === undefined ? undefined : new LatencyProbe(admin);
    this.#random = seeded(seed + 3);
    const [cpu] = cpus();
    const machine = `${cpus().length} cores ${cpu?.model.trim()}, Node ${process.versions.node}`;
    const begin = { kind: "begin", at: new Date().toISOString(), hours, seed, machine } as const;
    mkdirSync(folder, { recursive: true });
    writeFileSync(this.file, `${JSON.stringify(begin)}\n`);
  }

  async play(): Promise<void> {
    const { hours, rate, seed, assets, print } = this.#options;
    const where = assets === undefined ? "in memory" : "on a real API server";
    print(`soak of ${hours} hours ${where}, --seed ${seed}, records in ${this.file}`);
    await this.world.begin();
    await this.#probe?.begin();
    this.#subject = this.#start();
    await this.#converged();
    const untilS = this.#s() + hours * 3600;
    const sampleMs = Math.min(LONGEST_SAMPLE_MS, (hours * 3_600_000) / SAMPLES);
    await Promise.all([
      // What is still measured then must not wait for the end of the last fault.
      this.#every(1000, untilS, () => this.#weather()).finally(() => this.#skies.clear()),
      this.#every(1000 / rate, untilS, () => this.#change()),
      this.#onceIn(sampleMs, untilS, () => this.#sample()),
      this.#onceIn(LONGEST_SAMPLE_MS, untilS, () => this.#latencies()),
    ]);
    await this.#conclude();
  }

  #start(): WatchedProcess {
    return new WatchedProcess({
      endings: this.#endings,
      command: this.#command,
      kubeconfig: this.#server.kubeconfig,
      flags: { ...SOAK_FLAGS, "leader-elect": "true" },
      values: [MARKER],
      onTold: (where) => this.#violations.add("a value was told", where),
      onEnd: (life, code) => this.#ended(life, code),
      onLine: (line) => {
        this.#last = [...this.#last.slice(1 - LAST_LINES), line.slice(0, 300)];
        // Of the runtime, such as of too many listeners.
        if (/^\(node:\d+\) /.test(line)) this.#violations.add("a warning", line);
      },
    });
  }

  /** What fails is a problem of the run, and does not end it. */
  async #every(ms: number, untilS: number, act: () => Promise<void>): Promise<void> {
    while (this.#s() < untilS) {
      const next = performance.now() + ms;
      await act().catch((error) => this.#violations.add("the soak itself", String(error)));
      await delay(Math.max(0, next - performance.now()));
    }
  }

  /**
   * At a moment drawn from each so many. Two things that come every ten seconds move past each other
   * slowly, and a sample would see the connections of a measured fan-out for an hour, and then no more.
   */
  async #onceIn(ms: number, untilS: number, act: () => Promise<void>): Promise<void> {
    return this.#every(ms, untilS, async () => {
      await delay(DRAWN_FROM * ms * this.#random());
      if (this.#s() < untilS) await act();
    });
  }

  async #weather(): Promise<void> {
    const s = Math.floor(this.#s());
    this.#server.proxy.forget();
    const isReal = this.#options.assets !== undefined;
    const restarts = !isReal && this.#random() < RESTART_LIKELIHOOD;
    // One that is still starting hears no signal.
    if (restarts && this.#subject?.now.address() !== undefined) await this.#stopped(true);
    if (isReal && s >= this.#silenceAtS) {
      this.#server.proxy.freeze();
      this.#silenceAtS += SILENCE_EVERY_MIN * 60;
      this.#faultsUntilS = s + SILENCE_S;
    }
    if (!isReal || s % 60 < FAULTS_S) {
      this.#skies.change();
      this.#faultsUntilS = Math.max(this.#faultsUntilS, s - (s % 60) + SETTLED_S);
    } else this.#skies.clear();
  }

  async #change(): Promise<void> {
    await this.world.change();
    this.#changes++;
  }

  async #sample(): Promise<void> {
    const subject = this.#subject;
    const address = subject?.now.address();
    if (subject === undefined || address === undefined) return;
    const { pid } = subject.now;
    const metrics = await subject.page(`http://${address}/metrics`);
    const health = await subject.page(`http://${address}/healthz`);
    if (health?.ok === false) this.#violations.add("/healthz failed", health.text.trim());
    const vitals = metrics && vitalsOf(pid, metrics.text);
    if (!vitals) return;
    const [load = 0] = loadavg();
    const { copies } = this.world;
    const wrong = (await this.world.wrong()).length;
    const more = { copies, wrong, changes: this.#changes, load };
    this.#write({ kind: "sample", s: this.#s(), life: subject.life, ...vitals, ...more });
  }

  #ended(life: number, code: number | null): void {
    this.#write({ kind: "ended", s: this.#s(), life, code, last: this.#last.join(" ") });
    this.#last = [];
  }

  async #latencies(): Promise<void> {
    const probe = this.#probe;
    if (!probe) return;
    await this.#latency("fresh namespace", () => probe.freshNamespace());
    await this.#latency("changed source", () => probe.changedSource());
  }

  async #latency(what: Latency["what"], measure: () => Promise<number>): Promise<void> {
    const s = this.#s();
    const calmBefore = s > this.#faultsUntilS;
    const ms = await measure();
    const calm = calmBefore && this.#s() - (this.#s() % 60) <= s;
    this.#write({ kind: "latency", s, what, ms, calm });
  }

  async #conclude(): Promise<void> {
    this.#skies.clear();
    await this.world.conclude();
    const from = performance.now();
    for (const wrong of await this.#converged()) this.#violations.add("wrong in the end", wrong);
    const tookS = ((performance.now() - from) / 1000).toFixed(1);
    const { connections } = this.#server.proxy;
    if (connections > MOST_CONNECTIONS)
      this.#violations.add("too many connections are open", String(connections));
    await this.#stopped(false);
    await this.#freshFindsNothing();
    const counts = (of: ReadonlyMap<string, number>): string =>
      Array.from(of, ([name, times]) => `${name} ${times}`).join(", ");
    const said = [
      `right state ${tookS} s after the faults`,
      `changes: ${counts(this.world.changes)}`,
      `writes: ${counts(this.world.writes)}`,
      `seconds of weather: ${counts(this.#skies.sent)}`,
    ];
    this.#write({ kind: "end", s: this.#s(), wrong: this.#violations.lines, said });
  }

  /** As in a roll-out, when another one comes. */
  async #stopped(another: boolean): Promise<void> {
    const code = await this.#subject?.stop();
    const lostLease = code === LOST_LEASE && this.#last.join(" ").includes("lease");
    if (code !== 0 && !lostLease)
      this.#violations.add("a stop that failed", `${String(code)}: ${this.#last.at(-1)}`);
    if (another) this.#subject?.again();
  }

  async #freshFindsNothing(): Promise<void> {
    const fresh = {
      ...this.#server,
      endings: this.#endings,
      command: this.#command,
      flags: { ...SOAK_FLAGS, "delete-grace": "0s" },
      values: [MARKER],
      violations: this.#violations,
    };
    for (const write of await freshWrites(fresh))
      this.#violations.add("a fresh controller wrote", write);
  }

  /** What is still wrong after so long. */
  #converged(): Promise<readonly string[]> {
    return this.world.settled(CONVERGE_MS, async () => (await this.#probe?.wrong()) ?? []);
  }

  #s(): number {
    return (performance.now() - this.#began) / 1000;
  }

  #write(one: SoakRecord): void {
    appendFileSync(this.file, `${JSON.stringify(one)}\n`);
  }
}
