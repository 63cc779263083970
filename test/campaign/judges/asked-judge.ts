// Judges what the controller asks of the API server, as it passes the proxy: nothing outside its rights,
// and no Secret again and again.
import type { ProxyRequest, ProxyWrite } from "../../../packages/kube/testing/fault-proxy.ts";
import { placeOfWrite } from "./request-judge.ts";
import type { Violations } from "./violations.ts";

const RESOURCE = /^\/apis?\/(?:[^/]+\/)?v1\/(?:namespaces\/[^/]+\/)?([a-z]+)(?:\/[^/]+)?$/;
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  secrets: ["GET", "POST", "PATCH", "DELETE"],
  namespaces: ["GET"],
  events: ["POST", "PATCH"],
  leases: ["GET", "POST", "PUT"],
};
/** The source list, and no other ConfigMap. */
const LIST = "/api/v1/namespaces/secretcast/configmaps";
const LIST_SELECTOR = "metadata.name=secretcast-sources";
const NAMED_SECRET = /^\/api\/v1\/namespaces\/([^/]+)\/secrets\/([^/]+)$/;
const WINDOW_MS = 10_000;
/** Requests for one Secret within the window: a back-off that begins at one second allows far fewer. */
const MOST_REPEATS = 25;

export class AskedJudge {
  readonly #violations: Violations;
  readonly #recent = new Map<string, number[]>();
  /** By "METHOD RESOURCE". */
  readonly requests = new Map<string, number>();
  /** The most that one place saw within the window. */
  mostRepeats = 0;

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  /** All that was asked since the last round. */
  round(requests: readonly ProxyRequest[]): void {
    for (const request of requests) {
      const { method, path } = request;
      const [, resource] = RESOURCE.exec(path) ?? [];
      if (resource === undefined) continue;
      const asked = `${method} ${resource}`;
      this.requests.set(asked, (this.requests.get(asked) ?? 0) + 1);
      if (RIGHTS[resource]?.includes(method) !== true && !isOfList(request))
        this.#violations.add("a request outside the controller's rights", `${method} ${path}`);
      const [, namespace, name] = (method === "GET" && NAMED_SECRET.exec(path)) || [];
      if (name !== undefined) this.#repeated(`${namespace}/${name}`);
    }
  }

  write(write: ProxyWrite): void {
    const place = placeOfWrite(write);
    if (place !== undefined) this.#repeated(place);
  }

  #repeated(place: string): void {
    const now = performance.now();
    const times = this.#recent.get(place) ?? [];
    const recent = [...times.filter((time) => time > now - WINDOW_MS), now];
    this.#recent.set(place, recent);
    this.mostRepeats = Math.max(this.mostRepeats, recent.length);
    if (recent.length <= MOST_REPEATS) return;
    this.#violations.add(
      "one place asked again and again",
      `${place}: ${recent.length} requests within ${WINDOW_MS / 1000} s`,
    );
    this.#recent.delete(place);
  }
}

const isOfList = ({ method, path, query }: ProxyRequest): boolean =>
  method === "GET" && path === LIST && query.get("fieldSelector") === LIST_SELECTOR;
