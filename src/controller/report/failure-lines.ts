// Requests that are made again and again, such as those of a watch or a Lease: where they fail there are
// so many lines a minute, the rest is counted, and one line says when all of them work again. Nothing is
// told of what was not told to have failed. It remembers as much as there are parts.
import type { Clock } from "../../kube/time/clock.ts";
import type { Log } from "./log.ts";
import { Repeats } from "./repeats.ts";

/** Lines of failures of one subject in any minute. */
const MOST_LINES = 3;

type Fields = Parameters<Log["warn"]>[0];

/** One of those whose requests make up a subject: the watch of one namespace, say. */
export type FailureLine = {
  readonly failed: (error: unknown) => void;
  /** What `failed` told is over for this one. */
  readonly worked: () => void;
};

/** What is reported together: it fails while one of its parts does. */
type Subject = { readonly failing: Set<object>; sinceMs: number; isTold: boolean };

export class FailureLines {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #message: string;
  readonly #repeats = new Repeats(MOST_LINES);
  readonly #subjects = new Map<string, Subject>();

  /** `message`: what each line says; the one that ends it puts "resolved: " before it. */
  constructor(log: Log, clock: Clock, message: string) {
    this.#log = log;
    this.#clock = clock;
    this.#message = message;
  }

  /** One more part of `subject`; its lines carry `fields`. */
  of(subject: string, fields: Fields = {}): FailureLine {
    const all = this.#subjects.get(subject) ?? { failing: new Set(), sinceMs: 0, isTold: false };
    this.#subjects.set(subject, all);
    const part = {};
    return {
      failed: (error) => {
        const now = this.#clock.monotonic();
        if (all.failing.size === 0) Object.assign(all, { sinceMs: now, isTold: false });
        all.failing.add(part);
        const count = this.#repeats.happened(subject, now);
        if (count === undefined) return;
        all.isTold = true;
        this.#log.warn({ ...fields, error: errorText(error), count }, this.#message);
      },
      worked: () => {
        if (!all.failing.delete(part) || all.failing.size > 0 || !all.isTold) return;
        const afterMs = Math.round(this.#clock.monotonic() - all.sinceMs);
        this.#log.info({ ...fields, afterMs }, `resolved: ${this.#message}`);
      },
    };
  }
}

const errorText = (error: unknown): string =>
  error instanceof Error ? error.message : "unexpected";
