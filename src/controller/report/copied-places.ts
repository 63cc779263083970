// The namespaces written for each source that no Event `Copied` has reported yet. A change that reaches
// several namespaces is reported at once. Repairs and changes in one namespace are limited to five at once and
// then one a minute, so that they are reported together.
import { TokenBucket } from "../../kube/time/token-bucket.ts";
import type { Clock } from "../../kube/time/clock.ts";
import type { CopyAction } from "../model/actions.ts";
import { placeKey } from "../model/kinds.ts";

const BURST = 5;
const PER_SECOND = 1 / 60;

export class CopiedPlaces {
  readonly #clock: Pick<Clock, "monotonic">;
  /** By source. `changed`: namespaces with a write since the last report that was not a repair. */
  readonly #written = new Map<
    string,
    { readonly namespaces: Set<string>; readonly changed: Set<string> }
  >();
  /** A full bucket is equal to a missing one. */
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

  /** The namespaces for an Event that is due now. They are then forgotten. */
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

  /** Sources with namespaces that wait for their Event. */
  get waiting(): readonly string[] {
    return [...this.#written.keys()];
  }

  /** Forgets everything except what belongs to a source. */
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
