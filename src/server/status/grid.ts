// Sources × namespaces, drawn for as many as a person can look at. Where there are more, those with
// something that is not current come first; whoever has no copy there is left out. A cell is the
// worst verdict of the places that the source has in the namespace, with its metric state.
import { type CachedObject, type ClusterState } from "../../core/model/cluster.ts";
import {
  METRIC_STATE,
  type MetricState,
  type Row,
  type Verdict,
} from "../../core/model/verdicts.ts";
import { severity, type Filter } from "./filter.ts";
import { inSlices } from "./groups.ts";
import { refText } from "../../core/annotations/names.ts";

export type Grid = {
  readonly sources: readonly string[];
  readonly lines: readonly Line[];
  /** How many there are to choose from. */
  readonly sourcesTotal: number;
  readonly namespacesTotal: number;
};

/** null: the source has no place there. */
export type Cell = { readonly verdict: Verdict; readonly state: MetricState } | null;

type Line = { readonly namespace: string; readonly cells: readonly Cell[] };

const MOST_SOURCES = 24;
const MOST_NAMESPACES = 60;

/** `rows` and `sources`: filtered already, the worst source first. */
export async function drawGrid(
  world: ClusterState,
  rows: readonly Row[],
  sources: readonly { readonly source: string }[],
  filter: Filter,
): Promise<Grid> {
  const worst = await worstByNamespace(rows);
  // A copy may name a source that is none (any more).
  const all = [...new Set([...sources, ...worst.sources].map(({ source }) => source))];
  const shown = all.slice(0, MOST_SOURCES);
  const matching = [...world.namespaces.keys()]
    .filter((name) => name.includes(filter.namespace))
    .toSorted();
  const namespaces = await choose(world, matching, worst.ranks, filter, new Set(shown));
  const cells = await fill(world, rows, new Set(namespaces), new Set(shown));
  const holds = (namespace: string, source: string): Cell =>
    cellOf(cells.get(`${namespace} ${source}`));
  const columns = shown.filter((source) => namespaces.some((each) => holds(each, source) !== null));
  const lines = namespaces.map((namespace) => ({
    namespace,
    cells: columns.map((source) => holds(namespace, source)),
  }));
  return {
    sources: columns,
    lines: lines.filter((line) => line.cells.some((cell) => cell !== null)),
    sourcesTotal: all.length,
    namespacesTotal: matching.length,
  };
}

async function worstByNamespace(rows: readonly Row[]) {
  const ranks = new Map<string, number>();
  const sources = new Map<string, { readonly source: string }>();
  for await (const slice of inSlices(rows))
    for (const { place, source, verdict } of slice) {
      const rank = rankOf(verdict);
      if (rank < (ranks.get(place.namespace) ?? Infinity)) ranks.set(place.namespace, rank);
      const text = refText(source);
      sources.set(text, { source: text });
    }
  return { ranks, sources: sources.values() };
}

/** At most so many, by name: first those of `ranks`, the worst before the others, then some that have copies. */
async function choose(
  world: ClusterState,
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
      if (holdsCopy(world.objectsIn(namespace), sources)) chosen.add(namespace);
    }
  return [...chosen].toSorted();
}

function holdsCopy(secrets: ReadonlyMap<string, CachedObject>, of: ReadonlySet<string>): boolean {
  for (const secret of secrets.values()) if (of.has(sourceOf(secret) ?? "")) return true;
  return false;
}

async function fill(
  world: ClusterState,
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
      for (const secret of world.objectsIn(namespace).values())
        put(namespace, sourceOf(secret), "current");
  for await (const slice of inSlices(rows))
    for (const { place, source, verdict } of slice)
      if (namespaces.has(place.namespace)) put(place.namespace, refText(source), verdict);
  return cells;
}

/** The source that a copy or a filled pulling Secret is of. */
function sourceOf(secret: CachedObject): string | undefined {
  if (secret.role === "copy") return refText(secret.source);
  const filled = secret.role === "pull" && secret.filled > 0;
  return filled && secret.from ? refText(secret.from) : undefined;
}

function cellOf(verdict: Verdict | undefined): Cell {
  const state = verdict && METRIC_STATE[verdict];
  return verdict && state ? { verdict, state } : null;
}

function rankOf(verdict: Verdict): number {
  return severity(METRIC_STATE[verdict] ?? "current");
}
