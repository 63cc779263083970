// Plays a script: on an API server in memory and a fake clock, with replicas of the controller, the
// actors' steps and the faults between. Judges each write as it is carried out, then waits for quiet and
// compares the world with the model.
import { CONFIG_MAPS, LEASES, NAMESPACES, SECRETS } from "../../../packages/kube/rest/resource.ts";
import type { StorageChange } from "../../../packages/sandbox/storage/storage.ts";
import { SandboxApi } from "../../support/controller/sandbox-api.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { seeded } from "../../../packages/kube/testing/random.ts";
import { Actors, LIST_PLACE } from "../actors/actors.ts";
import type { ChaosStep, Script } from "../scripts/script.ts";
import { Slots } from "../judges/slots.ts";
import { isHeld, slotOf, type Raw, type World } from "../model/raw.ts";
import { Cast, type Waits } from "./cast.ts";

const REST_STEP_MS = 10_000;
/** The longest back-off is five minutes, and so is a hold of deletions; a deaf watch ends as late. */
const REST_MOST_MS = 30 * 60_000;
/** A watch that says nothing more is found out by then, and begun anew. */
const DEAF_MS = 300_000;
/** So long a page of a list is waited for, the longest of all that may hang. */
const UNANSWERED_MS = 60_000;
/** Removals that were held are made within this time. */
const LOOK_MS = 30_000;
/** So long an API server is away that starts anew. */
const REBOOT_MS = 4000;
const COMES_AGAIN_MS = 1000;
const QUIET_MS = 30_000;
const STOPS_MS = 2000;
/** A Lease that was given back is taken at once. */
const ONCE_MS = 30_000;
/** Longer than `--resync`, by default 10 minutes and a tenth more. */
const RESYNC_MS = 11.5 * 60_000;
const LONGEST_OF_SEVERAL_MS = 60_000;

/** What was wrong, and how many writes were carried out for the controller. */
export type Played = { readonly wrong: readonly string[]; readonly writes: number };

export async function play(script: Script): Promise<Played> {
  const stage = new Stage(script);
  await stage.begin();
  for (const step of script.steps) await stage.take(step);
  await stage.rest();
  return stage.verdict();
}

function waitsOf({ graceMs, holdMs }: Script): Waits {
  return { graceMs, holdMs };
}

class Stage {
  readonly #script: Script;
  readonly #waits: Waits;
  readonly #clock = new FakeClock();
  readonly #api: SandboxApi;
  readonly #actors: Actors;
  readonly #slots = new Slots();
  readonly #cast: Cast;
  readonly #chance: () => number;
  /** The version that the first namespaces have; no backup is older. */
  #began = 0;
  /** By then what hangs was given up, and what was deaf begun anew. */
  #hangsUntil = 0;

  constructor(script: Script) {
    this.#script = script;
    this.#waits = waitsOf(script);
    this.#chance = seeded(script.chance);
    this.#clock.chance = seeded(script.chance + 1);
    this.#api = new SandboxApi(this.#clock);
    this.#actors = new Actors(this.#api.client);
    const { storage } = this.#api;
    for (const resource of [NAMESPACES, SECRETS, CONFIG_MAPS])
      storage.collection(resource.plural).observe((change) => this.#noted(change));
    for (const raw of this.#all("namespaces").values())
      this.#slots.note(raw.metadata.name, raw, Number.NEGATIVE_INFINITY);
    // Leases are much traffic, and what lasts minutes is tried with one replica as well.
    const waitMs = script.replicas > 1 ? LONGEST_OF_SEVERAL_MS : Number.POSITIVE_INFINITY;
    this.#cast = new Cast({
      script,
      server: this.#api.client,
      actors: this.#actors,
      clock: this.#clock,
      chance: this.#chance,
      wait: (ms) => this.#pass(ms),
      pollMs: 1000,
      comesAgainMs: COMES_AGAIN_MS,
      most: { waitMs, faultMs: Number.POSITIVE_INFINITY, touchMs: Number.POSITIVE_INFINITY },
      waits: {
        "delete-grace": `${script.graceMs}ms`,
        "delete-hold": `${this.#waits.holdMs}ms`,
      },
      list: () => this.#all(CONFIG_MAPS.plural).get(LIST_PLACE),
      onWrite: (write) => this.#cast.judge(write, this.#slots, this.#waits),
      onServer: (step) =>
        step.kind === "restore" ? this.#restore(step.back) : this.#watches(step.fault),
    });
  }

  verdict(): Played {
    const { wrong, writes } = this.#cast;
    return { wrong, writes: writes.length };
  }

  async begin(): Promise<void> {
    await this.#actors.begin();
    this.#began = this.#api.storage.version;
    this.#cast.deployment.start();
    await this.#clock.advance(100);
  }

  take(step: ChaosStep): Promise<void> {
    if (step.kind === "requests" && (step.fault === "lost" || step.fault === "hang"))
      this.#hangs(step.ms + UNANSWERED_MS);
    return this.#cast.take(step);
  }

  async rest(): Promise<void> {
    await this.#cast.rest({
      settled: () => this.#settled(),
      worlds: () => this.#worlds(),
      lookMs: REST_STEP_MS,
      mostMs: REST_MOST_MS,
      quietMs: QUIET_MS,
      // Leases of several are much traffic; one alone is quiet over a resync as well.
      silentMs: this.#script.replicas > 1 ? QUIET_MS : RESYNC_MS,
      stopsMs: STOPS_MS,
    });
    await this.#once();
  }

  async #settled(): Promise<void> {
    this.#api.staleBy = 0;
    const all = [SECRETS, CONFIG_MAPS].flatMap(({ plural }) => [...this.#all(plural).values()]);
    await this.#actors.letGo(all.filter(isHeld));
    const { graceMs, holdMs } = this.#waits;
    let began: number;
    do {
      began = this.#clock.monotonic();
      await this.#pass(Math.max(graceMs + holdMs + LOOK_MS, this.#hangsUntil - began));
      // A process that died meanwhile has lost its graces and holds, so the next one waits as long.
    } while (this.#cast.deployment.lastDeathMs >= began);
  }

  async #once(): Promise<void> {
    const once = this.#cast.deployment.startAnother({ once: true });
    await this.#cast.silence("of one who makes passes until nothing is due", ONCE_MS);
    if (once.end !== "converged" && once.end !== "unconverged")
      this.#cast.wrong.push(`with nothing due it ended so: ${String(once.end)}`);
  }

  #hangs(ms: number): void {
    this.#hangsUntil = Math.max(this.#hangsUntil, this.#clock.monotonic() + ms);
  }

  #pass(ms: number): Promise<void> {
    return this.#clock.advance(ms);
  }

  #watches(fault: Extract<ChaosStep, { kind: "watches" }>["fault"]): void {
    const { storage } = this.#api;
    switch (fault) {
      case "cut":
      case "expire":
        return this.#cast.deployment.watches(fault);
      case "deafen":
        this.#hangs(DEAF_MS);
        return this.#cast.deployment.watches(fault);
      case "compact":
        storage.compact();
        return this.#cast.deployment.watches("cut");
      case "stale":
        this.#api.staleBy = Math.floor(this.#chance() * 20);
        return this.#cast.deployment.watches("cut");
      case "reboot":
        storage.compact();
        return this.#cast.deployment.weather({ fault: "away", likelihood: 1, ms: REBOOT_MS });
    }
  }

  // A client that listened is cut off before it sees that the versions went back.
  #restore(back: number): void {
    const { storage } = this.#api;
    const then = Math.max(storage.version - back, this.#began);
    for (const { plural } of [NAMESPACES, SECRETS, CONFIG_MAPS, LEASES]) {
      const collection = storage.collection(plural);
      const was = collection.viewAt(then);
      if (!was) continue;
      const [before, now] = [new Map(was.objects), new Map(collection.view().objects)];
      for (const key of now.keys()) if (!before.has(key)) collection.remove(key);
      for (const [key, object] of before) if (now.get(key) !== object) collection.put(key, object);
    }
    this.#cast.deployment.leaseWentBack();
    this.#watches("reboot");
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
}
