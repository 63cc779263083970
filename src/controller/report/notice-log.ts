// Prints notices to the log. A notice has a line when it begins, when it changes (at most once a minute) and
// when it is over. A state that does not change is not logged again. A line holds a count and a few names, and
// the lines per minute are limited, so that tenants cannot flood the log. For failed writes the other places
// follow, 100 to a line.
import { dueText, isoTime } from "../settings/due-text.ts";
import type { Clock } from "../../../packages/kube/time/clock.ts";
import { refText } from "../../text/names.ts";
import type { Outcome } from "../writes/outcome.ts";
import type { Log, LogKeys } from "./log.ts";
import { failureId, type Notice, type Place } from "./notices.ts";
import { type Groups, RateLimit, NamespaceRateLimit } from "./rate-limit.ts";
import { troubledBy } from "./troubles.ts";
import { MOST_PLACES } from "./outcome-journal.ts";

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
/** Lines between two yields. */
const PER_TURN = 1024;
const MINUTE_MS = 60_000;
const FURTHER = "write failed, further places";

/** Whose limit the lines count against. */
type Share = { readonly of: keyof typeof MOST_A_MINUTE; readonly groups: Groups };

type Logged = Pick<Notice, "id" | "message"> & {
  readonly subject: string;
  readonly share: Share;
  /** Of the last line. */
  readonly fields: LogKeys;
  readonly text: string;
  readonly at: number;
};

export class NoticeLog {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #repeats = new RateLimit(MOST_OF_A_KIND);
  readonly #shares = {
    sources: new NamespaceRateLimit(MOST_A_MINUTE.sources),
    pulls: new NamespaceRateLimit(MOST_A_MINUTE.pulls),
    places: new NamespaceRateLimit(MOST_A_MINUTE.places),
  };
  /** What was logged of each notice that is not over, by id. */
  readonly #logged = new Map<string, Logged>();
  /** Failed tries since the last line, by notice. */
  readonly #tries = new Map<string, number>();

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  onOutcome(outcome: Outcome): void {
    if (outcome.kind !== "failed") return;
    const { cause, reason, action } = outcome;
    const id = failureId(troubledBy(action), cause, reason);
    this.#tries.set(id, (this.#tries.get(id) ?? 0) + 1);
  }

  *print(notices: readonly Notice[]): Generator<undefined, void> {
    const now = this.#clock.monotonic();
    const over = new Map(this.#logged);
    for (const { id } of notices) over.delete(id);
    for (const [index, notice] of notices.entries()) {
      if (index % PER_TURN === 0) yield;
      this.#print(notice, over, now);
    }
    this.#end(over, now);
    const fails = notices.some(({ code }) => code === "failed");
    if (!fails || this.#tries.size > MOST_REASONS) this.#tries.clear();
  }

  /** `over`: logged notices that are over now. */
  #print(notice: Notice, over: Map<string, Logged>, now: number): void {
    const { id, message, due } = notice;
    const before = this.#logged.get(id);
    const share = shareOf(notice);
    if (!before && this.#shares[share.of].isFull(share.groups, now)) return;
    const fields = fieldsOf(notice);
    // A hold that begins anew is a change. The retry time of a failed write is not, because it changes each try.
    const held = due?.words.unless === undefined ? "" : Math.round(due.at / 1000);
    const text = `${JSON.stringify(fields)} ${held}`;
    if (before?.text === text || (before && now - before.at < MINUTE_MS)) return;
    const subject = subjectOf(notice);
    if (this.#repeats.tryTake(subject, now) === undefined) return;
    if (!this.#shares[share.of].tryTake(share.groups, now)) return;
    // Another reason replaces one that is over. The problem has changed and has not ended.
    const replaced = before ?? [...over.values()].find((each) => each.subject === subject);
    if (replaced) {
      over.delete(replaced.id);
      this.#logged.delete(replaced.id);
    }
    this.#warn(notice, fields, share, now);
    this.#logged.set(id, { id, message, subject, share, fields, text, at: now });
  }

  #warn({ id, code, message, places, due }: Notice, fields: LogKeys, share: Share, now: number) {
    const tries = this.#tries.get(id);
    this.#tries.delete(id);
    const [others, ...further] = code === "failed" ? restOf(places) : [];
    const nowMs = this.#clock.now();
    const dueMs = nowMs + (due?.at ?? now) - now;
    const keys = {
      ...fields,
      ...(others && { others }),
      ...(tries !== undefined && { tries }),
      ...(due && { dueAt: isoTime(dueMs), due: dueText(due.words, dueMs, nowMs) }),
    };
    this.#log.warn(keys, message);
    for (const each of further)
      if (this.#shares.places.tryTake(share.groups, now))
        this.#log.warn({ ...fields, places: each }, FURTHER);
  }

  #end(over: ReadonlyMap<string, Logged>, now: number): void {
    for (const [subject, ended] of Map.groupBy(over.values(), (each) => each.subject)) {
      const [first] = ended;
      // A later plan reports what is left out, if it has not begun again.
      if (!first || this.#repeats.tryTake(`resolved: ${subject}`, now) === undefined) continue;
      if (!this.#shares[first.share.of].tryTake(first.share.groups, now)) continue;
      const { kind, source } = first.fields;
      const [reasons, places] = [textsOf(ended, "reason"), textsOf(ended, "places")];
      const count = ended.reduce((sum, { fields }) => sum + Number(fields["count"] ?? 0), 0);
      const where = places.length > 0 && { count, places };
      const fields = source === undefined ? {} : { kind, source, reasons, ...where };
      this.#log.info(fields, `resolved: ${first.message}`);
      for (const { id } of ended) this.#logged.delete(id);
    }
  }
}

function textsOf(ended: readonly Logged[], field: "reason" | "places"): readonly string[] {
  return ended
    .flatMap(({ fields }) => fields[field] ?? [])
    .slice(0, MOST_NAMED)
    .map(String);
}

/** By which lines are limited: a problem of one object, or one that is of no object. */
function subjectOf({ of, message, id }: Notice): string {
  return `${message} ${of ? `${of.kind} ${refText(of.source)}` : id}`;
}

// A user can forge a copy of any source, in a namespace that does not exist. So a line counts where its places are too.
function shareOf({ code, of, pulling, places }: Notice): Share {
  const namespaces = [...new Set(places.map(({ place }) => place.namespace))];
  const within = places.length > 0 ? [namespaces.slice(0, MOST_PLACES)] : [];
  if (pulling && code !== "failed") return { of: "pulls", groups: within };
  return { of: "sources", groups: of ? [[of.source.namespace], ...within] : within };
}

function fieldsOf({ of, params, places }: Notice): LogKeys {
  const named = places.length > 0 && { count: places.length, places: firstNames(places) };
  return { ...(of && { kind: of.kind, source: refText(of.source) }), ...params, ...named };
}

/** The places after the first five, in chunks that fill a line. */
function restOf(places: readonly Place[]): readonly (readonly string[])[] {
  if (places.length <= MOST_NAMED) return [];
  const names = places
    .slice(0, MOST_LOGGED)
    .map(({ place }) => refText(place))
    .toSorted();
  const chunks: (readonly string[])[] = [names.slice(MOST_NAMED, MOST_PLACES)];
  for (let at = MOST_PLACES; at < names.length; at += MOST_PLACES)
    chunks.push(names.slice(at, at + MOST_PLACES));
  return chunks;
}

// The first names in sorted order, so that the order of tries is not a change. Sorting up to a hundred thousand
// names for five would be too slow.
function firstNames(places: readonly Place[]): readonly string[] {
  const first: string[] = [];
  for (const { place } of places) {
    const name = refText(place);
    const last = first[MOST_NAMED - 1];
    if (last !== undefined && name >= last) continue;
    const at = first.findIndex((each) => name < each);
    first.splice(at < 0 ? first.length : at, 0, name);
    first.length = Math.min(first.length, MOST_NAMED);
  }
  return first;
}
