// A random history of one source and its places: users, owners and tenants edit, the real planner and writer keep the
// copies, and Pods start and stay. The truth is known: what each Pod really holds by the rules of a kubelet, whose
// cache and refresh are late by up to the sync period. The API server records fields and times as the sandbox does.
import type { ApiRequest } from "../../../../packages/kube/rest/api-client.ts";
import { manage } from "../../../../packages/sandbox/kinds/field-manager.ts";
import { resources } from "../../../../packages/sandbox/kinds/resources.ts";
import type { StoredObject } from "../../../../packages/sandbox/storage/object.ts";
import type { Use, UsingPod } from "../../../../src/cli/holding/using-pod.ts";
import {
  clusterOf,
  creates,
  deletes,
  edits,
  namespace,
  object,
  says,
} from "../../../verify/events.ts";
import type { Event } from "../../../verify/run.ts";
import { answer, askedFor, type Objects, type RawObject } from "../../../verify/server.ts";
import { newProcess, Subject, type Settings } from "../../../verify/subject.ts";

export const SYNC = 120;
const SOURCE = "Secret secretcast/db";
export const SETTINGS: Settings = {
  kind: "Secret",
  policy: "opt-out",
  sourceNamespaces: "secretcast",
};
const MANAGER = "secretcast";
const [RESOURCE] = resources.filter(({ plural }) => plural === "secrets");
if (!RESOURCE) throw new Error("the sandbox serves no Secrets");
const secrets = RESOURCE;
const HOUR = 3600;
const START = Date.parse("2026-01-02T00:00:00Z") / 1000;
const MOST_ROUNDS = 60;

/** What is at a place from `at` on. */
type Content = { readonly at: number; readonly data: RawObject["data"] };

/** A Pod as it is, and whether it holds the value to revoke. */
export type LivingPod = { readonly pod: UsingPod; readonly isHolding: boolean };

const OLD = btoa("old");
const isOld = ({ data }: Content): boolean => data?.["key"] === OLD;

const [A, B] = ["Secret team-a/db", "Secret team-b/db"];
const OTHER = "Secret secretcast/aa";
const PULL = "Secret team-a/mine";

const COPIES: readonly Event[] = [
  ...["*", "team-a", "team-b", "!*"].map((to) => says(SOURCE, { to })),
  ...["false", ""].map((accept) => says("team-a", { accept })),
  ...["keep", ""].map((word) => says(SOURCE, { "on-delete": word })),
  ...[A, B].flatMap((slot) => [deletes(slot), creates(slot, { data: { key: "own" } })]),
  edits(A, () => ({ data: { key: "own" } })),
];

const PULLS: readonly Event[] = [PULL, A].flatMap((slot) => [
  ...["*", "team-b"].map((allow) => says(SOURCE, { allow })),
  ...["db", "aa"].map((name) =>
    creates(slot, { annotations: { from: `secretcast/${name}` }, data: {} }),
  ),
  says(slot, { from: "" }),
  ...["db", "aa"].map((name) => says(slot, { from: `secretcast/${name}` }, isPulling)),
  edits(slot, (raw) => (isPulling(raw) ? { data: { key: "own" } } : undefined)),
]);

const OTHERS: readonly Event[] = [
  ...["to", "allow"].map((word) => says(SOURCE, { [word]: "" })),
  ...["db2", ""].map((name) => says(SOURCE, { name })),
  ...["true", ""].map((paused) => says(SOURCE, { paused })),
  deletes(SOURCE),
  ...["to", "allow"].map((word) =>
    creates(SOURCE, { annotations: { [word]: "*" }, data: { key: "new" } }),
  ),
  creates(OTHER, { annotations: { to: "*", name: "db" }, data: { key: "other" } }),
  creates(OTHER, { annotations: { allow: "*" }, data: { key: "other" } }),
  deletes(OTHER),
  says("team-b", { accept: "false" }),
];

function isPulling({ metadata }: RawObject): boolean {
  return metadata.annotations?.["secretcast.io/from"] !== undefined;
}

const rotates: Event = edits(SOURCE, () => ({ data: { key: "new" } }));

export class PlaceHistory {
  readonly objects: Objects;
  /** Seconds since the epoch. */
  now = START;
  readonly log: string[] = [];
  readonly #chance: () => number;
  /** What mostly happens in it. */
  readonly #events: readonly Event[];
  readonly #contents = new Map<string, Content[]>();
  #pods: readonly { readonly pod: UsingPod; readonly use: Use; readonly seen: Content }[] = [];
  #started = 0;
  #subject: Subject;

  constructor(chance: () => number) {
    this.#chance = chance;
    const isPulled = chance() < 0.5;
    this.#events = isPulled ? PULLS : COPIES;
    const annotations = {
      ...(isPulled ? { allow: "*" } : { to: "*" }),
      ...(chance() < 0.4 && { "on-delete": "keep" }),
    };
    this.objects = clusterOf(...["secretcast", "team-a", "team-b"].map((name) => namespace(name)));
    this.#subject = this.#begin();
    this.#happen(() => new Map([[SOURCE, object(SOURCE, { annotations, data: { key: "old" } })]]));
  }

  async play(): Promise<void> {
    const [before, after] = [1 + this.#upTo(4), this.#upTo(4)];
    for (let n = 0; n < before; n++) await this.#step(() => this.#anyEvent());
    await this.#step(() => this.#happen(rotates));
    for (let n = 0; n < after; n++) await this.#step(() => this.#anyEvent());
    await this.#pass(this.#span(), true);
  }

  /** Since when the source has had another value than the old one. */
  get changedAt(): number {
    const contents = this.#contents.get(SOURCE) ?? [];
    return contents[contents.findLastIndex(isOld) + 1]?.at ?? this.now;
  }

  get pods(): readonly LivingPod[] {
    return this.#pods.map(({ pod, use, seen }) => ({
      pod,
      isHolding: isOld(use.by === "volume" ? this.#refreshed(pod, use, seen) : seen),
    }));
  }

  // The kubelet keeps the files of what was deleted.
  #refreshed({ namespace: home }: UsingPod, { name }: Use, seen: Content): Content {
    const slot = `Secret ${home}/${name}`;
    // What came within the sync period may be there or not: as chance has it, the same each time.
    const late = seen.at % SYNC;
    return (
      this.#contents
        .get(slot)
        ?.findLast(({ at, data }) => at > seen.at && at + late <= this.now && data) ?? seen
    );
  }

  async #step(event: () => void): Promise<void> {
    const isDown = this.#chance() < 0.15;
    if (this.#chance() < 0.5) this.#startPod();
    await this.#pass(this.#span(), !isDown);
    if (this.#chance() < 0.5) this.#startPod();
    this.#pods = this.#pods.filter(() => this.#chance() < 0.6);
    if (isDown) this.#subject = this.#begin();
    event();
    if (this.#chance() < 0.6) await this.#sync();
  }

  #span(): number {
    const spans = [1, 30, 150, 600, 13 * HOUR, 13 * HOUR, 250 * HOUR] as const;
    return spans[this.#upTo(spans.length - 1)] ?? 1;
  }

  #anyEvent(): void {
    for (let tries = 0; tries < 20; tries++) {
      const events = this.#chance() < 0.7 ? this.#events : OTHERS;
      const event = events[this.#upTo(events.length - 1)];
      if (event && this.#happen(event)) return;
    }
  }

  #happen(event: Event): boolean {
    const change = event(this.objects);
    if (!change) return false;
    for (const [slot, raw] of change) {
      const stamped = raw && this.#stamped(slot, raw, "kubectl");
      if (stamped) this.objects.set(slot, stamped);
      else this.objects.delete(slot);
      this.#note(slot);
      this.log.push(JSON.stringify(stamped?.metadata.annotations ?? {}));
    }
    return true;
  }

  #startPod(): void {
    const name = ["db", "db", "db", "db2", "mine"][this.#upTo(4)] ?? "db";
    const home = ["team-a", "team-b", "secretcast"][this.#upTo(2)] ?? "team-a";
    const slot = `Secret ${home}/${name}`;
    const readAt = this.now - this.#upTo(SYNC);
    const seen = this.#contents.get(slot)?.findLast(({ at }) => at <= readAt);
    const isOptional = this.#chance() < 0.2;
    // It waits for the object.
    if (!seen?.data && !isOptional) return;
    const ways = ["environment", "subPath", "volume"] as const;
    const by = ways[this.#upTo(2)] ?? "volume";
    const start = { kind: "started", at: this.now } as const;
    const use: Use = { name, by, start, isOptional };
    const pod: UsingPod = {
      namespace: home,
      name: `pod-${this.#started++}`,
      owner: undefined,
      createdAt: this.now,
      startedAt: this.now,
      isScheduled: true,
      isRunning: true,
      isDeleting: false,
      uses: [use],
    };
    const content = seen ?? { at: readAt, data: undefined };
    this.#pods = [...this.#pods, { pod, use, seen: content }];
    this.log.push(`${this.now - START}: ${pod.name} in ${home} by ${by} of ${name}`);
  }

  async #pass(seconds: number, isLed: boolean): Promise<void> {
    const until = this.now + seconds;
    if (isLed) await this.#sync(until);
    this.now = Math.max(this.now, until);
    if (isLed) await this.#sync();
  }

  /** Plans and writes what is due until then. */
  async #sync(until = this.now): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      for (const slot of [...this.objects.keys(), SOURCE, OTHER, A, B, PULL])
        this.#subject.deliver(slot, this.objects.get(slot));
      const plan = this.#subject.plan();
      for (const action of plan.actions) await this.#subject.perform(action, () => true);
      if (plan.actions.length > 0) continue;
      const next = plan.nextAt === undefined ? undefined : Math.ceil(plan.nextAt / 1000);
      if (next === undefined || next > until) return;
      this.now = Math.max(this.now + 1, next);
    }
  }

  #begin(): Subject {
    return new Subject(SETTINGS, newProcess(this.objects), {
      now: () => this.now * 1000,
      request: async (request: ApiRequest) => {
        const { slot } = askedFor(request);
        const before = this.objects.get(slot);
        const result = answer(this.objects, request);
        const after = this.objects.get(slot);
        if (before === after) return result;
        if (!after) {
          this.#note(slot);
          return undefined;
        }
        const stamped = this.#stamped(slot, after, MANAGER, before);
        this.objects.set(slot, stamped);
        this.#note(slot);
        return stamped;
      },
    });
  }

  #stamped(
    slot: string,
    raw: RawObject,
    manager: string,
    before: RawObject | undefined = this.objects.get(slot),
  ): RawObject {
    if (!slot.includes(" ")) return raw;
    const owner = {
      resource: secrets,
      manager,
      operation: "Update",
      now: this.now * 1000,
    } as const;
    const isNew = before?.metadata.uid !== raw.metadata.uid;
    const creationTimestamp = new Date(this.now * 1000).toISOString().replace(/\.\d+Z$/, "Z");
    const metadata = isNew ? { ...raw.metadata, creationTimestamp } : raw.metadata;
    const stored = { ...raw, metadata } as unknown as StoredObject;
    const last = isNew ? undefined : (before as unknown as StoredObject);
    return Object.freeze(manage(owner, stored, last) as unknown as RawObject);
  }

  #note(slot: string): void {
    const contents = this.#contents.get(slot) ?? [];
    const { data } = this.objects.get(slot) ?? {};
    contents.push({ at: this.now, data });
    this.#contents.set(slot, contents);
    this.log.push(
      `${this.now - START}: ${slot} ${data ? atob(data["key"] ?? "") || "{}" : "gone"}`,
    );
  }

  #upTo(most: number): number {
    return Math.floor(this.#chance() * (most + 1));
  }
}
