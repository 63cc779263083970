// Tells users what became of their Secrets, as Events on the source (or the pulling Secret): one per
// source and state when that state begins or changes, never one per namespace. The note names at most
// five namespaces; where a namespace may publish only because every namespace may, it just counts,
// because its tenants need not learn what other namespaces there are.
import type { Outcome } from "../writes/outcome.ts";
import { failureText, type FailingGroup, type FailingPlaces } from "./failing-places.ts";
import type { Fight } from "../core/state/planner-state.ts";
import { noSourceText, type Plan, type Row, type SourceReport } from "../core/model/verdicts.ts";
import { conflictKind, conflictReason } from "./conflicts.ts";
import { dueText, dueWordsOf } from "../config/due-text.ts";
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
};

export class SourceEvents {
  readonly #options: SourceEventsOptions;
  /** Namespaces written since the last settled pass, by source. */
  #written = new Map<string, Set<string>>();
  /** What was told of each state that still holds, by Secret and reason. */
  #told = new Map<string, Told>();
  readonly #ignored = new Repeats(MOST_IGNORED);
  /** The list, if it is read, and by source the keys of its entries. */
  #list: Pick<SourceEvent, "kind" | "on" | "uid"> | undefined;
  #listed: ReadonlyMap<string, string> = new Map();
  /** What fails, by source. */
  #failing: ReadonlyMap<string, readonly FailingGroup[]> = new Map();

  constructor(options: SourceEventsOptions) {
    this.#options = options;
  }

  ended(outcome: Outcome): void {
    if (outcome.kind !== "done") return;
    const { action } = outcome;
    if (isCopying(action)) {
      const source = placeKey(action.objectKind, action.source);
      const namespaces = this.#written.get(source) ?? new Set();
      this.#written.set(source, namespaces.add(action.place.namespace));
    } else if (action.kind === "fill") {
      const note = `filled from ${refText(action.source)}`;
      const on = { kind: action.objectKind, on: action.place, uid: action.target.uid };
      this.#options.tell({ ...on, type: "Normal", reason: "Copied", note });
    } else if (action.kind === "unfill") {
      const note = `its entries that were filled in are taken out: ${action.reason}`;
      const on = { kind: action.objectKind, on: action.place, uid: action.target.uid };
      this.#options.tell({ ...on, type: "Normal", reason: "Removed", note });
    }
  }

  /** A pass found nothing more to write: say what is new since the last one. */
  settled(plan: Plan, fights: readonly Fight[]): void {
    const told = new Map<string, Told>();
    this.#failing = this.#options.failing.groups(false);
    this.#noteList(plan);
    const copies = plan.rows.filter(({ pulling }) => !pulling);
    const rows = Map.groupBy(copies, ({ kind, source }) => placeKey(kind, source));
    for (const report of plan.sources)
      this.#source(report, rows.get(placeKey(report.kind, report.source)), told);
    for (const held of heldRemovals(copies, this.#list !== undefined)) this.#held(held, told);
    for (const row of plan.rows) if (row.pulling) this.#pull(row, told);
    this.#refuseEntries(plan, told);
    this.#ignore(plan, told);
    this.#recover(told);
    this.#told = told;
    this.#fights(plan, fights);
    this.#written = new Map();
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
      this.#options.tell({ ...event, ...this.#list, note: `entry ${entry}: ${note}` });
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
  #tell(event: SourceEvent): void {
    const { kind, on, note } = event;
    const key = isCopyable(kind) ? this.#listed.get(placeKey(kind, on)) : undefined;
    if (key === undefined) this.#options.tell(event);
    else if (this.#list) {
      const told = note.startsWith(`entry ${key}`) ? note : `entry ${key}: ${note}`;
      this.#options.tell({ ...event, ...this.#list, note: told });
    }
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
    const written = this.#written.get(key);
    if (written) {
      const note = `copied to ${this.#where(report, Array.from(written).toSorted())}`;
      this.#tell({ ...on, type: "Normal", reason: "Copied", note });
    }
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
      const gist = failures
        .map(({ reason }) => reason)
        .toSorted()
        .join();
      this.#once({ ...on, type: "Warning", reason: "Failed", note }, told, "", gist);
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
    const shown = `${prefix}${heldText(held, where)}${this.#dueText(first)}`;
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

  /** On a pulling Secret. Its owner may read nothing of the source, so `row.reason` is not for them. */
  #pull(row: Row, told: Map<string, Told>): void {
    const { kind, place } = row;
    const uid = this.#options.uidOf(kind, place);
    const event = pullEvent(row);
    if (!event || uid === undefined) return;
    const due = event.reason === "DeletesHeld" ? this.#dueText(row) : "";
    const warning = { kind, on: place, uid, type: "Warning", ...event } as const;
    this.#once(warning, told, "", event.note, `${event.note}${due}`);
  }

  #dueText(row: Row): string {
    if (row.dueAt === undefined) return "";
    const nowMs = this.#options.wallNow();
    const dueMs = nowMs + row.dueAt - this.#options.now();
    return `; ${dueText(dueWordsOf(row), dueMs, nowMs)}`;
  }

  /** Annotations without effect, to the owners of those that the plan has by name. */
  #ignore({ ignored, namespaces }: Plan, told: Map<string, Told>): void {
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
    told.set(key, same ? before : { note, gist, at, kind, on, uid, listed });
    if (!same) this.#tell({ ...narration, note: shown });
  }

  #fights(plan: Plan, fights: readonly Fight[]): void {
    if (fights.length === 0) return;
    const reports = new Map(plan.sources.map((one) => [placeKey(one.kind, one.source), one]));
    for (const { kind, place, source, altered } of fights) {
      const report = reports.get(placeKey(kind, source));
      if (!report) continue;
      const where = this.#where(report, [place.namespace]);
      const note = altered
        ? `a webhook or policy makes something else of what is written in ${where}: writing it less often`
        : `somebody keeps changing the copy in ${where}: repairing it less often`;
      const { uid } = report;
      this.#tell({ kind, on: source, uid, type: "Warning", reason: "Fought", note });
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
    const total = namespaces.length;
    const count = `${total} namespace${total === 1 ? "" : "s"}`;
    if (!named) return count;
    const rest = total - Math.min(total, MOST_NAMED);
    const names = namespaces.slice(0, MOST_NAMED).join(", ");
    return `${count} (${names}${rest > 0 ? ` and ${rest} more` : ""})`;
  }
}

function pullEvent(row: Row): Pick<SourceEvent, "reason" | "note"> | undefined {
  const { verdict, source, forOwner } = row;
  // A write follows from the source's consent, or from the record on the object, and its cause is at the place.
  if (verdict === "backoff") return { reason: "Failed", note: row.reason };
  if (verdict === "held")
    return { reason: "DeletesHeld", note: `its entries stay for now: ${noSourceText(source)}` };
  if (verdict !== "conflict" && verdict !== "frozen") return undefined;
  const reason = forOwner?.kind === "refused" ? "Refused" : "Conflict";
  return { reason, note: forOwner?.reason ?? noSourceText(source) };
}
