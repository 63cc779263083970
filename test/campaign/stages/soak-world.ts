// What a soak is played on: users who take the steps of chaos for as long as it lasts, and the judges of what
// becomes of them. The reference model says how the objects must be in the end, and each write on the way
// is judged as it passes the proxy.
import { setTimeout as delay } from "node:timers/promises";
import type { FlagValues } from "../../../src/controller/settings/config.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import type { FaultProxy } from "../../../packages/kube/testing/fault-proxy.ts";
import { Actors, LIST_SLOT, OWN_NAMESPACE } from "../actors/actors.ts";
import { valuesOf } from "../faults/weather.ts";
import { RequestJudge } from "../judges/request-judge.ts";
import { wrongAtRest } from "../judges/rest-judge.ts";
import { SeenWorld } from "../judges/seen-world.ts";
import type { Violations } from "../judges/violations.ts";
import { isHeld, type Flags } from "../model/raw.ts";
import { isOurs } from "../model/standing.ts";
import { SOURCE_NAMESPACES } from "../../support/planner/history.ts";
import { userSteps } from "../scripts/draw.ts";
import { published } from "../scripts/steps.ts";
import { PLAIN_FLAGS, type FlagSet } from "../scripts/script.ts";

const FLAGS: FlagSet = { ...PLAIN_FLAGS, configMaps: true };
const ASKED_EVERY_MS = 500;

/** What the controller is given besides its addresses. */
export const SOAK_FLAGS: FlagValues = {
  ...valuesOf(FLAGS),
  "delete-grace": "2s",
  "delete-hold": "0",
  resync: "1m",
};

export type SoakWorldOptions = {
  /** Past the proxy. */
  readonly client: ApiClient;
  readonly proxy: FaultProxy;
  readonly seed: number;
  readonly violations: Violations;
};

export class SoakWorld {
  readonly #options: SoakWorldOptions;
  readonly #actors: Actors;
  readonly #steps: ReturnType<typeof userSteps>;
  readonly #requests: RequestJudge;
  readonly #seen: SeenWorld;
  readonly #over = new AbortController();
  #made = 0;
  /** How often each kind of step was taken. */
  readonly changes = new Map<string, number>();

  constructor(options: SoakWorldOptions) {
    const { client, proxy, seed, violations } = options;
    this.#options = options;
    this.#actors = new Actors(client);
    this.#steps = userSteps(seed);
    this.#requests = new RequestJudge(violations);
    proxy.onWrite = (write) => this.#requests.take(write);
    this.#seen = new SeenWorld({
      client,
      onChange: (_, raw) => raw && this.#requests.see(raw),
      onLost: (why) => violations.add("a watcher that sees no more", why),
    });
  }

  async begin(): Promise<void> {
    await this.#seen.begin(this.#over.signal);
    await this.#actors.begin();
    for (const namespace of SOURCE_NAMESPACES)
      for (const name of ["one", "two", "three"])
        for (const kind of [{}, { of: "ConfigMap" }] as const)
          await this.#actors.take(published({ of: kind, namespace, name }, { to: "*" }));
  }

  /** One step of a user. */
  async change(): Promise<void> {
    const step = this.#steps.next().value;
    this.#options.violations.step = `change ${++this.#made}`;
    await this.#actors.take(step);
    this.#requests.round();
    this.changes.set(step.kind, (this.changes.get(step.kind) ?? 0) + 1);
  }

  /** What is held by a finalizer may go, so that it is not waited for in vain. */
  async conclude(): Promise<void> {
    await this.#actors.letGo([...this.#seen.objects.values()].filter(isHeld));
  }

  /** What differs from how it must be, once it has had so long to come right. */
  async settled(patienceMs: number, besides = async (): Promise<readonly string[]> => []) {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      await delay(ASKED_EVERY_MS);
      const wrong = [...(await this.wrong()), ...(await besides())];
      if (wrong.length === 0 || performance.now() > deadline) return wrong;
    }
  }

  async wrong(): Promise<readonly string[]> {
    const list = this.#seen.objects.get(LIST_SLOT);
    const flags: Flags = { ...FLAGS, ownNamespace: OWN_NAMESPACE, list };
    return this.#seen.worlds().flatMap((world) => wrongAtRest(world, flags));
  }

  /** That the server did for the controller, by verb. */
  get writes(): ReadonlyMap<string, number> {
    return this.#requests.done;
  }

  get copies(): number {
    return [...this.#seen.objects.values()].filter(isOurs).length;
  }

  close(): void {
    this.#over.abort();
  }
}
