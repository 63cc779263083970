// An API server that serves lists and watches from a script, far faster than a real one could, so that
// what is measured is the controller. It streams lists as the real one does and takes every write;
// it keeps one Lease and the Secrets that were made, and knows nothing of selectors, versions or rights.
// Plain HTTP on loopback.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { kubeConfigFor, kubeConfigText } from "../packages/kube/testing/kubeconfig-text.ts";
import type { How } from "./scorecard.ts";

export type Script = {
  readonly namespaces: Iterable<string>;
  /** Secrets as JSON; made anew for each list, so that they need not be held. */
  readonly secrets: () => Iterable<string>;
  /** The same of ConfigMaps. */
  readonly configMaps?: () => Iterable<string>;
};

/** A write of a Secret, as it is answered. */
export type ScriptedWrite = {
  readonly at: number;
  readonly namespace: string;
  readonly name: string;
  readonly status: number;
};

/** What a write of a Secret is answered with, other than success. */
export type Refusal = { readonly status: number; readonly retryAfterS: number };

/** What a list or a watch is asked of. */
type Collection = {
  readonly resource: string;
  readonly kind: string;
  readonly objects: () => Iterable<string>;
};

const CHUNK_BYTES = 256 * 1024;

const KIND_OF: Readonly<Record<string, string>> = {
  secrets: "Secret",
  configmaps: "ConfigMap",
  namespaces: "Namespace",
};
/** Of all namespaces, or of one, which has no objects: the list of sources is looked for there. */
const COLLECTION = new RegExp(`^/api/v1/(namespaces/[^/]+/)?(${Object.keys(KIND_OF).join("|")})$`);

export class ScriptedServer {
  readonly kubeconfig: string;
  readonly url: string;
  /** When each write of a Secret came in, by "METHOD PATH" and name, and how many there then were. */
  readonly writes: { readonly at: number; readonly what: string; readonly inFlight: number }[] = [];
  /** How long a write takes that is not refused, in ms. */
  writeMs = 0;
  refuse: (() => Refusal | undefined) | undefined;
  onWrite: ((write: ScriptedWrite) => void) | undefined;
  /** The longest time between two writes of the Lease so far. */
  longestLeaseGapMs = 0;
  readonly #script: Script;
  readonly #watches = new Map<string, Set<ServerResponse>>();
  readonly #rests = new Map<string, Iterator<string>>();
  /** Secrets that were made, as JSON by path. */
  readonly #made = new Map<string, string>();
  /** What was told of namespaces, for a watch that begins later. */
  readonly #reported: { readonly version: number; readonly lines: string }[] = [];
  #version = 1_000_000;
  #lease: string | undefined;
  #leasedAt: number | undefined;
  #inFlight = 0;

  constructor(script: Script, url: string, kubeconfig: string) {
    this.#script = script;
    this.url = url;
    this.kubeconfig = kubeconfig;
  }

  static async start(how: How, script: Script): Promise<ScriptedServer> {
    let scripted: ScriptedServer | undefined;
    const server = createServer((request, response) => {
      scripted?.serve(request, response).catch(() => response.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port was given");
    const folder = mkdtempSync(join(tmpdir(), "secretcast-bench-"));
    const file = join(folder, "kubeconfig");
    const url = `http://127.0.0.1:${address.port}`;
    writeFileSync(file, kubeConfigText(kubeConfigFor(url, { token: "bench" })));
    how.after(() => rmSync(folder, { recursive: true }));
    how.after(() => {
      server.close();
      server.closeAllConnections();
    });
    scripted = new ScriptedServer(script, url, file);
    return scripted;
  }

  /** Tells every watch of `resource`; false: wait for `drained` before more. */
  emit(resource: "secrets" | "namespaces", lines: string): boolean {
    let room = true;
    if (resource === "namespaces") this.#reported.push({ version: this.#version, lines });
    for (const watch of this.#watches.get(resource) ?? []) room = watch.write(lines) && room;
    return room;
  }

  async drained(resource: "secrets" | "namespaces"): Promise<void> {
    for (const watch of this.#watches.get(resource) ?? [])
      if (watch.writableNeedDrain) await once(watch, "drain");
  }

  /** As if a replica led. */
  holdLease(lease: object): void {
    this.#lease = JSON.stringify(lease);
  }

  nextVersion(): number {
    return ++this.#version;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
    if (pathname.includes("/leases")) return this.#serveLease(request, response);
    if (request.method !== "GET") return this.#write(request, response, pathname);
    const [, ofOne, resource] = COLLECTION.exec(pathname) ?? [];
    if (resource !== undefined) {
      const asked: Collection = {
        resource,
        kind: KIND_OF[resource] ?? "",
        objects: () => (ofOne === undefined ? this.#objects(resource) : []),
      };
      if (searchParams.has("limit")) return this.#page(asked, searchParams, response);
      if (searchParams.get("watch") !== "true") return this.#list(asked, response);
      return this.#watch(asked, searchParams, response);
    }
    const made = this.#made.get(pathname);
    json(response, made !== undefined || pathname === "/version" ? 200 : 404, made ?? "{}");
  }

  #objects(resource: string): Iterable<string> {
    if (resource === "secrets") return chained(this.#script.secrets(), this.#made.values());
    if (resource === "configmaps") return this.#script.configMaps?.() ?? [];
    return Array.from(this.#script.namespaces, (name) => namespaceJson(name, 1));
  }

  async #list({ kind, objects }: Collection, response: ServerResponse): Promise<void> {
    response.setHeader("content-type", "application/json");
    response.write(
      `{"kind":"${kind}List","apiVersion":"v1","metadata":{"resourceVersion":"${this.#version}"},"items":[`,
    );
    let first = true;
    const separated = function* (all: Iterable<string>): Iterable<string> {
      for (const object of all) {
        yield first ? object : `,${object}`;
        first = false;
      }
    };
    await pour(response, separated(objects()));
    response.end("]}");
  }

  /** Pages go on where the one before ended: none is made twice. */
  async #page(
    { kind, objects }: Collection,
    query: URLSearchParams,
    response: ServerResponse,
  ): Promise<void> {
    const token = query.get("continue") ?? "";
    const rest = this.#rests.get(token) ?? objects()[Symbol.iterator]();
    this.#rests.delete(token);
    const items: string[] = [];
    let ended = false;
    while (items.length < Number(query.get("limit")) && !ended) {
      const next = rest.next();
      ended = next.done === true;
      if (next.done !== true) items.push(next.value);
    }
    const next = ended ? "" : String(this.nextVersion());
    if (next !== "") this.#rests.set(next, rest);
    const metadata = JSON.stringify({ resourceVersion: String(this.#version), continue: next });
    const body = `{"kind":"${kind}List","apiVersion":"v1","metadata":${metadata},"items":[${items.join(",")}]}`;
    json(response, 200, body);
  }

  async #watch(
    { resource, kind, objects }: Collection,
    query: URLSearchParams,
    response: ServerResponse,
  ): Promise<void> {
    const initial = query.has("sendInitialEvents");
    const since = initial ? 0 : Number(query.get("resourceVersion"));
    response.setHeader("content-type", "application/json");
    response.flushHeaders();
    const events = function* (all: Iterable<string>): Iterable<string> {
      for (const object of all) yield eventLine("ADDED", object);
    };
    if (initial) await pour(response, events(objects()));
    if (initial)
      response.write(
        `{"type":"BOOKMARK","object":{"kind":"${kind}","apiVersion":"v1","metadata":{"resourceVersion":"${this.#version}","annotations":{"k8s.io/initial-events-end":"true"}}}}\n`,
      );
    if (resource === "namespaces")
      for (const { version, lines } of this.#reported) if (version > since) response.write(lines);
    const watches = this.#watches.get(resource) ?? new Set();
    this.#watches.set(resource, watches.add(response));
    response.on("close", () => watches.delete(response));
  }

  async #serveLease(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "GET") {
      const lease: { metadata: object } = JSON.parse(await textOf(request));
      Object.assign(lease.metadata, { resourceVersion: String(this.nextVersion()) });
      this.#lease = JSON.stringify(lease);
      const now = performance.now();
      const gapMs = now - (this.#leasedAt ?? now);
      this.longestLeaseGapMs = Math.max(this.longestLeaseGapMs, gapMs);
      this.#leasedAt = now;
    }
    json(response, this.#lease === undefined ? 404 : 200, this.#lease ?? "{}");
  }

  async #write(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const text = await textOf(request);
    if (!path.includes("/secrets")) return json(response, 201, text);
    const refusal = this.refuse?.();
    const body: { metadata: { name?: string } } = JSON.parse(text);
    const { name = "" } = body.metadata;
    const what = `${request.method} ${path} ${name}`;
    const at = performance.now();
    this.writes.push({ at, what, inFlight: ++this.#inFlight });
    const [namespace = "", , named = name] = path.split("/").slice(4);
    const place = `${path}/${name}`;
    const isTaken = request.method === "POST" && this.#made.has(place);
    const code = refusal?.status ?? (isTaken ? 409 : 201);
    this.onWrite?.({ at, namespace, name: named, status: code });
    if (code !== 201) {
      if (refusal) response.setHeader("retry-after", String(refusal.retryAfterS));
      const reason = refusal ? "TooManyRequests" : "AlreadyExists";
      const status = { kind: "Status", status: "Failure", code, reason };
      this.#inFlight--;
      return json(response, code, JSON.stringify(status));
    }
    if (this.writeMs > 0) await delay(this.writeMs);
    const resourceVersion = String(this.nextVersion());
    this.#inFlight--;
    const uid = `00000000-0000-4000-8000-${resourceVersion.padStart(12, "0")}`;
    Object.assign(body.metadata, { uid, resourceVersion });
    const made = JSON.stringify(body);
    if (request.method === "POST") {
      this.#made.set(place, made);
      // As a real one does: until the watch has told of a write, the controller keeps what it knows of it.
      this.emit("secrets", eventLine("ADDED", made));
    }
    json(response, 201, made);
  }
}

function* chained(first: Iterable<string>, second: Iterable<string>): Iterable<string> {
  yield* first;
  yield* second;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return text;
}

async function pour(response: ServerResponse, parts: Iterable<string>): Promise<void> {
  let chunk = "";
  for (const part of parts) {
    chunk += part;
    if (chunk.length < CHUNK_BYTES) continue;
    if (!response.write(chunk)) await once(response, "drain");
    chunk = "";
  }
  response.write(chunk);
}

function json(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(body);
}

export function eventLine(type: "ADDED" | "MODIFIED", object: string): string {
  return `{"type":"${type}","object":${object}}\n`;
}

export function namespaceJson(name: string, version: number): string {
  const metadata = metadataOf({ name, uid: `uid-${name}` }, version);
  return JSON.stringify({ kind: "Namespace", apiVersion: "v1", metadata, status: {} });
}

const CREATED = "2026-01-01T00:00:00Z";

type Texts = Readonly<Record<string, string>>;

export function metadataOf(given: Readonly<Record<string, unknown>>, version: number) {
  return { ...given, resourceVersion: String(version), creationTimestamp: CREATED };
}

export function secretJson(
  namespace: string,
  name: string,
  data: Texts,
  marks: { readonly labels?: Texts; readonly annotations?: Texts } = {},
  version = 1,
): string {
  const metadata = metadataOf({ namespace, name, uid: `${namespace}-${name}`, ...marks }, version);
  return JSON.stringify({ kind: "Secret", apiVersion: "v1", metadata, data, type: "Opaque" });
}
