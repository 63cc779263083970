// Plays scripts on a real API server, in real time: the same users, controllers in this process behind
// faults that can be made there, the same model. One script begins in the world that the one before left.
// Promises: each write is judged by all that a watch of our own saw of its place, after quiet; waits end.
import { setTimeout as delay } from "node:timers/promises";
import { loadKubeConfig } from "../../../packages/kube/kubeconfig/kubeconfig.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { createClient } from "../../../packages/kube/rest/client.ts";
import { NAMESPACES, resourcePath } from "../../../packages/kube/rest/resource.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { compact } from "../../support/api-server/cluster.ts";
import { startControlPlane, type ControlPlane } from "../../support/api-server/control-plane.ts";
import { seeded } from "../../../packages/kube/testing/random.ts";
import { Actors, LIST_SLOT, OWN_NAMESPACE } from "../actors/actors.ts";
import type { ChaosStage } from "../chaos.ts";
import type { Deployment } from "../controllers/deployment.ts";
import { isHeld } from "../model/raw.ts";
import type { Script } from "../scripts/script.ts";
import { SeenWorld } from "../judges/seen-world.ts";
import { Slots } from "../judges/slots.ts";
import { Cast, type ServerStep } from "./cast.ts";
import type { Played } from "./stage.ts";

const GRACE_MS = 1000;
const HOLD_MS = 2000;
/** So much later than the controller we may have heard of a change. */
const HEARING_MS = 700;
const LONGEST_WAIT_MS = 300;
const LONGEST_FAULT_MS = 1500;
const LONGEST_TOUCH_MS = 3000;
/** The longest back-off is five minutes. */
const REST_MOST_MS = 8 * 60_000;
const QUIET_MS = 4000;
const STOPS_MS = 30_000;
const COMES_AGAIN_MS = 300;
const POLL_MS = 100;
/** A watch is begun anew after half a minute at most. */
const UNHEARD_MOST_MS = 45_000;
const WAITS = {
  "delete-grace": `${GRACE_MS}ms`,
  "delete-hold": `${HOLD_MS}ms`,
};

const LESS_MS = GRACE_MS - HEARING_MS;
const JUDGED_BY = {
  graceMs: LESS_MS,
  holdMs: HOLD_MS - HEARING_MS,
};

/** On a control plane of its own, which is stopped afterwards. */
export async function withClusterStage<T>(
  assets: string,
  act: (stage: ChaosStage) => Promise<T>,
): Promise<T> {
  const cluster = await startControlPlane(assets);
  const access = loadKubeConfig({ kubeconfig: cluster.kubeconfig });
  const client = createClient(access, { clock: systemClock, userAgent: "chaos" });
  const over = new AbortController();
  const stage = new ClusterStage(client, cluster);
  try {
    await stage.begin(over.signal);
    // Long ones: each ends with a wait for quiet in real time. None is shrunk: the next begins where it ended.
    const most = { shortest: 300, longest: 900, shrinksMostMs: 0 };
    return await act({ flags: "--cluster ", ...most, play: (script) => stage.play(script) });
  } finally {
    over.abort();
    await client.close();
    await cluster.stop();
  }
}

class ClusterStage {
  readonly #client: ApiClient;
  readonly #cluster: ControlPlane;
  readonly #actors: Actors;
  readonly #world: SeenWorld;
  /** Why the judge's own watch ended. */
  readonly #lost: string[] = [];
  #slots = new Slots();
  /** Of the server, in this script. */
  #kills = 0;
  #compactions = 0;

  constructor(client: ApiClient, cluster: ControlPlane) {
    this.#client = client;
    this.#cluster = cluster;
    this.#actors = new Actors(client);
    this.#world = new SeenWorld({
      client,
      onChange: (slot, raw) => this.#slots.note(slot, raw, systemClock.monotonic()),
      onLost: (why) => this.#lost.push(why),
    });
  }

  /** Follows the world until `signal` aborts. */
  async begin(signal: AbortSignal): Promise<void> {
    await this.#world.begin(signal);
    await this.#actors.begin();
  }

  async play(script: Script): Promise<Played> {
    this.#kills = 0;
    this.#slots = new Slots();
    for (const [slot, raw] of this.#world.objects)
      this.#slots.note(slot, raw, Number.NEGATIVE_INFINITY);
    const cast = new Cast({
      script,
      server: this.#client,
      actors: this.#actors,
      clock: systemClock,
      chance: seeded(script.chance),
      wait: (ms) => delay(ms),
      pollMs: POLL_MS,
      comesAgainMs: COMES_AGAIN_MS,
      most: { waitMs: LONGEST_WAIT_MS, faultMs: LONGEST_FAULT_MS, touchMs: LONGEST_TOUCH_MS },
      waits: WAITS,
      list: () => this.#world.objects.get(LIST_SLOT),
      onServer: (step) => this.#happen(step, cast.deployment),
    });
    cast.deployment.start();
    for (const step of script.steps) await cast.take(step);
    await cast.rest({
      settled: () => this.#heard(cast.deployment),
      worlds: () => this.#world.worlds(),
      lookMs: 1000,
      mostMs: REST_MOST_MS,
      quietMs: QUIET_MS,
      silentMs: QUIET_MS,
      stopsMs: STOPS_MS,
    });
    // What was written and written over while the judge heard nothing is known by its answer.
    for (const { request, answer } of cast.writes)
      if (request.method !== "DELETE") this.#slots.know(answer);
    for (const write of cast.writes) cast.judge(write, this.#slots, JUDGED_BY);
    return { wrong: [...this.#lost, ...cast.wrong], writes: cast.writes.length };
  }

  async #happen(step: ServerStep, deployment: Deployment): Promise<void> {
    // Of an etcd that comes back as it was: half a minute, and the end of the judge's own watch. That is
    // what test/cluster/restarts.test.ts does.
    if (step.kind === "restore") return deployment.watches("cut");
    if (step.fault === "compact") await this.#compact();
    if (step.fault === "reboot") await this.#reboot();
    // A deaf watch is found out after minutes, and the server's lists are not ours to age.
    return deployment.watches(step.fault === "expire" ? "expire" : "cut");
  }

  // Seconds of real time: in a script the first takes the API server, the second etcd, and the others
  // only the history.
  async #reboot(): Promise<void> {
    const kills = [
      () => this.#cluster.restartApiServer({ signal: "SIGKILL" }),
      () => this.#cluster.restartEtcd("SIGKILL"),
    ];
    const kill = kills[this.#kills];
    if (kill) {
      this.#kills++;
      // What users did is heard of by then.
      await delay(HEARING_MS);
      await kill();
      const until = systemClock.monotonic() + UNHEARD_MOST_MS;
      while (!this.#world.follows && systemClock.monotonic() < until) await delay(POLL_MS);
    }
    await this.#compact();
  }

  /** etcd forgets all but what is there now. */
  async #compact(): Promise<void> {
    // Of what was compacted already, etcd takes no compaction.
    const body = { metadata: { annotations: { compactions: String(++this.#compactions) } } };
    const contentType = "application/merge-patch+json";
    const path = resourcePath(NAMESPACES, undefined, OWN_NAMESPACE);
    const what = "a new revision";
    await this.#client.request({ method: "PATCH", path, body, contentType, what });
    await compact(this.#cluster);
  }

  /** Before all is heard of again a world may be right by chance. */
  async #heard(deployment: Deployment): Promise<void> {
    await this.#actors.letGo([...this.#world.objects.values()].filter(isHeld));
    const until = systemClock.monotonic() + UNHEARD_MOST_MS;
    do {
      deployment.reset();
      await delay(POLL_MS);
    } while (!(deployment.hears && this.#world.follows) && systemClock.monotonic() < until);
  }
}
