// A source of a move in API format, parsed by the controller's own reader: whether it is accepted as a
// source, and the content of its copies.
import type { MoveContext } from "./move-context.ts";
import type { OldContent } from "../oldtools/old-tool.ts";
import type { KindPlace, OldObject } from "../oldtools/old-objects.ts";
import type { ListEntry } from "../../controller/annotations/list-entry.ts";
import { isNeverCopied } from "../../controller/annotations/never-copied.ts";
import { problemText } from "../../controller/annotations/rules.ts";
import type { Desired } from "../../controller/model/actions.ts";
import type { SourcePayload } from "../../controller/model/cluster.ts";
import { apiVersionOf } from "../../text/names.ts";
import { KINDS, rulesOf, type ObjectKind } from "../../controller/model/kinds.ts";
import { readObject } from "../../controller/observed/read-object.ts";
import type { StringMap } from "../../text/string-map.ts";

/** The source in API format, also before it is created. */
export function rawSource(
  place: KindPlace,
  object: OldObject | undefined,
  content: OldContent,
  annotations: StringMap,
): unknown {
  const { uid = "00000000-0000-0000-0000-000000000000", resourceVersion = "1" } = object ?? {};
  return bodyOf({ ...place, uid, resourceVersion }, object ?? content, annotations);
}

/**
 * The body of a create request. Labels and annotations with which other tools track their objects are not
 * copied, because the new object would be treated as theirs.
 */
export function newSource(place: KindPlace, content: OldContent, annotations: StringMap): unknown {
  const own = (texts: StringMap): StringMap =>
    Object.fromEntries(Object.entries(texts).filter(([key]) => !isNeverCopied(key)));
  const kept = {
    ...content,
    labels: own(content.labels),
    annotations: own(content.annotations),
  };
  return bodyOf(place, kept, annotations);
}

type Identity = KindPlace & Partial<Pick<OldObject, "uid" | "resourceVersion">>;

function bodyOf({ kind, ...identity }: Identity, content: OldContent, added: StringMap): unknown {
  const { labels, annotations, type, immutable, data } = content;
  return {
    apiVersion: apiVersionOf(KINDS[kind].resource),
    kind,
    metadata: { ...identity, labels, annotations: { ...annotations, ...added } },
    ...(KINDS[kind].types ? { type } : {}),
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
  { kind, entry }: { readonly kind: ObjectKind; readonly entry: ListEntry | undefined },
): MovedContent {
  let payload: SourcePayload | undefined;
  const rules = rulesOf(kind, { sourceList: settings.sourceList });
  const read = readObject(raw, {
    kind: rules,
    digest,
    intern: (text) => text,
    share: (_, template) => template,
    isSourceNamespace: () => true,
    copyable: settings,
    ...(entry && { entryOf: () => entry }),
    keep: (_, kept) => (payload = kept),
  });
  const none = { content: undefined, payload: undefined };
  if (read && rules.reserved?.includes(read.name) === true) {
    return {
      ...none,
      problems: [`a ${kind} of this name tells secretcast what to do, and is no source`],
    };
  }
  if (read?.role !== "source") {
    return { ...none, problems: ["it is a copy or a mirror already, and no source of ours"] };
  }
  if (!read.desiredCopy) return { ...none, problems: read.problems.map(problemText) };
  return { content: { source: read, desiredCopy: read.desiredCopy }, payload, problems: [] };
}
