// The API server of the explorer: objects in maps that are copied for each branch, requests answered at once.
import type { ApiRequest } from "../../packages/kube/rest/api-client.ts";
import { statusError } from "../../packages/kube/rest/api-error.ts";
import { jsonPatch } from "../../packages/sandbox/verbs/patch-formats.ts";
import type { Json } from "../../packages/sandbox/storage/object.ts";
import { mergePatch } from "../support/planner/merge-patch.ts";
import type { Raw, Texts } from "../campaign/model/raw.ts";

export type RawObject = Raw & { readonly kind: string };
/** Namespaces by name, objects by "KIND NAMESPACE/NAME". */
export type Objects = Map<string, RawObject>;

let versions = 1_000_000_000;
let uids = 0;
const version = (): string => String(++versions);
const newUid = (): string => `uid-${++uids}.`;

/** A change of metadata or content; a new object where `before` is undefined. */
export function written(
  slot: string,
  before: RawObject | undefined,
  change: Partial<Omit<RawObject, "metadata">> & { readonly metadata?: Partial<Raw["metadata"]> },
): RawObject {
  const [kind = "", place = ""] = slot.includes(" ") ? slot.split(" ") : ["Namespace", slot];
  const [namespace, name] = place.includes("/") ? place.split("/") : [undefined, place];
  const metadata = {
    uid: newUid(),
    creationTimestamp: "2026-01-01T00:00:00Z",
    ...before?.metadata,
    name: name ?? "",
    ...(namespace === undefined ? {} : { namespace }),
    ...change.metadata,
    resourceVersion: version(),
  };
  return Object.freeze({ ...before, kind, ...change, metadata });
}

const PATH = /^\/api\/v1\/namespaces\/([^/]+)(?:\/(secrets|configmaps)(?:\/([^/]+))?)?$/;

export type Asked = { readonly slot: string; readonly plural: string; readonly name: string };

export function askedFor({ path, body }: ApiRequest): Asked {
  const [, namespace = "", plural, name] = PATH.exec(path) ?? [];
  if (plural === undefined) return { slot: namespace, plural: "namespaces", name: namespace };
  const own = name ?? String((body as { metadata?: { name?: string } }).metadata?.name);
  const kind = plural === "secrets" ? "Secret" : "ConfigMap";
  return { slot: `${kind} ${namespace}/${own}`, plural, name: own };
}

/** Throws as a client does. `refused`: a status code in place of the answer. */
export function answer(
  objects: Objects,
  request: ApiRequest,
  refused?: number,
): RawObject | undefined {
  const { method, query } = request;
  const { slot, plural, name } = askedFor(request);
  const refuse = (code: number, reason: string, message: string): never => {
    const body = { kind: "Status", code, reason, message, details: { kind: plural, name } };
    throw statusError(request.what, code, body);
  };
  if (refused !== undefined) refuse(refused, REASONS[refused] ?? "", "refused");
  const present = objects.get(slot);
  const body: unknown = JSON.parse(JSON.stringify(request.body ?? null));
  if (method === "POST") {
    if (present) return refuse(409, "AlreadyExists", `${plural} "${name}" already exists`);
    const home = objects.get(slot.split(/[ /]/)[1] ?? "");
    if (!home) return refuse(404, "NotFound", `namespaces "${slot}" not found`);
    if (home.status?.phase === "Terminating")
      return refuse(
        403,
        "Forbidden",
        `${plural} "${name}" is forbidden: unable to create new content`,
      );
    const made = written(slot, undefined, body as object);
    if (query?.["dryRun"] !== "All") objects.set(slot, made);
    return made;
  }
  if (!present) return refuse(404, "NotFound", `${plural} "${name}" not found`);
  if (method === "GET") return present;
  if (method === "DELETE") {
    const { preconditions } = body as { preconditions?: Partial<Raw["metadata"]> };
    if (!isSame(present, preconditions)) return refuse(409, "Conflict", "precondition failed");
    if ((present.metadata.finalizers ?? []).length > 0) {
      const metadata = { ...present.metadata, deletionTimestamp: "2026-03-01T00:00:00Z" };
      const doomed = written(slot, present, { metadata });
      objects.set(slot, doomed);
      return doomed;
    }
    objects.delete(slot);
    return undefined;
  }
  const isJson = request.contentType === "application/json-patch+json";
  let next: RawObject;
  try {
    const patched = isJson ? jsonPatch(present, body as Json) : mergePatch(present, body);
    next = JSON.parse(JSON.stringify(patched)) as RawObject;
  } catch {
    return refuse(409, "Conflict", "test failed");
  }
  if (!isSame(present, next.metadata))
    return refuse(409, "Conflict", "the object has been modified");
  const fixed =
    next.type !== present.type || (present.immutable === true && !staysImmutable(present, next));
  if (fixed) return refuse(422, "Invalid", "field is immutable");
  const made = written(slot, undefined, next);
  objects.set(slot, made);
  return made;
}

const REASONS: Readonly<Record<number, string>> = {
  403: "Forbidden",
  409: "Conflict",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
};

function isSame({ metadata }: Raw, asked: Partial<Raw["metadata"]> = {}): boolean {
  const { uid = metadata.uid, resourceVersion = metadata.resourceVersion } = asked;
  return uid === metadata.uid && resourceVersion === metadata.resourceVersion;
}

function staysImmutable(before: Raw, after: Raw): boolean {
  const texts = (data: Texts = {}): string =>
    JSON.stringify(Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return after.immutable === true && texts(after.data) === texts(before.data);
}
