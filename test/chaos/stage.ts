// Plays a script: on an API server in memory and a fake clock, with replicas of the controller, the
// actors' steps and the faults between. Judges each write as it is carried out, then waits for quiet and
// compares the world with the model.
import { CONFIG_MAPS, LEASES, NAMESPACES, SECRETS } from "../../src/kube/rest/resource.ts";
import type { FlagValues } from "../../src/config/config.ts";
import type { ApiRequest } from "../../src/kube/rest/api-client.ts";
import type { StorageChange } from "../../src/sandbox/storage/storage.ts";
import type { RequestFault } from "../support/controller/faulty-client.ts";
import { SandboxApi } from "../support/controller/sandbox-api.ts";
import { FakeClock } from "../support/time/fake-clock.ts";
import { seeded } from "../support/time/random.ts";
import { Actors, OWN_NAMESPACE, SOURCE_LIST } from "./actors.ts";
import { wrongAtRest, type World } from "./model.ts";
import { Replica, tellsValue } from "./replica.ts";
import { isUsers, type ChaosStep, type Circumstance, type FlagSet, type Script } from "./script.ts";
import { Slots } from "./slots.ts";
import { isHeld, slotOf, type Flags, type Raw } from "./raw.ts";
import { faultOf, valuesOf, type Weather } from "./weather.ts";
import { changesNoObject, wrongWrite } from "./write-judge.ts";

const REST_STEP_MS = 10_000;
/** The longest back-off is five minutes, and so is a hold of deletions; a deaf watch ends as late. */
const REST_MOST_MS = 30 * 60_000;
/** A watch that says nothing more is found out by then, and begun anew. */
const DEAF_MS = 300_000;
/** So long deletions above their limit wait. */
const HOLD_MS = 330_000;
/** So long an API server is away that starts anew. */
const REBOOT_MS = 4000;
const COMES_AGAIN_MS = 1000;
const QUIET_MS = 30_000;
const LONGEST_OF_SEVERAL_MS = 60_000;

const LIST_PLACE = `${OWN_NAMESPACE}/${SOURCE_LIST}`;
const LIST_SLOT = `ConfigMap ${LIST_PLACE}`;

export type Verdict = {
  /** Empty: nothing was. */
  readonly wrong: readonly string[];
  /** Writes that were carried out for the controller. */
  readonly writes: number;
  /** Requests that the controller sent. */
  readonly requests: number;
};

/** The process ends with its request of this number, before the server acts or right after. */
export type Crash = { readonly at: number; readonly acted: boolean };

export async function play(script: Script, crash?: Crash): Promise<Verdict> {
  const stage = new Stage(script, crash);
  await stage.begin();
  for (const step of script.steps) await stage.take(step);
  await stage.rest();
  await stage.end();
  return { wrong: stage.wrong, writes: stage.writes, requests: stage.requests };
}

class Stage {
  readonly wrong: string[] = [];
  readonly #script: Script;
  readonly #crash: Crash | undefined;
  requests = 0;
  readonly #clock = new FakeClock();
  readonly #api: SandboxApi;
  readonly #actors: Actors;
  readonly #slots = new Slots();
  readonly #replicas: readonly Replica[];
  readonly #chance: () => number;
  #flags: FlagSet;
  /** What each was started with. */
  readonly #startedWith = new Map<Replica, Flags>();
  #weather: Weather | undefined;
  #deafUntil = 0;
  #leader: Replica | undefined;
  #writes = 0;
  /** Nobody comes again. */
  #over = false;

  constructor(script: Script, crash: Crash | undefined) {
    this.#script = script;
    this.#crash = crash;
    this.#flags = script.flags;
    this.#chance = seeded(script.chance);
    this.#clock.chance = seeded(script.chance + 1);
    this.#api = new SandboxApi(this.#clock);
    this.#actors = new Actors(this.#api.client);
    const { storage } = this.#api;
    for (const resource of [NAMESPACES, SECRETS, CONFIG_MAPS])
      storage.collection(resource.plural).observe((change) => this.#noted(change));
    for (const raw of this.#all("namespaces").values())
      this.#slots.note(raw.metadata.name, raw, Number.NEGATIVE_INFINITY);
    this.#replicas = Array.from({ length: script.replicas }, () => this.#replica());
  }

  get writes(): number {
    return this.#writes;
  }

  async begin(): Promise<void> {
    await this.#actors.begin();
    for (const replica of this.#replicas) this.#start(replica);
    await this.#clock.advance(100);
  }

  async take(step: ChaosStep): Promise<void> {
    if (isUsers(step)) await this.#actors.take(step);
    else await this.#happen(step);
  }

  async #happen(step: Circumstance): Promise<void> {
    switch (step.kind) {
      case "pass":
      case "moment":
        // Leases are much traffic, and what lasts minutes is tried with one replica as well.
        return this.#pass(
          this.#replicas.length > 1 ? Math.min(step.ms, LONGEST_OF_SEVERAL_MS) : step.ms,
        );
      case "requests": {
        const until = this.#clock.monotonic() + step.ms;
        this.#weather = { fault: step.fault, likelihood: step.likelihood, until };
        if (step.fault === "away") for (const replica of this.#replicas) replica.watches("cut");
        return undefined;
      }
      case "watches":
        return this.#watches(step.fault);
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

  /** No fault any more; time passes until all is as it must be, or for as long as it may take. */
  async rest(): Promise<void> {
    this.#weather = undefined;
    this.#api.staleBy = 0;
    const all = [SECRETS, CONFIG_MAPS].flatMap(({ plural }) => [...this.#all(plural).values()]);
    await this.#actors.letGo(all.filter(isHeld));
    const hold = this.#script.deleteLimit < 100 ? HOLD_MS : 0;
    await this.#pass(Math.max(hold, this.#deafUntil - this.#clock.monotonic()));
    let wrong: readonly string[] = ["not looked at"];
    for (let ms = 0; wrong.length > 0 && ms < REST_MOST_MS; ms += REST_STEP_MS) {
      await this.#pass(REST_STEP_MS);
      wrong = this.#worlds().flatMap((world) => wrongAtRest(world, this.#contract()));
    }
    this.wrong.push(...wrong.map((what) => `at rest: ${what}`));
  }

  /** Nobody writes any more, nor does one who comes anew; all end when they are told. */
  async end(): Promise<void> {
    // What is right already may still be under way: Events, and what is written twice.
    await this.#pass(QUIET_MS);
    await this.#silence("while all was quiet", QUIET_MS);
    this.#over = true;
    for (const replica of this.#replicas) replica.stop();
    await this.#clock.advance(2000);
    for (const { end } of this.#replicas)
      if (end !== "stopped") this.wrong.push(`it ended so when told to stop: ${String(end)}`);
    const fresh = this.#replica();
    this.#start(fresh);
    await this.#silence("of one who came anew", QUIET_MS);
    fresh.stop();
    await this.#clock.advance(2000);
    if (fresh.running) this.wrong.push("it does not end");
  }

  async #silence(when: string, ms: number): Promise<void> {
    const before = this.#writes;
    await this.#clock.advance(ms);
    if (this.#writes > before) this.wrong.push(`${this.#writes - before} writes ${when}`);
  }

  #pass(ms: number): Promise<void> {
    return this.#clock.advance(ms);
  }

  // As kubelet does, whoever ended by himself comes again.
  #comeAgain(replica: Replica): void {
    if (replica.end === "failed") this.wrong.push("the controller failed");
    this.#clock.setTimeout(() => {
      if (!replica.running && !this.#over) this.#start(replica);
    }, COMES_AGAIN_MS);
  }

  async #restart(replica: Replica | undefined, how: "kill" | "stop"): Promise<void> {
    if (!replica) return;
    if (how === "kill") replica.kill();
    else {
      replica.stop();
      for (let second = 0; replica.running && second < 30; second++)
        await this.#clock.advance(1000);
      if (replica.running) {
        this.wrong.push("it did not end within 30 s of being told");
        replica.kill();
      }
    }
    this.#start(replica);
  }

  #start(replica: Replica): void {
    this.#startedWith.set(replica, this.#contract());
    replica.start(this.#given());
  }

  #watches(fault: Extract<ChaosStep, { kind: "watches" }>["fault"]): void {
    if (fault === "compact") this.#api.storage.compact();
    if (fault === "stale") this.#api.staleBy = Math.floor(this.#chance() * 20);
    if (fault === "reboot") {
      this.#api.storage.compact();
      const until = this.#clock.monotonic() + REBOOT_MS;
      this.#weather = { fault: "away", likelihood: 1, until };
    }
    if (fault === "compact" || fault === "stale" || fault === "reboot") fault = "cut";
    if (fault === "deafen") this.#deafUntil = this.#clock.monotonic() + DEAF_MS;
    for (const replica of this.#replicas) replica.watches(fault);
  }

  #replica(): Replica {
    const replica = new Replica({
      server: this.#api.client,
      clock: this.#clock,
      fault: (request) => this.#crashOf(replica) ?? this.#fault(request),
      onDone: (request, answer, writer) => this.#done(request, answer as Raw, writer),
      onTold: (text) => {
        if (tellsValue(text)) this.wrong.push(`a value was told: ${text.slice(0, 200)}`);
      },
      onEnd: (ended) => this.#comeAgain(ended),
    });
    return replica;
  }

  #crashOf(replica: Replica): RequestFault | undefined {
    if (++this.requests !== this.#crash?.at) return undefined;
    const crash = (): void => {
      replica.kill();
      this.#comeAgain(replica);
    };
    return { kind: "crash", acted: this.#crash.acted, crash };
  }

  #fault(request: ApiRequest): RequestFault | undefined {
    const weather = this.#weather;
    if (!weather || weather.until < this.#clock.monotonic()) return undefined;
    return faultOf(weather, request, this.#chance);
  }

  #done(request: ApiRequest, answer: Raw, writer: Replica): void {
    if (request.path.includes(`/${LEASES.plural}`)) {
      const spec = (request.body ?? {}) as { readonly spec?: { readonly holderIdentity?: string } };
      if ((spec.spec?.holderIdentity ?? "") !== "") this.#leader = writer;
      return;
    }
    const what = `${request.method} ${request.path}`;
    const around = {
      now: this.#clock.monotonic(),
      flags: this.#startedWith.get(writer) ?? this.#contract(),
      graceMs: this.#script.graceMs,
      listSlot: LIST_SLOT,
    };
    const wrong = wrongWrite(request, answer, this.#slots, around);
    if (wrong !== undefined) this.wrong.push(`${what}: ${wrong}`);
    if (changesNoObject(request)) return;
    this.#writes++;
    if (this.#script.replicas > 1 && this.#leader !== writer)
      this.wrong.push(`${what}: by one who does not lead`);
  }

  #noted({ kind, object }: StorageChange): void {
    const raw = object as unknown as Raw;
    const slot = raw.metadata.namespace === undefined ? raw.metadata.name : slotOf(raw);
    this.#slots.note(slot, kind === "DELETED" ? undefined : raw, this.#clock.monotonic());
  }

  #worlds(): readonly World[] {
    const namespaces = this.#all("namespaces");
    return [
      { kind: "Secret", namespaces, objects: this.#all("secrets") },
      { kind: "ConfigMap", namespaces, objects: this.#all("configmaps") },
    ];
  }

  #all(plural: string): ReadonlyMap<string, Raw> {
    return this.#api.storage.collection(plural).view().objects;
  }

  #contract(): Flags {
    const list = this.#all(CONFIG_MAPS.plural).get(LIST_PLACE);
    return { ...this.#flags, ownNamespace: OWN_NAMESPACE, list };
  }

  #given(): FlagValues {
    const { graceMs, deleteLimit, replicas } = this.#script;
    return {
      ...valuesOf(this.#flags),
      "delete-grace": `${graceMs}ms`,
      "delete-limit": String(deleteLimit),
      "leader-elect": replicas > 1,
    };
  }
}
