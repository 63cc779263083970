// Prints notices as Events on the source or the pulling Secret. There is one Event per source and state when that
// state begins or changes, never one per namespace. If a namespace may publish only because every namespace may,
// the message gives only a count: its tenants need not learn the names of other namespaces.
import { ignoredText } from "../annotations/ignored.ts";
import { expectedText, problemText } from "../annotations/rules.ts";
import { placeKey } from "../model/kinds.ts";
import type { Plan, Row, SourceReport } from "../model/verdicts.ts";
import { dueText, dueWordsOf, type DueWords } from "../settings/due-text.ts";
import { listed } from "../../text/listed.ts";
import type { EventObject, EventStates, StateOptions } from "./event-states.ts";
import {
  conflictReason,
  failureText,
  heldRemovals,
  heldText,
  prefixOf,
  pullWarning,
  whereText,
  type HeldRemovals,
} from "./event-texts.ts";
import { failureId, type Notice, type Place, type RowCode } from "./notices.ts";
import { RateLimit } from "./rate-limit.ts";

const MOST_NAMED = 5;
// Most Events a minute and namespace for annotations without effect, because any user may write them.
const MOST_IGNORED = 5;

export class NoticeEvents {
  readonly #options: StateOptions;
  readonly #states: EventStates;
  readonly #ignored = new RateLimit(MOST_IGNORED);
  /** Annotations without effect that are to be reported in a later minute. */
  #ignoredLater: Pick<Plan, "ignored" | "namespaces"> | undefined;

  constructor(options: StateOptions, states: EventStates) {
    this.#options = options;
    this.#states = states;
  }

  /** Reports what is new in a plan since the last report. */
  print(plan: Plan, notices: readonly Notice[]): void {
    this.#states.begin();
    const reports = new Map(
      plan.sources.map((report) => [placeKey(report.kind, report.source), report]),
    );
    const copies = notices.filter(({ pulling }) => !pulling);
    const bySource = Map.groupBy(copies, ({ of }) => of && placeKey(of.kind, of.source));
    for (const [key, report] of reports) this.#source(report, bySource.get(key) ?? []);
    const removals = heldRemovals(rowsOf(copies, "held"), this.#states.list !== undefined);
    for (const held of removals) this.#held(held);
    for (const { pulling, places } of notices)
      for (const place of places) if (pulling) this.#pull(place);
    const former = copies.filter(({ of }) => of && !reports.has(placeKey(of.kind, of.source)));
    this.#failedRemovals(former);
    this.#refuseEntries(plan);
    this.#ignore(plan);
    this.#recover();
  }

  /** Whether an Event waits for room, so that `resend` will send it. */
  get waits(): boolean {
    return this.#states.waits || this.#ignoredLater !== undefined;
  }

  /** Sends waiting Events as far as there is room now. */
  resend(): void {
    this.#states.resend();
    if (this.#ignoredLater) this.#ignore(this.#ignoredLater);
  }

  #source(report: SourceReport, notices: readonly Notice[]): void {
    const { kind, source, uid, problems, state } = report;
    const named = this.#states.mayName(report);
    const on = { kind, on: source, uid };
    if (state === "refused") this.#states.once(on, "Refused", problems.map(problemText).join("; "));
    const mayRead = (namespace: string): boolean =>
      namespace === source.namespace || this.#states.isListed(kind, source);
    for (const which of ["otherSource", "unmanaged"] as const) {
      const rows = rowsOf(notices, which);
      const note = `not copied to ${whereText(rows, named)}: ${conflictReason(rows, mayRead)}`;
      if (rows.length > 0) this.#states.once(on, "Conflict", note, { which });
    }
    const failed = notices.flatMap((each) => (each.code === "failed" ? [each.places] : []));
    const { note, summary } = failureText(failed, named);
    if (failed.length > 0) this.#states.once(on, "Failed", note, { summary });
    const above = rowsOf(notices, "overLimit");
    const limit = "all copies together are above --fanout-limit";
    const held = `not copied to ${whereText(above, named)}: ${limit}`;
    if (above.length > 0) this.#states.once(on, "Held", held, { which: " fanout" });
    const fights = notices.flatMap((each) => (each.code === "fought" ? each.places : []));
    // A change of only the places is reported once a minute at most.
    for (const [altered, fought] of Map.groupBy(fights, (fight) => fight.altered)) {
      const where = whereText(fought, named);
      const text = altered
        ? `what is written to copies in ${where} is altered by a webhook or policy; backing off`
        : `copies in ${where} are repeatedly changed by another client`;
      const which = altered ? " altered" : "";
      this.#states.once(on, "Fought", text, { which, summary: "fought" });
    }
  }

  #held(held: HeldRemovals): void {
    const { hold, on, entry, first, rows } = held;
    const object = this.#objectOf(held);
    if (!object) return;
    const where = whereText(rows, on !== "source" || this.#states.mayName(first));
    const due = this.#dueText(first, dueWordsOf(first));
    const shown = `${prefixOf(entry)}${heldText(held, where)}${due}`;
    // The remaining time differs in each plan, so it is not part of the note.
    const note = `${heldText(held, where)} ${Math.round((first.dueAt ?? 0) / 1000)}`;
    // On the Lease there is at most one a minute.
    const which = on === "lease" ? "" : ` ${hold} ${entry ?? ""}`;
    this.#states.once(object, "Held", note, { which, summary: "held", shown });
  }

  /** The object for Events about held removals. Undefined if no object can have Events. */
  #objectOf({ first: { kind, source }, on }: HeldRemovals): EventObject | undefined {
    if (on === "list") return this.#states.list;
    return on === "source" ? this.#states.cached(kind, source) : this.#states.lease;
  }

  #pull(place: Place): void {
    const on = this.#states.cached(place.kind, place.place);
    if (!on) return;
    const { reason, note } = pullWarning(place);
    const isHeld = "verdict" in place && place.verdict === "held";
    const due = isHeld ? this.#dueText(place, { dueWords: dueWordsOf(place).dueWords }) : "";
    this.#states.once(on, reason, note, { shown: `${note}${due}` });
  }

  /** Events on objects that copies were copied from and that are not sources now. */
  #failedRemovals(notices: readonly Notice[]): void {
    const failing = notices.flatMap((each) => (each.code === "failed" ? each.places : []));
    const byObject = Map.groupBy(
      failing,
      ({ kind, source, removal }) =>
        removal && `${removal.sourceUid} ${placeKey(kind, source)} ${removal.entry ?? ""}`,
    );
    for (const members of byObject.values()) {
      const [first] = members;
      if (!first?.removal) continue;
      const { entry } = first.removal;
      const on = this.#states.copiedFrom(first, first.removal);
      const named = entry !== undefined || this.#options.mayName(first.source.namespace);
      const groups = Map.groupBy(members, (each) => failureId(each, each.cause, each.reason));
      const { note, summary } = failureText([...groups.values()], named, "removed");
      const which = entry === undefined ? "" : ` ${entry}`;
      if (on) this.#states.once(on, "Failed", `${prefixOf(entry)}${note}`, { which, summary });
    }
  }

  #dueText({ dueAt }: Row, words: DueWords): string {
    if (dueAt === undefined) return "";
    const { clock } = this.#options;
    const nowMs = clock.now();
    return `; ${dueText(words, nowMs + dueAt - clock.monotonic(), nowMs)}`;
  }

  #refuseEntries({ list: { refused } }: Plan): void {
    const reasons = refused.slice(0, MOST_NAMED).map(({ reason }) => reason);
    const wording = { between: "; ", count: refused.length, of: "entries" };
    const { list } = this.#states;
    if (list) this.#states.once(list, "Refused", listed(reasons, MOST_NAMED, wording));
  }

  /** Reports annotations without effect to the owners of the objects that the plan names. */
  #ignore({ ignored, namespaces }: Pick<Plan, "ignored" | "namespaces">): void {
    this.#ignoredLater = undefined;
    const events = [
      ...ignored.sample.map(({ kind, object, uid, ignored: why }) => {
        return { on: { kind, on: object, uid }, note: ignoredText(kind, why) };
      }),
      ...namespaces.map(({ namespace, uid, problem }) => {
        // The Event is in "default", where not every reader may read the Namespace: its value is not quoted.
        const note = `copies in this namespace are frozen: ${expectedText(problem)}`;
        const on = { namespace: "", name: namespace };
        return { on: { kind: "Namespace" as const, on, uid }, note };
      }),
    ];
    for (const { on, note } of events) {
      if (this.#states.goesOn({ uid: on.uid, reason: "Ignored", note })) continue;
      const mayTell =
        this.#ignored.tryTake(on.on.namespace, this.#options.clock.monotonic()) !== undefined;
      if (mayTell) this.#states.once(on, "Ignored", note);
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
}

function rowsOf(notices: readonly Notice[], wanted: RowCode): readonly Row[] {
  return notices.flatMap((each) => (each.code === wanted ? each.places : []));
}
