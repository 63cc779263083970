// Who takes part in a script on either stage: the users, the controllers that are judged, a second release
// beside them, and the judge of receipts. What a step means to them is the same everywhere, and so is what a
// write is judged by; what differs is how time passes and what can be done to a server.
import type { FlagValues } from "../../../src/controller/settings/config.ts";
import type { ApiClient } from "../../../src/kube/rest/api-client.ts";
import type { Clock } from "../../../src/kube/time/clock.ts";
import type { RequestFault } from "../../support/controller/faulty-client.ts";
import { seeded } from "../../support/time/random.ts";
import { OWN_NAMESPACE, SOURCE_LIST, type Actors } from "../actors/actors.ts";
import { SecondRelease } from "../actors/second-release.ts";
import { Deployment, type Write } from "../controllers/deployment.ts";
import type { Replica } from "../controllers/replica.ts";
import { valuesOf } from "../faults/weather.ts";
import { ReceiptJudge } from "../judges/receipt-judge.ts";
import type { Flags, Raw } from "../model/raw.ts";
import {
  isUsers,
  type ChaosStep,
  type Circumstance,
  type FlagSet,
  type Script,
} from "../scripts/script.ts";

export const LIST_PLACE = `${OWN_NAMESPACE}/${SOURCE_LIST}`;
export const LIST_SLOT = `ConfigMap ${LIST_PLACE}`;

/** What a script asks of a server, and not of who takes part. */
export type ServerStep = Extract<Circumstance, { kind: "watches" | "restore" }>;

export type CastOptions = {
  readonly script: Script;
  readonly server: ApiClient;
  readonly actors: Actors;
  readonly clock: Clock;
  readonly chance: () => number;
  readonly wait: (ms: number) => Promise<void>;
  readonly pollMs: number;
  readonly comesAgainMs: number;
  /** The longest that a step waits, that faults last, and that an object is touched. */
  readonly most: { readonly waitMs: number; readonly faultMs: number; readonly touchMs: number };
  /** Graces and holds. */
  readonly waits: FlagValues;
  /** The source list as it is now. */
  readonly list: () => Raw | undefined;
  readonly crash?: (replica: Replica) => RequestFault | undefined;
  readonly onWrite: (write: Write) => void;
  readonly onWrong: (what: string) => void;
  readonly onServer: (step: ServerStep) => Promise<void> | void;
};

export class Cast {
  readonly #options: CastOptions;
  readonly deployment: Deployment;
  readonly receipts: ReceiptJudge;
  readonly second: SecondRelease;
  #flags: FlagSet;

  constructor(options: CastOptions) {
    const { script, server, actors, clock, onWrong, onWrite } = options;
    this.#options = options;
    this.#flags = script.flags;
    this.receipts = new ReceiptJudge(clock, seeded(script.chance + 2), onWrong);
    this.deployment = new Deployment({
      ...options,
      replicas: script.replicas,
      given: () => this.#given(),
      contract: () => this.contract(),
      receipts: () => this.receipts.stream(),
      onWrite: (write) => {
        onWrite(write);
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
