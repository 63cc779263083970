// Events about removals of sources that no longer exist. They are on the controller's Lease, at most one a minute:
// what is removed meanwhile is in the next one. Without a Lease there is none, and the log line is the record.
import type { Clock } from "../../../packages/kube/time/clock.ts";
import { TokenBucket } from "../../../packages/kube/time/token-bucket.ts";
import { listed } from "../../text/listed.ts";
import { refText } from "../../text/names.ts";
import type { EventStates } from "./event-states.ts";
import { namespacesText } from "./event-texts.ts";
import type { OutcomeGroup } from "./outcome-journal.ts";

const PER_SECOND = 1 / 60;
const MOST_SOURCES = 3;

type Unsent = {
  readonly sources: Set<string>;
  readonly namespaces: Set<string>;
  /** The first one. */
  readonly reason: string;
};

export class LeaseRemovals {
  readonly #states: EventStates;
  readonly #bucket: TokenBucket;
  #unsent: Unsent | undefined;

  constructor(states: EventStates, clock: Clock) {
    this.#states = states;
    this.#bucket = new TokenBucket({ clock, perSecond: PER_SECOND, burst: 1 });
  }

  add({ source, namespaces, reason = "" }: OutcomeGroup): void {
    if (!this.#states.lease) return;
    this.#unsent ??= { sources: new Set(), namespaces: new Set(), reason };
    this.#unsent.sources.add(refText(source));
    for (const namespace of namespaces) this.#unsent.namespaces.add(namespace);
    this.send();
  }

  get waits(): boolean {
    return this.#unsent !== undefined;
  }

  /** Sends what waits, if there is room. */
  send(): void {
    const on = this.#states.lease;
    if (!this.#unsent || !on || !this.#bucket.tryTake()) return;
    const { sources, namespaces, reason } = this.#unsent;
    this.#unsent = undefined;
    const some = [...sources].slice(0, MOST_SOURCES);
    const names = listed(some, MOST_SOURCES, { count: sources.size });
    const of = sources.size > 1 ? `; sources: ${names}` : "";
    const note = `removed from ${namespacesText(namespaces, true)}${of}: ${reason}`;
    this.#states.send({ ...on, type: "Normal", reason: "Removed", note });
  }
}
