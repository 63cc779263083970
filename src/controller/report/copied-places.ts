// Where copies of each source were written and its Event `Copied` does not say so yet. A change that reaches
// several namespaces has its Event at once. Repairs, and changes in one namespace, have five at once and one a
// minute after that, so that they are reported together.
import { TokenBucket } from "../../kube/time/token-bucket.ts";
import type { Clock } from "../../kube/time/clock.ts";
import type { CopyAction } from "../model/actions.ts";
import { placeKey } from "../model/kinds.ts";

const BURST = 5;
const PER_SECOND = 1 / 60;

export class CopiedPlaces {
  readonly #clock: Pick<Clock, "monotonic">;
  /** By source; `changed`: namespaces with a write since the last report that repaired nothing. */
  readonly #written = new Map<
    string,
    { readonly namespaces: Set<string>; readonly changed: Set<string> }
  >();
  /** One that is full is as one that never was. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  add({ objectKind, source, place: { namespace }, cause }: CopyAction): void {
    const key = placeKey(objectKind, source);
    const known = this.#written.get(key) ?? { namespaces: new Set(), changed: new Set() };
    known.namespaces.add(namespace);
    if (cause !== "edited" && cause !== "deleted") known.changed.add(namespace);
    this.#written.set(key, known);
  }

  /** The namespaces of which the Event is due now; they are then forgotten. */
  take(source: string): readonly string[] | undefined {
    const written = this.#written.get(source);
    if (!written) return undefined;
    const { namespaces, changed } = written;
    const several = changed.size > 1;
    changed.clear();
    if (!several && !this.#bucket(source).tryTake()) return undefined;
    this.#written.delete(source);
    return [...namespaces].toSorted();
  }

  /** Sources of which something waits. */
  get waiting(): readonly string[] {
    return [...this.#written.keys()];
  }

  /** Forgets what is of no source. */
  keep(isSource: (source: string) => boolean): void {
    for (const key of this.#written.keys()) if (!isSource(key)) this.#written.delete(key);
    for (const [key, bucket] of this.#buckets) if (bucket.fullInMs === 0) this.#buckets.delete(key);
  }

  #bucket(source: string): TokenBucket {
    const limits = { clock: this.#clock, perSecond: PER_SECOND, burst: BURST };
    const bucket = this.#buckets.get(source) ?? new TokenBucket(limits);
    this.#buckets.set(source, bucket);
    return bucket;
  }
}
