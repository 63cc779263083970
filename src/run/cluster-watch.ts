// What the controller reads: the source list, Namespaces, and the objects of each kind that takes part.
import { randomBytes } from "node:crypto";
import { createCaches, type Caches } from "../controller/sync/caches.ts";
import type { Config } from "../controller/settings/config.ts";
import { createDigest } from "../controller/model/secret-data.ts";
import { DataCache } from "../controller/state/data-cache.ts";
import { createIntern, createShare } from "../text/intern.ts";
import { LIST_OFF } from "../controller/observed/list-state.ts";
import { KINDS, rulesOf, type ObjectKind } from "../controller/model/kinds.ts";
import type { PlannerSettings } from "../controller/model/cluster.ts";
import { SourceListCache } from "../controller/sync/source-list-cache.ts";
import { LIST_WATCH, Watches } from "../controller/sync/watches.ts";
import { failureHooks, watchLines } from "../controller/sync/informers.ts";
import type { ReadContext } from "../controller/observed/read-context.ts";
import type { ReceiptJournal } from "../receipts/receipt-journal.ts";
import type { FailureLines } from "../controller/report/failure-lines.ts";
import type { Dependencies } from "./dependencies.ts";

export type ClusterWatch = {
  readonly caches: Caches;
  readonly watches: Watches;
  /** Undefined if no source list is configured. */
  readonly list: SourceListCache | undefined;
  readonly data: DataCache;
  readonly contextOf: (kind: ObjectKind) => ReadContext;
};

/** Nothing is read yet. */
export function watchCluster(
  config: Config,
  settings: PlannerSettings,
  parts: Dependencies & { readonly journal: ReceiptJournal | undefined },
): ClusterWatch {
  const { journal } = parts;
  const data = new DataCache(config.dataCacheBytes);
  const lines = watchLines(parts.log, parts.clock);
  const list = createSourceList(config, settings, parts, lines);
  // The number is unknown until all are read.
  const objects = (): number => {
    const all = Object.values(caches.watches);
    const unknown = all.some(({ hasSynced }) => !hasSynced);
    return unknown ? Number.POSITIVE_INFINITY : all.reduce((sum, { store }) => sum + store.size, 0);
  };
  const context: Omit<ReadContext, "kind" | "entryOf"> = {
    // The key makes digests meaningless outside this process.
    digest: createDigest(randomBytes(32)),
    intern: createIntern(objects),
    share: createShare(objects),
    isSourceNamespace: (namespace) => settings.sourceNamespaces.matches(namespace),
    copyable: settings,
    withValueTimes: config.maxValueAgeMs > 0,
    keepsKeyNames: journal !== undefined,
    keep: (source, payload) => data.put(source, payload),
  };
  const contextOf = (kind: ObjectKind): ReadContext => ({
    ...context,
    kind: rulesOf(kind, settings),
    entryOf: (object) => list?.entryOf(kind, object),
  });
  const caches: Caches = createCaches(settings.scope?.watched, config.kinds.map(contextOf), {
    ...parts,
    lines,
    data,
    onShown: journal && ((kind, old, now) => journal.onShown(kind, old, now)),
    onlyNames: settings.onlyNames,
    listState: (kind) => list?.stateFor(kind) ?? LIST_OFF,
  });
  const watches = new Watches({ ...caches, list }, parts.clock);
  return { caches, watches, list, data, contextOf };
}

function createSourceList(
  { sourceList, ownNamespace, kinds }: Config,
  settings: PlannerSettings,
  { client, clock, metrics }: Dependencies,
  lines: FailureLines,
): SourceListCache | undefined {
  if (sourceList === undefined) return undefined;
  return new SourceListCache({
    client,
    clock,
    ref: { namespace: ownNamespace, name: sourceList },
    kinds,
    reserved: KINDS.ConfigMap.reserved,
    onlyNames: settings.onlyNames,
    metrics: metrics.watch(LIST_WATCH),
    ...failureHooks(lines, LIST_WATCH),
  });
}
