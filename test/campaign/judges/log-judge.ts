// Judges the controller's log: one line a minute for each kind and place, a few for each source.
import { MOST_PLACES } from "../../../src/controller/report/outcome-journal.ts";
import { field } from "../../../packages/sandbox/testing/http.ts";
import type { Violations } from "./violations.ts";

const MINUTE_MS = 60_000;
/** One of a place, five of a source whose places change; one more for a minute that is not ours. */
const MOST_OF_A_PLACE = 2;
const MOST_OF_A_SOURCE = 6;
/** Lines about nothing in particular, such as of syncs. */
const MOST_UNPLACED_A_MINUTE = 20 * 60;
const MOST_KEYS = 20_000;

export class LogJudge {
  readonly #violations: Violations;
  readonly #recent = new Map<string, number[]>();
  #isStopping = false;
  /** What the last line of level error said. */
  lastError: string | undefined;

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  /** Another process: what the last one said is not repeated by this one. */
  restart(): void {
    this.#isStopping = false;
    this.#recent.clear();
    this.lastError = undefined;
  }

  /** A process that stops logs at once what waited for a later minute. That repeats nothing. */
  stopping(): void {
    this.#isStopping = true;
  }

  take(line: string): void {
    const entry = parsed(line);
    if (entry === undefined) {
      // Of a process that dies, the last words on its standard error.
      if (/FATAL|Error:/.test(line)) this.lastError = line.slice(0, 200);
      return;
    }
    const message = String(field(entry, "msg"));
    if (field(entry, "level") === "error") this.lastError = message;
    if (this.#isStopping) return;
    // A line of a hundred places repeats nothing: a fan-out needs as many lines as it has hundreds of places.
    const places = field(entry, "places");
    if (Array.isArray(places) && places.length === MOST_PLACES) return;
    // The line's own time: on a busy machine its reader sees it up to seconds later than the next one.
    const now = Date.parse(textAt(entry, "time") ?? "");
    const place = textAt(entry, "place");
    const about = place ?? textAt(entry, "source") ?? textAt(entry, "resource");
    const key = [message, textAt(entry, "action"), about].filter(Boolean).join(" ");
    const times = (this.#recent.get(key) ?? []).filter((time) => time > now - MINUTE_MS);
    times.push(now);
    if (this.#recent.size > MOST_KEYS) this.#recent.clear();
    this.#recent.set(key, times);
    const most = about === undefined ? MOST_UNPLACED_A_MINUTE : mostOf(place);
    if (times.length === most + 1)
      this.#violations.add("the log repeats itself", `${key}: ${times.length} lines in a minute`);
  }
}

const mostOf = (place: string | undefined): number =>
  place === undefined ? MOST_OF_A_SOURCE : MOST_OF_A_PLACE;

function textAt(entry: unknown, key: string): string | undefined {
  const found = field(entry, key);
  return typeof found === "string" ? found : undefined;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
