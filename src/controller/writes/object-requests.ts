// From an action to the calls of the API that carry it out, bodies included. Every call that touches
// an existing object carries its UID and resourceVersion, so it cannot hit another object or another
// version than the one that was judged. Updates are patches: what they do not name stays, so labels,
// annotations, owner references and finalizers of others survive.
import {
  preconditions,
  textOperations,
  type Operation,
} from "../../../packages/kube/json-patch.ts";
import { parseRecord } from "../desired/copied-metadata.ts";
import { KINDS } from "../model/kinds.ts";
import type { CopyObject, SourcePayload } from "../model/cluster.ts";
import { recordOf } from "../../text/key-filter.ts";
import { onDeleteMark } from "../desired/copy.ts";
import {
  annotationKey,
  annotationsOn,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  PREFIX,
  type CopyMark,
} from "../annotations/vocabulary.ts";
import { apiVersionOf, type Ref, refText } from "../../text/names.ts";
import type { Desired, Action, CopyAction, Fill } from "../model/actions.ts";

type Body = Readonly<Record<string, unknown>>;
type Patch = Record<string, string | null>;
type Version = { readonly uid: string; readonly resourceVersion: string };

/** One API call that an action needs. An action's calls are made in order. */
export type ObjectRequest = {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly namespace: string;
  readonly name: string;
  /** Only for PATCH. */
  readonly contentType?: "application/merge-patch+json" | "application/json-patch+json";
  readonly body?: Body | readonly Operation[];
};

export type RemovalAction = Extract<Action, { kind: "delete" | "release" }>;
export type FillAction = Extract<Action, { kind: "fill" | "clear" }>;

/** `recorded`: the record on the copy of what was copied. An update removes from it what is not copied now. */
export function copyRequests(
  action: CopyAction,
  payload: SourcePayload,
  recorded = "",
): readonly ObjectRequest[] {
  const { place, content } = action;
  switch (action.kind) {
    case "create":
      return [post(place, content, payload)];
    case "update":
      return [jsonPatch(place, updateOperations(action, payload, recorded))];
    case "replace":
      return [remove(place, action.target), post(place, content, payload)];
    case "adopt":
      return [jsonPatch(place, adoptOperations(action, payload))];
  }
}

export function endRequests(action: RemovalAction): readonly ObjectRequest[] {
  return action.kind === "delete"
    ? [remove(action.place, action.target)]
    : [patch(action.place, releaseBody(action.target))];
}

export function fillRequest({ place, target }: FillAction, fill: Fill): ObjectRequest {
  return patch(place, fillBody(target, fill));
}

/** The data of the largest object that can be read, two bytes a character. */
const LARGEST_READ = 2 * 1_048_576;
const SMALLEST = 1024;

/**
 * The approximate length of the bodies of an action's requests, used only to bound the bytes in flight. Large
 * answers are decoded one or two at a time (kube/rest/large-answers.ts), so the answer of a write is not counted.
 */
export function bytesOf(action: Action): number {
  switch (action.kind) {
    case "create":
    case "update":
    case "replace":
    case "adopt":
      return action.content.desiredCopy.jsonBytes;
    case "fill":
      // What is there is read first.
      return action.content.desiredCopy.jsonBytes + 2 * action.target.bytes;
    case "clear":
      return 2 * action.target.bytes;
    case "delete":
    case "release":
      return SMALLEST;
    case "liveGet":
    case "confirm":
      return LARGEST_READ;
  }
}

function patch({ namespace, name }: Ref, body: Body): ObjectRequest {
  const contentType = "application/merge-patch+json";
  return { method: "PATCH", namespace, name, contentType, body };
}

function jsonPatch({ namespace, name }: Ref, body: readonly Operation[]): ObjectRequest {
  const contentType = "application/json-patch+json";
  return { method: "PATCH", namespace, name, contentType, body };
}

function remove({ namespace, name }: Ref, { uid, resourceVersion }: Version): ObjectRequest {
  const preconditions = { uid, resourceVersion };
  const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions };
  return { method: "DELETE", namespace, name, body };
}

function post({ namespace, name }: Ref, content: Desired, payload: SourcePayload): ObjectRequest {
  const { desiredCopy } = content;
  const metadata = {
    name,
    namespace,
    labels: { ...payload.labels, [MANAGED_BY_LABEL]: MANAGED_BY },
    annotations: withoutNulls(annotationsOf({ namespace, name }, content, payload)),
  };
  const body = {
    apiVersion: apiVersionOf(KINDS[content.source.kind].resource),
    kind: content.source.kind,
    metadata,
    ...(KINDS[content.source.kind].types ? { type: desiredCopy.type } : {}),
    ...withoutEmpty(payload.data.revealFields()),
    ...(desiredCopy.immutable ? { immutable: true } : {}),
  };
  return { method: "POST", namespace, name, body };
}

// The copied annotations and our marks, with null for a mark that must not be there.
function annotationsOf(place: Ref, { source }: Desired, payload: SourcePayload): Patch {
  const marks: Readonly<Record<CopyMark, string>> = {
    source: refText(source),
    "source-uid": source.uid,
    "placed-at": refText(place),
    "source-version": source.resourceVersion,
    "copied-keys": payload.copiedKeys,
    "on-delete": onDeleteMark(source.rule.onDelete),
    entry: source.entry?.key ?? "",
    list: source.entry?.list ?? "",
  };
  const annotations: Patch = { ...payload.annotations };
  for (const [mark, value] of Object.entries(marks)) {
    annotations[PREFIX + mark] = value === "" ? null : value;
  }
  return annotations;
}

function withoutNulls(patch: Patch): Readonly<Record<string, string>> {
  return recordOf(
    Object.entries(patch).flatMap(([key, value]) =>
      value === null ? [] : [[key, value] as const],
    ),
  );
}

function updateOperations(
  { target, content }: CopyAction & { kind: "update" },
  payload: SourcePayload,
  recorded: string,
): readonly Operation[] {
  const { namespace, name, uid, resourceVersion, template } = target;
  const { immutable, dataDigest } = template;
  const before = parseRecord(recorded);
  const removed = { labels: nulls(before.labels), annotations: nulls(before.annotations) };
  return [
    ...copyOperations(
      { namespace, name, uid, resourceVersion, immutable },
      content,
      payload,
      removed,
    ),
    // An immutable copy takes new metadata only. The planner replaces it where its data differ.
    ...(dataDigest === content.desiredCopy.dataDigest ? [] : newData(payload)),
  ];
}

function adoptOperations(
  { target, content }: CopyAction & { kind: "adopt" },
  payload: SourcePayload,
): readonly Operation[] {
  const present = { ...target, immutable: false, labelled: target.adopt?.labelled };
  const removed = { annotations: nulls([annotationKey("adopt")]) };
  return [...copyOperations(present, content, payload, removed), ...newData(payload)];
}

/** An object that is to be a copy. */
type Existing = Ref &
  Version & {
    readonly immutable: boolean;
    /** false: it has no map of labels, or of annotations. */
    readonly labelled?: boolean | undefined;
    readonly annotated?: boolean;
  };

/** Makes it a copy, except for its data, and removes `removed`. What is not ours stays as it is. */
export function copyOperations(
  present: Existing,
  content: Desired,
  payload: SourcePayload,
  removed: { readonly labels?: Patch; readonly annotations?: Patch } = {},
): readonly Operation[] {
  const labels = { ...removed.labels, ...payload.labels, [MANAGED_BY_LABEL]: MANAGED_BY };
  const annotations = { ...removed.annotations, ...annotationsOf(present, content, payload) };
  // What is immutable stays so.
  const fixes = content.desiredCopy.immutable && !present.immutable;
  return [
    ...preconditions(present),
    ...textOperations("labels", labels, present.labelled),
    ...textOperations("annotations", annotations, present.annotated),
    ...(fixes ? [{ op: "add", path: "/immutable", value: true } as const] : []),
  ];
}

function releaseBody(target: CopyObject): Body {
  const annotations = nulls(annotationsOn("copy").map(annotationKey));
  return { metadata: { ...version(target), labels: nulls([MANAGED_BY_LABEL]), annotations } };
}

function fillBody(target: Version, fill: Fill): Body {
  const { record } = fill;
  const annotations: Patch = {
    ...(record && { [annotationKey("source-uid")]: record.sourceUid }),
    [annotationKey("placed-at")]: record?.placedAt ?? null,
    [annotationKey("source-version")]: record?.sourceVersion ?? null,
    [annotationKey("entry")]: record?.entry ?? null,
    [annotationKey("list")]: record?.list ?? null,
  };
  return { metadata: { ...version(target), annotations }, ...entryPatch(fill) };
}

// A key is in one field only, so what is set in one field is taken out of the others.
function entryPatch({ set, remove }: Fill): Readonly<Record<string, Patch>> {
  const gone = Object.entries(nulls([...set.keys(), ...remove]));
  return Object.fromEntries(
    Object.entries(set.revealFields()).map(([field, entries]) => [
      field,
      recordOf<string | null>([...gone, ...Object.entries(entries)]),
    ]),
  );
}

// A create omits every empty field except the first.
function withoutEmpty(fields: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, entries], index) => index === 0 || Object.keys(entries).length > 0,
    ),
  );
}

function version({ uid, resourceVersion }: Version): Version {
  return { uid, resourceVersion };
}

// In place of all that was there, in every field.
function newData(payload: SourcePayload): readonly Operation[] {
  return Object.entries(payload.data.revealFields()).map(([field, value]) => {
    return { op: "add", path: `/${field}`, value };
  });
}

function nulls(keys: readonly string[]): Patch {
  return recordOf<string | null>(keys.map((key) => [key, null] as const));
}
