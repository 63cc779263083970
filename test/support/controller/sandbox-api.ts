// The sandbox without its sockets, on a fake clock: storage, kinds and verbs behind the client's own
// interface, with all that the real server validates. Every answer is there in the same turn; what goes
// wrong between client and server is faulty-client.ts.
import { ApiError, statusError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient, ApiRequest, ApiStream } from "../../../packages/kube/rest/api-client.ts";
import { Reachability } from "../../../packages/kube/rest/reachability.ts";
import { queryText, type KubeObject } from "../../../packages/kube/rest/resource.ts";
import { showObject, type Representation } from "../../../packages/sandbox/http/representation.ts";
import { route, type RequestTarget } from "../../../packages/sandbox/http/routes.ts";
import {
  initialNamespaces,
  NamespaceController,
} from "../../../packages/sandbox/kinds/namespace-controller.ts";
import { selection } from "../../../packages/sandbox/kinds/selectors.ts";
import { loadObjects } from "../../../packages/sandbox/load.ts";
import type { StoredObject } from "../../../packages/sandbox/storage/object.ts";
import type { Timer } from "../../../packages/kube/time/clock.ts";
import { StatusError } from "../../../packages/sandbox/storage/status.ts";
import {
  Storage,
  type Collection,
  type StorageChange,
} from "../../../packages/sandbox/storage/storage.ts";
import { perform } from "../../../packages/sandbox/verbs/verbs.ts";
import type { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { MemoryWatch } from "./memory-watch.ts";

const TERMINATION_MS = 700;
const HISTORY = 20_000;
/** As often as kube-apiserver sends them. */
const BOOKMARK_MS = 60_000;

type Beginning = {
  readonly watch: MemoryWatch;
  readonly collection: Collection;
  readonly view: Representation;
  readonly isAsked: (object: StoredObject) => boolean;
};

export class SandboxApi {
  readonly clock: FakeClock;
  readonly storage = new Storage(HISTORY);
  /** Lists of new watches are so many versions old, where the client takes them. */
  staleBy = 0;

  constructor(clock: FakeClock) {
    this.clock = clock;
    const now = (): number => this.#now();
    // It listens to the storage by itself.
    void new NamespaceController(this.storage, TERMINATION_MS, now, (fn, ms) => {
      const timer = clock.setTimeout(fn, ms);
      return () => timer.cancel();
    });
    const namespaces = initialNamespaces.map((name) => ({ kind: "Namespace", metadata: { name } }));
    loadObjects(this.storage, namespaces, now());
  }

  get client(): ApiClient {
    return {
      server: "http://sandbox",
      reachability: new Reachability(this.clock),
      request: <T>(request: ApiRequest) => this.#request(request) as Promise<T>,
      open: (request) => this.#open(request),
      close: () => Promise.resolve(),
    };
  }

  // The server's clock is right, whatever those of its clients show.
  #now(): number {
    return Date.UTC(2026, 0, 1) + this.clock.monotonic();
  }

  async #request(request: ApiRequest): Promise<unknown> {
    const { method, body, contentType = "application/json" } = request;
    const { target, query, view } = this.#parts(request);
    const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
    const asked = { method, query, contentType, userAgent: "chaos", body: bytes };
    try {
      const call = {
        storage: this.storage,
        now: () => this.#now(),
        target,
        view,
        request: asked,
      };
      const answer = await perform(call);
      return JSON.parse(JSON.stringify(answer.body)) as unknown;
    } catch (error) {
      throw refused(request, error);
    }
  }

  #open(request: ApiRequest): Promise<ApiStream> {
    const { target, query, view } = this.#parts(request);
    const collection = this.storage.collection(target.resource.storage);
    const { plural } = target.resource;
    let unobserve = (): void => undefined;
    const lasts = Number(query.get("timeoutSeconds")) * 1000;
    const watch = new MemoryWatch(this.clock, plural, lasts, () => {
      bookmarks?.cancel();
      unobserve();
    });
    let bookmarks: Timer | undefined;
    const bookmark = (): void => {
      bookmarks = this.clock.setTimeout(() => {
        watch.mark(this.storage.version);
        bookmark();
      }, BOOKMARK_MS);
    };
    const isAsked = this.#selector(request);
    const tell = (change: StorageChange): void => {
      if (!isAsked(change.object)) return;
      watch.tell({
        type: change.kind,
        plural,
        object: showObject(view, change.object) as unknown as KubeObject,
        version: change.version,
        lost: false,
      });
    };
    const named = Number(query.get("resourceVersion") ?? "0");
    const from = query.has("sendInitialEvents")
      ? this.#begin({ watch, collection, view, isAsked }, named)
      : named;
    const missed = collection.changesAfter(from);
    if (!missed) throw statusError(request.what, 410, { reason: "Expired" });
    for (const change of missed) tell(change);
    unobserve = collection.observe(tell);
    bookmark();
    return Promise.resolve(watch.stream);
  }

  // No field that a watch here selects by ever changes on an object.
  #selector(request: ApiRequest): (object: StoredObject) => boolean {
    const { target, query } = this.#parts(request);
    const { matches } = selection(target, query);
    return (object) =>
      (target.namespace === undefined || object.metadata.namespace === target.namespace) &&
      (!matches || matches(object));
  }

  #begin({ watch, collection, view, isAsked }: Beginning, notOlderThan: number): number {
    const present = this.storage.version;
    const at = Math.max(present - this.staleBy, notOlderThan, collection.floor);
    const listed = collection.viewAt(at)?.objects ?? collection.view().objects;
    const objects = Array.from(listed.values()).filter(isAsked);
    const shown = objects.map((object) => showObject(view, object) as unknown as KubeObject);
    watch.begin(shown, at);
    return at;
  }

  #parts(request: ApiRequest): {
    readonly target: RequestTarget;
    readonly query: URLSearchParams;
    readonly view: Representation;
  } {
    const target = route(request.path);
    if (!target) throw new Error(`test: nothing is served at ${request.path}`);
    const query = new URLSearchParams(queryText(request.query).slice(1));
    const { resource } = target;
    const now = (): number => this.#now();
    return { target, query, view: { resource, form: "object", include: "Metadata", now } };
  }
}

function refused({ what }: ApiRequest, error: unknown): ApiError {
  if (!(error instanceof StatusError)) throw error;
  return statusError(what, error.code, error.status);
}
