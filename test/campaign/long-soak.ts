// The program as a process on a real API server for hours: so many random changes a second,
// a third of each minute with faults between, every fifteenth minute all connections silent. Every ten
// seconds what the process holds is written down, and between the faults how long it takes. In the end the
// faults stop, and the state must be right, and a fresh controller must find nothing to write. What the
// figures say is judged by verdict.ts, from the file.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "../../src/kube/rest/client.ts";
import { systemClock } from "../../src/kube/time/clock.ts";
import { controllerAccount } from "../support/api-server/account.ts";
import { openCluster } from "../support/api-server/cluster.ts";
import { startControlPlane, type ControlPlane } from "../support/api-server/control-plane.ts";
import { startFaultProxy, type FaultProxy } from "../support/api-server/fault-proxy.ts";
import { field } from "../support/api-server/http.ts";
import { kubeConfigFor, kubeConfigText } from "../support/kube/kubeconfig-text.ts";
import { seeded } from "../support/time/random.ts";
import { LatencyProbe } from "./judges/latency.ts";
import { MARKER } from "./actors/actors.ts";
import { runOnce, WatchedProcess } from "./controllers/watched-process.ts";
import type { Latency, SoakRecord } from "./judges/records.ts";
import { Skies } from "./faults/skies.ts";
import { vitalsOf } from "./judges/vitals.ts";
import { soakFlags, SoakWorld } from "./stages/soak-world.ts";

export type LongSoakOptions = {
  readonly hours: number;
  /** Changes a second. */
  readonly rate: number;
  readonly seed: number;
  /** The folder with etcd, kube-apiserver and kube-controller-manager. */
  readonly assets: string;
  /** Where the records go. */
  readonly folder: string;
  readonly print: (line: string) => void;
};

const RECORDS = "soak.jsonl";
const SAMPLE_MS = 10_000;
/** Of the time between two of them: so much of it a moment is drawn from. */
const DRAWN_FROM = 0.9;
/** Of each minute: so long there are faults, from then on it is fine. */
const FAULTS_S = 20;
/** Long enough for every back-off of seconds to be over. */
const SETTLED_S = 35;
const SILENCE_EVERY_MIN = 15;
/** A watch that says nothing more is found out by then. */
const SILENCE_S = 310;
const CONVERGE_MS = 7 * 60_000;
/** That of the account's rights. */
const OWN_NAMESPACE = "secretcast";
const FLAGS = soakFlags(OWN_NAMESPACE);
/** Which Lease was lost is not in the very last line. */
const LAST_LINES = 5;

/** Resolves with the path of the records. */
export async function longSoak(options: LongSoakOptions): Promise<string> {
  const ends: (() => unknown)[] = [];
  const after = (end: () => Promise<void>): void => void ends.push(end);
  const access = await startControlPlane(options.assets);
  ends.push(() => access.stop());
  try {
    const kubeconfig = await controllerAccount(access);
    const account: unknown = JSON.parse(readFileSync(kubeconfig, "utf8"));
    const token = String(field(account, "users", 0, "user", "token"));
    const proxy = await startFaultProxy(
      { after },
      {
        url: access.url,
        ca: readFileSync(access.caFile, "utf8"),
        headers: { authorization: `Bearer ${token}` },
        keepAlive: true,
      },
    );
    const proxied = join(options.folder, "kubeconfig");
    mkdirSync(options.folder, { recursive: true });
    writeFileSync(proxied, kubeConfigText(kubeConfigFor(proxy.url)));
    const run = new LongRun(options, access, proxy, { after, proxied, direct: kubeconfig });
    ends.push(() => run.close());
    await run.play();
    return run.file;
  } finally {
    for (const end of ends.toReversed()) await end();
  }
}

type Around = {
  readonly after: (end: () => Promise<void>) => void;
  readonly proxied: string;
  readonly direct: string;
};

class LongRun {
  readonly file: string;
  readonly #options: LongSoakOptions;
  readonly #around: Around;
  readonly #proxy: FaultProxy;
  readonly #http: ReturnType<typeof openCluster>;
  readonly #client: ReturnType<typeof createClient>;
  readonly #skies: Skies;
  readonly #world: SoakWorld;
  readonly #probe: LatencyProbe;
  readonly #random: () => number;
  readonly #problems = new Set<string>();
  readonly #began = performance.now();
  #subject: WatchedProcess | undefined;
  #last: readonly string[] = [];
  #faultsUntilS = 0;
  #silenceAtS = 60;
  #changes = 0;

  constructor(options: LongSoakOptions, access: ControlPlane, proxy: FaultProxy, around: Around) {
    const { seed, folder, hours } = options;
    this.#options = options;
    this.#around = around;
    this.#proxy = proxy;
    this.file = join(folder, RECORDS);
    this.#http = openCluster(access);
    const admin = kubeConfigFor(access.url, { token: access.token }, { caFile: access.caFile });
    this.#client = createClient(admin, { clock: systemClock, userAgent: "soak" });
    this.#world = new SoakWorld({
      client: this.#client,
      proxy,
      seed: seed + 1,
      ownNamespace: OWN_NAMESPACE,
      onWrong: (what) => this.#problem(what),
    });
    this.#skies = new Skies(proxy, seeded(seed + 2), false);
    this.#probe = new LatencyProbe(this.#http);
    this.#random = seeded(seed + 3);
    const [cpu] = cpus();
    const machine = `${cpus().length} cores ${cpu?.model.trim()}, Node ${process.versions.node}`;
    const begin = { kind: "begin", at: new Date().toISOString(), hours, seed, machine } as const;
    writeFileSync(this.file, `${JSON.stringify(begin)}\n`);
  }

  async play(): Promise<void> {
    const { hours, rate, seed, print } = this.#options;
    print(`soak of ${hours} hours on a real API server, --seed ${seed}, records in ${this.file}`);
    await this.#world.begin();
    await this.#probe.begin();
    const { after, proxied } = this.#around;
    this.#subject = new WatchedProcess({
      endings: { after },
      kubeconfig: proxied,
      flags: { ...FLAGS, "leader-elect": "true" },
      values: [MARKER],
      onTold: (where) => this.#problem(`a value was told ${where}`),
      onEnd: (life, code) => this.#ended(life, code),
      onLine: (line) => {
        this.#last = [...this.#last.slice(1 - LAST_LINES), line.slice(0, 300)];
      },
    });
    await this.#converged();
    const untilS = this.#s() + hours * 3600;
    await Promise.all([
      // What is still measured then must not wait for the end of the last fault.
      this.#every(1000, untilS, async () => this.#weather()).finally(() => this.#skies.clear()),
      this.#every(1000 / rate, untilS, () => this.#change()),
      this.#onceIn(SAMPLE_MS, untilS, () => this.#sample()),
      this.#onceIn(SAMPLE_MS, untilS, () => this.#latencies()),
    ]);
    await this.#conclude();
  }

  async close(): Promise<void> {
    this.#world.close();
    await this.#client.close();
    await this.#http.close();
  }

  /** What fails is a problem of the run, and does not end it. */
  async #every(ms: number, untilS: number, act: () => Promise<void>): Promise<void> {
    while (this.#s() < untilS) {
      const next = performance.now() + ms;
      await act().catch((error: unknown) => this.#problem(`the soak itself: ${String(error)}`));
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
    this.#proxy.forget();
    if (s >= this.#silenceAtS) {
      this.#proxy.freeze();
      this.#silenceAtS += SILENCE_EVERY_MIN * 60;
      this.#faultsUntilS = s + SILENCE_S;
    }
    if (s % 60 < FAULTS_S) {
      this.#skies.change();
      this.#faultsUntilS = Math.max(this.#faultsUntilS, s - (s % 60) + SETTLED_S);
    } else this.#skies.clear();
  }

  async #change(): Promise<void> {
    await this.#world.change();
    this.#changes++;
  }

  async #sample(): Promise<void> {
    const subject = this.#subject;
    const address = subject?.now.address();
    if (subject === undefined || address === undefined) return;
    const { pid } = subject.now;
    const metrics = await subject.page(`http://${address}/metrics`);
    const health = await subject.page(`http://${address}/healthz`);
    if (health !== undefined && !health.ok) this.#problem(`/healthz: ${health.text.trim()}`);
    const vitals = metrics && vitalsOf(pid, metrics.text);
    if (!vitals) return;
    const [load = 0] = loadavg();
    const { copies } = this.#world;
    const wrong = (await this.#world.wrong()).length;
    const more = { copies, wrong, changes: this.#changes, load };
    this.#write({ kind: "sample", s: this.#s(), life: subject.life, ...vitals, ...more });
  }

  #ended(life: number, code: number | null): void {
    this.#write({ kind: "ended", s: this.#s(), life, code, last: this.#last.join(" ") });
    this.#last = [];
  }

  async #latencies(): Promise<void> {
    await this.#latency("fresh namespace", () => this.#probe.freshNamespace());
    await this.#latency("changed source", () => this.#probe.changedSource());
  }

  async #latency(what: Latency["what"], measure: () => Promise<number>): Promise<void> {
    const s = this.#s();
    const calmBefore = s > this.#faultsUntilS;
    const ms = await measure();
    const calm = calmBefore && this.#s() - (this.#s() % 60) <= s;
    this.#write({ kind: "latency", s, what, ms, calm });
  }

  async #conclude(): Promise<void> {
    const { print } = this.#options;
    this.#skies.clear();
    await this.#world.conclude();
    const from = performance.now();
    for (const wrong of await this.#converged()) this.#problem(wrong);
    const tookS = ((performance.now() - from) / 1000).toFixed(1);
    const code = await this.#subject?.stop();
    if (code !== 0) this.#problem(`stopped, it ended with ${String(code)}`);
    await this.#freshFindsNothing();
    const counts = (of: ReadonlyMap<string, number>): string =>
      Array.from(of, ([name, times]) => `${name} ${times}`).join(", ");
    const said = [
      `right state ${tookS} s after the faults`,
      `changes: ${counts(this.#world.changes)}`,
      `seconds of weather: ${counts(this.#skies.sent)}`,
    ];
    for (const line of said) print(line);
    this.#write({ kind: "end", s: this.#s(), wrong: [...this.#problems], said });
  }

  /** The versions of all objects, before and after it: what it writes was left undone. */
  async #freshFindsNothing(): Promise<void> {
    const before = this.#world.versions();
    const graces = { "delete-grace": "0s", "source-grace": "0s" };
    const { late } = await runOnce(this.#around, this.#around.direct, { ...FLAGS, ...graces });
    if (late) this.#problem("a fresh controller does not end");
    const now = this.#world.versions();
    const slots = new Set([...before.keys(), ...now.keys()]);
    for (const slot of slots)
      if (before.get(slot) !== now.get(slot)) this.#problem(`a fresh controller wrote ${slot}`);
  }

  /** What is still wrong after so long. */
  #converged(): Promise<readonly string[]> {
    return this.#world.settled(CONVERGE_MS, () => this.#probe.wrong());
  }

  #problem(text: string): void {
    if (this.#problems.has(text)) return;
    this.#problems.add(text);
    this.#options.print(`wrong: ${text}`);
  }

  #s(): number {
    return (performance.now() - this.#began) / 1000;
  }

  #write(one: SoakRecord): void {
    appendFileSync(this.file, `${JSON.stringify(one)}\n`);
  }
}
