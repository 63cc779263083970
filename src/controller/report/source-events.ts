// Reports to users what became of their Secrets, as Events on the source or the pulling Secret. There is one
// Event per source and state when that state begins or changes, never one per namespace. The note names at most
// five namespaces. If a namespace may publish only because every namespace may, the note gives only a count.
// Its tenants need not learn the names of other namespaces.
import { listed } from "../../text/listed.ts";
import { reasonText } from "../model/reasons.ts";
import type { Outcome } from "../writes/outcome.ts";
import { failureText, type FailingGroup, type FailingPlaces } from "./failing-places.ts";
import type { Fight } from "../state/planner-state.ts";
import { type Plan, type Row, type SourceReport } from "../model/verdicts.ts";
import { CopiedPlaces } from "./copied-places.ts";
import type { EventIdentity } from "./event-outbox.ts";
import { filledEvent, FOUGHT_PULL, pullWarning } from "./pull-events.ts";
import { StandingEvents, type StateOptions } from "./standing-events.ts";
import { FightingPlaces } from "./fighting-places.ts";
import { conflictKind, conflictReason } from "./conflicts.ts";
import { dueText, dueWordsOf, type DueWords } from "../settings/due-text.ts";
import { ignoredText } from "../annotations/ignored.ts";
import { heldRemovals, heldText, type HeldRemovals } from "./held-removals.ts";
import type { RemovedCopies } from "./removal-log.ts";
import { Repeats } from "./repeats.ts";
import { NOWHERE_TEXT } from "../model/removal-holds.ts";
import { expectedText, problemText } from "../annotations/rules.ts";
import type { Ref } from "../../text/names.ts";
import { isCopying } from "../model/actions.ts";
import { type ObjectKind, placeKey } from "../model/kinds.ts";

export type SourceEvent = {
  /** The object that the Event is on. */
  /** For a Namespace, its name is in `name`. */
  readonly kind: ObjectKind | "Namespace" | "Lease";
  /** The name of a Namespace is in `name`. */
  readonly on: Ref;
  readonly uid: string;
  readonly type: "Normal" | "Warning";
  readonly reason:
    | "Copied"
    | "Removed"
    | "Recovered"
    | "Ignored"
    | "Conflict"
    | "Failed"
    | "Refused"
    | "DeletesHeld"
    | "FanoutHeld"
    | "Nowhere"
    | "Fought";
  readonly note: string;
};

export type SourceEventsOptions = {
  readonly failing: FailingPlaces;
  /** Whether Events in this namespace may name other namespaces. */
  readonly mayName: (namespace: string) => boolean;
  /** UID of an object in the cache. */
  readonly uidOf: (kind: ObjectKind, place: Ref) => string | undefined;
  readonly tell: (sourceEvent: SourceEvent) => void;
  /** The controller's Lease. Undefined if it holds none. */
  readonly lease: () => (Ref & { readonly uid: string }) | undefined;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly wallNow: () => number;
};

const MOST_NAMED = 5;
// Most Events a minute and namespace for annotations without effect, because any user may write them.
const MOST_IGNORED = 5;

/** Identifies a source of any kind. */
type Of = Pick<SourceReport, "kind" | "source">;

export class SourceEvents {
  readonly #options: SourceEventsOptions;
  readonly #copied: CopiedPlaces;
  readonly #fighting = new FightingPlaces();
  readonly #states: StandingEvents<SourceEvent>;
  readonly #ignored = new Repeats(MOST_IGNORED);
  /** The reports of the newest plan, by source. */
  #reports: ReadonlyMap<string, SourceReport> = new Map();
  /** Annotations without effect that are to be reported in a later minute. */
  #ignoredLater: Pick<Plan, "ignored" | "namespaces"> | undefined;
  /** Failing places, by source. */
  #failing: ReadonlyMap<string, readonly FailingGroup[]> = new Map();

  constructor(options: SourceEventsOptions) {
    this.#options = options;
    this.#copied = new CopiedPlaces({ monotonic: options.now });
    this.#states = new StandingEvents(options.tell, options.now);
  }

  ended(outcome: Outcome): void {
    if (outcome.kind !== "done") return;
    const { action } = outcome;
    if (isCopying(action)) this.#copied.add(action);
    const event = filledEvent(action);
    if (event) this.#states.send(event);
  }

  /** Reports what is new in a plan since the last report. `fights` began since then. */
  settled(plan: Plan, fights: readonly Fight[]): void {
    this.#fighting.onPlan(plan, fights, this.#options.now());
    this.#options.failing.onPlan(plan);
    this.#failing = this.#options.failing.groups(false);
    this.#begin(plan);
    const copies = plan.rows.filter(({ pulling }) => !pulling);
    const rows = Map.groupBy(copies, ({ kind, source }) => placeKey(kind, source));
    this.#reports = new Map(
      plan.sources.map((report) => [placeKey(report.kind, report.source), report]),
    );
    const fought = this.#fighting.bySource();
    for (const [key, report] of this.#reports) {
      this.#source(report, rows.get(key));
      this.#fights(report, fought.get(key) ?? []);
    }
    for (const held of heldRemovals(copies, this.#states.list !== undefined)) this.#held(held);
    this.#copied.keep((key) => this.#reports.has(key));
    for (const row of plan.rows) if (row.pulling) this.#pull(row);
    for (const { kind, place } of this.#fighting.pulls) this.#pullFight(kind, place);
    this.#failedRemovals();
    this.#refuseEntries(plan);
    this.#ignore(plan);
    this.#recover();
  }

  /** An Event was not sent. If its state holds, `resend` sends it. */
  lost(event: EventIdentity): void {
    this.#states.lost(event);
  }

  /** Whether an Event waits for room, so that `resend` will send it. */
  get waits(): boolean {
    const { waiting } = this.#copied;
    return this.#states.waits || this.#ignoredLater !== undefined || waiting.length > 0;
  }

  /** Sends waiting Events as far as there is room now. */
  resend(): void {
    this.#states.resend();
    if (this.#ignoredLater) this.#ignore(this.#ignoredLater);
    for (const key of this.#copied.waiting) {
      const report = this.#reports.get(key);
      if (report) this.#tellCopied(report, key);
    }
  }

  /** Copies were removed. If their source no longer exists or is another object, no Event is sent. */
  removed({ removal, kind, source, sourceUid, entry, reason, namespaces }: RemovedCopies): void {
    if (removal === "unfill") return;
    const listed = entry !== undefined;
    const of = { kind, source };
    const where = this.#where(of, [...namespaces], listed || this.#mayName(of));
    const what =
      removal === "delete" ? `removed from ${where}` : `left to ${where} (on-delete: keep)`;
    const note = `${what}: ${reason}`;
    const event = { type: "Normal", reason: "Removed" } as const;
    if (!listed) {
      if (this.#options.uidOf(kind, source) !== sourceUid) return;
      this.#states.send({ ...event, kind, on: source, uid: sourceUid, note });
    } else if (this.#states.list) {
      this.#states.send({ ...event, ...this.#states.list, note: `entry ${entry}: ${note}` });
    }
  }

  #begin({ list: { ref, uid }, sources }: Plan): void {
    const list =
      ref && uid !== undefined ? { kind: "ConfigMap" as const, on: ref, uid } : undefined;
    const listed = sources.flatMap(({ kind, source, entry }) =>
      entry === undefined ? [] : [[placeKey(kind, source), entry] as const],
    );
    this.#states.begin(list, new Map(listed));
  }

  #refuseEntries({ list: { refused } }: Plan): void {
    const { list } = this.#states;
    if (!list || refused.length === 0) return;
    const first = refused.slice(0, MOST_NAMED).map(({ reason }) => reason);
    const wording = { between: "; ", count: refused.length, of: "entries" };
    const note = listed(first, MOST_NAMED, wording);
    this.#states.once({ ...list, type: "Warning", reason: "Refused", note });
  }

  #source(report: SourceReport, rows: readonly Row[] = []): void {
    const { source, problems, state } = report;
    const key = placeKey(report.kind, source);
    const on = { kind: report.kind, on: source, uid: report.uid };
    const once = (
      reason: SourceEvent["reason"],
      note: string | undefined,
      state: StateOptions = {},
    ): void => this.#states.once({ ...on, type: "Warning", reason, note: note ?? "" }, state);
    if (state === "refused") once("Refused", problems.map(problemText).join("; "));
    if (state === "nowhere") once("Nowhere", NOWHERE_TEXT);
    this.#tellCopied(report, key);
    const conflicts = rows.filter(({ verdict }) => verdict === "conflict");
    for (const [kind, group] of Map.groupBy(conflicts, conflictKind)) {
      const conflict = this.#whereOf(report, group, "conflict");
      const why = conflictReason(
        group,
        (namespace) => namespace === source.namespace || this.#states.isListed(report.kind, source),
      );
      once("Conflict", conflict && `not copied to ${conflict}: ${why}`, { which: kind });
    }
    const failures = this.#failing.get(key) ?? [];
    if (failures.length > 0) {
      const named = this.#mayName(report);
      const note = failureText(failures, named, (places) => this.#where(report, places));
      once("Failed", note, { gist: gistOf(failures) });
    }
    const held = rows.filter(({ verdict, hold }) => verdict === "held" && hold === undefined);
    const where = this.#whereOf(report, held, "held");
    const above = "all copies together are above --fanout-limit";
    once("FanoutHeld", where && `not copied to ${where}: ${above}`);
  }

  /** Removals that one condition holds: those of one source, or of all sources that no longer exist. */
  #held(held: HeldRemovals): void {
    const { kind, source, hold, on, entry, first, namespaces } = held;
    const { dueAt } = first;
    const object = this.#objectOf(held);
    if (!object) return;
    const where = this.#where({ kind, source }, namespaces, on !== "source" || undefined);
    const prefix = entry === undefined ? "" : `entry ${entry}: `;
    const shown = `${prefix}${heldText(held, where)}${this.#dueText(first, dueWordsOf(first))}`;
    // The remaining time differs in each plan, so it is not part of the note.
    const note = `${where} ${reasonText(first.reason)} ${Math.round((dueAt ?? 0) / 1000)}`;
    const which = on === "source" ? hold : `${hold} ${entry ?? ""} ${on}`;
    const event = { ...object, type: "Warning", reason: "DeletesHeld", note } as const;
    this.#states.once(event, { which, gist: hold, shown });
  }

  /** The object for Events about held removals. Undefined if no object can have Events. */
  #objectOf({
    kind,
    source,
    on,
  }: HeldRemovals): Pick<SourceEvent, "kind" | "on" | "uid"> | undefined {
    if (on === "list") return this.#states.list;
    if (on === "source") {
      const uid = this.#options.uidOf(kind, source);
      return uid === undefined ? undefined : { kind, on: source, uid };
    }
    const lease = this.#options.lease();
    if (!lease) return undefined;
    const { namespace, name, uid } = lease;
    return { kind: "Lease", on: { namespace, name }, uid };
  }

  #tellCopied(report: SourceReport, key: string): void {
    const namespaces = this.#copied.take(key);
    if (!namespaces) return;
    const note = `copied to ${this.#where(report, namespaces)}`;
    const { kind, source: on, uid } = report;
    this.#states.send({ kind, on, uid, type: "Normal", reason: "Copied", note });
  }

  /** Events on objects that copies were copied from and that are not sources now. */
  #failedRemovals(): void {
    for (const { kind, source, sourceUid, entry, groups } of this.#options.failing.removals()) {
      if (this.#reports.has(placeKey(kind, source))) continue;
      const named = entry !== undefined || this.#options.mayName(source.namespace);
      const where = (namespaces: readonly string[]): string =>
        this.#where({ kind, source }, namespaces, named);
      const text = failureText(groups, named, where, "removed");
      const gist = gistOf(groups);
      const event = { type: "Warning", reason: "Failed" } as const;
      if (entry === undefined) {
        if (this.#options.uidOf(kind, source) !== sourceUid) continue;
        this.#states.once({ ...event, kind, on: source, uid: sourceUid, note: text }, { gist });
      } else if (this.#states.list) {
        const note = `entry ${entry}: ${text}`;
        this.#states.once({ ...event, ...this.#states.list, note }, { which: ` ${entry}`, gist });
      }
    }
  }

  #pull(row: Row): void {
    const { kind, place: on } = row;
    const uid = this.#options.uidOf(kind, on);
    const warning = pullWarning(row);
    if (!warning || uid === undefined) return;
    const { reason, note, due } = warning;
    const shown = due ? `${note}${this.#dueText(row, due)}` : note;
    this.#states.once({ kind, on, uid, type: "Warning", reason, note }, { shown });
  }

  #pullFight(kind: ObjectKind, on: Ref): void {
    const uid = this.#options.uidOf(kind, on);
    const note = FOUGHT_PULL;
    if (uid !== undefined)
      this.#states.once({ kind, on, uid, type: "Warning", reason: "Fought", note });
  }

  #dueText({ dueAt }: Row, words: DueWords): string {
    if (dueAt === undefined) return "";
    const nowMs = this.#options.wallNow();
    const dueMs = nowMs + dueAt - this.#options.now();
    return `; ${dueText(words, dueMs, nowMs)}`;
  }

  /** Reports annotations without effect to the owners of the objects that the plan names. */
  #ignore(plan: Pick<Plan, "ignored" | "namespaces">): void {
    const { ignored, namespaces } = plan;
    this.#ignoredLater = undefined;
    const events: readonly Pick<SourceEvent, "kind" | "on" | "uid" | "note">[] = [
      ...ignored.sample.map(({ kind, object, uid, ignored: why }) => {
        return { kind, on: object, uid, note: ignoredText(kind, why) };
      }),
      ...namespaces.map(({ namespace, uid, problem }) => {
        // The Event is in "default", where not every reader may read the Namespace: its value is not quoted.
        const note = `copies in this namespace are frozen: ${expectedText(problem)}`;
        return { kind: "Namespace" as const, on: { namespace: "", name: namespace }, uid, note };
      }),
    ];
    for (const { kind, on, uid, note } of events) {
      const event = { kind, on, uid, type: "Warning", reason: "Ignored", note } as const;
      if (this.#states.goesOn(event)) continue;
      const mayTell = this.#ignored.happened(on.namespace, this.#options.now()) !== undefined;
      if (mayTell) this.#states.once(event);
      else this.#ignoredLater = { ignored, namespaces };
    }
  }

  /** Reports refusals that are over, for objects that still exist. */
  #recover(): void {
    for (const { kind, on, uid } of this.#states.end("Refused")) {
      if (kind === "Namespace" || kind === "Lease") continue;
      const ofList = uid === this.#states.list?.uid;
      if (!ofList && this.#options.uidOf(kind, on) !== uid) continue;
      const note = ofList ? "no entry is refused any longer" : "it is refused no longer";
      this.#states.send({ kind, on, uid, type: "Normal", reason: "Recovered", note });
    }
  }

  /** A change of only the places is reported once a minute at most. */
  #fights(report: SourceReport, fights: readonly Fight[]): void {
    const { kind, source: on, uid } = report;
    const event = { kind, on, uid, type: "Warning", reason: "Fought" } as const;
    for (const [altered, group] of Map.groupBy(fights, (fight) => fight.altered)) {
      const where = this.#where(report, group.map(({ place }) => place.namespace).toSorted());
      const note = altered
        ? `what is written to copies in ${where} is altered by a webhook or policy; backing off`
        : `copies in ${where} are repeatedly changed by another client; backing off`;
      this.#states.once({ ...event, note }, { which: altered ? " altered" : "", gist: "fought" });
    }
  }

  // Events on the list are for the administrator.
  #mayName({ kind, source }: Of): boolean {
    return this.#states.isListed(kind, source) || this.#options.mayName(source.namespace);
  }

  #whereOf(of: Of, rows: readonly Row[], verdict: Row["verdict"]): string | undefined {
    const namespaces = rows
      .filter((row) => row.verdict === verdict)
      .map(({ place }) => place.namespace)
      .toSorted();
    return namespaces.length === 0 ? undefined : this.#where(of, namespaces);
  }

  #where(of: Of, namespaces: readonly string[], named = this.#mayName(of)): string {
    const each = [...new Set(namespaces)];
    const total = each.length;
    const count = `${total} namespace${total === 1 ? "" : "s"}`;
    if (!named) return count;
    return `${count} (${listed(each, MOST_NAMED)})`;
  }
}

/** A change of this text is reported at once. */
function gistOf(failures: readonly FailingGroup[]): string {
  return failures
    .map(({ reason }) => reason)
    .toSorted()
    .join();
}
