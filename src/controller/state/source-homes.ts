// Which of the deleted sources lost their namespace with them, and not only themselves. A user that
// deletes a namespace seldom means the copies elsewhere. The namespace may have been created again since,
// so what counts is the UID that it had when a source was last seen there. Sources that no sync uses
// are forgotten.
import { LruMap } from "../../kube/lru.ts";
import type { Namespace } from "../model/cluster.ts";

/** Beyond this many, namespaces in which no source has been for longest are forgotten. */
const MOST_NAMESPACES = 10_000;

export class SourceHomes {
  /** UIDs of the namespaces in which a source was seen, the latest last. */
  readonly #uids = new LruMap<string, string>(MOST_NAMESPACES);
  #lost: ReadonlySet<string> = new Set();
  #current = new Set<string>();

  /** `key`: of the deleted source. `namespace`: its own, as it is now. */
  isLost(key: string, name: string, namespace: Namespace | undefined): boolean {
    const uid = this.#uids.peek(name);
    const lost =
      this.#lost.has(key) ||
      namespace === undefined ||
      namespace.terminating ||
      (uid !== undefined && uid !== namespace.uid);
    if (lost) this.#current.add(key);
    return lost;
  }

  beginSync(): void {
    this.#lost = this.#current;
    this.#current = new Set();
  }

  /** A source is in this namespace. Called after all deleted sources were judged. */
  note({ name, uid }: Namespace): void {
    this.#uids.set(name, uid);
  }
}
