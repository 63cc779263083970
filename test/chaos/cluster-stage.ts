// Plays scripts on a real API server, in real time: the same users, controllers in this process behind
// faults that can be made there, the same model. One script begins in the world that the one before left.
// Promises: each write is judged by all that a watch of our own saw of its place, after quiet; waits end.
import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient, ApiRequest } from "../../src/kube/rest/client.ts";
import {
  CONFIG_MAPS,
  LEASES,
  NAMESPACES,
  resourcePath,
  SECRETS,
} from "../../src/kube/rest/resource.ts";
import { systemClock } from "../../src/kube/time/clock.ts";
import { seeded } from "../support/time/random.ts";
import { Actors, OWN_NAMESPACE, SOURCE_LIST } from "./actors.ts";
import { wrongAtRest, type World } from "./model.ts";
import { isHeld, placeOf, slotOf, type Flags, type Raw } from "./raw.ts";
import { Replica, tellsValue } from "./replica.ts";
import { isUsers, type Circumstance, type FlagSet, type Script } from "./script.ts";
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
const KINDS = { Namespace: NAMESPACES, Secret: SECRETS, ConfigMap: CONFIG_MAPS } as const;

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
  readonly #world = new Map<string, Raw>();
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
  }

  /** Follows the world until `signal` aborts. */
  async begin(signal: AbortSignal): Promise<void> {
    for (const kind of ["Namespace", "Secret", "ConfigMap"] as const)
      await this.#follow(kind, signal);
    await this.#actors.begin();
  }

  /** What was wrong, and how many writes there were. */
  async play(script: Script): Promise<{ readonly wrong: readonly string[]; writes: number }> {
    this.#wrong.length = 0;
    this.#writes = [];
    this.#slots = new Slots();
    for (const [slot, raw] of this.#world) this.#slots.note(slot, raw, Number.NEGATIVE_INFINITY);
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
        return void (await delay(Math.min(step.ms, LONGEST_WAIT_MS)));
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
    await this.#actors.letGo([...this.#world.values()].filter(isHeld));
    const until = systemClock.monotonic() + REST_MOST_MS;
    let wrong: readonly string[] = ["not looked at"];
    while (wrong.length > 0 && systemClock.monotonic() < until) {
      await delay(1000);
      wrong = this.#worlds().flatMap((world) => wrongAtRest(world, this.#contract()));
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

  #worlds(): readonly World[] {
    const all = [...this.#world.values()];
    const of = (kind: string): ReadonlyMap<string, Raw> =>
      new Map(
        all
          .filter((raw) => raw.kind === kind)
          .map((raw) => [kind === "Namespace" ? raw.metadata.name : placeOf(raw), raw] as const),
      );
    const namespaces = of("Namespace");
    return (["Secret", "ConfigMap"] as const).map((kind) => {
      return { kind, namespaces, objects: of(kind) };
    });
  }

  #contract(): Flags {
    if (!this.#flags) throw new Error("test: no script is played");
    return { ...this.#flags, ownNamespace: OWN_NAMESPACE, list: this.#world.get(LIST_SLOT) };
  }

  #noted(kind: string, object: Raw, there: boolean): void {
    const raw = { ...object, kind };
    const slot = kind === "Namespace" ? raw.metadata.name : slotOf(raw);
    if (there) this.#world.set(slot, raw);
    else this.#world.delete(slot);
    this.#slots.note(slot, there ? raw : undefined, systemClock.monotonic());
  }

  async #follow(kind: keyof typeof KINDS, signal: AbortSignal): Promise<void> {
    const path = resourcePath(KINDS[kind]);
    const what = `follow ${path}`;
    const list = await this.#client.request<{
      readonly metadata: { readonly resourceVersion: string };
      readonly items: readonly Raw[];
    }>({ method: "GET", path, what });
    for (const raw of list.items) this.#noted(kind, raw, true);
    const { resourceVersion } = list.metadata;
    const query = { watch: true, resourceVersion, timeoutSeconds: 7200 };
    const stream = await this.#client.open({ method: "GET", path, query, what, signal });
    void this.#hear(kind, stream.body).catch((error: unknown) => {
      if (!signal.aborted) this.#wrong.push(`the judge's own watch ended: ${String(error)}`);
    });
  }

  async #hear(kind: string, body: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const bytes of body) {
      text += decoder.decode(bytes, { stream: true });
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const { type, object } = JSON.parse(line) as {
          readonly type: string;
          readonly object: Raw;
        };
        if (type === "ERROR") throw new Error(line);
        this.#noted(kind, object, type !== "DELETED");
      }
    }
  }
}
