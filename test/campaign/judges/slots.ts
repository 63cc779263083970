// All that ever was at each slot (KIND NAMESPACE/NAME, or the name of a namespace), with the time since
// when: what a controller that lags behind may still believe.
import type { Raw } from "../model/raw.ts";

/** `raw` undefined: nothing was there. */
export type Moment = { readonly since: number; readonly raw: Raw | undefined };

export class Slots {
  readonly #moments = new Map<string, Moment[]>();
  readonly #versions = new Map<string, Raw>();

  note(slot: string, raw: Raw | undefined, since: number): void {
    const moments = this.#moments.get(slot);
    if (moments) moments.push({ since, raw });
    else
      this.#moments.set(slot, [
        { since: Number.NEGATIVE_INFINITY, raw: undefined },
        { since, raw },
      ]);
    if (raw) this.#versions.set(raw.metadata.resourceVersion, raw);
  }

  /** It was there, nobody knows since when. */
  know(raw: Raw): void {
    const { resourceVersion } = raw.metadata;
    if (!this.#versions.has(resourceVersion)) this.#versions.set(resourceVersion, raw);
  }

  /** An object by its resourceVersion. */
  version(resourceVersion: string): Raw | undefined {
    return this.#versions.get(resourceVersion);
  }

  /** The names of all namespaces that there were. */
  namespaces(): readonly string[] {
    return [...this.#moments.keys()].filter((slot) => !slot.includes(" "));
  }

  ofKind(kind: string): readonly string[] {
    return [...this.#moments.keys()].filter((slot) => slot.startsWith(`${kind} `));
  }

  /** What was there at some time since `from`, the oldest first. */
  since(slot: string, from: number): readonly Moment[] {
    const moments = this.#moments.get(slot);
    if (!moments) return [{ since: Number.NEGATIVE_INFINITY, raw: undefined }];
    const first = moments.findLastIndex((moment) => moment.since <= from);
    return moments.slice(Math.max(0, first));
  }
}
