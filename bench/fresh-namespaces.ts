// Namespaces that are made one after the other while something else goes on, and how long each waited
// for its copy.
import { setTimeout as delay } from "node:timers/promises";
import { field } from "../packages/sandbox/testing/http.ts";
import { eventually } from "../packages/kube/testing/eventually.ts";
import type { RealCluster } from "./cluster.ts";
import type { Program } from "./program.ts";
import { quantile, type How } from "./scorecard.ts";
import { eventLine, namespaceJson, type ScriptedServer } from "./scripted-server.ts";

const COPIES = "/api/v1/secrets?watch=true&fieldSelector=metadata.name%3Dfirst";
const APART_MS = 500;
const PATIENCE_MS = 600_000;

export class FreshNamespaces {
  readonly #make: (name: string) => Promise<number>;
  readonly #waits: number[] = [];
  readonly #making: Promise<void>;
  #stopped = false;

  /** `make` makes a namespace of that name and resolves with the milliseconds until its copy. */
  constructor(make: (name: string) => Promise<number>) {
    this.#make = make;
    this.#making = this.#go();
  }

  /** Resolves with all waits, in ms. */
  async stop(): Promise<readonly number[]> {
    this.#stopped = true;
    await this.#making;
    return this.#waits;
  }

  async #go(): Promise<void> {
    for (let at = 0; !this.#stopped; at++) {
      this.#waits.push(await this.#make(`fresh-${at}`));
      await delay(APART_MS);
    }
  }
}

/** When each namespace had its first copy, and how many copies of a fan-out to team-* were taken. */
export class CopiesSeen {
  readonly firstAt = new Map<string, number>();
  readonly #places = new Set<string>();
  /** Writes of a place that was made already, and that were taken. */
  again = 0;
  refused = 0;
  /** Refused because the place was made already: the answer to that had not come. */
  taken = 0;

  constructor(server: ScriptedServer) {
    server.onWrite = ({ at, namespace, name, status }) => {
      if (status !== 201) {
        if (status === 429) this.refused++;
        else this.taken++;
        return;
      }
      if (!this.firstAt.has(namespace)) this.firstAt.set(namespace, at);
      if (!namespace.startsWith("team-")) return;
      const place = `${namespace}/${name}`;
      if (this.#places.has(place)) this.again++;
      this.#places.add(place);
    };
  }

  /** Places. */
  get made(): number {
    return this.#places.size;
  }

  /** Resolves when so many were made, or it took too long. */
  async until(wanted: number, program: Program, timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (this.made < wanted && performance.now() < deadline) {
      if (program.ended !== undefined) throw new Error(`the controller ended: ${program.ended}`);
      await delay(100);
    }
  }
}

/** Tells of a namespace, and resolves with the milliseconds until a write came in for it. */
export async function freshOnScript(
  server: ScriptedServer,
  name: string,
  seen: ReadonlyMap<string, number>,
): Promise<number> {
  const began = performance.now();
  server.emit("namespaces", eventLine("ADDED", namespaceJson(name, server.nextVersion())));
  const at = await eventually(`a copy in ${name}`, () => seen.get(name), PATIENCE_MS);
  return at - began;
}

export function freshFigures(how: How, waits: readonly number[]): void {
  how.say(`${waits.length} fresh namespaces meanwhile`);
  for (const [name, share] of [
    ["p50", 0.5],
    ["p90", 0.9],
    ["p99", 0.99],
  ] as const)
    how.figure(`a fresh namespace's copy, ${name}`, quantile(waits, share), "ms");
}

/** When the copy in each namespace was seen. */
export function watchCopies(how: How, cluster: RealCluster): ReadonlyMap<string, number> {
  const seen = new Map<string, number>();
  const stop = new AbortController();
  how.after(() => stop.abort());
  // The server ends a watch after half an hour or a whole one, and the next begins with all there are.
  const read = async (): Promise<void> => {
    while (!stop.signal.aborted)
      for await (const event of cluster.http.lines(COPIES, stop.signal)) {
        const namespace = String(field(event, "object", "metadata", "namespace"));
        if (!seen.has(namespace)) seen.set(namespace, performance.now());
      }
  };
  read().catch(() => undefined);
  return seen;
}

export async function freshNamespace(
  cluster: RealCluster,
  seen: ReadonlyMap<string, number>,
  name: string,
  timeoutMs = 30_000,
): Promise<number> {
  await cluster.send("POST", "/api/v1/namespaces", { metadata: { name } });
  const began = performance.now();
  const at = await eventually(`a copy in ${name}`, () => seen.get(name), timeoutMs);
  return Math.max(0, at - began);
}
