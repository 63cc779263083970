// A second installation beside the one that is judged: another release, with a source namespace, a source
// list and a Lease of its own. No source of this world is one of its own, so whatever it writes is wrong.
import { SECOND_NAMESPACE, tellsValue, type Actors } from "./actors.ts";
import type { DeploymentOptions } from "../controllers/deployment.ts";
import { Replica } from "../controllers/replica.ts";
import { changesNoObject } from "../judges/write-judge.ts";
import type { Texts } from "../model/raw.ts";

export type SecondReleaseOptions = Pick<DeploymentOptions, "server" | "clock" | "onWrong"> & {
  readonly actors: Actors;
};

export class SecondRelease {
  readonly #options: SecondReleaseOptions;
  #replica: Replica | undefined;

  constructor(options: SecondReleaseOptions) {
    this.#options = options;
  }

  /** Again, if it is installed already: its process begins without a memory. */
  async install(entries: Texts | null): Promise<void> {
    const { server, clock, actors, onWrong } = this.#options;
    this.stop();
    await actors.installSecond(entries);
    this.#replica = new Replica({
      server,
      clock,
      fault: () => undefined,
      onTold: (text) => {
        if (tellsValue(text)) onWrong(`the second release told a value: ${text.slice(0, 200)}`);
      },
      onEnd: ({ end }) => onWrong(`the second release ended by itself: ${String(end)}`),
    });
    const flags = {
      "source-namespaces": "elsewhere",
      "lease-namespace": SECOND_NAMESPACE,
      "config-maps": true,
      "leader-elect": false,
      // As short as they may be, so that what it would remove it removes within the script.
      "delete-grace": "1s",
      "delete-hold": "1s",
    };
    this.#replica.start(flags, (request) => {
      if (!changesNoObject(request))
        onWrong(`the second release wrote: ${request.method} ${request.path}`);
    });
  }

  stop(): void {
    this.#replica?.kill();
    this.#replica = undefined;
  }
}
