// Plays scripts on a real API server, in real time: the same users, controllers in this process behind
// faults that can be made there, the same model. One script begins in the world that the one before left.
// Promises: each write is judged by all that a watch of our own saw of its place, after quiet; waits end.
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient, ApiRequest } from "../../src/kube/rest/api-client.ts";
import { LEASES } from "../../src/kube/rest/resource.ts";
import { systemClock } from "../../src/kube/time/clock.ts";
import { seeded } from "../support/time/random.ts";
import { Actors, OWN_NAMESPACE, SOURCE_LIST } from "./actors.ts";
import { wrongAtRest } from "./model.ts";
import { isHeld, type Flags, type Raw } from "./raw.ts";
import { Replica, tellsValue } from "./replica.ts";
import { isUsers, type Circumstance, type FlagSet, type Script } from "./script.ts";
import { SeenWorld } from "./seen-world.ts";
import { Slots } from "./slots.ts";
import { faultOf, valuesOf, type Weather } from "./weather.ts";
import { changesNoObject, wrongWrite } from "./write-judge.ts";

const GRACE_MS = 1000;
/** So much later than the controller we may have heard of a change. */
const HEARING_MS = 700;
const LONGEST_WAIT_MS = 300;
const LONGEST_FAULT_MS = 1500;
/** The longest back-off is five minutes. */
const REST_MOST_MS = 8 * 60_000;
const QUIET_MS = 4000;
const COMES_AGAIN_MS = 300;
const LIST_SLOT = `ConfigMap ${OWN_NAMESPACE}/${SOURCE_LIST}`;

type Write = {
  readonly request: ApiRequest;
  readonly answer: Raw;
  readonly now: number;
  readonly flags: Flags;
};

export class ClusterStage {
  readonly #client: ApiClient;
  readonly #compact: () => Promise<void>;
  readonly #actors: Actors;
  readonly #world: SeenWorld;
  readonly #wrong: string[] = [];
  readonly #startedWith = new Map<Replica, Flags>();
  #slots = new Slots();
  #replicas: readonly Replica[] = [];
  #writes: Write[] = [];
  #weather: Weather | undefined;
  #leader: Replica | undefined;
  #elects = false;
  #flags: FlagSet | undefined;
  #chance: () => number = Math.random;
  #over = true;

  constructor(client: ApiClient, compact: () => Promise<void>) {
    this.#client = client;
    this.#compact = compact;
    this.#actors = new Actors(client);
    this.#world = new SeenWorld({
      client,
      onChange: (slot, raw) => this.#slots.note(slot, raw, systemClock.monotonic()),
      onLost: (why) => this.#wrong.push(why),
    });
  }

  /** Follows the world until `signal` aborts. */
  async begin(signal: AbortSignal): Promise<void> {
    await this.#world.begin(signal);
    await this.#actors.begin();
  }

  /** What was wrong, and how many writes there were. */
  async play(script: Script): Promise<{ readonly wrong: readonly string[]; writes: number }> {
    this.#wrong.length = 0;
    this.#writes = [];
    this.#slots = new Slots();
    for (const [slot, raw] of this.#world.objects)
      this.#slots.note(slot, raw, Number.NEGATIVE_INFINITY);
    this.#chance = seeded(script.chance);
    this.#flags = script.flags;
    this.#elects = script.replicas > 1;
    this.#over = false;
    this.#replicas = Array.from({ length: script.replicas }, () => this.#replica());
    for (const replica of this.#replicas) this.#start(replica);
    for (const step of script.steps) {
      if (isUsers(step)) await this.#actors.take(step);
      else await this.#happen(step);
    }
    await this.#rest();
    for (const { request, answer, now, flags } of this.#writes) {
      const graceMs = GRACE_MS - HEARING_MS;
      const around = { now, flags, graceMs, listSlot: LIST_SLOT };
      const wrong = wrongWrite(request, answer, this.#slots, around);
      if (wrong !== undefined) this.#wrong.push(`${request.method} ${request.path}: ${wrong}`);
    }
    return { wrong: [...this.#wrong], writes: this.#writes.length };
  }

  async #happen(step: Circumstance): Promise<void> {
    const now = systemClock.monotonic();
    switch (step.kind) {
      case "pass":
      case "moment":
        return delay(Math.min(step.ms, LONGEST_WAIT_MS));
      case "requests": {
        // What hangs for half a minute is tried on the fake clock.
        if (step.fault === "hang") return undefined;
        const until = now + Math.min(step.ms, LONGEST_FAULT_MS);
        this.#weather = { fault: step.fault, likelihood: step.likelihood, until };
        if (step.fault === "away") for (const replica of this.#replicas) replica.watches("cut");
        return undefined;
      }
      case "watches": {
        if (step.fault === "compact" || step.fault === "reboot") await this.#compact();
        // A deaf watch is found out after minutes, and the server's lists are not ours to age.
        const fault = step.fault === "expire" ? "expire" : "cut";
        for (const replica of this.#replicas) replica.watches(fault);
        return undefined;
      }
      case "jump": {
        const replica = this.#replicas[step.replica % this.#replicas.length];
        if (replica) replica.clock.skewMs += step.ms;
        return undefined;
      }
      case "restart":
        return this.#restart(this.#replicas[step.replica % this.#replicas.length], step.how);
      case "roll out":
        this.#flags = step.flags;
        for (const replica of this.#replicas) await this.#restart(replica, "stop");
        return undefined;
    }
  }

  // No fault any more; until all is as it must be, nobody writes, and one who comes anew does not.
  async #rest(): Promise<void> {
    this.#weather = undefined;
    await this.#actors.letGo([...this.#world.objects.values()].filter(isHeld));
    const until = systemClock.monotonic() + REST_MOST_MS;
    let wrong: readonly string[] = ["not looked at"];
    while (wrong.length > 0 && systemClock.monotonic() < until) {
      await delay(1000);
      wrong = this.#world.worlds().flatMap((world) => wrongAtRest(world, this.#contract()));
    }
    this.#wrong.push(...wrong.map((what) => `at rest: ${what}`));
    await delay(QUIET_MS);
    await this.#silence("while all was quiet");
    this.#over = true;
    for (const replica of this.#replicas) await this.#stop(replica);
    const fresh = this.#replica();
    this.#start(fresh);
    await this.#silence("of one who came anew");
    await this.#stop(fresh);
  }

  async #silence(when: string): Promise<void> {
    const before = this.#writes.length;
    await delay(QUIET_MS);
    for (const { request } of this.#writes.slice(before))
      this.#wrong.push(`${request.method} ${request.path} ${when}`);
  }

  async #stop(replica: Replica): Promise<void> {
    replica.stop();
    for (let tenth = 0; replica.running && tenth < 300; tenth++) await delay(100);
    if (!replica.running) return;
    this.#wrong.push("it did not end within 30 s of being told");
    replica.kill();
  }

  async #restart(replica: Replica | undefined, how: "kill" | "stop"): Promise<void> {
    if (!replica) return;
    if (how === "kill") replica.kill();
    else await this.#stop(replica);
    this.#start(replica);
  }

  #start(replica: Replica): void {
    const flags = this.#contract();
    this.#startedWith.set(replica, flags);
    replica.start({
      ...valuesOf(flags),
      "delete-grace": `${GRACE_MS}ms`,
      "delete-hold": "2s",
      "leader-elect": this.#elects,
    });
  }

  #replica(): Replica {
    return new Replica({
      server: this.#client,
      clock: systemClock,
      fault: (request) => {
        const weather = this.#weather;
        if (!weather || weather.until < systemClock.monotonic()) return undefined;
        return faultOf(weather, request, this.#chance);
      },
      onDone: (request, answer, writer) => this.#done(request, answer as Raw, writer),
      onTold: (text) => {
        if (tellsValue(text)) this.#wrong.push(`a value was told: ${text.slice(0, 200)}`);
      },
      onEnd: (replica) => {
        if (replica.end === "failed") this.#wrong.push("the controller failed");
        void delay(COMES_AGAIN_MS).then(() => {
          if (!replica.running && !this.#over) this.#start(replica);
        });
      },
    });
  }

  #done(request: ApiRequest, answer: Raw, writer: Replica): void {
    if (request.path.includes(`/${LEASES.plural}`)) {
      const spec = (request.body ?? {}) as { readonly spec?: { readonly holderIdentity?: string } };
      if ((spec.spec?.holderIdentity ?? "") !== "") this.#leader = writer;
      return;
    }
    if (changesNoObject(request)) return;
    const flags = this.#startedWith.get(writer) ?? this.#contract();
    this.#writes.push({ request, answer, flags, now: systemClock.monotonic() });
    if (this.#elects && this.#leader !== writer)
      this.#wrong.push(`${request.method} ${request.path}: by one who does not lead`);
  }

  #contract(): Flags {
    if (!this.#flags) throw new Error("test: no script is played");
    return {
      ...this.#flags,
      ownNamespace: OWN_NAMESPACE,
      list: this.#world.objects.get(LIST_SLOT),
    };
  }
}
