// The parameters of a watch, with the rules of the real server for their combinations.
import type { ServedResource } from "../kinds/resources.ts";
import { noVersion, readCount, readVersion } from "./list.ts";
import { selection } from "../kinds/selectors.ts";
import { forbiddenField, invalidObject, notSupported, unexplained } from "../storage/status.ts";
import type { StatusCause } from "../storage/status.ts";
import type { WatchRequest } from "./watch.ts";

/** Without timeoutSeconds a watch lasts half an hour at least (kube-apiserver, min-request-timeout). */
const defaultTimeoutMs = 30 * 60_000;

type OfServer = "show" | "showBookmark" | "quietBookmarkMs" | "now" | "schedule" | "ending";
type Wanted = Omit<WatchRequest, OfServer>;

/** Reads `query`. Throws like the real server, which answers a bad version with a 500. */
export function watchRequest(
  resource: ServedResource,
  namespace: string | undefined,
  query: URLSearchParams,
): Wanted {
  check(query);
  const version = readVersion(query);
  if (version === undefined) throw unexplained(noVersion(query));
  const streaming = readFlag(query, "sendInitialEvents");
  const seconds = readCount(query, "timeoutSeconds");
  return {
    resource,
    namespace,
    selected: selection(resource, query),
    version,
    initialEvents: streaming ?? version === 0,
    notOlderThan: streaming === true,
    bookmarks: readFlag(query, "allowWatchBookmarks") ?? false,
    timeoutMs: seconds > 0 ? seconds * 1000 : defaultTimeoutMs,
  };
}

/** Whether a GET of a collection asks for a watch. */
export function isWatch(query: URLSearchParams): boolean {
  return readFlag(query, "watch") ?? false;
}

/** A boolean as Go's decoder of parameters reads it. Undefined when it is not given. */
export function readFlag(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  return text.toLowerCase() !== "false" && text !== "0";
}

function check(query: URLSearchParams): void {
  const field = "resourceVersionMatch";
  const match = query.get(field) ?? "";
  const streaming = query.has("sendInitialEvents");
  const causes: StatusCause[] = [];
  const forbid = (why: string) => void causes.push(forbiddenField(field, why));
  if (streaming && match !== "NotOlderThan")
    forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  if (match !== "") {
    if (!streaming)
      forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    if (match !== "NotOlderThan") causes.push(notSupported(field, match, ["NotOlderThan"]));
    if (query.get("continue")) forbid(`${field} is forbidden when continue is provided`);
  }
  if (causes.length > 0)
    throw invalidObject({ group: "meta.k8s.io", kind: "ListOptions" }, "", causes);
}
