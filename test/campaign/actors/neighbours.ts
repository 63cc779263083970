// The honest tenants: namespaces that come and go, with Secrets of their own and copies of the
// platform's sources, all of which the run expects to be right in time.
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { field, type Http } from "../../../packages/sandbox/testing/http.ts";
import { good, merge } from "../../support/api-server/pressure.ts";
import { pick } from "../../../packages/kube/testing/random.ts";
import type { Change, Expectations } from "../judges/expectations.ts";
import { SeenWorld } from "../judges/seen-world.ts";
import type { Raw } from "../model/raw.ts";
import { digestOf, type Platform, type SourceName } from "./platform.ts";
import type { Violations } from "../judges/violations.ts";

const LASTING = ["honest-0", "honest-1", "honest-2", "honest-3", "honest-4", "honest-5"] as const;
const COPIED = ["registry", "tls", "config"] as const;
const MERGE = "application/merge-patch+json";
const MOST_FRESH = 4;
/** Longer than two requests take on any machine. */
const LONG_GRACE_MS = 2000;
/** A place that is repaired more than five times a minute is a fight, and waits. */
const REPAIR_EVERY_MS = 20_000;

/** Each namespace has one of its own, so that what the tenant writes does not delay the watcher. */
type Watch = { readonly world: SeenWorld; readonly stop: AbortController };

type Parts = {
  readonly admin: Http;
  readonly client: ApiClient;
  readonly platform: Platform;
  readonly expectations: Expectations;
  readonly violations: Violations;
  readonly chance: () => number;
  readonly graceMs: number;
  /** Whether namespaces take only what they say they accept. */
  readonly optIn: boolean;
};

export class Neighbours {
  readonly #parts: Parts;
  readonly #watches = new Map<string, Watch>();
  /** The version of the Secret called own, by namespace. */
  readonly #own = new Map<string, string>();
  /** Namespaces that accept every source, the tenant's included. */
  readonly #open = new Set<string>();
  readonly #repaired = new Map<string, number>();
  readonly #fresh: string[] = [];
  #made = 0;
  #temporary: string | undefined;
  #declined: string | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async begin(): Promise<void> {
    for (const namespace of LASTING) {
      await this.#namespace(namespace);
      await this.#create(namespace, "pulled", {
        "secretcast.io/from": "secretcast/for-neighbours",
      });
      this.#expectPulled(namespace, "fresh");
    }
  }

  /** A namespace is made; the oldest one of its kind goes. */
  async fresh(): Promise<void> {
    const name = `fresh-${this.#made++}`;
    await this.#namespace(name);
    this.#fresh.push(name);
    const oldest = this.#fresh.length > MOST_FRESH ? this.#fresh.shift() : undefined;
    if (oldest !== undefined) await this.#leave(oldest);
  }

  async rotate(): Promise<void> {
    const { platform, chance, expectations } = this.#parts;
    const name = pick<SourceName>(chance, [...COPIED, "for-neighbours"]);
    const pulled = name === "for-neighbours";
    const serving = Array.from(this.#watches.keys()).filter((each) => each !== this.#declined);
    const namespaces = pulled ? LASTING : serving;
    for (const each of namespaces) expectations.take(`${each}/${pulled ? "pulled" : name}`);
    await platform.rotate(name);
    for (const each of namespaces)
      if (pulled) this.#expectPulled(each, "pulled");
      else this.#expectCopy(each, name, "rotated");
  }

  /** Somebody edits or deletes a copy. A second after the last write there: sooner would have to wait. */
  async repair(): Promise<void> {
    const { chance, admin } = this.#parts;
    const namespace = pick(chance, LASTING);
    const name = pick(chance, COPIED);
    const place = `${namespace}/${name}`;
    const now = performance.now();
    if (now - (this.#repaired.get(place) ?? -Infinity) < REPAIR_EVERY_MS) return;
    if (namespace === this.#declined) return;
    this.#repaired.set(place, now);
    const { expectations, platform } = this.#parts;
    expectations.take(place);
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
    const body = { data: { intruder: platform.value() } };
    const edits = chance() < 0.5;
    const answer = edits
      ? await admin.send("PATCH", path, { body, contentType: MERGE })
      : await admin.send("DELETE", path);
    // The watch may be behind the answer: what it shows of before is not the repair.
    const uid = field(answer.body, ...(edits ? ["metadata"] : ["details"]), "uid");
    const version = Number(field(answer.body, "metadata", "resourceVersion"));
    await eventually(`the watch shows ${place} changed`, () => {
      const found = this.#at(namespace, name)?.metadata;
      if (answer.status >= 300 || found === undefined || found.uid !== uid) return true;
      return edits && Number(found.resourceVersion) >= version;
    });
    this.#expectCopy(namespace, name, "repaired");
  }

  /** A label that a selector asks for is away for a moment: within the grace nothing ends. */
  async flicker(): Promise<void> {
    const { admin, chance, graceMs } = this.#parts;
    if (graceMs < LONG_GRACE_MS) return;
    const path = `/api/v1/namespaces/${pick(chance, LASTING)}`;
    for (const tier of [null, "honest"])
      await merge(admin, path, { metadata: { labels: { tier } } });
  }

  /** A namespace declines all copies, and the next time it accepts them again. */
  async decline(): Promise<void> {
    const { admin, chance, expectations, graceMs } = this.#parts;
    const back = this.#declined;
    const namespace = back ?? pick(chance, LASTING);
    const names = this.#temporary === undefined ? COPIED : [...COPIED, this.#temporary];
    const isThere = (name: string): boolean => this.#at(namespace, name) !== undefined;
    // A copy whose end was asked for just before may still go after it: nobody could say which is right.
    if (back !== undefined && names.some(isThere)) return;
    for (const name of names) expectations.take(`${namespace}/${name}`);
    const accept = back === undefined ? "false" : this.#accepts(namespace);
    const body = { metadata: { annotations: { "secretcast.io/accept": accept } } };
    await merge(admin, `/api/v1/namespaces/${namespace}`, body);
    this.#declined = back === undefined ? namespace : undefined;
    for (const name of names)
      if (back !== undefined) this.#expectCopy(namespace, name, "fresh");
      else this.#expectEnd(namespace, name, graceMs);
  }

  /** A source for the lasting namespaces is made, and the next time it goes. */
  async come(): Promise<void> {
    const { platform, expectations, graceMs } = this.#parts;
    const name = this.#temporary;
    if (name === undefined) {
      this.#temporary = `temporary-${this.#made++}`;
      await platform.createFor(this.#temporary, "honest-*");
      for (const each of LASTING)
        if (each !== this.#declined) this.#expectCopy(each, this.#temporary, "fresh");
      return;
    }
    this.#temporary = undefined;
    for (const namespace of LASTING) expectations.take(`${namespace}/${name}`);
    await platform.remove(name);
    for (const namespace of LASTING) this.#expectEnd(namespace, name, graceMs);
  }

  stop(): void {
    for (const { stop } of this.#watches.values()) stop.abort();
  }

  async #namespace(name: string): Promise<void> {
    const { admin, optIn, chance } = this.#parts;
    if (optIn && chance() < 0.4) this.#open.add(name);
    const accept = this.#accepts(name);
    const annotations = accept === null ? {} : { "secretcast.io/accept": accept };
    await this.#follow(name);
    const metadata = { name, labels: { tier: "honest" }, annotations };
    await good(admin.send("POST", "/api/v1/namespaces", { body: { metadata } }));
    for (const copy of COPIED) this.#expectCopy(name, copy, "fresh");
    await this.#create(name, "own", {});
  }

  async #follow(namespace: string): Promise<void> {
    const { client, violations } = this.#parts;
    const stop = new AbortController();
    const world = new SeenWorld({
      client,
      kinds: ["Secret"],
      namespace,
      onChange: (slot) => this.#seen(namespace, slot.slice(slot.indexOf("/") + 1)),
      onLost: (why) => violations.add("a watcher that sees no more", why),
    });
    this.#watches.set(namespace, { world, stop });
    await world.begin(stop.signal);
  }

  #at(namespace: string, name: string): Raw | undefined {
    return this.#watches.get(namespace)?.world.objects.get(`Secret ${namespace}/${name}`);
  }

  #digestAt(namespace: string, name: string): string | undefined {
    const found = this.#at(namespace, name);
    return found && digestOf(found.data ?? {});
  }

  #accepts(namespace: string): string | null {
    if (!this.#parts.optIn) return null;
    return this.#open.has(namespace) ? "true" : "secretcast/*";
  }

  async #create(namespace: string, name: string, annotations: Readonly<Record<string, string>>) {
    const { admin, platform } = this.#parts;
    const body = {
      metadata: { name, annotations },
      data: name === "own" ? { own: platform.value() } : {},
    };
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    const answer = await admin.send("POST", path, { body });
    // Where every source is accepted, the tenant's copy may have been quicker, as the README says.
    if (answer.status === 409 && this.#open.has(namespace)) return;
    const made = await good(Promise.resolve(answer));
    const version = String(field(made.body, "metadata", "resourceVersion"));
    if (name === "own") this.#own.set(namespace, version);
  }

  async #leave(namespace: string): Promise<void> {
    const { expectations, admin } = this.#parts;
    expectations.forget(namespace);
    this.#own.delete(namespace);
    this.#watches.get(namespace)?.stop.abort();
    this.#watches.delete(namespace);
    await good(admin.send("DELETE", `/api/v1/namespaces/${namespace}`));
  }

  #expectCopy(namespace: string, name: string, change: Change): void {
    this.#expect(namespace, name, this.#parts.platform.digestOf(name), change);
  }

  #expectEnd(namespace: string, name: string, graceMs: number): void {
    const present = this.#digestAt(namespace, name);
    const place = `${namespace}/${name}`;
    this.#parts.expectations.expect(place, undefined, "ended", { present, graceMs });
  }

  #expectPulled(namespace: string, change: Change): void {
    const data = this.#parts.platform.copyOf("for-neighbours");
    this.#expect(namespace, "pulled", digestOf(data), change);
  }

  #expect(namespace: string, name: string, digest: string, change: Change): void {
    const present = this.#digestAt(namespace, name);
    this.#parts.expectations.expect(`${namespace}/${name}`, digest, change, { present });
  }

  #seen(namespace: string, name: string): void {
    const { expectations, violations } = this.#parts;
    const found = this.#at(namespace, name);
    const place = `${namespace}/${name}`;
    const own = this.#own.get(namespace);
    if (name === "own" && own !== undefined && found?.metadata.resourceVersion !== own)
      violations.add("a neighbour's Secret was touched", place);
    expectations.seen(place, this.#digestAt(namespace, name));
    const honest = [...COPIED, "own", "pulled"].includes(name) || name.startsWith("temporary-");
    if (found && !honest && !this.#open.has(namespace) && own !== undefined)
      violations.add("a copy where nobody accepts it", place);
  }
}
