// What a plan shows that somebody should mend and that fails nothing: a line when it begins, when it
// changes, at most once a minute, and one when it is over. However much of it tenants write, a line
// holds a count and a few names.
import {
  IGNORED_HEADLINES,
  IGNORED_REASONS,
  type IgnoredReason,
} from "../core/annotations/ignored.ts";
import type { Plan } from "../core/model/verdicts.ts";
import type { Clock } from "../kube/time/clock.ts";
import type { Log } from "./log.ts";
import type { SyncHooks, SyncNote } from "./sync-log.ts";
import { Repeats } from "./repeats.ts";
import { refText } from "../core/annotations/names.ts";

const MOST_NAMED = 5;

/** One kind of trouble; `fields` tell whether it has changed. */
type Warning = {
  readonly of: string;
  readonly fields: Parameters<Log["warn"]>[0];
  readonly message: string;
};

export class PlanWarnings implements SyncHooks {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #repeats = new Repeats(1);
  /** What was told of each that goes on. */
  #told = new Map<string, Told>();

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  onPlan(plan: Plan, { settled }: SyncNote): void {
    if (!settled) return;
    const now = this.#clock.monotonic();
    const before = this.#told;
    this.#told = new Map();
    for (const warning of ignoredWarnings(plan)) this.#tell(warning, before.get(warning.of), now);
    for (const [of, { message }] of before)
      if (!this.#told.has(of)) this.#log.info({}, `over: ${message}`);
  }

  #tell({ of, fields, message }: Warning, before: Told | undefined, now: number): void {
    const text = JSON.stringify(fields);
    const due = before?.text !== text && this.#repeats.happened(of, now) !== undefined;
    if (due) this.#log.warn(fields, message);
    if (due || before) this.#told.set(of, { text: due ? text : (before?.text ?? ""), message });
  }
}

type Told = { readonly text: string; readonly message: string };

function ignoredWarnings({ ignored, namespaces }: Plan): readonly Warning[] {
  return IGNORED_REASONS.flatMap((reason) => {
    const count = ignored.counts[reason];
    if (count === 0) return [];
    const named = reason === "accept" ? namespaces.map(({ namespace }) => namespace) : [];
    const secrets = ignored.sample
      .filter((each) => each.ignored.reason === reason)
      .map(({ secret }) => refText(secret));
    const on = namedBy(reason, [...named, ...secrets].slice(0, MOST_NAMED));
    const message = `without effect: ${IGNORED_HEADLINES[reason]}`;
    return [{ of: `ignored ${reason}`, fields: { reason, count, ...on }, message }];
  });
}

function namedBy(reason: IgnoredReason, names: readonly string[]) {
  return reason === "accept" ? { namespaces: names } : { secrets: names };
}
