// Tells users what became of their Secrets, as Events on the source (or the pulling Secret): one per
// source and state when that state begins or changes, never one per namespace. The note names at most
// five namespaces; where a namespace may publish only because every namespace may, it just counts,
// because its tenants need not learn what other namespaces there are.
import type { Outcome } from "../writes/outcome.ts";
import { failureText, type FailingGroup, type FailingPlaces } from "./failing-places.ts";
import type { Fight } from "../core/state/planner-state.ts";
import {
  noSourceText,
  typeDifference,
  type Plan,
  type Row,
  type SourceReport,
} from "../core/model/verdicts.ts";
import { CopiedPlaces } from "./copied-places.ts";
import { EventOutbox, type EventIdentity } from "./event-outbox.ts";
import { FightingPlaces } from "./fighting-places.ts";
import { conflictKind, conflictReason } from "./conflicts.ts";
import { dueText, dueWordsOf, type DueWords } from "../config/due-text.ts";
import { ignoredText } from "../core/annotations/ignored.ts";
import { heldRemovals, heldText, type HeldRemovals } from "./held-removals.ts";
import type { RemovedCopies } from "./removal-log.ts";
import { Repeats } from "./repeats.ts";
import { NOWHERE_TEXT } from "../core/model/removal-holds.ts";
import { expectedText, problemText } from "../core/annotations/rules.ts";
import { type Ref, refText } from "../core/annotations/names.ts";
import { isCopying } from "../core/model/actions.ts";
import { type ObjectKind, placeKey } from "../core/model/kinds.ts";

export type SourceEvent = {
  /** What the Event is on. */
  readonly kind: ObjectKind | "Namespace" | "Lease";
  /** Of a Namespace its name in `name`. */
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
  readonly tell: (narration: SourceEvent) => void;
  /** The controller's own; undefined: it holds none. */
  readonly lease: () => (Ref & { readonly uid: string }) | undefined;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly wallNow: () => number;
};

const MOST_NAMED = 5;
// Anybody may write annotations that have no effect: so many Events a minute and namespace.
const MOST_IGNORED = 5;
const MINUTE_MS = 60_000;

function isCopyable(kind: SourceEvent["kind"]): kind is ObjectKind {
  return kind !== "Namespace" && kind !== "Lease";
}

/** A source among those of all kinds. */
type Of = Pick<SourceReport, "kind" | "source">;

/** What was told of a state, and on which object; `gist`: of which a change is told at once. */
type Told = {
  readonly note: string;
  readonly gist: string;
  readonly at: number;
  readonly kind: SourceEvent["kind"];
  readonly on: Ref;
  readonly uid: string;
  /** On the list, in place of an object that one of its entries names. */
  readonly listed: boolean;
  /** Undefined: the list that it would be on is not read. */
  readonly sent: SourceEvent | undefined;
};

export class SourceEvents {
  readonly #options: SourceEventsOptions;
  readonly #copied: CopiedPlaces;
  readonly #fighting = new FightingPlaces();
  readonly #outbox: EventOutbox<SourceEvent>;
  /** What was told of each state that still holds, by Secret and reason. */
  #told = new Map<string, Told>();
  readonly #ignored = new Repeats(MOST_IGNORED);
  /** The list, if it is read, and by source the keys of its entries. */
  #list: Pick<SourceEvent, "kind" | "on" | "uid"> | undefined;
  #listed: ReadonlyMap<string, string> = new Map();
  /** The newest plan's, by source. */
  #reports: ReadonlyMap<string, SourceReport> = new Map();
  /** Annotations without effect of which more are to be told in a later minute. */
  #ignoredLater: Pick<Plan, "ignored" | "namespaces"> | undefined;
  /** What fails, by source. */
  #failing: ReadonlyMap<string, readonly FailingGroup[]> = new Map();

  constructor(options: SourceEventsOptions) {
    this.#options = options;
    this.#copied = new CopiedPlaces({ monotonic: options.now });
    this.#outbox = new EventOutbox(options.tell);
  }

  ended(outcome: Outcome): void {
    if (outcome.kind !== "done") return;
    const { action } = outcome;
    if (isCopying(action)) this.#copied.add(action);
    else if (action.kind === "fill") {
      const { type } = action.content.replica;
      const difference = typeDifference(action.target.type, type);
      const note = `filled from ${refText(action.source)}${difference ? `; ${difference}` : ""}`;
      const on = { kind: action.objectKind, on: action.place, uid: action.target.uid };
      this.#outbox.send({ ...on, type: "Normal", reason: "Copied", note });
    } else if (action.kind === "unfill") {
      const note = `its entries that were filled in are taken out: ${action.reason}`;
      const on = { kind: action.objectKind, on: action.place, uid: action.target.uid };
      this.#outbox.send({ ...on, type: "Normal", reason: "Removed", note });
    }
  }

  /** A plan is reported: say what is new since the last one. `fights` began since then. */
  settled(plan: Plan, fights: readonly Fight[]): void {
    const told = new Map<string, Told>();
    this.#fighting.onPlan(plan, fights, this.#options.now());
    this.#failing = this.#options.failing.groups(false);
    this.#noteList(plan);
    const copies = plan.rows.filter(({ pulling }) => !pulling);
    const rows = Map.groupBy(copies, ({ kind, source }) => placeKey(kind, source));
    this.#reports = new Map(
      plan.sources.map((report) => [placeKey(report.kind, report.source), report]),
    );
    const fought = this.#fighting.bySource();
    for (const [key, report] of this.#reports) {
      this.#source(report, rows.get(key), told);
      this.#fights(report, fought.get(key) ?? [], told);
    }
    for (const held of heldRemovals(copies, this.#list !== undefined)) this.#held(held, told);
    this.#copied.keep((key) => this.#reports.has(key));
    for (const row of plan.rows) if (row.pulling) this.#pull(row, told);
    this.#pullFights(told);
    this.#failedRemovals(told);
    this.#refuseEntries(plan, told);
    this.#ignore(plan, told);
    this.#recover(told);
    this.#told = told;
    this.#outbox.keep([...told.values()].flatMap(({ sent }) => sent ?? []));
  }

  /** An Event was not sent; if its state holds, `resend` sends it. */
  lost(event: EventIdentity): void {
    this.#outbox.lost(event);
  }

  /** Something waits for room, and is sent by `resend`. */
  get waits(): boolean {
    const { waiting } = this.#copied;
    return this.#outbox.waits || this.#ignoredLater !== undefined || waiting.length > 0;
  }

  /** Sends what waits, as far as there is room by now. */
  resend(): void {
    this.#outbox.resend();
    if (this.#ignoredLater) this.#ignore(this.#ignoredLater, this.#told);
    for (const key of this.#copied.waiting) {
      const report = this.#reports.get(key);
      if (report) this.#tellCopied(report, key);
    }
  }

  /** Copies ended. Where their source is another object by now, or none, there is nobody to tell. */
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
      this.#tell({ ...event, kind, on: source, uid: sourceUid, note });
    } else if (this.#list) {
      this.#outbox.send({ ...event, ...this.#list, note: `entry ${entry}: ${note}` });
    }
  }

  #noteList({ list, sources }: Plan): void {
    const { ref, uid } = list;
    this.#list = ref && uid !== undefined ? { kind: "ConfigMap", on: ref, uid } : undefined;
    this.#listed = new Map(
      sources.flatMap(({ kind, source, entry }) =>
        entry === undefined ? [] : [[placeKey(kind, source), entry] as const],
      ),
    );
  }

  /** Of a source by an entry everything is told on the list: its own namespace asked for nothing. */
  #tell(event: SourceEvent): SourceEvent | undefined {
    const { kind, on, note } = event;
    const key = isCopyable(kind) ? this.#listed.get(placeKey(kind, on)) : undefined;
    if (key !== undefined && !this.#list) return undefined;
    const whole = note.startsWith(`entry ${key}`) ? note : `entry ${key}: ${note}`;
    const sent = key === undefined ? event : { ...event, ...this.#list, note: whole };
    this.#outbox.send(sent);
    return sent;
  }

  #refuseEntries({ list }: Plan, told: Map<string, Told>): void {
    const { refused } = list;
    if (!this.#list || refused.length === 0) return;
    const first = refused.slice(0, MOST_NAMED).map(({ reason }) => reason);
    const rest = refused.length - first.length;
    const note = `${first.join("; ")}${rest > 0 ? `; and ${rest} more entries` : ""}`;
    this.#once({ ...this.#list, type: "Warning", reason: "Refused", note }, told);
  }

  #source(report: SourceReport, rows: readonly Row[] = [], told: Map<string, Told>): void {
    const { source, problems, state } = report;
    const key = placeKey(report.kind, source);
    const on = { kind: report.kind, on: source, uid: report.uid };
    const once = (reason: SourceEvent["reason"], note: string | undefined, which = ""): void =>
      this.#once({ ...on, type: "Warning", reason, note: note ?? "" }, told, which);
    if (state === "refused") once("Refused", problems.map(problemText).join("; "));
    if (state === "nowhere") once("Nowhere", NOWHERE_TEXT);
    this.#tellCopied(report, key);
    const conflicts = rows.filter(({ verdict }) => verdict === "conflict");
    for (const [kind, group] of Map.groupBy(conflicts, conflictKind)) {
      const conflict = this.#whereOf(report, group, "conflict");
      const why = conflictReason(
        group,
        (namespace) => namespace === source.namespace || this.#listed.has(key),
      );
      once("Conflict", conflict && `not copied to ${conflict}: ${why}`, kind);
    }
    const failures = this.#failing.get(key) ?? [];
    if (failures.length > 0) {
      const named = this.#mayName(report);
      const note = failureText(failures, named, (places) => this.#where(report, places));
      this.#once({ ...on, type: "Warning", reason: "Failed", note }, told, "", gistOf(failures));
    }
    const held = rows.filter(({ verdict, hold }) => verdict === "held" && hold === undefined);
    const where = this.#whereOf(report, held, "held");
    const above = "all copies together are above --fanout-limit";
    once("FanoutHeld", where && `not copied to ${where}: ${above}`);
  }

  /** Removals of one source that one condition holds, or of all that no longer exist. */
  #held(held: HeldRemovals, told: Map<string, Told>): void {
    const { kind, source, hold, on, entry, first, namespaces } = held;
    const { dueAt } = first;
    const object = this.#objectOf(held);
    if (!object) return;
    const where = this.#where({ kind, source }, namespaces, on !== "source" || undefined);
    const prefix = entry === undefined ? "" : `entry ${entry}: `;
    const shown = `${prefix}${heldText(held, where)}${this.#dueText(first, dueWordsOf(first))}`;
    // The time left is another one in each plan.
    const note = `${where} ${first.reason} ${Math.round((dueAt ?? 0) / 1000)}`;
    const which = on === "source" ? hold : `${hold} ${entry ?? ""} ${on}`;
    const event = { ...object, type: "Warning", reason: "DeletesHeld", note } as const;
    this.#once(event, told, which, hold, shown);
  }

  /** What is told of held removals is on; undefined: nothing that Events can be on. */
  #objectOf({
    kind,
    source,
    on,
  }: HeldRemovals): Pick<SourceEvent, "kind" | "on" | "uid"> | undefined {
    if (on === "list") return this.#list;
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
    this.#tell({ kind, on, uid, type: "Normal", reason: "Copied", note });
  }

  /** On the object that copies were copied from, although it is a source no longer. */
  #failedRemovals(told: Map<string, Told>): void {
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
        this.#once({ ...event, kind, on: source, uid: sourceUid, note: text }, told, "", gist);
      } else if (this.#list) {
        const note = `entry ${entry}: ${text}`;
        this.#once({ ...event, ...this.#list, note }, told, ` ${entry}`, gist);
      }
    }
  }

  /** On a pulling Secret. Its owner may read nothing of the source, so `row.reason` is not for them. */
  #pull(row: Row, told: Map<string, Told>): void {
    const { kind, place } = row;
    const uid = this.#options.uidOf(kind, place);
    const event = pullEvent(row);
    if (!event || uid === undefined) return;
    const { dueWords } = dueWordsOf(row);
    // What would prevent it is a fact about the source.
    const due = event.reason === "DeletesHeld" ? this.#dueText(row, { dueWords }) : "";
    const warning = { kind, on: place, uid, type: "Warning", ...event } as const;
    this.#once(warning, told, "", event.note, `${event.note}${due}`);
  }

  #dueText({ dueAt }: Row, words: DueWords): string {
    if (dueAt === undefined) return "";
    const nowMs = this.#options.wallNow();
    const dueMs = nowMs + dueAt - this.#options.now();
    return `; ${dueText(words, dueMs, nowMs)}`;
  }

  /** Annotations without effect, to the owners of those that the plan has by name. */
  #ignore(plan: Pick<Plan, "ignored" | "namespaces">, told: Map<string, Told>): void {
    const { ignored, namespaces } = plan;
    this.#ignoredLater = undefined;
    const events: readonly Pick<SourceEvent, "kind" | "on" | "uid" | "note">[] = [
      ...ignored.sample.map(({ kind, object, uid, ignored: why }) => {
        return { kind, on: object, uid, note: ignoredText(kind, why) };
      }),
      ...namespaces.map(({ namespace, uid, problem }) => {
        // The Event is in "default", where nobody may read the Namespace: its value is not quoted.
        const note = `nothing changes in this namespace: ${expectedText(problem)}`;
        return { kind: "Namespace" as const, on: { namespace: "", name: namespace }, uid, note };
      }),
    ];
    for (const { kind, on, uid, note } of events) {
      const known = this.#told.get(`${uid} Ignored`);
      if (known?.note === note) told.set(`${uid} Ignored`, known);
      else if (this.#ignored.happened(on.namespace, this.#options.now()) !== undefined)
        this.#once({ kind, on, uid, type: "Warning", reason: "Ignored", note }, told);
      else this.#ignoredLater = { ignored, namespaces };
    }
  }

  /** Refusals that are over, of objects that are still there. */
  #recover(told: ReadonlyMap<string, Told>): void {
    for (const [key, { kind, on, uid, listed }] of this.#told) {
      if (key !== `${uid} Refused` || told.has(key) || !isCopyable(kind)) continue;
      const ofList = uid === this.#list?.uid;
      if (!ofList && this.#options.uidOf(kind, on) !== uid) continue;
      if (listed && !this.#listed.has(placeKey(kind, on))) continue;
      const note = ofList ? "no entry is refused any longer" : "it is refused no longer";
      this.#tell({ kind, on, uid, type: "Normal", reason: "Recovered", note });
    }
  }

  /**
   * Tells what begins or changes; an empty note says nothing. While `gist` stays the same, a change of the
   * note is told once a minute at most. `shown` is what is told, where that changes by itself.
   */
  #once(
    narration: SourceEvent,
    told: Map<string, Told>,
    which = "",
    gist = narration.note,
    shown = narration.note,
  ): void {
    const { kind, on, uid, reason, note } = narration;
    if (note === "") return;
    const key = `${uid} ${reason}${which}`;
    const before = this.#told.get(key);
    const at = this.#options.now();
    const same = before?.gist === gist && (before.note === note || at - before.at < MINUTE_MS);
    const listed = isCopyable(kind) && this.#listed.has(placeKey(kind, on));
    if (same) told.set(key, before);
    else {
      const sent = this.#tell({ ...narration, note: shown });
      told.set(key, { note, gist, at, kind, on, uid, listed, sent });
    }
  }

  /** A change of the places alone is told once a minute at most. */
  #fights(report: SourceReport, fights: readonly Fight[], told: Map<string, Told>): void {
    const { kind, source: on, uid } = report;
    const event = { kind, on, uid, type: "Warning", reason: "Fought" } as const;
    for (const [altered, group] of Map.groupBy(fights, (fight) => fight.altered)) {
      const where = this.#where(report, group.map(({ place }) => place.namespace).toSorted());
      const note = altered
        ? `what is written to copies in ${where} is altered by a webhook or policy; backing off`
        : `copies in ${where} are repeatedly changed by another client; backing off`;
      this.#once({ ...event, note }, told, altered ? " altered" : "", "fought");
    }
  }

  #pullFights(told: Map<string, Told>): void {
    for (const { kind, place: on } of this.#fighting.pulls) {
      const uid = this.#options.uidOf(kind, on);
      const note = "its filled entries are repeatedly changed by another client; backing off";
      if (uid !== undefined)
        this.#once({ kind, on, uid, type: "Warning", reason: "Fought", note }, told);
    }
  }

  // What is told on the list is told to the administrator.
  #mayName({ kind, source }: Of): boolean {
    return this.#listed.has(placeKey(kind, source)) || this.#options.mayName(source.namespace);
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
    const rest = total - Math.min(total, MOST_NAMED);
    const names = each.slice(0, MOST_NAMED).join(", ");
    return `${count} (${names}${rest > 0 ? ` and ${rest} more` : ""})`;
  }
}

function pullEvent(row: Row): Pick<SourceEvent, "reason" | "note"> | undefined {
  const { verdict, source, cause, forOwner } = row;
  // A write follows from the source's consent, or from the record on the object, and its cause is at the place.
  if (verdict === "backoff" && cause !== undefined) {
    const note = `its entries could not be written: ${row.reason} (cause: ${cause}); will try again`;
    return { reason: "Failed", note };
  }
  if (verdict === "held")
    return { reason: "DeletesHeld", note: `its entries stay for now: ${noSourceText(source)}` };
  if (verdict !== "conflict" && verdict !== "frozen") return undefined;
  const reason = forOwner?.kind === "refused" ? "Refused" : "Conflict";
  return { reason, note: forOwner?.reason ?? noSourceText(source) };
}

/** Of which a change is told at once. */
function gistOf(failures: readonly FailingGroup[]): string {
  return failures
    .map(({ reason }) => reason)
    .toSorted()
    .join();
}
