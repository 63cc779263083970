// Lists: the state that a request may see (resourceVersion, resourceVersionMatch), pages with continue
// tokens that keep the state of the first page, and the selectors.
import { posix } from "node:path";
import { asText, isObject } from "../storage/object.ts";
import type { JsonObject, StoredObject } from "../storage/object.ts";
import { selection } from "../kinds/selectors.ts";
import type { Scope, Selection } from "../kinds/selectors.ts";
import {
  badRequest,
  causesOf,
  expired,
  forbiddenField,
  notSupported,
  refuseOptions,
  tooLargeVersion,
} from "../storage/status.ts";
import type { StatusCause } from "../storage/status.ts";
import { countFrom, keysFrom } from "../storage/storage.ts";
import type { Collection, Storage, StorageView } from "../storage/storage.ts";
import type { Listed } from "../http/representation.ts";

/** The objects that `query` asks for, in their stored form, in the order of their keys. */
export function list(storage: Storage, scope: Scope, query: URLSearchParams): Listed {
  check(query);
  const selected = selection(scope, query);
  const limit = readCount(query, "limit");
  const collection = storage.collection(scope.resource.storage);
  const token = query.get("continue") ?? "";
  const page =
    token === ""
      ? firstPage(storage, query, limit)
      : nextPage(token, query, selected.prefix, storage, collection);
  const view = page.exact ? collection.viewAt(page.version) : collection.view();
  if (view === undefined) throw expired("The resourceVersion for the provided list is too old.");
  // Any version is accepted, so the watch cache answers, which has no pages.
  const isWhole = token === "" && query.get("resourceVersion") === "0";
  const { objects, next, left } = collect(view, selected, page.start, isWhole ? 0 : limit);
  const metadata = {
    resourceVersion: String(page.version),
    ...(next !== undefined && { continue: writeToken(page.version, next) }),
    ...(left > 0 && { remainingItemCount: left }),
  };
  return { objects, metadata };
}

type Page = { readonly version: number; readonly exact: boolean; readonly start: string };

function firstPage(storage: Storage, query: URLSearchParams, limit: number): Page {
  const asked = readVersion(query);
  if (asked === undefined) throw badRequest(`invalid resource version: ${noVersion(query)}`);
  const match = query.get("resourceVersionMatch") ?? "";
  if (asked > storage.version) throw tooLargeVersion(asked, storage.version);
  // A limit at a version means exactly that version, unless the match says otherwise.
  const exact = asked > 0 && (match === "Exact" || (match === "" && limit > 0));
  return { version: exact ? asked : storage.version, exact, start: "" };
}

function nextPage(
  token: string,
  query: URLSearchParams,
  prefix: string,
  storage: Storage,
  collection: Collection,
): Page {
  if (!["", "0"].includes(query.get("resourceVersion") ?? ""))
    throw badRequest("specifying resource version is not allowed when using continue");
  const { version, start } = readToken(token);
  const from = `${prefix}${start}`;
  // A version of -1 in the token means to continue with the current state.
  if (version < 0) return { version: storage.version, exact: false, start: from };
  if (version < collection.floor)
    throw expired(
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
      writeToken(-1, start),
    );
  return { version, exact: true, start: from };
}

type Found = {
  readonly objects: readonly StoredObject[];
  readonly next: string | undefined;
  readonly left: number;
};

function collect(view: StorageView, selected: Selection, start: string, limit: number): Found {
  const { prefix, matches } = selected;
  const objects: StoredObject[] = [];
  for (const [key, object] of candidates(view, selected, start)) {
    if (limit > 0 && objects.length === limit) {
      // With selectors the remaining number of matches is unknown.
      const left = matches ? 0 : countFrom(view, prefix, key);
      return { objects, next: key.slice(prefix.length), left };
    }
    if (!matches || matches(object)) objects.push(object);
  }
  return { objects, next: undefined, left: 0 };
}

/** The objects that can match, with their keys, from `start` on. */
export function* candidates(
  view: StorageView,
  { key, prefix }: Selection,
  start: string,
): Generator<readonly [string, StoredObject]> {
  for (const each of key === undefined ? keysFrom(view, prefix, start) : [key]) {
    const object = view.objects.get(each);
    if (object !== undefined) yield [each, object];
  }
}

function writeToken(version: number, start: string): string {
  const token = { v: "meta.k8s.io/v1", rv: version, start };
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

function readToken(text: string): { readonly version: number; readonly start: string } {
  const token = parseToken(text);
  if (token["v"] !== "meta.k8s.io/v1")
    throw invalidToken(`server does not recognize this encoded version ${asText(token["v"])}`);
  const version = token["rv"];
  const start = asText(token["start"]);
  if (typeof version !== "number" || !Number.isInteger(version) || version === 0)
    throw invalidToken("incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  if (start === "") throw invalidToken("encoded start key empty (version meta.k8s.io/v1)");
  // A start key must not change a path: a page stays within its list.
  const path = start.startsWith("/") ? start : `/${start}`;
  if (posix.normalize(path) !== path || (path.endsWith("/") && path !== "/"))
    throw invalidToken(start);
  return { version, start: path.slice(1) };
}

// Base64 for addresses without padding, as Go's RawURLEncoding takes it: Node would take any.
const NOT_BASE64URL = /[^A-Za-z0-9_-]/;

function parseToken(text: string): JsonObject {
  const bare = text.replaceAll(/[\r\n]/g, "");
  const wrong = bare.length % 4 === 1 ? bare.length - 1 : -1;
  const at = NOT_BASE64URL.exec(bare)?.index ?? wrong;
  if (at >= 0) throw invalidToken(`illegal base64 data at input byte ${at}`);
  try {
    const token: unknown = JSON.parse(Buffer.from(bare, "base64url").toString());
    if (isObject(token)) return token;
  } catch {
    // falls through to the same refusal
  }
  throw invalidToken("it cannot be decoded");
}

function invalidToken(why: string): Error {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
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
  const field = "resourceVersionMatch";
  const match = query.get(field) ?? "";
  const version = query.get("resourceVersion") ?? "";
  const forbid = (why: string): StatusCause => forbiddenField(field, why);
  const causes = causesOf(
    match !== "" &&
      causesOf(
        version === "" && forbid(`${field} is forbidden unless resourceVersion is provided`),
        query.get("continue") ? forbid(`${field} is forbidden when continue is provided`) : false,
        match !== "Exact" &&
          match !== "NotOlderThan" &&
          notSupported(field, match, ["Exact", "NotOlderThan", ""]),
        match === "Exact" &&
          version === "0" &&
          forbid(`${field} "exact" is forbidden for resourceVersion "0"`),
      ),
    query.has("sendInitialEvents") &&
      forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"),
  );
  refuseOptions("ListOptions", causes);
}
