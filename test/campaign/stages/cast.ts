// Who takes part in a script on either stage: the users, the controllers that are judged, a second release
// beside them, and the judge of receipts. What a step means to them is the same everywhere, and so is what a
// write is judged by; what differs is how time passes and what can be done to a server.
import type { FlagValues } from "../../../src/controller/settings/config.ts";
import { seeded } from "../../../packages/kube/testing/random.ts";
import { LIST_SLOT, OWN_NAMESPACE, type Actors } from "../actors/actors.ts";
import { SecondRelease } from "../actors/second-release.ts";
import { Deployment, type DeploymentOptions, type Write } from "../controllers/deployment.ts";
import type { Replica } from "../controllers/replica.ts";
import { valuesOf } from "../faults/weather.ts";
import { ReceiptJudge } from "../judges/receipt-judge.ts";
import { wrongAtRest } from "../judges/rest-judge.ts";
import type { Slots } from "../judges/slots.ts";
import { wrongWrite, type Circumstances } from "../judges/write-judge.ts";
import type { Flags, Raw, World } from "../model/raw.ts";
import {
  isUsers,
  type ChaosStep,
  type Circumstance,
  type FlagSet,
  type Script,
} from "../scripts/script.ts";

/** What a script asks of a server, and not of who takes part. */
export type ServerStep = Extract<Circumstance, { kind: "watches" | "restore" }>;

export type CastOptions = Pick<
  DeploymentOptions,
  "server" | "clock" | "chance" | "wait" | "pollMs" | "comesAgainMs"
> & {
  readonly script: Script;
  readonly actors: Actors;
  /** The longest that a step waits, that faults last, and that an object is touched. */
  readonly most: { readonly waitMs: number; readonly faultMs: number; readonly touchMs: number };
  /** Graces and holds. */
  readonly waits: FlagValues;
  /** The source list as it is now. */
  readonly list: () => Raw | undefined;
  readonly onWrite?: (write: Write) => void;
  readonly onServer: (step: ServerStep) => Promise<void> | void;
};

/** How a script ends. */
export type Rest = {
  /** Resolves when what happened is known to all, and what waits is over. */
  readonly settled: () => Promise<void>;
  readonly worlds: () => Promise<readonly World[]> | readonly World[];
  /** How often it is asked whether all is right, and for how long. */
  readonly lookMs: number;
  readonly mostMs: number;
  /** What is right already may still be under way: Events, and what is written twice. */
  readonly quietMs: number;
  /** So long nothing may be written then. */
  readonly silentMs: number;
  /** So long one that is told to stop may take. */
  readonly stopsMs: number;
};
/** What the controller is given, as far as a write is judged by it. */
export type Waits = Pick<Circumstances, "graceMs" | "holdMs">;

export class Cast {
  readonly #options: CastOptions;
  readonly wrong: string[] = [];
  /** That were carried out for the controller. */
  readonly writes: Write[] = [];
  readonly deployment: Deployment;
  readonly receipts: ReceiptJudge;
  readonly second: SecondRelease;
  #flags: FlagSet;

  constructor(options: CastOptions) {
    const { script, server, actors, clock, onWrite } = options;
    const onWrong = (what: string): void => void this.wrong.push(what);
    this.#options = options;
    this.#flags = script.flags;
    this.receipts = new ReceiptJudge(clock, seeded(script.chance + 2), onWrong);
    this.deployment = new Deployment({
      ...options,
      onWrong,
      replicas: script.replicas,
      given: () => this.#given(),
      contract: () => this.contract(),
      receipts: () => this.receipts.stream(),
      onWrite: (write) => {
        this.writes.push(write);
        onWrite?.(write);
        this.receipts.written(write);
      },
    });
    this.second = new SecondRelease({ server, clock, actors, onWrong });
  }

  contract(): Flags {
    return { ...this.#flags, ownNamespace: OWN_NAMESPACE, list: this.#options.list() };
  }

  async take(step: ChaosStep): Promise<void> {
    if (isUsers(step)) await this.#options.actors.take(step);
    else await this.#happen(step);
  }

  /** What was wrong with a write, by all that ever was. */
  judge({ request, answer, now, flags }: Write, slots: Slots, waits: Waits): void {
    const wrong = wrongWrite(request, answer, slots, {
      now,
      flags,
      ...waits,
      listSlot: LIST_SLOT,
    });
    if (wrong !== undefined) this.wrong.push(`${request.method} ${request.path}: ${wrong}`);
  }

  /** No fault any more, until all is as it must be; then nobody writes, nor does one who comes anew. */
  async rest({ settled, worlds, lookMs, mostMs, quietMs, silentMs, stopsMs }: Rest): Promise<void> {
    const { deployment } = this;
    const { wait } = this.#options;
    deployment.weather();
    await settled();
    let wrong: readonly string[] = ["not looked at"];
    for (let ms = 0; wrong.length > 0 && ms < mostMs; ms += lookMs) {
      await wait(lookMs);
      const [all, contract] = [await worlds(), this.contract()];
      wrong = all.flatMap((world) => wrongAtRest(world, contract));
      if (wrong.length === 0) wrong = this.receipts.wrongAtRest(all, contract);
    }
    this.wrong.push(...wrong.map((what) => `at rest: ${what}`));
    await deployment.onceEnds();
    await deployment.look();
    await wait(quietMs);
    await this.silence("while all was quiet", silentMs);
    deployment.finish();
    this.second.stop();
    await this.#stop(deployment.replicas, stopsMs);
    const fresh = deployment.startAnother();
    await this.silence("of one who came anew", quietMs);
    await this.#stop([fresh], stopsMs);
  }

  async silence(when: string, ms: number): Promise<void> {
    const before = this.writes.length;
    await this.#options.wait(ms);
    for (const { request } of this.writes.slice(before))
      this.wrong.push(`${request.method} ${request.path} ${when}`);
  }

  async #stop(replicas: readonly Replica[], withinMs: number): Promise<void> {
    const { wait, pollMs } = this.#options;
    for (const replica of replicas) replica.stop();
    const goesOn = (): boolean => replicas.some(({ running }) => running);
    for (let ms = 0; goesOn() && ms < withinMs; ms += pollMs) await wait(pollMs);
    for (const replica of replicas) {
      if (replica.end !== "stopped")
        this.wrong.push(`told to stop, it ended so: ${String(replica.end)}`);
      replica.kill();
    }
  }

  async #happen(step: Circumstance): Promise<void> {
    const { actors, most, wait, onServer } = this.#options;
    const { deployment } = this;
    switch (step.kind) {
      case "pass":
      case "moment":
        return wait(Math.min(step.ms, most.waitMs));
      case "requests":
        return deployment.weather({ ...step, ms: Math.min(step.ms, most.faultMs) });
      case "watches":
      case "restore":
        return onServer(step);
      case "jump": {
        const replica = deployment.numbered(step.replica);
        if (replica) replica.clock.skewMs += step.ms;
        return undefined;
      }
      case "once":
        return deployment.runOnce();
      case "second release":
        return this.second.install(step.entries);
      case "dies after":
        return deployment.diesAfter(step.method);
      case "touch": {
        const { of, everyMs, ms } = step;
        for (let passed = 0; passed < Math.min(ms, most.touchMs); passed += everyMs) {
          await actors.touch(step, of);
          await wait(everyMs);
        }
        return undefined;
      }
      case "restart":
        return deployment.restart(deployment.numbered(step.replica), step.how);
      case "roll out":
        this.#flags = step.flags;
        for (const replica of deployment.replicas) await deployment.restart(replica, "stop");
        return undefined;
    }
  }

  #given(): FlagValues {
    const { script, waits } = this.#options;
    return { ...valuesOf(this.#flags), ...waits, "leader-elect": script.replicas > 1 };
  }
}
