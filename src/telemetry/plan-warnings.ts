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
    for (const warning of [...nowhereWarnings(plan), ...ignoredWarnings(plan)])
      this.#tell(warning, before.get(warning.of), now);
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

function nowhereWarnings({ sources }: Plan): readonly Warning[] {
  const named: string[] = [];
  let count = 0;
  for (const { nowhere, source } of sources) {
    if (nowhere && count++ < MOST_NAMED) named.push(refText(source));
  }
  const message = "sources copied nowhere: no namespace matches them and accepts them";
  return count > 0 ? [{ of: "nowhere", fields: { count, sources: named }, message }] : [];
}

function ignoredWarnings(plan: Plan): readonly Warning[] {
  const { ignored } = plan;
  return IGNORED_REASONS.flatMap((reason) => {
    const count = ignored.counts[reason];
    if (count === 0) return [];
    const on = namesOf(plan, reason);
    const message = `without effect: ${IGNORED_HEADLINES[reason]}`;
    return [{ of: `ignored ${reason}`, fields: { reason, count, ...on }, message }];
  });
}

function namesOf({ ignored, namespaces }: Plan, reason: IgnoredReason) {
  if (reason === "flag") return { flags: ignored.flags.slice(0, MOST_NAMED) };
  if (reason === "accept") {
    const first = namespaces.slice(0, MOST_NAMED);
    return { namespaces: first.map(({ namespace }) => namespace) };
  }
  const secrets = ignored.sample.filter((each) => each.ignored.reason === reason);
  return { secrets: secrets.slice(0, MOST_NAMED).map(({ secret }) => refText(secret)) };
}
