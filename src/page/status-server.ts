// The status page: static files, the status as JSON and as server-sent events. It is read only, and for users
// that may read the names of all tenants. It listens on loopback and answers only requests made to a loopback
// name. No web page can then read it through a name of its own that points here (DNS rebinding). No script
// except its own runs in it.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { BlockList, isIP } from "node:net";
import type { Address } from "../controller/settings/flags.ts";
import type { Clock } from "../../packages/kube/time/clock.ts";
import type { StatusFeed } from "./status-feed.ts";
import { readFilter, type Filter } from "./filter.ts";
import { endWith, listenOn, targetOf, type HttpServer } from "./listen.ts";
import { EventStream } from "./event-stream.ts";

const HEADERS = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
} as const;

// Each answer can be megabytes of text until its client has read it.
const MOST_ANSWERS = 16;

const FOLDER = new URL("browser/", import.meta.url);
const FILES: Readonly<Record<string, { readonly file: string; readonly type: string }>> = {
  "/": { file: "page.html", type: "text/html; charset=utf-8" },
  "/page.css": { file: "page.css", type: "text/css; charset=utf-8" },
  "/page.js": { file: "page.js", type: "text/javascript; charset=utf-8" },
  "/view.js": { file: "view.js", type: "text/javascript; charset=utf-8" },
  "/dom.js": { file: "dom.js", type: "text/javascript; charset=utf-8" },
  "/icon.svg": { file: "icon.svg", type: "image/svg+xml" },
};

/** Rejects with a one-line error if it cannot listen on the address. */
export async function serveStatus(
  address: Address,
  statusFeed: StatusFeed,
  clock: Clock,
): Promise<HttpServer> {
  const live = new EventStream(statusFeed, clock);
  const files = new Map(
    Object.entries(FILES).map(([path, { file, type }]) => [
      path,
      { type, body: readFileSync(new URL(file, FOLDER)) },
    ]),
  );
  const guarded = isLoopback(address.host);
  const api = { statusFeed, live, answering: 0 };
  return listenOn(address, clock, (request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { path, query } = targetOf(request);
    const file = files.get(path);
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("Allow", "GET, HEAD");
      endWith(response, 405, "only GET is served here\n");
    } else if (guarded && !isLoopback(hostOf(request)))
      endWith(response, 421, "this page is served under localhost and loopback addresses only\n");
    else if (file) endWith(response, 200, file.body, file.type);
    else if (path === "/api/status" || path === "/api/events")
      void serveApi(path, query, response, api).catch(() => response.destroy());
    else endWith(response, 404, "not found: /, /api/status and /api/events are served here\n");
  });
}

/** `answering` counts the answers of /api/status that are being made or sent. */
type Api = { readonly statusFeed: StatusFeed; readonly live: EventStream; answering: number };

async function serveApi(
  path: "/api/status" | "/api/events",
  query: URLSearchParams,
  response: ServerResponse,
  api: Api,
): Promise<void> {
  let filter: Filter;
  try {
    filter = readFilter(query);
  } catch (error) {
    endWith(response, 400, `${error instanceof Error ? error.message : "wrong query"}\n`);
    return;
  }
  if (path === "/api/status") await serveOnce(response, filter, api);
  else if (response.req.method === "HEAD") endWith(response, 200, "", "text/event-stream");
  else if (api.live.full) refuseForNow(response, "too many readers of live updates\n");
  else await api.live.serve(response, filter);
}

async function serveOnce(response: ServerResponse, filter: Filter, api: Api): Promise<void> {
  if (api.answering >= MOST_ANSWERS) {
    refuseForNow(response, "too many readers of the status\n");
    return;
  }
  const closed = once(response, "close");
  api.answering++;
  try {
    endWith(response, 200, JSON.stringify(await api.statusFeed.read(filter)), "application/json");
    await closed;
  } finally {
    api.answering--;
  }
}

function refuseForNow(response: ServerResponse, text: string): void {
  response.setHeader("Retry-After", "1");
  endWith(response, 503, text);
}

/** The host name of the request, without the port. */
function hostOf({ headers: { host = "" } }: IncomingMessage): string {
  return host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host.toLowerCase() === "localhost";
  return LOOPBACK.check(host, family === 4 ? "ipv4" : "ipv6");
}
