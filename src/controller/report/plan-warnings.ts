// Logs what a plan shows that a user or administrator should fix. A problem has a line when it begins, when it
// changes (at most once a minute) and when it is over. A state that does not change is not logged again. Places
// of one source with one reason share a line. A line holds a count and a few names, and the lines per minute
// are limited, so that tenants cannot flood the log. For failed writes the other places follow, 100 to a line.
import { reasonText } from "../model/reasons.ts";
import { IGNORED_HEADLINES, IGNORED_REASONS, type IgnoredReason } from "../annotations/ignored.ts";
import { dueText, dueWordsOf, isoTime, type DueWords } from "../settings/due-text.ts";
import { CONFLICT_LINES, conflictKind } from "./conflicts.ts";
import type { Plan, Row, Verdict } from "../model/verdicts.ts";
import { NOWHERE_TEXT } from "../model/removal-holds.ts";
import type { Clock } from "../../kube/time/clock.ts";
import type { FailingGroup, FailingPlaces } from "./failing-places.ts";
import type { Outcome } from "../writes/outcome.ts";
import type { Log } from "./log.ts";
import { FIGHT_OVER_MS, isFought } from "./fighting-places.ts";
import { ReportPace } from "./report-pace.ts";
import type { SyncHooks, SyncNote } from "./sync-log.ts";
import { Repeats, Shares } from "./repeats.ts";
import { MOST_PLACES } from "./written-log.ts";
import { reasonShape } from "../../text/shared-reason.ts";
import { problemText } from "../annotations/rules.ts";
import { type Ref, refText } from "../../text/names.ts";
import { type ObjectKind, placeKey } from "../model/kinds.ts";

const MOST_NAMED = 5;
/** Lines a minute for one problem that repeatedly begins and ends. */
const MOST_OF_A_KIND = 5;
/**
 * Lines a minute for the sources or pulling objects of one namespace, which any tenant may write, and for all
 * namespaces. The rest is logged in a later minute, so a tenant with many problems hides no other's.
 */
const MOST_A_MINUTE = {
  sources: { namespace: 100, all: 200 },
  pulls: { namespace: 20, all: 100 },
  places: { namespace: 50, all: 100 },
} as const;
const MOST_REASONS = 10_000;
/** Most places of a line and the lines that follow it. */
const MOST_LOGGED = 10_000;
/** Rows or lines between two yields. A tenant can cause a hundred thousand. */
const PER_TURN = 1024;
const MINUTE_MS = 60_000;

type Fields = Parameters<Log["warn"]>[0];

/** One problem. A change of `fields` is a change of the problem. */
type Warning = {
  readonly of: string;
  readonly kind?: ObjectKind;
  readonly source?: string;
  readonly fields: Fields;
  /** When it changes by itself (ms, monotonic), and the text for that. */
  readonly due?: { readonly at: number; readonly words: DueWords };
  readonly message: string;
  readonly share: Share;
  /** For failed writes: every place, and the reason without names that tenants choose. */
  readonly failing?: { readonly places: readonly Ref[]; readonly shape: string };
  /** It is over when no plan has shown it for this long, in ms. If absent, when the next plan does not. */
  readonly lingersMs?: number;
};

/** Whose limit the lines count against. The namespace is "" if they belong to no namespace. */
type Share = { readonly of: keyof typeof MOST_A_MINUTE; readonly namespace: string };
const NOBODYS: Share = { of: "sources", namespace: "" };

type Reported = Omit<Warning, "fields" | "due" | "lingersMs" | "failing"> & {
  readonly lingersMs: number;
  readonly text: string;
  readonly reason: string | undefined;
  /** The number of places at the last report, and the first of them. */
  readonly count: number;
  readonly places: readonly string[];
  readonly at: number;
  /** When a plan last showed it. */
  seenAt: number;
};

export class PlanWarnings implements SyncHooks {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #failing: FailingPlaces;
  readonly #repeats = new Repeats(MOST_OF_A_KIND);
  readonly #shares = {
    sources: new Shares(MOST_A_MINUTE.sources),
    pulls: new Shares(MOST_A_MINUTE.pulls),
    places: new Shares(MOST_A_MINUTE.places),
  };
  /** What was reported of each problem that is not over. */
  readonly #reported = new Map<string, Reported>();
  /** Failed tries since the last report, by source and reason. */
  #tries = new Map<string, number>();
  readonly #pace: ReportPace;

  constructor(log: Log, clock: Clock, failing: FailingPlaces) {
    this.#log = log;
    this.#clock = clock;
    this.#failing = failing;
    this.#pace = new ReportPace(clock);
  }

  onOutcome(outcome: Outcome): void {
    if (outcome.kind !== "failed") return;
    const { objectKind, source } = outcome.action;
    const key = `${placeKey(objectKind, source)} ${reasonShape(outcome.reason)}`;
    this.#tries.set(key, (this.#tries.get(key) ?? 0) + 1);
  }

  *onPlan(plan: Plan, { settled }: SyncNote): Generator<undefined, void> {
    this.#failing.onPlan(plan);
    if (!this.#pace.isDue(settled)) return;
    const now = this.#clock.monotonic();
    const warnings = yield* this.#warnings(plan);
    const over = new Map(this.#reported);
    for (const { of } of warnings) {
      const known = over.get(of);
      if (known) known.seenAt = now;
      over.delete(of);
    }
    for (const [of, { seenAt, lingersMs }] of over) if (now - seenAt < lingersMs) over.delete(of);
    for (const [index, warning] of warnings.entries()) {
      if (index % PER_TURN === 0) yield;
      this.#tell(warning, over, now);
    }
    this.#end(over, now);
    if (this.#failing.isEmpty || this.#tries.size > MOST_REASONS) this.#tries = new Map();
  }

  *#warnings(plan: Plan): Generator<undefined, readonly Warning[]> {
    const failing = [...this.#failing.groups(true).values()].flat();
    const warnings = [
      ...nowhereWarnings(plan),
      ...ignoredWarnings(plan),
      ...listWarnings(plan),
      ...failing.map(failureWarning),
    ];
    yield* sourceWarnings(plan, warnings);
    yield* rowWarnings(plan, warnings);
    return warnings;
  }

  /** `over`: reported problems that no plan shows now. */
  #tell(
    { of, kind, source, fields, due, message, share, failing, lingersMs = 0 }: Warning,
    over: Map<string, Reported>,
    now: number,
  ): void {
    const before = this.#reported.get(of);
    if (!before && this.#shares[share.of].isFull(share.namespace, now)) return;
    // A hold that begins anew is a change. The retry time of a failed write is not, because it changes each try.
    const held = due?.words.unless === undefined ? "" : Math.round(due.at / 1000);
    const text = `${JSON.stringify(fields)} ${held}`;
    if (before?.text === text || (before && now - before.at < MINUTE_MS)) return;
    if (this.#repeats.happened(`${message} ${kind ?? ""} ${source ?? of}`, now) === undefined)
      return;
    if (!this.#shares[share.of].has(share.namespace, now)) return;
    // Another reason replaces one that is over. The problem has changed and has not ended.
    const replaced = [...over.values()].find(
      (each) => each.message === message && each.kind === kind && each.source === source,
    );
    if (replaced && !before) {
      over.delete(replaced.of);
      this.#reported.delete(replaced.of);
    }
    const reason = typeof fields["reason"] === "string" ? fields["reason"] : undefined;
    const key = `${kind} ${source} ${failing?.shape}`;
    const tries = this.#tries.get(key);
    this.#tries.delete(key);
    const [others, ...further] = restOf(failing?.places ?? []);
    const reported = {
      ...fields,
      ...(others && { others }),
      ...(tries !== undefined && { tries }),
      ...this.#dueFields(due, now),
    };
    this.#log.warn(reported, message);
    for (const places of further)
      if (this.#shares.places.has(share.namespace, now))
        this.#log.warn({ ...fields, places }, FURTHER);
    this.#reported.set(of, {
      of,
      ...(kind && { kind }),
      ...(source !== undefined && { source }),
      message,
      reason,
      count: typeof fields["count"] === "number" ? fields["count"] : 0,
      places: Array.isArray(fields["places"]) ? fields["places"].map(String) : [],
      text,
      share,
      at: now,
      seenAt: now,
      lingersMs,
    });
  }

  #dueFields(due: Warning["due"], now: number): Fields {
    if (!due) return {};
    const nowMs = this.#clock.now();
    const dueMs = nowMs + due.at - now;
    return { dueAt: isoTime(dueMs), due: dueText(due.words, dueMs, nowMs) };
  }

  #end(over: ReadonlyMap<string, Reported>, now: number): void {
    const ended = Map.groupBy(
      over.values(),
      ({ kind = "", source = "", message }) => `${message} ${kind} ${source}`,
    );
    for (const [subject, troubles] of ended) {
      const [first] = troubles;
      // A later plan reports what is left out, if it has not begun again.
      if (!first || this.#repeats.happened(`resolved: ${subject}`, now) === undefined) continue;
      if (!this.#shares[first.share.of].has(first.share.namespace, now)) continue;
      const reasons = troubles.flatMap(({ reason }) => reason ?? []).slice(0, MOST_NAMED);
      const { kind, source, message } = first;
      const places = troubles.flatMap((trouble) => trouble.places).slice(0, MOST_NAMED);
      const count = troubles.reduce((sum, trouble) => sum + trouble.count, 0);
      const where = places.length > 0 && { count, places };
      const fields = source === undefined ? {} : { kind, source, reasons, ...where };
      this.#log.info(fields, `resolved: ${message}`);
      for (const { of } of troubles) this.#reported.delete(of);
    }
  }
}

function nowhereWarnings({ sources }: Plan): readonly Warning[] {
  const named: string[] = [];
  let count = 0;
  for (const { nowhere, source } of sources) {
    if (nowhere && count++ < MOST_NAMED) named.push(refText(source));
  }
  const message = "sources without targets: no namespace matches and accepts them";
  const fields = { count, sources: named };
  return count > 0 ? [{ of: "nowhere", fields, message, share: NOBODYS }] : [];
}

function ignoredWarnings(plan: Plan): readonly Warning[] {
  const { ignored } = plan;
  return IGNORED_REASONS.flatMap((reason) => {
    const count = ignored.counts[reason];
    if (count === 0) return [];
    const on = namesOf(plan, reason);
    const message = `ignored annotations: ${IGNORED_HEADLINES[reason]}`;
    const fields = { reason, count, ...on };
    return [{ of: `ignored ${reason}`, fields, message, share: NOBODYS }];
  });
}

function namesOf({ ignored, namespaces }: Plan, reason: IgnoredReason) {
  if (reason === "flag") return { flags: ignored.flags.slice(0, MOST_NAMED) };
  if (reason === "accept") {
    const first = namespaces.slice(0, MOST_NAMED);
    return { namespaces: first.map(({ namespace }) => namespace) };
  }
  const secrets = ignored.sample.filter((each) => each.ignored.reason === reason);
  return { secrets: secrets.slice(0, MOST_NAMED).map(({ object }) => refText(object)) };
}

function* sourceWarnings({ sources }: Plan, warnings: Warning[]): Generator<undefined, void> {
  for (const [index, report] of sources.entries()) {
    if (index % PER_TURN === 0) yield;
    const { kind, state } = report;
    if (state === "ok") continue;
    const source = refText(report.source);
    const share: Share = { of: "sources", namespace: report.source.namespace };
    const of = `${state} ${kind} ${source}`;
    const begun = { of, kind, source, share };
    if (state === "nowhere") {
      warnings.push({ ...begun, fields: { kind, source }, message: NOWHERE_TEXT });
      continue;
    }
    const fields = { kind, source, reasons: report.problems.map(problemText) };
    warnings.push({ ...begun, fields, message: "source refused" });
  }
}

// Without a list there is no warning, because it may be intended. Copies that an entry made are frozen then,
// which is reported.
function listWarnings({ list }: Plan): readonly Warning[] {
  const { state, reason, refused } = list;
  const share = NOBODYS;
  if (state === "unread")
    return [
      {
        of: "list unread",
        fields: { reason: reason && reasonText(reason) },
        message: "source list not read",
        share,
      },
    ];
  if (refused.length === 0) return [];
  const reasons = refused.slice(0, MOST_NAMED).map((entry) => entry.reason);
  const fields = { count: refused.length, reasons };
  return [{ of: "list refused", fields, message: "entries of the source list refused", share }];
}

const MESSAGE: Partial<Record<Verdict, string>> = {
  held: "held",
  frozen: "copies frozen",
};

function messageOf(row: Row): string | undefined {
  if (row.verdict === "conflict") return CONFLICT_LINES[conflictKind(row)];
  return isFought(row) ? FOUGHT : MESSAGE[row.verdict];
}

const FOUGHT = "copies are repeatedly changed by another client; backing off";

function* rowWarnings({ rows }: Plan, warnings: Warning[]): Generator<undefined, void> {
  const groups = new Map<string, { readonly message: string; readonly members: Row[] }>();
  for (const [index, row] of rows.entries()) {
    if (index % PER_TURN === 0) yield;
    const message = messageOf(row);
    if (message === undefined) continue;
    const { verdict, kind, source, reason } = row;
    // The reason of a held removal contains a count of other removals.
    const text = verdict === "held" ? "" : reasonText(reason);
    const of = `${verdict} ${placeKey(kind, source)} ${text}`;
    const group = groups.get(of);
    if (group) group.members.push(row);
    else groups.set(of, { message, members: [row] });
  }
  let count = 0;
  for (const [of, { message, members }] of groups) {
    if (count++ % PER_TURN === 0) yield;
    const [first] = members;
    if (first) warnings.push(rowWarning(of, message, first, members));
  }
}

function rowWarning(of: string, message: string, first: Row, members: readonly Row[]): Warning {
  const { kind, reason, pulling } = first;
  const source = refText(first.source);
  const places = named(members.map(({ place }) => place));
  const fields = { kind, source, reason: reasonText(reason), ...places };
  const share: Share = pulling
    ? { of: "pulls", namespace: first.place.namespace }
    : { of: "sources", namespace: first.source.namespace };
  const lingersMs = message === FOUGHT ? FIGHT_OVER_MS : 0;
  const due = dueOf(members);
  return { of, kind, source, fields, ...(due && { due }), message, share, lingersMs };
}

/** The due time of the first row. */
function dueOf(rows: readonly Row[]): Warning["due"] {
  const [first, ...others] = rows.filter(({ dueAt }) => dueAt !== undefined);
  if (!first) return undefined;
  const soonest = others.reduce((a, b) => ((b.dueAt ?? 0) < (a.dueAt ?? 0) ? b : a), first);
  return { at: soonest.dueAt ?? 0, words: dueWordsOf(soonest) };
}

function failureWarning({
  kind,
  source: from,
  cause,
  reason,
  places,
  dueAt,
}: FailingGroup): Warning {
  const source = refText(from);
  const fields = { kind, source, cause, reason, ...named(places) };
  const shape = reasonShape(reason);
  return {
    of: `failed ${kind} ${source} ${cause} ${shape}`,
    failing: { places, shape },
    kind,
    source,
    fields,
    ...(dueAt !== undefined && { due: { at: dueAt, words: RETRIED } }),
    message: "write failed, will try again",
    share: { of: "sources", namespace: from.namespace },
  };
}

const FURTHER = "write failed, further places";

/** The places after the first five, in chunks that fill a line. */
function restOf(places: readonly Ref[]): readonly (readonly string[])[] {
  if (places.length <= MOST_NAMED) return [];
  const names = places.slice(0, MOST_LOGGED).map(refText).toSorted();
  const chunks: (readonly string[])[] = [names.slice(MOST_NAMED, MOST_PLACES)];
  for (let at = MOST_PLACES; at < names.length; at += MOST_PLACES)
    chunks.push(names.slice(at, at + MOST_PLACES));
  return chunks;
}

const RETRIED = dueWordsOf({ verdict: "backoff", pulling: false });

function named(places: readonly Ref[]) {
  return { count: places.length, places: firstNames(places) };
}

// The first names in sorted order, so that the order of tries is not a change. Sorting up to a hundred thousand
// names for five would be too slow.
function firstNames(places: readonly Ref[]): readonly string[] {
  const first: string[] = [];
  for (const place of places) {
    const name = refText(place);
    const last = first[MOST_NAMED - 1];
    if (last !== undefined && name >= last) continue;
    const at = first.findIndex((each) => name < each);
    first.splice(at < 0 ? first.length : at, 0, name);
    first.length = Math.min(first.length, MOST_NAMED);
  }
  return first;
}
