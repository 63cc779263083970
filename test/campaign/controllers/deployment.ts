// The replicas of one controller as whoever runs them treats them: started, told to stop, killed, rolled
// out with other flags, begun again when they ended by themselves; and the faults between each and the
// API server. The same on every stage.
// Promises: a write is reported once, as it is carried out, with the flags that its writer was started with.
import { LEASE_TIMES, type FlagValues } from "../../../src/controller/settings/config.ts";
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { LEASES } from "../../../packages/kube/rest/resource.ts";
import type { Clock, Timer } from "../../../packages/kube/time/clock.ts";
import type { RequestFault } from "../../support/controller/faulty-client.ts";
import type { Flags, Raw } from "../model/raw.ts";
import type { ReceiptStream } from "../judges/receipt-stream.ts";
import { tellsValue } from "../actors/actors.ts";
import { Replica } from "./replica.ts";
import { faultOf, type Weather } from "../faults/weather.ts";
import { changesNoObject } from "../judges/write-judge.ts";

/** The renew deadline: a former leader may go on for so long where others changed the Lease. */
const LEADS_ON_MS = LEASE_TIMES.renewDeadlineMs;
/** So long one that was told to stop may take. */
const STOPS_WITHIN_MS = 30_000;
/** Longer than a run with `--once` waits for anything: the grace and a minute, and what the server asks for. */
const ONCE_MOST_MS = 180_000;

/** A write to an object that was carried out. */
export type Write = {
  readonly request: ApiRequest;
  readonly answer: Raw;
  /** By the monotonic clock. */
  readonly now: number;
  readonly flags: Flags;
};

export type DeploymentOptions = {
  readonly server: ApiClient;
  readonly clock: Clock;
  readonly replicas: number;
  readonly chance: () => number;
  readonly wait: (ms: number) => Promise<void>;
  /** So often it is asked whether one that was told to stop has ended. */
  readonly pollMs: number;
  /** So long after it ended by itself one comes again. */
  readonly comesAgainMs: number;
  /** What one that is started now is given, and the contract's view of it. */
  readonly given: () => FlagValues;
  readonly contract: () => Flags;
  readonly receipts: () => ReceiptStream;
  readonly onWrite: (write: Write) => void;
  readonly onWrong: (what: string) => void;
};

export class Deployment {
  readonly replicas: readonly Replica[];
  /** When a process last died of its own write (ms, monotonic). All its graces and holds began anew. */
  lastDeathMs = Number.NEGATIVE_INFINITY;
  readonly #options: DeploymentOptions;
  /** Replicas that ended by themselves, until they start again or a step starts or stops them. */
  readonly #comings = new Map<Replica, Timer>();
  /** A replica that is asked to stop and dies of something else does not start again. */
  readonly #stopping = new Set<Replica>();
  readonly #onces: Replica[] = [];
  #weather: Weather | undefined;
  /** The next write by this method is the last of its process. */
  #deadly: ApiRequest["method"] | undefined;
  #leader: Replica | undefined;
  #severalLeadUntil = Number.NEGATIVE_INFINITY;
  /** Nobody comes again. */
  #over = false;

  constructor(options: DeploymentOptions) {
    this.#options = options;
    this.replicas = Array.from({ length: options.replicas }, () => this.#replica(options.receipts));
  }

  /** Counted round. */
  numbered(number: number): Replica | undefined {
    return this.replicas[number % this.replicas.length];
  }

  start(): void {
    for (const replica of this.replicas) this.#start(replica);
  }

  /** From now on whoever ends stays away. */
  finish(): void {
    this.#over = true;
  }

  /** A run with `--once` begins, where no Lease would keep it waiting. */
  runOnce(): void {
    if (this.replicas.length === 1) this.#onces.push(this.startAnother({ once: true }));
  }

  /** Resolves when each run with `--once` has ended by itself, as it must in fair weather. */
  async onceEnds(): Promise<void> {
    const { wait, pollMs, onWrong } = this.#options;
    const goesOn = (): boolean => this.#onces.some(({ running }) => running);
    for (let ms = 0; goesOn() && ms < ONCE_MOST_MS; ms += pollMs) await wait(pollMs);
    if (goesOn()) onWrong("a run with --once does not end");
  }

  /** One that none of the others knows of, started with these flags besides. */
  startAnother(given: FlagValues = {}): Replica {
    // Beside the others, so the receipts of what it writes are theirs: found.
    const replica = this.#replica(undefined);
    this.#start(replica, given);
    return replica;
  }

  /** Takes effect until `ms` from now; undefined: fair weather. */
  weather(step?: Omit<Weather, "until"> & { readonly ms: number }): void {
    this.#weather = step && {
      fault: step.fault,
      likelihood: step.likelihood,
      until: this.#options.clock.monotonic() + step.ms,
    };
    if (step?.fault === "away") this.watches("cut");
  }

  /** The replica that next writes an object by `method` is killed as soon as the server has done it. */
  diesAfter(method: ApiRequest["method"]): void {
    this.#deadly = method;
  }

  /** The Lease is as it was once, so that another may take it from a leader who does not know. */
  leaseWentBack(): void {
    this.#severalLeadUntil = this.#options.clock.monotonic() + LEADS_ON_MS;
  }

  watches(fault: "cut" | "expire" | "deafen"): void {
    for (const replica of this.replicas) replica.watches(fault);
  }

  /** Every replica runs and hears of what happens. */
  get hears(): boolean {
    return this.replicas.every(({ hears }) => hears);
  }

  /** What nobody answers ends as its connection does. */
  reset(): void {
    for (const replica of this.replicas) replica.reset();
  }

  async restart(replica: Replica | undefined, how: "kill" | "stop"): Promise<void> {
    if (!replica) return;
    if (how === "kill") replica.kill();
    else await this.stop(replica);
    this.#start(replica);
  }

  /** Looks for values in what each shows to whoever asks. */
  async look(): Promise<void> {
    for (const replica of this.replicas) {
      const shown = replica.running ? await replica.shown() : "";
      if (tellsValue(shown)) this.#options.onWrong("a value is shown by metrics or status page");
    }
  }

  /** Resolves when it has ended, killed if need be. */
  async stop(replica: Replica): Promise<void> {
    const { wait, pollMs, onWrong } = this.#options;
    this.#comings.get(replica)?.cancel();
    this.#stopping.add(replica);
    replica.stop();
    for (let ms = 0; replica.running && ms < STOPS_WITHIN_MS; ms += pollMs) await wait(pollMs);
    this.#stopping.delete(replica);
    if (!replica.running) return;
    onWrong("it did not end within 30 s of being told");
    replica.kill();
  }

  /** As kubelet does, it starts a replica that ended by itself again, if it still counts. */
  comeAgain(replica: Replica): void {
    const { clock, comesAgainMs, onWrong } = this.#options;
    if (replica.end === "failed") onWrong("the controller failed");
    if (!this.replicas.includes(replica) || this.#stopping.has(replica)) return;
    const timer = clock.setTimeout(() => {
      if (!replica.running && !this.#over) this.#start(replica);
    }, comesAgainMs);
    this.#comings.set(replica, timer);
  }

  #start(replica: Replica, given: FlagValues = {}): void {
    this.#comings.get(replica)?.cancel();
    // What it sent may be carried out when it has ended and begun again with other flags.
    const flags = this.#options.contract();
    replica.start({ ...this.#options.given(), ...given }, (request, answer) =>
      this.#done(request, answer as Raw, replica, flags),
    );
  }

  #replica(receipts: DeploymentOptions["receipts"] | undefined): Replica {
    const { server, clock, onWrong } = this.#options;
    const replica: Replica = new Replica({
      server,
      clock,
      receipts,
      fault: (request) => this.#death(request, replica) ?? this.#fault(request),
      onTold: (text) => {
        if (tellsValue(text)) onWrong(`a value was told: ${text.slice(0, 200)}`);
      },
      onEnd: (ended) => this.comeAgain(ended),
    });
    return replica;
  }

  #death(request: ApiRequest, replica: Replica): RequestFault | undefined {
    if (request.method !== this.#deadly || changesNoObject(request)) return undefined;
    this.#deadly = undefined;
    const crash = (): void => {
      this.lastDeathMs = this.#options.clock.monotonic();
      replica.kill();
      this.comeAgain(replica);
    };
    return { kind: "crash", acted: true, crash };
  }

  #fault(request: ApiRequest): RequestFault | undefined {
    const { clock, chance } = this.#options;
    const weather = this.#weather;
    if (!weather || weather.until < clock.monotonic()) return undefined;
    return faultOf(weather, request, chance);
  }

  #done(request: ApiRequest, answer: Raw, writer: Replica, flags: Flags): void {
    if (request.path.includes(`/${LEASES.plural}`)) {
      const spec = (request.body ?? {}) as { readonly spec?: { readonly holderIdentity?: string } };
      if ((spec.spec?.holderIdentity ?? "") !== "") this.#leader = writer;
      return;
    }
    if (changesNoObject(request)) return;
    const { clock, onWrite, onWrong } = this.#options;
    onWrite({ request, answer, now: clock.monotonic(), flags });
    if (clock.monotonic() < this.#severalLeadUntil) return;
    if (this.replicas.length > 1 && this.#leader !== writer)
      onWrong(`${request.method} ${request.path}: by one who does not lead`);
  }
}
