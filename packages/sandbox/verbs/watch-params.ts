// The parameters of a watch, with the rules of the real server for their combinations.
import { noVersion, readCount, readVersion } from "./list.ts";
import { selection, type Scope } from "../kinds/selectors.ts";
import {
  causesOf,
  forbiddenField,
  notSupported,
  refuseOptions,
  unexplained,
} from "../storage/status.ts";
import type { StatusCause } from "../storage/status.ts";
import type { WatchRequest } from "./watch.ts";

/** Without timeoutSeconds a watch lasts half an hour at least (kube-apiserver, min-request-timeout). */
const defaultTimeoutMs = 30 * 60_000;

type Wanted = Omit<WatchRequest, "view" | "quietBookmarkMs" | "schedule" | "ending">;

/** Reads `query`. Throws like the real server, which answers a bad version with a 500. */
export function watchRequest(scope: Scope, query: URLSearchParams): Wanted {
  check(query);
  const version = readVersion(query);
  if (version === undefined) throw unexplained(noVersion(query));
  const streaming = readFlag(query, "sendInitialEvents");
  const seconds = readCount(query, "timeoutSeconds");
  return {
    selected: selection(scope, query),
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
  const forbid = (why: string): StatusCause => forbiddenField(field, why);
  const causes = causesOf(
    streaming &&
      match !== "NotOlderThan" &&
      forbid(`sendInitialEvents requires setting ${field} to NotOlderThan`),
    match !== "" &&
      causesOf(
        !streaming &&
          forbid(`${field} is forbidden for watch unless sendInitialEvents is provided`),
        match !== "NotOlderThan" && notSupported(field, match, ["NotOlderThan"]),
        query.get("continue") ? forbid(`${field} is forbidden when continue is provided`) : false,
      ),
  );
  refuseOptions("ListOptions", causes);
}
