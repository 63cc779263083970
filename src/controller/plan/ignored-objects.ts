// Objects that carry annotations of ours which have no effect, counted over a sync. Anybody can write any
// number of them: by reason they are counted, and by name a few are kept of each namespace, the last
// that came.
import { IGNORED_REASONS, type Ignored, type IgnoredReason } from "../annotations/ignored.ts";
import type { CachedObject } from "../model/cluster.ts";
import type { ObjectKind } from "../model/kinds.ts";
import type { IgnoredReport, IgnoredObject } from "../model/verdicts.ts";

const MOST_OF_A_NAMESPACE = 5;
const MOST = 500;

type Recent = {
  readonly kind: ObjectKind;
  readonly secret: CachedObject;
  readonly ignored: Ignored;
};

export class IgnoredObjects {
  readonly #counts = new Map<IgnoredReason, number>();
  readonly #sample: IgnoredObject[] = [];
  /** The ignored objects of the current namespace. */
  #recent: Recent[] = [];
  #namespace = "";

  /** The objects of one namespace are given one after the other. */
  add(kind: ObjectKind, secret: CachedObject, ignored: Ignored): void {
    this.#counts.set(ignored.reason, (this.#counts.get(ignored.reason) ?? 0) + 1);
    if (secret.namespace !== this.#namespace) this.#next(secret.namespace);
    if (this.#sample.length >= MOST) return;
    if (this.#recent.length === MOST_OF_A_NAMESPACE) this.#recent.shift();
    this.#recent.push({ kind, secret, ignored });
  }

  /** `namespaces`: with annotations that are invalid. `flags`: entries that match no namespace. */
  report(namespaces: number, flags: readonly string[]): IgnoredReport {
    this.#next("");
    this.#counts.set("accept", namespaces);
    this.#counts.set("flag", flags.length);
    const counts = IGNORED_REASONS.map(
      (reason) => [reason, this.#counts.get(reason) ?? 0] as const,
    );
    return {
      counts: Object.fromEntries(counts) as IgnoredReport["counts"],
      sample: this.#sample,
      flags,
    };
  }

  #next(namespace: string): void {
    for (const { kind, secret, ignored } of this.#recent.toReversed()) {
      const { namespace: where, name, uid } = secret;
      if (this.#sample.length < MOST)
        this.#sample.push({ kind, object: { namespace: where, name }, uid, ignored });
    }
    this.#recent = [];
    this.#namespace = namespace;
  }
}
