// One history on a state of the cluster and the process: events, plans, requests, with one disturbance.
// Judges every request.
import { ApiError } from "../../packages/kube/rest/api-error.ts";
import type { ApiRequest } from "../../packages/kube/rest/api-client.ts";
import { wordOf, type Raw } from "../campaign/model/raw.ts";
import { isPull } from "../campaign/model/standing.ts";
import { Truth, wrongInAnyCase } from "./judge.ts";
import { answer, askedFor, type Objects, type RawObject } from "./server.ts";
import { FIRST_MS } from "./snapshot.ts";
import {
  copyOfProcess,
  GRACE_MS,
  HOLD_MS,
  LIST_SLOT,
  memoryText,
  newProcess,
  reportedRemovals,
  sourcesWithRow,
  Subject,
  type Planned,
  type Process,
  type Settings,
} from "./subject.ts";

/** A change of one event, by slot; undefined: nothing is there any more. */
export type Change = ReadonlyMap<string, RawObject | undefined>;
export type Event = (objects: Objects) => Change | undefined;

export type State = {
  readonly objects: Objects;
  readonly process: Process;
  readonly now: number;
  /** Since when each copy has been unwanted, as the cluster truly was. */
  readonly unwanted: ReadonlyMap<string, number>;
  /** The time that was last reported for a removal. */
  readonly reported: ReadonlyMap<string, number>;
  /** Since when somebody clearly asks for a removal: the namespace, or a source that names nobody. */
  readonly asked: ReadonlyMap<string, number>;
  /** When a source stopped wanting copies of one name in a namespace, for one hold: "SOURCE NAME NAMESPACE". */
  readonly lost: ReadonlyMap<string, number>;
  /** The copies that the first sync of the process found unwanted. */
  readonly atStart: ReadonlySet<string>;
};

export type Disturbance =
  | { readonly kind: "kill"; readonly at: number; readonly acted: boolean }
  | { readonly kind: "refuse"; readonly at: number; readonly code: number }
  | { readonly kind: "lose"; readonly at: number }
  | { readonly kind: "second"; readonly at: number; readonly event: Event; readonly seen: boolean };

/** Waits within a transition: back-offs after one failure, and none of the grace. */
const SOON_MS = 30_000;
/** After it, nothing of a transition is remembered for its own sake. */
const QUIET_MS = 61 * 60_000;
const MOST_ROUNDS = 80;

export class Violation extends Error {}

export type Counts = {
  requests: number;
  writes: number;
  removals: number;
  refused: number;
};

export class Run {
  readonly #settings: Settings;
  readonly objects: Objects;
  #process: Process;
  #subject: Subject;
  now: number;
  readonly #unwanted: Map<string, number>;
  readonly #reported: Map<string, number>;
  readonly #asked: Map<string, number>;
  readonly #lost: Map<string, number>;
  readonly #atStart: Set<string>;
  #isFirstSync = false;
  readonly #disturbance: Disturbance | undefined;
  /** What its watches showed when it planned, where that may differ from what is so. */
  #believed: Objects | undefined;
  /** The cluster as it was when it planned. */
  #planned: Objects | undefined;
  /** Slots whose watch events are held back. */
  readonly #hidden = new Set<string>();
  #dead = false;
  /** The writer would take what a judge throws for a failed request. */
  #violation: Violation | undefined;
  #truth: Truth | undefined;
  readonly counts: Counts = { requests: 0, writes: 0, removals: 0, refused: 0 };
  /** Writes by slot. */
  readonly written = new Map<string, number>();

  constructor(settings: Settings, state: State, disturbance?: Disturbance) {
    this.#settings = settings;
    this.objects = new Map(state.objects);
    this.now = state.now;
    this.#unwanted = new Map(state.unwanted);
    this.#reported = new Map(state.reported);
    this.#asked = new Map(state.asked);
    this.#lost = new Map(state.lost);
    this.#atStart = new Set(state.atStart);
    this.#disturbance = disturbance;
    this.#process = copyOfProcess(state.process);
    this.#subject = this.#begin();
  }

  static first(objects: Objects): State {
    const now = FIRST_MS;
    const [unwanted, reported, asked] = [new Map(), new Map(), new Map()];
    const [lost, atStart] = [new Map(), new Set<string>()];
    return { objects, process: newProcess(objects), now, unwanted, reported, asked, lost, atStart };
  }

  state(): State {
    const { objects, now } = this;
    const [unwanted, reported, asked] = [this.#unwanted, this.#reported, this.#asked];
    const [lost, atStart] = [this.#lost, this.#atStart];
    return { objects, now, process: this.#process, unwanted, reported, asked, lost, atStart };
  }

  #begin(): Subject {
    return new Subject(this.#settings, this.#process, {
      now: () => this.now,
      request: (request) => this.#request(request),
    });
  }

  /** A user's event. `seen` false: its watch events are held back until `deliver`. False: it does not apply. */
  happen(event: Event, seen = true): boolean {
    const change = event(this.objects);
    if (!change) return false;
    for (const [slot, raw] of change) {
      if (raw) this.objects.set(slot, raw);
      else this.objects.delete(slot);
      if (seen && !this.#hidden.has(slot)) this.#subject.deliver(slot, raw);
      else this.#hidden.add(slot);
    }
    this.#truth = undefined;
    return true;
  }

  /** What was held back is shown before the next plan. */
  deliver(): void {
    this.#hidden.clear();
  }

  /** A new process, or another leader. */
  restart(): void {
    this.#process = newProcess(this.objects, this.#process.memory);
    this.#subject = this.#begin();
    // It counts every wait anew.
    for (const times of [this.#unwanted, this.#asked])
      for (const slot of times.keys()) times.set(slot, this.now);
    this.#lost.clear();
    this.#atStart.clear();
    this.#isFirstSync = true;
    this.#hidden.clear();
    this.#dead = false;
  }

  /** The first process. */
  async begin(): Promise<void> {
    this.#isFirstSync = true;
    await this.settle();
    await this.quiet();
  }

  /** Plans and writes until nothing is due now. */
  async settle(withinMs = SOON_MS): Promise<void> {
    const until = this.now + withinMs;
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const plan = this.#plan();
      if (plan.actions.length === 0) {
        if (plan.nextAt === undefined || plan.nextAt > until) return;
        this.now = Math.max(this.now + 1, plan.nextAt);
        continue;
      }
      for (const action of plan.actions) {
        await this.#subject.perform(action, () => !this.#dead);
        if (this.#violation) throw this.#violation;
        if (this.#dead) break;
      }
      if (this.#dead) this.restart();
      // What a second event changed is seen by the next plan.
      else if (this.#hidden.size > 0 && this.#disturbance?.kind === "second") this.deliver();
      this.now++;
    }
    // What is written on an object of which no watch tells is refused and tried again for as long.
    if (this.#hidden.size === 0) throw new Violation("it does not come to rest");
  }

  /** A minute in which nothing happens and nothing is written. */
  async quiet(): Promise<void> {
    this.now += QUIET_MS;
    const writes = this.counts.writes;
    await this.settle();
    if (this.counts.writes > writes) throw new Violation("it writes although nothing happened");
  }

  async pass(ms: number): Promise<void> {
    this.now += ms;
    await this.settle();
  }

  /** Until nothing is due, however long that takes. */
  async rest(): Promise<void> {
    await this.settle(10 * HOLD_MS);
    const wrong = this.truth.wrongAtRest;
    if (wrong.length > 0) throw new Violation(`at rest: ${wrong.join("; ")}`);
    const writes = this.counts.writes;
    this.restart();
    await this.settle(10 * HOLD_MS);
    if (this.counts.writes > writes)
      throw new Violation("a new process writes although all is at rest");
  }

  get truth(): Truth {
    return (this.#truth ??= new Truth(this.#settings, this.objects));
  }

  #plan(): Planned {
    const { shown } = this.#process;
    for (const slot of new Set([...this.objects.keys(), ...shown.keys()]))
      if (!this.#hidden.has(slot)) this.#subject.deliver(slot, this.objects.get(slot));
    const view = this.#hidden.size > 0 ? new Truth(this.#settings, new Map(shown)) : this.truth;
    this.#planned = this.#disturbance?.kind === "second" ? new Map(this.objects) : undefined;
    this.#believed = this.#hidden.size > 0 || this.#disturbance ? new Map(shown) : undefined;
    const plan = this.#subject.plan();
    this.#judgeWaits(view, reportedRemovals(plan));
    const silent = view.wantedWithoutRow(sourcesWithRow(plan));
    if (silent !== undefined) throw new Violation(silent);
    return plan;
  }

  // As the process was shown it: what it never saw interrupts nothing.
  #judgeWaits(shown: Truth, reported: ReadonlyMap<string, number>): void {
    const unwanted = new Set<string>();
    for (const [place, raw] of shown.world.objects) {
      if (!shown.isUnwanted(raw)) continue;
      const slot = `${shown.world.kind} ${place}`;
      unwanted.add(slot);
      if (!this.#unwanted.has(slot)) this.#unwanted.set(slot, this.now);
      if (this.#isFirstSync) this.#atStart.add(slot);
      const isAskedFor = shown.isAskedFor(raw);
      const key = `${shown.lossKey(raw)} ${raw.metadata.namespace ?? ""}`;
      // A place has one memory, and what its namespace declines was not lost by the source.
      if (shown.isDeclined(raw)) this.#lost.delete(key);
      else this.#lost.set(key, this.#unwanted.get(slot) ?? this.now);
      if (!isAskedFor) this.#asked.delete(slot);
      else if (!this.#asked.has(slot)) this.#asked.set(slot, this.now);
    }
    this.#isFirstSync = false;
    for (const slot of this.#unwanted.keys())
      if (!unwanted.has(slot))
        for (const times of [this.#unwanted, this.#reported, this.#asked, this.#atStart])
          times.delete(slot);
    for (const [key, at] of this.#lost) if (at < this.now - HOLD_MS) this.#lost.delete(key);
    for (const [slot, at] of reported) {
      if (!unwanted.has(slot))
        throw new Violation(`${slot}: a removal is reported of what is wanted`);
      const before = this.#reported.get(slot) ?? at;
      const asked = this.#asked.get(slot);
      if (at < before && (asked === undefined || at < asked + GRACE_MS))
        throw new Violation(`${slot}: the reported time became earlier`);
      this.#reported.set(slot, at);
      const raw = shown.world.objects.get(slot.slice(slot.indexOf(" ") + 1));
      // What pulls has waits of its own.
      if (raw && asked === undefined && !isPull(raw)) this.#judgeWait(shown, slot, raw, at);
    }
  }

  /** By the rule with four rows. */
  #judgeWait(shown: Truth, slot: string, raw: Raw, at: number): void {
    const key = `${shown.lossKey(raw)} `;
    const lost = [...this.#lost.keys()].filter((one) => one.startsWith(key)).length;
    const isSmall = !this.#atStart.has(slot) && shown.isSmallLoss(raw, lost);
    const owedMs = isSmall ? GRACE_MS : HOLD_MS;
    const since = this.#unwanted.get(slot) ?? this.now;
    if (at < since + owedMs)
      throw new Violation(
        `${slot}: it waits for less than the ${isSmall ? "grace" : "hold"} (${lost} lost)`,
      );
  }

  async #request(request: ApiRequest): Promise<unknown> {
    if (this.#dead) throw cancelled(request);
    const at = ++this.counts.requests;
    const hit = this.#disturbance?.at === at ? this.#disturbance : undefined;
    if (hit?.kind === "second") this.happen(hit.event, hit.seen);
    if (request.mayStillSend?.() === false) throw cancelled(request);
    if (hit?.kind === "kill" && !hit.acted) {
      this.#dead = true;
      throw cancelled(request);
    }
    if (hit?.kind === "refuse") {
      this.counts.refused++;
      answer(this.objects, request, hit.code);
    }
    const { slot } = askedFor(request);
    const before = this.objects.get(slot);
    const result = answer(this.objects, request);
    const after = this.objects.get(slot);
    try {
      if (before !== after) this.#judge(request, slot, before, after);
    } catch (error) {
      if (error instanceof Violation) this.#violation ??= error;
      throw error;
    }
    if (hit?.kind === "kill") {
      this.#dead = true;
      throw cancelled(request);
    }
    if (hit?.kind === "lose") {
      const details = { kind: "unavailable", reason: "ECONNRESET" } as const;
      throw new ApiError(request.what, details);
    }
    return result;
  }

  #judge(
    request: ApiRequest,
    slot: string,
    before: RawObject | undefined,
    after: RawObject | undefined,
  ): void {
    this.counts.writes++;
    this.written.set(slot, (this.written.get(slot) ?? 0) + 1);
    const what = `${request.method} ${slot}`;
    const form = wrongInAnyCase(request, before, after);
    if (form !== undefined) throw new Violation(`${what}: ${form}`);
    // As it was before the write.
    const then = new Map(this.objects);
    if (before) then.set(slot, before);
    else then.delete(slot);
    const found = this.#verdict(then, slot, before, after);
    if (found.wrong !== undefined) throw new Violation(`${what}: ${found.wrong}`);
    if (found.removes || found.takesOver) this.#judgeRemoval(what, slot);
    this.#truth = undefined;
  }

  // A process that has been shown something else may act on that. What it was shown before the request
  // is sent excuses old content only.
  #verdict(
    then: Objects,
    slot: string,
    before: RawObject | undefined,
    after: RawObject | undefined,
  ) {
    const verdictOn = (objects: Objects) =>
      new Truth(this.#settings, withSlot(objects, slot, before)).wrongWrite(before, after);
    const now = verdictOn(then);
    if (!this.#believed || (now.wrong === undefined && !now.removes)) return now;
    const shown = verdictOn(new Map(this.#process.shown));
    const planned = verdictOn(this.#believed);
    // What a removal follows from was read live, so only what happened since then excuses it.
    const removing = [shown, planned].find(({ removes }) => removes);
    if (now.wrong === undefined) {
      // What is a removal by now was planned as a replace.
      const isReplace = [shown, planned].some(({ wrong, removes }) => !(wrong ?? removes));
      return isReplace ? {} : now;
    }
    if (removing) {
      const live = [then, this.#planned].filter((one) => one !== undefined);
      return live.some((one) => verdictOn(this.#readLive(one, before)).removes) ? removing : now;
    }
    if (shown.wrong === undefined) return shown;
    return planned.wrong === undefined && shown.ofContent ? planned : now;
  }

  // What the watches showed, and of source, Namespace and list what a live read shows.
  #readLive(live: Objects, before: RawObject | undefined): Objects {
    const { namespace = "" } = before?.metadata ?? {};
    const named = before && (wordOf(before, "source") ?? wordOf(before, "from"));
    // Who else wants the place by now is not asked: it is as it was planned.
    let read: Objects = new Map(this.#believed);
    for (const slot of [`${this.#settings.kind} ${named}`, namespace, LIST_SLOT])
      read = withSlot(read, slot, live.get(slot));
    return read;
  }

  #judgeRemoval(what: string, slot: string): void {
    this.counts.removals++;
    const since = this.#unwanted.get(slot) ?? Number.POSITIVE_INFINITY;
    const waited = this.now - since;
    if (waited < GRACE_MS) throw new Violation(`${what}: its grace was not over`);
    if (this.now >= (this.#asked.get(slot) ?? Number.POSITIVE_INFINITY) + GRACE_MS) return;
    const reported = this.#reported.get(slot);
    if (reported === undefined) throw new Violation(`${what}: no time was reported`);
    if (this.now < reported) throw new Violation(`${what}: earlier than the reported time`);
  }
}

function withSlot(objects: Objects, slot: string, raw: RawObject | undefined): Objects {
  const made = new Map(objects);
  if (raw) made.set(slot, raw);
  else made.delete(slot);
  return made;
}

function cancelled({ what }: ApiRequest): ApiError {
  return new ApiError(what, { kind: "cancelled", reason: "Killed" });
}

const texts = new WeakMap<RawObject, string>();
function objectText(raw: RawObject): string {
  const known = texts.get(raw);
  if (known !== undefined) return known;
  const text = JSON.stringify(raw, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  texts.set(raw, text);
  return text;
}

const IDENTITY = /uid-\d+\.|\b1\d{9}\b/g;

/** Two states with one text are one state. */
export function canonical(
  { kind }: Settings,
  { objects, process, now, unwanted, reported, asked, lost, atStart }: State,
): string {
  const names = new Map<string, string>();
  for (const [slot, { metadata }] of objects) {
    names.set(metadata.uid, `@${slot}`);
    names.set(metadata.resourceVersion, `=${slot}`);
  }
  let dead = 0;
  const text = (given: string): string =>
    given.replaceAll(IDENTITY, (id) => {
      const known = names.get(id) ?? (id.startsWith("uid") ? `dead${++dead}` : "past");
      names.set(id, known);
      return known;
    });
  // What the first sync of a process found is reported by that time alone.
  const { beganAt } = process.memory.shared;
  const time = (at: number): string => `${ageOf(now - at)}${at === beganAt ? "!" : ""}`;
  const slots = [...objects.keys()].toSorted();
  const cluster = slots.map(
    (slot) => `${slot}:${text(objectText(objects.get(slot) as RawObject))}`,
  );
  const ages = (times: ReadonlyMap<string, number>): string =>
    Array.from(times, ([slot, at]) => `${slot} ${time(at)}`)
      .toSorted()
      .join(",");
  return [
    ...cluster,
    ages(unwanted),
    ages(reported),
    ages(asked),
    ages(lost),
    [...atStart].toSorted().join(","),
    memoryText(process, kind, { time, text }),
  ].join("\n");
}

function ageOf(ms: number): string {
  const [ahead, far] = ms < 0 ? ["+", -ms] : ["-", ms];
  if (far < GRACE_MS) return `${ahead}0`;
  if (far < HOLD_MS) return `${ahead}g`;
  return far < 2 * HOLD_MS ? `${ahead}h` : `${ahead}x`;
}
