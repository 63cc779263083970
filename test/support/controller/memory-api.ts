// An API server of plain objects behind the client's own interface, for tests on a fake clock: every
// answer is there in the same turn unless the test holds it back. It knows versions, UIDs, optimistic
// locking, merge patches, namespaces that are missing or going, and watches whose events can be lost.
// Of validation it knows nothing: the sandbox does.
import { ApiError, type ApiErrorKind } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient, ApiRequest, ApiStream } from "../../../packages/kube/rest/api-client.ts";
import type { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { Deadline } from "../../../packages/kube/time/deadline.ts";
import { Reachability } from "../../../packages/kube/rest/reachability.ts";
import type { KubeObject } from "../../../packages/kube/rest/resource.ts";
import type { Json } from "../../../packages/sandbox/storage/object.ts";
import { jsonPatch } from "../../../packages/sandbox/verbs/patch-formats.ts";
import { mergePatch } from "../planner/merge-patch.ts";
import { MemoryWatch, type Logged } from "./memory-watch.ts";

/** A request as it arrived. */
export type Seen = {
  readonly at: number;
  readonly method: ApiRequest["method"];
  readonly path: string;
  readonly timeoutMs: number | undefined;
};

type Body = {
  readonly metadata?: Partial<KubeObject["metadata"]>;
  readonly [field: string]: unknown;
};
type Preconditions = { readonly uid?: string; readonly resourceVersion?: string };
const PLACE =
  /^(?<collection>.*?\/(?:namespaces\/(?<namespace>[^/]+)\/)?(?<plural>[a-z]+))(?:\/(?<name>[^/]+))?$/;
const KIND: Readonly<Record<string, string>> = {
  configmaps: "ConfigMap",
  secrets: "Secret",
  namespaces: "Namespace",
};
const DEFAULT_TIMEOUT_MS = 30_000;

export class MemoryApi {
  readonly clock: FakeClock;
  readonly seen: Seen[] = [];
  /** Every object by its path. */
  readonly objects = new Map<string, KubeObject>();
  readonly history: Logged[] = [];
  /** Whether watches are never told of a change. */
  lose: (object: KubeObject) => boolean = () => false;
  readonly #reachability: Reachability;
  /** What a mutating webhook makes of an object that a client writes. */
  admit: (object: KubeObject) => KubeObject = (object) => object;
  /** Whether lists and watches leave it out, as a field selector does. */
  unlisted: (object: KubeObject) => boolean = () => false;
  readonly #watches = new Set<MemoryWatch>();
  #version = 100;
  #uid = 0;

  constructor(clock: FakeClock) {
    this.clock = clock;
    this.#reachability = new Reachability(clock);
  }

  /** A client of this server; `before` runs ahead of each request and may hold it back or throw. */
  client(before: (request: ApiRequest) => Promise<void> = async () => {}): ApiClient {
    const closed = new AbortController();
    const arrive = async <T>(request: ApiRequest, answer: () => T): Promise<T> => {
      const { clock } = this;
      const { timeoutMs = DEFAULT_TIMEOUT_MS, signal } = request;
      const deadline = new Deadline(clock, timeoutMs, signal, closed.signal);
      try {
        const { method, path } = request;
        this.seen.push({ at: clock.monotonic(), method, path, timeoutMs: request.timeoutMs });
        await Promise.race([before(request), aborted(deadline.signal)]);
        return answer();
      } catch (error) {
        if (error instanceof ApiError) throw error;
        throw refusal(request, deadline.expired ? "timeout" : "cancelled");
      } finally {
        deadline.release();
      }
    };
    return {
      server: "http://memory",
      reachability: this.#reachability,
      request: <T>(request: ApiRequest) =>
        arrive(request, () => structuredClone(this.#answer(request)) as T),
      open: (request) => arrive(request, () => this.#open(request, closed.signal)),
      close: async () => closed.abort(),
    };
  }

  /** Writes as a user would; an existing object is changed by merge patch. */
  put(path: string, change: object = {}): KubeObject {
    const before = this.objects.get(path);
    return this.#store(path, mergePatch(before ?? this.#new(path), change) as KubeObject);
  }

  namespace(name: string, metadata: object = {}): void {
    this.put(`/api/v1/namespaces/${name}`, { metadata, status: { phase: "Active" } });
  }

  secret(place: string, metadata: object = {}, data: Readonly<Record<string, string>> = {}): void {
    const encoded = Object.entries(data).map(([key, value]) => [key, btoa(value)]);
    this.put(secretPath(place), { metadata, type: "Opaque", data: Object.fromEntries(encoded) });
  }

  get(place: string): KubeObject | undefined {
    return this.objects.get(secretPath(place));
  }

  remove(path: string): void {
    const last = this.objects.get(path);
    this.objects.delete(path);
    if (last) this.#log("DELETED", path, this.#versioned(last));
  }

  removeSecret(place: string): void {
    this.remove(secretPath(place));
  }

  /** Every watch ends with 410, so that whoever watched lists again. */
  expireWatches(): void {
    for (const watch of this.#watches) watch.expire();
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  /** Writes to Secrets that arrived, as "POST a/b". */
  get writes(): readonly string[] {
    return this.seen
      .filter(({ method, path }) => method !== "GET" && path.includes("/secrets"))
      .map(
        ({ method, path }) =>
          `${method} ${path.replace(/^.*namespaces\//, "").replace("/secrets", "")}`,
      );
  }

  #answer(request: ApiRequest): unknown {
    const { method, path, body } = request;
    const present = this.objects.get(path);
    if (method === "POST") return this.#post(request, body as Body);
    if (!present && method === "GET" && !PLACE.exec(path)?.groups?.["name"])
      return this.#list(path);
    if (!present) throw refusal(request, "notFound");
    switch (method) {
      case "GET":
        return present;
      case "PUT":
      case "PATCH": {
        const next = method === "PUT" ? body : patched(present, request);
        this.#check(request, present, (next as Body).metadata ?? {});
        return this.#store(path, this.admit(next as KubeObject));
      }
      case "DELETE": {
        const { preconditions } = body as { readonly preconditions: Preconditions };
        this.#check(request, present, preconditions);
        const { finalizers } = present.metadata;
        if (Array.isArray(finalizers) && finalizers.length > 0)
          return this.put(path, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } });
        this.remove(path);
        return { kind: "Status", status: "Success" };
      }
    }
  }

  #post(request: ApiRequest, body: Body): KubeObject {
    const path = `${request.path}/${body.metadata?.name ?? ""}`;
    if (this.objects.has(path)) throw refusal(request, "alreadyExists");
    const { namespace, plural } = PLACE.exec(path)?.groups ?? {};
    const home = this.objects.get(`/api/v1/namespaces/${namespace}`);
    if (plural === "secrets" && !home) throw refusal(request, "notFound");
    if (home?.metadata["deletionTimestamp"]) throw refusal(request, "terminating");
    if (request.query?.["dryRun"] === "All") return this.#new(path);
    return this.#store(path, this.admit(mergePatch(this.#new(path), body) as KubeObject));
  }

  #check(request: ApiRequest, { metadata }: KubeObject, wanted: Preconditions): void {
    const same = (field: "uid" | "resourceVersion"): boolean =>
      (wanted[field] ?? metadata[field]) === metadata[field];
    if (!same("uid") || !same("resourceVersion")) throw refusal(request, "conflict");
  }

  #list(path: string): object {
    const { plural = "" } = PLACE.exec(path)?.groups ?? {};
    const metadata = { resourceVersion: String(this.#version) };
    return { kind: `${KIND[plural]}List`, apiVersion: "v1", metadata, items: this.#all(plural) };
  }

  #all(plural: string): KubeObject[] {
    const of = (path: string): boolean => PLACE.exec(path)?.groups?.["plural"] === plural;
    return Array.from(this.objects.entries()).flatMap(([path, object]) =>
      of(path) && !this.unlisted(object) ? [object] : [],
    );
  }

  #open(request: ApiRequest, closed: AbortSignal): ApiStream {
    const { plural = "" } = PLACE.exec(request.path)?.groups ?? {};
    const { sendInitialEvents, resourceVersion, timeoutSeconds } = request.query ?? {};
    const watch = new MemoryWatch(this.clock, plural, Number(timeoutSeconds) * 1000, () =>
      this.#watches.delete(watch),
    );
    this.#watches.add(watch);
    for (const signal of [request.signal, closed])
      signal?.addEventListener("abort", () => watch.fail(refusal(request, "cancelled")));
    if (sendInitialEvents === true) watch.begin(this.#all(plural), this.#version);
    else for (const logged of this.history) watch.tell(logged, Number(resourceVersion));
    return watch.stream;
  }

  #new(path: string): KubeObject {
    const { namespace, plural = "", name = "" } = PLACE.exec(path)?.groups ?? {};
    const creationTimestamp = new Date(this.clock.now()).toISOString().replace(/\.\d+Z/, "Z");
    const identity = { name, uid: `uid-${++this.#uid}`, creationTimestamp, resourceVersion: "0" };
    const scope = namespace === undefined ? {} : { namespace };
    return { apiVersion: "v1", kind: KIND[plural] ?? "Other", metadata: { ...identity, ...scope } };
  }

  #store(path: string, object: KubeObject): KubeObject {
    const type = this.objects.has(path) ? "MODIFIED" : "ADDED";
    const stored = this.#versioned(object);
    this.objects.set(path, stored);
    this.#log(type, path, stored);
    return stored;
  }

  #versioned(object: KubeObject): KubeObject {
    const resourceVersion = String(++this.#version);
    return { ...object, metadata: { ...object.metadata, resourceVersion } };
  }

  #log(type: Logged["type"], path: string, object: KubeObject): void {
    const { plural = "" } = PLACE.exec(path)?.groups ?? {};
    const logged = {
      type,
      plural,
      object,
      version: this.#version,
      lost: this.lose(object) || this.unlisted(object),
    };
    this.history.push(logged);
    for (const watch of this.#watches) watch.tell(logged);
  }
}

export function secretPath(place: string): string {
  const [namespace = "", name = ""] = place.split("/");
  return `/api/v1/namespaces/${namespace}/secrets/${name}`;
}

export function refusal({ what }: Pick<ApiRequest, "what">, kind: ApiErrorKind): ApiError {
  const reason = `${kind[0]?.toUpperCase()}${kind.slice(1)}`;
  const [, singular, name] =
    /^[-\w]+(?: \w+)? (secret|namespace|configmap) (?:[^/ ]+\/)?([^/ ]+)$/.exec(what) ?? [];
  const own = (kind === "notFound" || kind === "alreadyExists") && singular && name;
  const knownMessage = own ? { kind, resource: `${singular}s`, name } : undefined;
  return new ApiError(what, { kind, reason, knownMessage });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(new Error("aborted"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

function patched(present: KubeObject, { contentType, body }: ApiRequest): unknown {
  if (contentType !== "application/json-patch+json") return mergePatch(present, body);
  // Over the wire: what is undefined is not there.
  return JSON.parse(JSON.stringify(jsonPatch(present as Json, body as Json)));
}
