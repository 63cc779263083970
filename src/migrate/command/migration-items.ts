// A migration as a list of items, for programs: names, annotations and reasons, and never data.
import { isToAdopt } from "./apply-migration.ts";
import type { Migration, MovedCopy } from "../moves/migration.ts";
import type { CopyState } from "../moves/judge-copies.ts";
import type { MovedSource } from "../moves/moved-source.ts";
import type { LostNamespace } from "../moves/reach-difference.ts";
import { refText } from "../../text/names.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import type { StringMap } from "../../text/string-map.ts";

/** An object with a mark of the old tool, or in the place of a copy. */
export type MigrationItem = {
  /** "Secret NAMESPACE/NAME", "ConfigMap NAMESPACE/NAME". */
  readonly object: string;
  /** NAMESPACE/NAME of its source after the move, or as the mark names it. null when unknown. */
  readonly source: string | null;
  readonly adopt: boolean;
  readonly state: CopyState;
  readonly why: string;
};

export type SourceItem = {
  readonly kind: ObjectKind;
  readonly source: string;
  /** What holds it now: "Secret NAMESPACE/NAME", "ClusterSecret NAME". */
  readonly from: string;
  readonly write: MovedSource["write"];
  readonly annotations: StringMap;
  /** The entry of the source list that replaces the annotations. */
  readonly entry?: { readonly key: string; readonly text: string };
  readonly namespaces: number;
  readonly gained: readonly string[];
  readonly lost: readonly LostNamespace[];
  readonly madeBy?: string;
  readonly notes: readonly string[];
  readonly problems: readonly string[];
};

export function migrationItems(
  { copies }: Migration,
  adoptDrifted: ReadonlySet<string>,
): readonly MigrationItem[] {
  return copies.map((copy) => ({
    object: `${copy.object.kind} ${refText(copy.object)}`,
    source: sourceText(copy),
    adopt: isToAdopt(copy, adoptDrifted) || copy.state === "adopted",
    state: copy.state,
    why: copy.why,
  }));
}

function sourceText({ moved, named }: MovedCopy): string | null {
  return moved ? refText(moved.place) : (named ?? null);
}

export function sourceItems({ sources }: Migration): readonly SourceItem[] {
  return sources.map(({ place, old, write, annotations, madeBy, entry, ...rest }) => ({
    kind: place.kind,
    source: refText(place),
    from: old.title,
    write,
    annotations,
    ...(entry && { entry: { key: entry.key, text: entry.text } }),
    namespaces: rest.reached.length,
    gained: rest.gained,
    lost: rest.lost,
    ...(madeBy !== undefined && { madeBy }),
    notes: rest.notes,
    problems: rest.problems,
  }));
}

/** Everything except the items, as json and yaml print it beside them. */
export function besideItems(
  migration: Migration,
  unread: readonly string[],
): Readonly<Record<string, unknown>> {
  const { tool, flags, hints, besides, problems, namespaces } = migration;
  const { preparations, leftovers } = migration;
  return {
    from: tool.name,
    complete: problems.length + unread.length === 0,
    flags,
    hints,
    besides,
    preparations,
    leftovers,
    problems: [...problems, ...unread],
    sources: sourceItems(migration),
    namespaces: namespaces.map(({ namespace: { name }, accept }) => ({ name, accept })),
  };
}
