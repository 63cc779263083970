// The common case of most tools: a source is a Secret or a ConfigMap with the same name as its copies, and a mark belongs
// to one source.
import { copiedKind, type OldObject } from "./old-objects.ts";
import { titleOf, type OldContent, type OldMark, type OldSource } from "./old-tool.ts";
import { refText } from "../../text/names.ts";

type SourceWays = Pick<OldSource, "push"> &
  Partial<Pick<OldSource, "allow" | "notes">> &
  Partial<Pick<OldContent, "labels" | "annotations">>;

/** The `labels` and `annotations` that the tool copies. By default it copies none. */
export function secretSource(
  object: OldObject,
  { push, allow, notes = [], labels = {}, annotations = {} }: SourceWays,
): OldSource {
  const { type, immutable, data } = object;
  const kind = copiedKind(object.kind);
  return {
    kind,
    title: titleOf(kind, object),
    object,
    copyName: object.name,
    push,
    allow,
    keys: undefined,
    content: { type, immutable, data, labels, annotations },
    going: undefined,
    notes,
    problems: [],
  };
}

/** A pushed copy of `source`, which its mark does not name, unless `ways` say otherwise. */
export function markOfOne(
  object: OldObject,
  source: OldSource | undefined,
  ways: Partial<Pick<OldMark, "pulls" | "named" | "doubt" | "unclaimed">> = {},
): OldMark {
  return {
    object,
    pulls: false,
    sources: source ? [source] : [],
    named: undefined,
    doubt: undefined,
    wroteLast: () => true,
    ...ways,
  };
}

const MOST_NAMED = 5;

/** What else the tool does with objects that do not move. Empty without such objects. */
export function leftAlone(
  does: string,
  kind: string,
  objects: readonly OldObject[],
): readonly string[] {
  if (objects.length === 0) return [];
  const count = `${objects.length} ${kind}${objects.length === 1 ? "" : "s"}`;
  const some = objects.slice(0, MOST_NAMED).map(refText).join(", ");
  return [
    `it also ${does} ${count} (${some}): their copies stay as they are and are no longer kept current`,
  ];
}
