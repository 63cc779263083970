// How long the controller takes, seen from outside: from the answer to the request that makes a namespace
// to its copy, and from the answer to the change of a source to the last of its copies. They have
// namespaces and a source of their own, which nothing else changes.
import { setTimeout as delay } from "node:timers/promises";
import { field, type Http } from "../../../packages/sandbox/testing/http.ts";
import { good, merge } from "../../support/api-server/pressure.ts";
import { MARKER } from "../actors/actors.ts";

const SOURCE = "steady";
const PLACES = Array.from({ length: 10 }, (_, at) => `steady-${at}`);
const ONLY = { "secretcast.io/accept": `shared/${SOURCE}` };
const PATH = `/api/v1/namespaces/shared/secrets/${SOURCE}`;
/** A silent watch is found out within five minutes. */
const PATIENCE_MS = 400_000;
const SOON_MS = 250;

export class LatencyProbe {
  readonly #http: Http;
  #values = 0;
  #namespaces = 0;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Needs the namespace `shared`. */
  async begin(): Promise<void> {
    for (const name of PLACES) await this.#createNamespace(name);
    const metadata = { name: SOURCE, annotations: { "secretcast.io/to": "steady-*,probe-*" } };
    const body = { metadata, stringData: { value: this.#nextValue() } };
    await good(this.#http.send("POST", "/api/v1/namespaces/shared/secrets", { body }));
  }

  async freshNamespace(): Promise<number> {
    const name = `probe-${this.#namespaces++}`;
    await this.#createNamespace(name);
    const tookMs = await this.#until(async () => {
      const path = `/api/v1/namespaces/${name}/secrets/${SOURCE}`;
      return (await this.#http.send("GET", path)).status === 200;
    });
    await good(this.#http.send("DELETE", `/api/v1/namespaces/${name}`));
    return tookMs;
  }

  async changedSource(): Promise<number> {
    const value = this.#nextValue();
    await merge(this.#http, PATH, { stringData: { value } });
    return this.#until(async () => (await this.wrong()).length === 0);
  }

  /** Places that do not hold what the source does. */
  async wrong(): Promise<readonly string[]> {
    const query = `/api/v1/secrets?fieldSelector=metadata.name%3D${SOURCE}`;
    const { body } = await this.#http.send("GET", query);
    const items = field(body, "items");
    const wanted = Buffer.from(this.#value()).toString("base64");
    const right = (Array.isArray(items) ? items : [])
      .filter((item) => field(item, "data", "value") === wanted)
      .map((item) => field(item, "metadata", "namespace"));
    const there = new Set(right);
    return PLACES.filter((name) => !there.has(name)).map((name) => `${name}/${SOURCE}: not right`);
  }

  #value(): string {
    return `${MARKER} ${this.#values}`;
  }

  #nextValue(): string {
    this.#values++;
    return this.#value();
  }

  /** Milliseconds until it holds. */
  async #until(holds: () => Promise<boolean>): Promise<number> {
    const began = performance.now();
    for (;;) {
      if (await holds()) return performance.now() - began;
      const waited = performance.now() - began;
      if (waited > PATIENCE_MS) throw new Error(`no copy after ${PATIENCE_MS / 1000} s`);
      await delay(waited < SOON_MS ? 3 : 50);
    }
  }

  async #createNamespace(name: string): Promise<void> {
    const body = { metadata: { name, annotations: ONLY } };
    await good(this.#http.send("POST", "/api/v1/namespaces", { body }));
  }
}
