// Normal Events for what became of copies: where a source was copied to, where its copies were removed, and what
// a pulling object was filled from. A change that reaches several namespaces is reported at once. Repairs and
// changes in one namespace are limited to five at once and then one a minute, so that they are reported together.
import { isCopying, type CopyAction } from "../model/actions.ts";
import { eventText, type Trigger, type TriggerCode } from "../model/triggers.ts";
import { placeKey } from "../model/kinds.ts";
import type { SourceReport } from "../model/verdicts.ts";
import type { Outcome } from "../writes/outcome.ts";
import type { Clock } from "../../kube/time/clock.ts";
import { TokenBucket } from "../../kube/time/token-bucket.ts";
import type { EventStates } from "./event-states.ts";
import { filledEvent, namespacesText, prefixOf } from "./event-texts.ts";
import type { RemovedCopies } from "./removal-log.ts";

const BURST = 5;
const PER_SECOND = 1 / 60;

export type TriggerOf = (action: CopyAction) => Trigger;

/** `changed`: namespaces with a write since the last report that was not a repair. */
type Written = {
  readonly namespaces: Set<string>;
  readonly changed: Set<string>;
  readonly triggers: Map<TriggerCode, Trigger>;
};

export class DoneEvents {
  readonly #states: EventStates;
  readonly #clock: Clock;
  /** By source. */
  readonly #written = new Map<string, Written>();
  readonly #triggerOf: TriggerOf | undefined;
  /** A full bucket is equal to a missing one. */
  readonly #buckets = new Map<string, TokenBucket>();
  /** Of the newest plan. */
  #reports: ReadonlyMap<string, SourceReport> = new Map();

  constructor(states: EventStates, clock: Clock, triggerOf: TriggerOf | undefined) {
    this.#states = states;
    this.#triggerOf = triggerOf;
    this.#clock = clock;
  }

  onOutcome({ kind, action }: Outcome): void {
    if (kind !== "done") return;
    if (isCopying(action)) this.#add(action);
    const event = filledEvent(action);
    if (event) this.#states.send(event);
  }

  /** Forgets everything except what belongs to one of `reports`, the sources by placeKey. */
  onPlan(reports: ReadonlyMap<string, SourceReport>): void {
    this.#reports = reports;
    for (const key of this.#written.keys()) if (!reports.has(key)) this.#written.delete(key);
    for (const [key, bucket] of this.#buckets) if (bucket.fullInMs === 0) this.#buckets.delete(key);
  }

  /** Whether an Event waits for room. */
  get waits(): boolean {
    return this.#written.size > 0;
  }

  resend(): void {
    for (const key of this.#written.keys()) this.copied(key);
  }

  /** Where the source was copied to since its last Event, if one is due. */
  copied(key: string): void {
    const report = this.#reports.get(key);
    const written = this.#written.get(key);
    if (!written || !report) return;
    const several = written.changed.size > 1;
    written.changed.clear();
    if (!several && !this.#bucket(key).tryTake()) return;
    this.#written.delete(key);
    const { kind, source: on, uid } = report;
    const where = namespacesText(written.namespaces, this.#states.mayName(report));
    const note = `copied to ${where}${this.#whyOf(report, written)}`;
    this.#states.send({ kind, on, uid, type: "Normal", reason: "Copied", note });
  }

  /** Copies were removed. If their source no longer exists or is another object, no Event is sent. */
  removed({ removal, namespaces, reason, entry, sourceUid, ...of }: RemovedCopies): void {
    if (removal === "clear") return;
    const where = namespacesText(namespaces, entry !== undefined || this.#states.mayName(of));
    const what =
      removal === "delete" ? `removed from ${where}` : `left to ${where} (on-delete: keep)`;
    const on = this.#states.copiedFrom(of, { sourceUid, entry });
    const note = `${prefixOf(entry)}${what}: ${reason}`;
    if (on) this.#states.send({ ...on, type: "Normal", reason: "Removed", note });
  }

  // Readers of the source list may not be allowed to read the source.
  #whyOf({ kind, source }: SourceReport, { triggers }: Written): string {
    const [trigger, another] = triggers.values();
    if (!trigger) return "";
    return another
      ? "; for several reasons"
      : `; ${eventText(trigger, !this.#states.isListed(kind, source))}`;
  }

  #add(action: CopyAction): void {
    const { objectKind, source, place, cause } = action;
    const { namespace } = place;
    const key = placeKey(objectKind, source);
    const known = this.#written.get(key) ?? {
      namespaces: new Set(),
      changed: new Set(),
      triggers: new Map(),
    };
    const trigger = this.#triggerOf?.(action);
    if (trigger) known.triggers.set(trigger.code, trigger);
    known.namespaces.add(namespace);
    if (cause !== "edited" && cause !== "deleted") known.changed.add(namespace);
    this.#written.set(key, known);
  }

  #bucket(source: string): TokenBucket {
    const limits = { clock: this.#clock, perSecond: PER_SECOND, burst: BURST };
    const bucket = this.#buckets.get(source) ?? new TokenBucket(limits);
    this.#buckets.set(source, bucket);
    return bucket;
  }
}
