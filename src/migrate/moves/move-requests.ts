// The requests of a move. Each carries UID and version of the judged object, so it cannot change another
// one. No request deletes anything. Only the request for a new source holds data.
import { newSource, type MovedContent } from "./moved-content.ts";
import { secretcastWords, type MovedSource } from "./moved-source.ts";
import { isListed, type MoveList } from "./list-moves.ts";
import type { ListEntry } from "../../controller/annotations/list-entry.ts";
import type { Migration, MovedCopy, MovedNamespace } from "./migration.ts";
import { KINDS, type ObjectKind } from "../../controller/model/kinds.ts";
import { objectTitle, type OldObject, placeOf } from "../oldtools/old-objects.ts";
import { toolOwners, type OldSource, type OldTool } from "../oldtools/old-tool.ts";
import { apiVersionOf, refText } from "../../text/names.ts";
import {
  annotationKey,
  MANAGED_BY_LABEL,
  PREFIX,
} from "../../controller/annotations/vocabulary.ts";
import { isNeverCopied } from "../../controller/annotations/never-copied.ts";
import { marksOf } from "../../controller/observed/read-copy.ts";
import {
  preconditions,
  textOperations,
  type Operation,
  type Texts,
} from "../../../packages/kube/json-patch.ts";
import { copyOperations } from "../../controller/writes/object-requests.ts";

export type MoveRequest = {
  /** For people: "annotate Secret a/b". */
  readonly what: string;
  readonly method: "POST" | "PATCH";
  readonly kind: ObjectKind | "Namespace";
  readonly namespace: string | undefined;
  readonly name: string;
  /** A JSON patch, or the whole object that a POST creates. */
  readonly body: unknown;
};

/** Undefined when there is nothing to write. */
export function sourceRequest(source: MovedSource): MoveRequest | undefined {
  const { write, place, object, content, annotations } = source;
  if (write === "annotate" && object) {
    const operations = textOperations("annotations", annotations, object.annotated);
    return patchAsJudged(`annotate ${objectTitle(place)}`, object, operations);
  }
  if (write !== "create" || !content) return undefined;
  return {
    what: `create ${objectTitle(place)}`,
    method: "POST",
    ...place,
    body: newSource(place, content, annotations),
  };
}

export function namespaceRequest({
  namespace,
  accept,
  done,
}: MovedNamespace): MoveRequest | undefined {
  if (done) return undefined;
  const { name } = namespace;
  const annotated = Object.keys(namespace.annotations).length > 0;
  return patch(`annotate Namespace ${name}`, { kind: "Namespace", namespace: undefined, name }, [
    ...preconditions(namespace),
    ...textOperations("annotations", { [annotationKey("accept")]: accept }, annotated),
  ]);
}

const LIST_VERSION = apiVersionOf(KINDS.ConfigMap.resource);

/** All entries in one request. Undefined when there is nothing to write. */
export function listRequest(
  { ref, present }: MoveList,
  entries: readonly ListEntry[],
): MoveRequest | undefined {
  if (entries.length === 0) return undefined;
  const data = Object.fromEntries(entries.map(({ key, text }) => [key, text]));
  const what = `put ${entries.length} entries into the source list ${refText(ref)}`;
  if (!present) {
    const body = { apiVersion: LIST_VERSION, kind: "ConfigMap", metadata: ref, data };
    return { what, method: "POST", kind: "ConfigMap", ...ref, body };
  }
  const add = (path: string, value: unknown): Operation => ({ op: "add", path, value });
  return patch(what, { kind: "ConfigMap", ...ref }, [
    ...preconditions(present),
    ...(present.data ? [] : [add("/data", {})]),
    ...entries.map(({ key, text }) => add(`/data/${key}`, text)),
  ]);
}

/** Turns a copy of the old tool into a managed copy, or a mirror into a pulling one. The data stay. */
export function copyRequest(
  tool: OldTool,
  { object, pulls, named }: MovedCopy,
  { content, payload }: MovedContent,
): MoveRequest | undefined {
  if (!content || !payload) return undefined;
  const what = `adopt ${objectTitle(object)}`;
  if (!pulls) {
    // Its data stay, and so does all that is not ours, except its owners.
    const operations = [...copyOperations(object, content, payload), ...ownersOff(tool, object)];
    return patch(what, placeOf(object), operations);
  }
  const { source } = content;
  const annotations = {
    [annotationKey("from")]: named ?? refText(source),
    [annotationKey("placed-at")]: refText(placeOf(object)),
    [annotationKey("source-uid")]: source.uid,
    [annotationKey("source-version")]: source.resourceVersion,
  };
  return patchAsJudged(what, object, textOperations("annotations", annotations, object.annotated));
}

// From the last to the first, because a removal moves those behind it.
function ownersOff(tool: OldTool, object: OldObject): readonly Operation[] {
  const removed = toolOwners(tool, object);
  const path = "/metadata/ownerReferences";
  const isAll = removed.length === object.owners.length && removed.length > 0;
  if (isAll) return [{ op: "remove", path }];
  return removed.toReversed().map((at) => ({ op: "remove", path: `${path}/${at}` }));
}

type Target = Pick<MoveRequest, "kind" | "namespace" | "name">;

function patch(what: string, target: Target, body: readonly Operation[]): MoveRequest {
  return { what, method: "PATCH", ...target, body };
}

function patchAsJudged(
  what: string,
  object: OldObject,
  operations: readonly Operation[],
): MoveRequest {
  return patch(what, placeOf(object), [...preconditions(object), ...operations]);
}

/**
 * Removes the old tool's keys from sources, copies and mirrors that are managed now, and from copies the
 * marks of others that the tool copied.
 */
export function cleanupRequests({ tool, sources, copies, list }: Migration): CleanupRequests {
  const ofSources = sources.flatMap(({ object, place, write, entry }) => {
    if (!object || write !== "none") return [];
    const moved =
      entry !== undefined ||
      isListed(place, list) ||
      Object.keys(secretcastWords(object)).length > 0;
    const prefixes = tool.sourcePrefixes ?? tool.prefixes;
    return moved ? keysOff(tool, prefixes, object, undefined) : [];
  });
  const ofCopies = copies.flatMap(({ object, state, source }) =>
    isOurs(object) || state === "adopted" ? keysOff(tool, tool.prefixes, object, source) : [],
  );
  return { copies: onceEach(ofCopies), sources: onceEach(ofSources) };
}

function onceEach(requests: readonly MoveRequest[]): readonly MoveRequest[] {
  return [...new Map(requests.map((request) => [request.what, request])).values()];
}

/** Copies come first, because they are identified by their sources. */
export type CleanupRequests = {
  readonly copies: readonly MoveRequest[];
  readonly sources: readonly MoveRequest[];
};

function isOurs(object: OldObject): boolean {
  return marksOf(object, object.labels, object.annotations) !== undefined;
}

/** Empty when there is nothing to remove. */
function keysOff(
  tool: OldTool,
  prefixes: readonly string[],
  object: OldObject,
  source: OldSource | undefined,
): readonly MoveRequest[] {
  const isCopy = isOurs(object);
  const removed = (["labels", "annotations"] as const).flatMap((map) => {
    const copied = isCopy ? { ...source?.content?.[map], ...source?.added?.[map] } : {};
    const keys = useless(prefixes, object[map], copied);
    return textOperations(map, Object.fromEntries(keys.map((key) => [key, null])));
  });
  const operations = [...removed, ...(isCopy ? ownersOff(tool, object) : [])];
  if (operations.length === 0) return [];
  return [patchAsJudged(`clean up ${objectTitle(object)}`, object, operations)];
}

function useless(
  prefixes: readonly string[],
  present: Readonly<Record<string, string>>,
  copied: Texts,
): readonly string[] {
  return Object.entries(present)
    .filter(([key, value]) => {
      if (key.startsWith(PREFIX) || key === MANAGED_BY_LABEL) return false;
      if (prefixes.some((prefix) => key.startsWith(prefix))) return true;
      // Only with the same value as the source. Another value is the copy's own.
      return isNeverCopied(key) && copied[key] === value;
    })
    .map(([key]) => key);
}
