// A source of a move in API format, parsed by the controller's own reader: whether it is accepted as a
// source, and the content of its copies.
import type { MoveContext } from "./move-context.ts";
import type { OldContent } from "../oldtools/old-tool.ts";
import type { OldObject } from "../oldtools/old-objects.ts";
import type { ListEntry } from "../../controller/annotations/list-entry.ts";
import type { Ref } from "../../text/names.ts";
import { isNeverCopied } from "../../controller/annotations/never-copied.ts";
import { problemText } from "../../controller/annotations/rules.ts";
import type { Desired } from "../../controller/model/actions.ts";
import type { SourcePayload } from "../../controller/model/cluster.ts";
import { KINDS } from "../../controller/model/kinds.ts";
import { readObject } from "../../controller/observed/read-object.ts";
import type { StringMap } from "../../text/string-map.ts";

/** The source in API format, also before it is created. */
export function rawSource(
  place: Ref,
  object: OldObject | undefined,
  content: OldContent,
  annotations: StringMap,
): unknown {
  const { uid = "00000000-0000-0000-0000-000000000000", resourceVersion = "1" } = object ?? {};
  return secretBody({ ...place, uid, resourceVersion }, object ?? content, annotations);
}

/**
 * The body of a create request. Labels and annotations with which other tools track their objects are not
 * copied, because the new Secret would be treated as theirs.
 */
export function newSource(place: Ref, content: OldContent, annotations: StringMap): unknown {
  const own = (texts: StringMap): StringMap =>
    Object.fromEntries(Object.entries(texts).filter(([key]) => !isNeverCopied(key)));
  const kept = {
    ...content,
    labels: own(content.labels),
    annotations: own(content.annotations),
  };
  return secretBody(place, kept, annotations);
}

type Identity = Ref & Partial<Pick<OldObject, "uid" | "resourceVersion">>;

function secretBody(identity: Identity, content: OldContent, added: StringMap): unknown {
  const { labels, annotations, type, immutable, data } = content;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...identity, labels, annotations: { ...annotations, ...added } },
    type,
    ...(immutable ? { immutable: true } : {}),
    ...data.revealFields(),
  };
}

export type MovedContent = {
  readonly content: Desired | undefined;
  readonly payload: SourcePayload | undefined;
  readonly problems: readonly string[];
};

/** A source as the controller reads it. */
export function readMoved(
  raw: unknown,
  { settings, digest }: Pick<MoveContext, "settings" | "digest">,
  entry: ListEntry | undefined,
): MovedContent {
  let payload: SourcePayload | undefined;
  const read = readObject(raw, {
    kind: KINDS.Secret,
    digest,
    intern: (text) => text,
    share: (_, template) => template,
    isSourceNamespace: () => true,
    copyable: settings,
    ...(entry && { entryOf: () => entry }),
    keep: (_, kept) => (payload = kept),
  });
  const none = { content: undefined, payload: undefined };
  if (read?.role !== "source") {
    return { ...none, problems: ["it is a copy or a mirror already, and no source of ours"] };
  }
  if (!read.desiredCopy) return { ...none, problems: read.problems.map(problemText) };
  return { content: { source: read, desiredCopy: read.desiredCopy }, payload, problems: [] };
}
