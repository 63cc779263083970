// An in-memory Kubernetes API on loopback, for new users without a cluster, and for tests that inject
// faults. It answers as kube-apiserver 1.37 does for the resources in resources.ts. With `shallowKinds` it
// also stores a few more kinds unchanged (shallow-kinds.ts). It has no authentication, no authorization, no
// admission plugins except the namespace's, and no garbage collector.
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { readInclude } from "./http/representation.ts";
import type { Representation } from "./http/representation.ts";
import { isAccessReview, reviewAccess } from "./http/access-review.ts";
import { loadObjects } from "./load.ts";
import { negotiate } from "./http/negotiation.ts";
import { initialNamespaces, NamespaceController } from "./kinds/namespace-controller.ts";
import type { JsonObject } from "./storage/object.ts";
import type { Injected, LoggedRequest, SandboxOptions, SeenRequest } from "./options.ts";
import { servedKinds } from "./kinds/shallow-kinds.ts";
import type { ServedResource } from "./kinds/resources.ts";
import type { VerbRequest } from "./verbs/call.ts";
import { perform } from "./verbs/verbs.ts";
import { route } from "./http/routes.ts";
import type { RequestTarget } from "./http/routes.ts";
import { StatusError, expired, internal } from "./storage/status.ts";
import { inRealTime, type Schedule } from "./storage/schedule.ts";
import { Storage } from "./storage/storage.ts";
import { isWatch, watchRequest } from "./verbs/watch-params.ts";
import { WatchConnection, type WatchEnding } from "./verbs/watch.ts";
import { readAll, send, sendUnnamed } from "./http/http.ts";

type Hook = (request: SeenRequest) => Injected | undefined | Promise<Injected | undefined>;

/** Older entries of the request log are dropped beyond this. */
const loggedRequests = 200_000;

export class Sandbox {
  readonly requests: LoggedRequest[] = [];
  /** Called before each request. It may delay the request or replace the answer. */
  beforeRequest: Hook | undefined;
  readonly #storage: Storage;
  readonly #now: () => number;
  readonly #schedule: Schedule;
  readonly #quietBookmarkMs: number;
  readonly #server: Server;
  readonly #kinds: () => readonly ServedResource[];
  readonly #controller: NamespaceController;
  readonly #watches = new Set<WatchConnection>();

  constructor(options: SandboxOptions) {
    this.#now = options.now ?? Date.now;
    this.#quietBookmarkMs = options.quietBookmarkMs ?? 120_000;
    this.#storage = new Storage(options.historyLimit ?? 20_000);
    this.#schedule = options.schedule ?? inRealTime;
    const delayMs = options.terminationDelayMs ?? 50;
    this.#kinds = () => servedKinds(this.#storage, options.shallowKinds ?? false);
    this.#controller = new NamespaceController(
      this.#storage,
      delayMs,
      this.#now,
      this.#schedule,
      this.#kinds,
    );
    this.load(initialNamespaces.map((name) => ({ kind: "Namespace", metadata: { name } })));
    this.#server = createServer((request, response) => void this.#serve(request, response));
    // A client's idle connection must not be closed under a request that is on its way.
    this.#server.keepAliveTimeout = 180_000;
    this.#server.requestTimeout = 0;
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, "127.0.0.1", () => resolve());
    });
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** Every kind that is served now, with those of definitions. */
  get kinds(): readonly ServedResource[] {
    return this.#kinds();
  }

  /** A kubeconfig for kubectl and every other client, as YAML text. */
  kubeconfig(): string {
    const name = "secretcast-sandbox";
    return [
      "apiVersion: v1",
      "kind: Config",
      `current-context: ${name}`,
      "clusters:",
      `  - name: ${name}`,
      "    cluster:",
      `      server: ${this.url}`,
      // client-node refuses plain HTTP without it. kubectl, Go and Python do not read it for HTTP.
      "      insecure-skip-tls-verify: true",
      "contexts:",
      `  - name: ${name}`,
      "    context:",
      `      cluster: ${name}`,
      `      user: ${name}`,
      "      namespace: default",
      "users:",
      `  - name: ${name}`,
      "    user: {}",
      "",
    ].join("\n");
  }

  /** Creates objects in order, without HTTP. Throws the error with which a POST would be refused. */
  load(objects: readonly JsonObject[]): void {
    loadObjects(this.#storage, objects, this.#now(), this.#kinds);
  }

  /** Deletes the history. Older watches and continue tokens get 410. Open watches continue. */
  compact(): void {
    this.#storage.compact();
  }

  /** Closes the connections of all open watches and returns their number. */
  killWatches(): number {
    return this.#each((watch) => watch.cut());
  }

  /** Ends all open watches with an in-stream 410 Expired, as after a compaction. */
  expireWatches(): number {
    return this.#each((watch) => watch.fail(expired("too old resource version").status));
  }

  /** Open watches stay open and send nothing, as behind a broken router. */
  muteWatches(): number {
    return this.#each((watch) => watch.mute());
  }

  async stop(): Promise<void> {
    this.#controller.stop();
    this.killWatches();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  #each(act: (watch: WatchConnection) => void): number {
    const open = [...this.#watches];
    for (const watch of open) act(watch);
    return open.length;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url: path = "/" } = request;
    const userAgent = request.headers["user-agent"] ?? "";
    const log = (code: number): void => {
      if (this.requests.length >= loggedRequests) this.requests.splice(0, loggedRequests / 10);
      this.requests.push({ method, path, code, userAgent });
    };
    try {
      const { pathname, searchParams: query } = new URL(path, "http://sandbox");
      const body = await readAll(request);
      const target = route(pathname, this.#kinds());
      const watch = method === "GET" && target?.name === undefined && isWatch(query);
      const seen = { method, path: pathname, query, userAgent, target, watch };
      const injected = await this.beforeRequest?.(seen);
      if (injected === "reset") {
        log(0);
        response.destroy();
      } else if (injected !== undefined && "status" in injected) {
        log(injected.status);
        send(response, injected.status, injected.body ?? "", injected.headers);
      } else {
        const contentType = request.headers["content-type"] ?? "";
        const asked = { method, query, body, contentType, userAgent };
        const { accept } = request.headers;
        const call = { request: asked, pathname, accept, watch, ending: injected };
        await this.#dispatch(call, response, log);
      }
    } catch (error) {
      const refusal = error instanceof StatusError ? error : internal(String(error));
      log(refusal.code);
      // No answer is possible after a stream has begun.
      if (response.headersSent) response.destroy();
      else send(response, refusal.code, refusal.status, refusal.headers);
    }
  }

  async #dispatch(call: Incoming, response: ServerResponse, log: Log): Promise<void> {
    const { request, pathname, accept } = call;
    const { method, query } = request;
    const rows = this.#kinds();
    const target = route(pathname, rows);
    if (isAccessReview(method, pathname)) {
      const review = await reviewAccess(request.body, request.contentType);
      log(send(response, 201, review));
      return;
    }
    if (target === undefined) {
      log(sendUnnamed({ method, path: pathname, accept }, response, rows));
      return;
    }
    const { resource } = target;
    const now = this.#now;
    const view = { resource, form: negotiate(accept), include: readInclude(query), now };
    if (call.watch) {
      this.#watch(target, query, view, response, call.ending);
      log(200);
      return;
    }
    const answer = await perform({ storage: this.#storage, now, target, view, request });
    log(answer.code);
    const warnings = (answer.warnings ?? []).map((text) => `299 - ${JSON.stringify(text)}`);
    send(response, answer.code, answer.body, warnings.length > 0 ? { warning: warnings } : {});
  }

  #watch(
    target: RequestTarget,
    query: URLSearchParams,
    view: Representation,
    response: ServerResponse,
    ending: WatchEnding | undefined,
  ): void {
    const wanted = watchRequest(target, query);
    const [quietBookmarkMs, schedule] = [this.#quietBookmarkMs, this.#schedule];
    const request = { ...wanted, quietBookmarkMs, schedule, ending, view };
    const watch = new WatchConnection(this.#storage, request, response);
    this.#watches.add(watch);
    response.on("close", () => this.#watches.delete(watch));
    watch.start();
  }
}

type Log = (code: number) => void;

type Incoming = {
  readonly request: VerbRequest;
  readonly pathname: string;
  readonly accept: string | undefined;
  readonly watch: boolean;
  readonly ending: WatchEnding | undefined;
};

/** Starts a sandbox on 127.0.0.1. Rejects when the port is taken. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = new Sandbox(options);
  await sandbox.listen(options.port ?? 0);
  return sandbox;
}
