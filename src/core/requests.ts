// From an action to the calls of the API that carry it out, bodies included. Every call that touches
// an existing object carries its UID and resourceVersion, so it cannot hit another object or another
// version than the one that was judged. Updates are JSON merge patches: what they do not name stays,
// so labels, annotations, owner references and finalizers of others survive.
import { parseRecord } from "./metadata.ts";
import { refText, type CopySecret, type Ref } from "./model.ts";
import { recordOf } from "./keys.ts";
import { onDeleteMark } from "./replica.ts";
import type { Action, Content, Fill } from "./verdicts.ts";
import { annotationKey, MANAGED_BY, MANAGED_BY_LABEL, type Word } from "./vocabulary.ts";

type Body = Readonly<Record<string, unknown>>;
type Patch = Record<string, string | null>;
type Version = { readonly uid: string; readonly resourceVersion: string };

/** One call of the API that an action needs; an action's calls are made in order. */
export type SecretRequest = {
  readonly method: "POST" | "PATCH" | "DELETE" | "GET";
  readonly namespace: string;
  readonly name: string;
  /** Only for PATCH. */
  readonly contentType?: "application/merge-patch+json";
  readonly body?: Body;
};

export function requestsFor(action: Action): readonly SecretRequest[] {
  switch (action.kind) {
    case "create":
      return [post(action.place, action.content)];
    case "update":
      return [patch(action.place, updateBody(action.place, action.content, action.target))];
    case "replace":
      return [remove(action.place, action.target), post(action.place, action.content)];
    case "adopt":
      return [patch(action.place, adoptBody(action))];
    case "delete":
      return [remove(action.place, action.target)];
    case "release":
      return [patch(action.place, releaseBody(action.target))];
    case "fill":
    case "unfill":
      return [patch(action.place, fillBody(action.target, action.fill))];
    case "look":
      return [{ method: "GET", namespace: action.place.namespace, name: action.place.name }];
  }
}

function patch({ namespace, name }: Ref, body: Body): SecretRequest {
  const contentType = "application/merge-patch+json";
  return { method: "PATCH", namespace, name, contentType, body };
}

function remove({ namespace, name }: Ref, { uid, resourceVersion }: Version): SecretRequest {
  const preconditions = { uid, resourceVersion };
  const body = { apiVersion: "v1", kind: "DeleteOptions", preconditions };
  return { method: "DELETE", namespace, name, body };
}

function post({ namespace, name }: Ref, content: Content): SecretRequest {
  const { replica } = content;
  const metadata = {
    name,
    namespace,
    labels: { ...replica.labels, [MANAGED_BY_LABEL]: MANAGED_BY },
    annotations: withoutNulls(annotationsOf({ namespace, name }, content)),
  };
  const body = {
    apiVersion: "v1",
    kind: "Secret",
    metadata,
    type: replica.type,
    data: replica.data.reveal(),
    ...(replica.immutable ? { immutable: true } : {}),
  };
  return { method: "POST", namespace, name, body };
}

// What is copied and our marks; null where a mark is not to be there.
function annotationsOf(place: Ref, { source, replica }: Content): Patch {
  const marks: Readonly<Partial<Record<Word, string>>> = {
    source: refText(source),
    "source-uid": source.uid,
    "placed-at": refText(place),
    "source-version": source.resourceVersion,
    "copied-keys": replica.copiedKeys,
    "on-delete": onDeleteMark(source.rule.onDelete),
  };
  const annotations: Patch = { ...replica.annotations };
  for (const [word, value] of Object.entries(marks)) {
    annotations[`secretcast.io/${word}`] = value === "" ? null : value;
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

function updateBody(place: Ref, content: Content, target: CopySecret): Body {
  const { replica } = content;
  const before = parseRecord(target.copiedKeys);
  const labels: Patch = { ...nulls(before.labels), ...replica.labels };
  labels[MANAGED_BY_LABEL] = MANAGED_BY;
  const annotations = { ...nulls(before.annotations), ...annotationsOf(place, content) };
  return {
    metadata: { ...version(target), labels, annotations },
    ...immutability(replica.immutable, target.immutable),
    // An immutable copy takes new metadata only; the planner replaces it where its data differ.
    ...(target.dataDigest === replica.dataDigest ? {} : { data: newData(content, target.keys) }),
  };
}

function adoptBody(action: Extract<Action, { kind: "adopt" }>): Body {
  const { place, content, target } = action;
  const annotations = annotationsOf(place, content);
  annotations[annotationKey("adopt")] = null;
  const labels = { ...content.replica.labels, [MANAGED_BY_LABEL]: MANAGED_BY };
  return {
    metadata: { ...version(target), labels, annotations },
    ...immutability(content.replica.immutable, false),
    data: newData(content, target.adopt?.keys ?? []),
  };
}

function releaseBody(target: CopySecret): Body {
  const words: readonly Word[] = [
    "source",
    "source-uid",
    "placed-at",
    "source-version",
    "copied-keys",
    "on-delete",
  ];
  const annotations = nulls(words.map(annotationKey));
  return { metadata: { ...version(target), labels: nulls([MANAGED_BY_LABEL]), annotations } };
}

function fillBody(target: Version, fill: Fill): Body {
  const { record } = fill;
  const annotations: Patch = {
    [annotationKey("pulled-keys")]: record ? record.keys.join(",") : null,
    [annotationKey("source-uid")]: record ? record.sourceUid : null,
    [annotationKey("source-version")]: record ? record.sourceVersion : null,
  };
  const data = recordOf<string | null>([
    ...Object.entries(fill.set.reveal()),
    ...fill.remove.map((key) => [key, null] as const),
  ]);
  return { metadata: { ...version(target), annotations }, data };
}

function version({ uid, resourceVersion }: Version): Version {
  return { uid, resourceVersion };
}

function immutability(wanted: boolean, present: boolean): Body {
  return wanted === present ? {} : { immutable: wanted };
}

// The whole data, and null for the keys that are not to be there.
function newData({ replica }: Content, present: readonly string[]): Readonly<Patch> {
  const data = replica.data.reveal();
  const gone = present.filter((key) => !Object.hasOwn(data, key));
  return recordOf<string | null>([
    ...Object.entries(data),
    ...gone.map((key) => [key, null] as const),
  ]);
}

function nulls(keys: readonly string[]): Patch {
  return recordOf<string | null>(keys.map((key) => [key, null] as const));
}
