// The grid of sources × namespaces, limited to what a person can read. If there are more, those with
// something that is not current come first, and a namespace without a copy is left out. A cell is the worst
// verdict of the source's places in the namespace, with its metric state.
import { type CachedObject, type ClusterState } from "../controller/model/cluster.ts";
import {
  METRIC_STATE,
  type MetricState,
  type Row,
  type Verdict,
} from "../controller/model/verdicts.ts";
import { severity, type Filter } from "./filter.ts";
import { inSlices } from "./groups.ts";
import { refText } from "../text/names.ts";
import { placeKey, type ObjectKind } from "../controller/model/kinds.ts";

/** A source of one kind. */
type Column = { readonly kind: ObjectKind; readonly source: string };

export type Grid = {
  readonly sources: readonly Column[];
  readonly lines: readonly Line[];
  /** The number before the limit. */
  readonly sourcesTotal: number;
  readonly namespacesTotal: number;
};

/** null if the source has no place there. */
export type Cell = { readonly verdict: Verdict; readonly state: MetricState } | null;

type Line = { readonly namespace: string; readonly cells: readonly Cell[] };

const MOST_SOURCES = 24;
const MOST_NAMESPACES = 60;

/** `rows` and `sources` are already filtered, with the worst source first. */
export async function drawGrid(
  clusterStates: readonly ClusterState[],
  rows: readonly Row[],
  sources: readonly Column[],
  filter: Filter,
): Promise<Grid> {
  const worst = await worstByNamespace(rows);
  // A copy may name a source that is not a source now or never was.
  const columnOf = new Map<string, Column>();
  for (const { kind, source } of [...sources, ...worst.sources])
    columnOf.set(`${kind} ${source}`, { kind, source });
  const all = [...columnOf.keys()];
  const shown = all.slice(0, MOST_SOURCES);
  const matching = [...new Set(clusterStates.flatMap(({ namespaces }) => [...namespaces.keys()]))]
    .filter((name) => name.includes(filter.namespace))
    .toSorted();
  const namespaces = await choose(clusterStates, matching, worst.ranks, filter, new Set(shown));
  const cells = await fill(clusterStates, rows, new Set(namespaces), new Set(shown));
  const holds = (namespace: string, source: string): Cell =>
    cellOf(cells.get(`${namespace} ${source}`));
  const columns = shown.filter((source) => namespaces.some((each) => holds(each, source) !== null));
  const lines = namespaces.map((namespace) => ({
    namespace,
    cells: columns.map((source) => holds(namespace, source)),
  }));
  return {
    sources: columns.flatMap((key) => columnOf.get(key) ?? []),
    lines: lines.filter((line) => line.cells.some((cell) => cell !== null)),
    sourcesTotal: all.length,
    namespacesTotal: matching.length,
  };
}

async function worstByNamespace(rows: readonly Row[]) {
  const ranks = new Map<string, number>();
  const sources = new Map<string, Column>();
  for await (const slice of inSlices(rows))
    for (const { kind, place, source, verdict } of slice) {
      const rank = rankOf(verdict);
      if (rank < (ranks.get(place.namespace) ?? Infinity)) ranks.set(place.namespace, rank);
      sources.set(placeKey(kind, source), { kind, source: refText(source) });
    }
  return { ranks, sources: sources.values() };
}

/** Names up to the limit: first those of `ranks`, the worst before the others, then some that have copies. */
async function choose(
  clusterStates: readonly ClusterState[],
  matching: readonly string[],
  ranks: ReadonlyMap<string, number>,
  { state }: Filter,
  sources: ReadonlySet<string>,
): Promise<readonly string[]> {
  const known = new Set(matching);
  const chosen = new Set(
    [...ranks]
      .filter(([namespace]) => known.has(namespace))
      .toSorted(([a, rankA], [b, rankB]) => rankA - rankB || (a < b ? -1 : 1))
      .slice(0, MOST_NAMESPACES)
      .map(([namespace]) => namespace),
  );
  if (state !== undefined && state !== "current") return [...chosen].toSorted();
  for await (const slice of inSlices(matching))
    for (const namespace of slice) {
      if (chosen.size >= MOST_NAMESPACES) return [...chosen].toSorted();
      if (clusterStates.some((clusterState) => holdsCopy(clusterState, namespace, sources)))
        chosen.add(namespace);
    }
  return [...chosen].toSorted();
}

function holdsCopy(
  clusterState: ClusterState,
  namespace: string,
  of: ReadonlySet<string>,
): boolean {
  for (const object of clusterState.objectsIn(namespace).values())
    if (of.has(sourceOf(clusterState.kind, object) ?? "")) return true;
  return false;
}

async function fill(
  clusterStates: readonly ClusterState[],
  rows: readonly Row[],
  namespaces: ReadonlySet<string>,
  sources: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Verdict>> {
  const cells = new Map<string, Verdict>();
  const put = (namespace: string, source: string | undefined, verdict: Verdict): void => {
    if (source === undefined || !sources.has(source)) return;
    const key = `${namespace} ${source}`;
    const before = cells.get(key);
    if (before === undefined || rankOf(verdict) < rankOf(before)) cells.set(key, verdict);
  };
  for await (const slice of inSlices(namespaces))
    for (const namespace of slice)
      for (const clusterState of clusterStates)
        for (const object of clusterState.objectsIn(namespace).values())
          put(namespace, sourceOf(clusterState.kind, object), "current");
  for await (const slice of inSlices(rows))
    for (const { kind, place, source, verdict } of slice)
      if (namespaces.has(place.namespace)) put(place.namespace, placeKey(kind, source), verdict);
  return cells;
}

/** The source of a copy or of a filled pulling object. */
function sourceOf(kind: ObjectKind, object: CachedObject): string | undefined {
  if (object.role === "copy") return placeKey(kind, object.template.source);
  const filled = object.role === "pull" && object.isFilled;
  return filled && object.from ? placeKey(kind, object.from) : undefined;
}

function cellOf(verdict: Verdict | undefined): Cell {
  const state = verdict && METRIC_STATE[verdict];
  return verdict && state ? { verdict, state } : null;
}

function rankOf(verdict: Verdict): number {
  return severity(METRIC_STATE[verdict] ?? "current");
}
