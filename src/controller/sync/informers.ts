// The informers of one scope, the whole cluster or one namespace: Namespaces, and the objects of each kind that
// takes part, of all names or of a few.
import { readNamespace } from "../observed/read-namespace.ts";
import type { CachedObject, Namespace } from "../model/cluster.ts";
import type { ReadContext } from "../observed/read-context.ts";
import { readObject } from "../observed/read-object.ts";
import type { ObjectKind } from "../model/kinds.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import type { Clock } from "../../../packages/kube/time/clock.ts";
import { Informer, type InformerOptions } from "../../../packages/kube/cache/informer.ts";
import { ObjectTable, type SharedTable } from "../../../packages/kube/store/object-table.ts";
import type { Stored } from "../../../packages/kube/store/stored.ts";
import { NAMESPACES } from "../../../packages/kube/rest/resource.ts";
import type { Log } from "../report/log.ts";
import { failureLines, type FailureLines } from "../report/failure-lines.ts";
import type { Metrics } from "../report/metrics.ts";
import { NamedObjects, type ObjectWatch } from "./named-objects.ts";

export type InformerDeps = {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Log lines of lists and watches. */
  readonly lines: FailureLines;
  /** The only object names to read. Undefined means all names. */
  readonly onlyNames: ReadonlySet<string> | undefined;
  /** Called at each change of what a cache of objects shows. Undefined if nobody follows it. */
  readonly onShown?: ShownListener | undefined;
};

/** `old` and `now`: what the cache of `kind` showed at one place before, and what it shows now. */
export type ShownListener = (
  kind: ObjectKind,
  old: CachedObject | undefined,
  now: CachedObject | undefined,
) => void;

export const ROLE = "role";

/** Logs failures of a resource's list or watch, with a limit per minute, and one line at their end. */
export const watchLines = (log: Log, clock: Clock): FailureLines =>
  failureLines(log, clock, "list or watch failed, will try again");

/** The hooks of one informer. */
export function failureHooks(
  lines: FailureLines,
  resource: string,
): Required<Pick<InformerOptions<Stored>, "onError" | "onConnected">> {
  const { failed, worked } = lines.of(resource, { resource });
  return { onError: failed, onConnected: worked };
}

/** The objects of one kind. `namespace`: the only one to read. Undefined means all. */
export function objectWatch(
  { client, clock, metrics, lines, log, onShown, onlyNames }: InformerDeps,
  context: ReadContext,
  namespace: string | undefined,
): ObjectWatch {
  const { resource, fieldSelector, kind } = context.kind;
  const { plural } = resource;
  const informerOf = (shared?: SharedTable<CachedObject>): Informer<CachedObject> => {
    const informer = new Informer<CachedObject>({
      client,
      resource,
      namespace,
      fieldSelector,
      shared,
      transform: (raw) => readObject(raw, context),
      clock,
      metrics: metrics.watch(plural),
      ...failureHooks(lines, plural),
    });
    const shown = onShown && ((old?: CachedObject, now?: CachedObject) => onShown(kind, old, now));
    informer.store.listen({ shown });
    return informer;
  };
  if (!onlyNames) {
    const objects = informerOf();
    objects.store.addIndex(ROLE, rolesOf);
    return objects;
  }
  const table = new ObjectTable<CachedObject>();
  table.addIndex(ROLE, rolesOf);
  const named = Array.from(onlyNames, (name) => [name, informerOf({ table, name })] as const);
  return new NamedObjects(new Map(named), table, { kind, namespace, clock, log });
}

/**
 * `only`: the one Namespace to read. Undefined means all. `onReads`: called when it is read by GET from now on, or
 * watched again.
 */
export function namespaceInformer(
  { client, clock, metrics, lines }: InformerDeps,
  only: string | undefined,
  onReads: (active: boolean) => void,
): Informer<Namespace> {
  return new Informer<Namespace>({
    client,
    resource: NAMESPACES,
    // A Role that names only this Namespace allows this list and watch.
    fieldSelector: only === undefined ? undefined : `metadata.name=${only}`,
    transform: (raw) => readNamespace(raw),
    clock,
    metrics: metrics.watch(NAMESPACES.plural),
    single: only === undefined ? undefined : { name: only, onReads },
    ...failureHooks(lines, NAMESPACES.plural),
  });
}

const rolesOf = ({ role }: CachedObject): readonly string[] =>
  role === "source" || role === "pull" ? [role] : [];
