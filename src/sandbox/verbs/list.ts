// Lists: the state that a request may see (resourceVersion, resourceVersionMatch), pages with continue
// tokens that keep the state of the first page, and the selectors.
import { posix } from "node:path";
import { asText, isObject } from "../storage/object.ts";
import type { JsonObject, StoredObject } from "../storage/object.ts";
import type { ServedResource } from "../kinds/resources.ts";
import { selection } from "../kinds/selectors.ts";
import type { Selection } from "../kinds/selectors.ts";
import {
  badRequest,
  expired,
  forbiddenField,
  invalidObject,
  notSupported,
  tooLargeVersion,
} from "../storage/status.ts";
import type { StatusCause } from "../storage/status.ts";
import { countFrom, keyOf, keysFrom } from "../storage/storage.ts";
import type { Collection, Storage, StorageView } from "../storage/storage.ts";
import type { Listed } from "../http/representation.ts";

const listOptions = { group: "meta.k8s.io", kind: "ListOptions" };

/** The objects that `query` asks for, in their stored form, in the order of their keys. */
export function list(
  storage: Storage,
  resource: ServedResource,
  namespace: string | undefined,
  query: URLSearchParams,
): Listed {
  check(query);
  const selected = selection(resource, query);
  const limit = readCount(query, "limit");
  const collection = storage.collection(resource.storage);
  const prefix = namespace === undefined ? "" : `${namespace}/`;
  const token = query.get("continue") ?? "";
  const page =
    token === ""
      ? firstPage(storage, query, limit)
      : nextPage(token, prefix, storage, collection, query);
  const view = page.exact ? collection.viewAt(page.version) : collection.view();
  if (view === undefined) throw expired("The resourceVersion for the provided list is too old.");
  const found = collect(view, resource, namespace, prefix, page.start, selected, page.limit);
  return { objects: found.objects, metadata: listMetadata(page.version, found) };
}

type Page = {
  readonly version: number;
  readonly exact: boolean;
  readonly start: string;
  readonly limit: number;
};

function firstPage(storage: Storage, query: URLSearchParams, limit: number): Page {
  const asked = readVersion(query);
  if (asked === undefined) throw badRequest(`invalid resource version: ${noVersion(query)}`);
  const match = query.get("resourceVersionMatch") ?? "";
  if (asked > storage.version) throw tooLargeVersion(asked, storage.version);
  // A limit at a version means exactly that version, unless the match says otherwise.
  const exact = asked > 0 && (match === "Exact" || (match === "" && limit > 0));
  return {
    version: exact ? asked : storage.version,
    exact,
    start: "",
    // Any version is accepted, so the watch cache answers, which has no pages.
    limit: query.get("resourceVersion") === "0" ? 0 : limit,
  };
}

function nextPage(
  token: string,
  prefix: string,
  storage: Storage,
  collection: Collection,
  query: URLSearchParams,
): Page {
  if (!["", "0"].includes(query.get("resourceVersion") ?? ""))
    throw badRequest("specifying resource version is not allowed when using continue");
  const { version, start } = readToken(token);
  const limit = readCount(query, "limit");
  const from = `${prefix}${start}`;
  // A version of -1 in the token means to continue with the current state.
  if (version < 0) return { version: storage.version, exact: false, start: from, limit };
  if (version < collection.floor)
    throw expired(
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
      writeToken(-1, start),
    );
  return { version, exact: true, start: from, limit };
}

type Found = { readonly objects: StoredObject[]; next: string | undefined; left: number };

function collect(
  view: StorageView,
  resource: ServedResource,
  namespace: string | undefined,
  prefix: string,
  start: string,
  selected: Selection,
  limit: number,
): Found {
  const found: Found = { objects: [], next: undefined, left: 0 };
  for (const key of candidates(view, resource, namespace, selected, start || prefix)) {
    const object = view.objects.get(key);
    if (object === undefined) continue;
    if (limit > 0 && found.objects.length === limit) {
      found.next = key.slice(prefix.length);
      // With selectors the remaining number of matches is unknown.
      if (!selected.matches) found.left = countFrom(view, prefix, key);
      break;
    } else if (!selected.matches || selected.matches(object)) found.objects.push(object);
  }
  return found;
}

/** The keys that can match, from `start` on: one when the selection names one, else a stretch of all. */
export function candidates(
  view: StorageView,
  resource: ServedResource,
  namespace: string | undefined,
  selected: Selection,
  start: string,
): Iterable<string> {
  if (selected.name !== undefined && (namespace !== undefined || !resource.namespaced))
    return [keyOf(namespace, selected.name)];
  return keysFrom(view, namespace === undefined ? "" : `${namespace}/`, start);
}

function listMetadata(version: number, found: Found): JsonObject {
  return {
    resourceVersion: String(version),
    ...(found.next === undefined ? {} : { continue: writeToken(version, found.next) }),
    ...(found.left === 0 ? {} : { remainingItemCount: found.left }),
  };
}

function writeToken(version: number, start: string): string {
  const token = { v: "meta.k8s.io/v1", rv: version, start };
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

function readToken(text: string): { readonly version: number; readonly start: string } {
  const token = parseToken(text);
  if (token["v"] !== "meta.k8s.io/v1")
    throw badRequest(
      `invalid continue token: continue key is not valid: server does not recognize this encoded version ${asText(token["v"])}`,
    );
  const version = token["rv"];
  const start = asText(token["start"]);
  if (typeof version !== "number" || !Number.isInteger(version) || version === 0)
    throw badRequest(
      "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    );
  if (start === "")
    throw badRequest(
      "invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)",
    );
  // A start key must not change a path: a page stays within its list.
  const path = start.startsWith("/") ? start : `/${start}`;
  if (posix.normalize(path) !== path || (path.endsWith("/") && path !== "/"))
    throw badRequest(`invalid continue token: continue key is not valid: ${start}`);
  return { version, start: path.slice(1) };
}

// Base64 for addresses without padding, as Go's RawURLEncoding takes it: Node would take any.
const NOT_BASE64URL = /[^A-Za-z0-9_-]/;

function parseToken(text: string): JsonObject {
  const bare = text.replaceAll(/[\r\n]/g, "");
  const wrong = bare.length % 4 === 1 ? bare.length - 1 : -1;
  const at = NOT_BASE64URL.exec(bare)?.index ?? wrong;
  if (at >= 0)
    throw badRequest(
      `invalid continue token: continue key is not valid: illegal base64 data at input byte ${at}`,
    );
  try {
    const token: unknown = JSON.parse(Buffer.from(bare, "base64url").toString());
    if (isObject(token)) return token;
  } catch {
    // falls through to the same refusal
  }
  throw badRequest("invalid continue token: continue key is not valid: it cannot be decoded");
}

/** resourceVersion as a number: 0 when it is not given, undefined when it is not a number. */
export function readVersion(query: URLSearchParams): number | undefined {
  const text = query.get("resourceVersion") ?? "";
  if (text === "" || text === "0") return 0;
  const version = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(version) ? version : undefined;
}

/** The real server's error for a resourceVersion that is not a number. */
export function noVersion(query: URLSearchParams): string {
  const text = JSON.stringify(query.get("resourceVersion"));
  return `resourceVersion: Invalid value: ${text}: strconv.ParseUint: parsing ${text}: invalid syntax`;
}

/** A parameter with a count, or 0 when it is not given. */
export function readCount(query: URLSearchParams, name: string): number {
  const text = query.get(name);
  if (text === null) return 0;
  const refuse = (why: string): Error =>
    badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
  if (!/^-?\d+$/.test(text)) throw refuse("invalid syntax");
  if (BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) throw refuse("value out of range");
  return Math.max(0, Number(text));
}

function check(query: URLSearchParams): void {
  const match = query.get("resourceVersionMatch") ?? "";
  const version = query.get("resourceVersion") ?? "";
  const causes: StatusCause[] = [];
  const forbid = (why: string) => void causes.push(forbiddenField("resourceVersionMatch", why));
  if (match !== "") {
    if (version === "")
      forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (query.get("continue"))
      forbid("resourceVersionMatch is forbidden when continue is provided");
    if (match !== "Exact" && match !== "NotOlderThan")
      causes.push(notSupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]));
    if (match === "Exact" && version === "0")
      forbid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (query.has("sendInitialEvents"))
    causes.push(forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  if (causes.length > 0) throw invalidObject(listOptions, "", causes);
}
