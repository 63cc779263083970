// The results of live looks at pulling Secrets: the cache does not always keep enough of one to know
// whether it has what its source gives. A result is valid for one version of the Secret and of what
// it is filled with. A result that no sync asks for is forgotten.
import { type Reason } from "../model/reasons.ts";
import type { PullingObject } from "../model/cluster.ts";

export type Resolution = {
  readonly uid: string;
  readonly resourceVersion: string;
  /** As Action.inputs. */
  readonly decisionKey: string;
  /** Why it does not have all that the source gives, or undefined if it has. */
  readonly conflict: Reason | undefined;
};

export class Resolutions {
  readonly #known = new Map<string, Resolution>();
  #asked = new Set<string>();

  /** `place`: "NAMESPACE/NAME". */
  learn(place: string, resolution: Resolution): void {
    this.#known.set(place, resolution);
    this.#asked.add(place);
  }

  of(place: string, pull: PullingObject, decisionKey: string): Resolution | undefined {
    const known = this.#known.get(place);
    if (!known) return undefined;
    this.#asked.add(place);
    const same = known.uid === pull.uid && known.resourceVersion === pull.resourceVersion;
    return same && known.decisionKey === decisionKey ? known : undefined;
  }

  beginPass(): void {
    this.#asked = new Set();
  }

  endPass(inFlight: ReadonlySet<string>): void {
    for (const place of this.#known.keys())
      if (!this.#asked.has(place) && !inFlight.has(place)) this.#known.delete(place);
  }
}
