// What the events of the watches mean for the next plan.
import type { PlannerMemory } from "../state/planner-memory.ts";
import type { CachedObject, ClusterState, ListState, Namespace } from "../model/cluster.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import { changedEntries } from "../observed/list-state.ts";
import type { ActionWrite } from "../writes/action-write.ts";
import type { WritePool } from "../flowcontrol/write-pool.ts";
import type { Clock } from "../../../packages/kube/time/clock.ts";
import { refText } from "../../text/names.ts";
import type { SyncHooks } from "../report/sync-log.ts";
import type { WrittenCaches } from "../writes/outcome.ts";

type EventDeps = {
  readonly clusterStates: readonly ClusterState[];
  readonly memory: PlannerMemory;
  readonly clock: Pick<Clock, "monotonic">;
  readonly caches: Pick<WrittenCaches, "namespace">;
  /** Informed of changes that can make writes due. */
  readonly hooks: readonly SyncHooks[];
};

export class ClusterEvents {
  readonly #deps: EventDeps;
  readonly #pool: Pick<WritePool<ActionWrite>, "inFlight">;
  /** The source list at its last change. */
  readonly #lists = new Map<ObjectKind, ListState | undefined>();
  #wantedNames: ReadonlyMap<ObjectKind, ReadonlySet<string>> = new Map();

  constructor(deps: EventDeps, pool: Pick<WritePool<ActionWrite>, "inFlight">) {
    this.#deps = deps;
    this.#pool = pool;
  }

  /** A plan is made of the caches as they are now. */
  planned(): void {
    this.#wantedNames = new Map(
      this.#deps.clusterStates.map((clusterState) => [
        clusterState.kind,
        wantedNames(clusterState),
      ]),
    );
  }

  /** Whether a change of one object can change the plan, and whether it is urgent. */
  concerns(
    kind: ObjectKind,
    old: CachedObject | undefined,
    now: CachedObject | undefined,
  ): "urgent" | "later" | "no" {
    const present = now ?? old;
    if (!present || (old && now && old.resourceVersion === now.resourceVersion)) return "no";
    const roles = [old?.role, now?.role];
    const place = placeKey(kind, present);
    const memory = this.#deps.memory.of(kind);
    const published = roles.includes("source");
    // The sync that waits for the answer to our own write reads the cache again anyway.
    if (!published && this.#pool.inFlight.has(place)) return "no";
    const isTriedSooner = memory.places.objectChanged(refText(present));
    if (published) {
      for (const hooks of this.#deps.hooks) hooks.onSource?.(kind, old, now);
      return "urgent";
    }
    if (old?.role === "copy" && !now) memory.places.vanished(refText(old));
    if (isTriedSooner || roles.includes("copy") || roles.includes("pull")) return "later";
    if (old?.ignored !== now?.ignored) return "later";
    const isWanted = this.#wantedNames.get(kind)?.has(present.name) === true;
    return isWanted || mayBeAdopted(now) ? "later" : "no";
  }

  /** A Namespace changed. `before`: its previous state. Undefined if it is new. */
  namespaceChanged(name: string, before: Namespace | undefined): void {
    this.#deps.memory.namespaceChanged(name);
    const now = this.#deps.caches.namespace(name);
    for (const hooks of this.#deps.hooks) hooks.onNamespace?.(before, now);
  }

  /** The source list changed. */
  listChanged(): void {
    for (const { kind, list } of this.#deps.clusterStates) {
      const before = this.#lists.get(kind);
      this.#lists.set(kind, list);
      for (const { object } of changedEntries(before, list))
        if (object?.kind === kind)
          for (const hooks of this.#deps.hooks) hooks.onEntry?.(kind, object);
    }
  }
}

function mayBeAdopted(object: CachedObject | undefined): boolean {
  return object?.role === "unmanaged" && object.adopt !== undefined;
}

function wantedNames(clusterState: ClusterState): ReadonlySet<string> {
  const names = new Set<string>();
  for (const source of clusterState.sources)
    if (source.role === "source") names.add(source.rule.copyName);
  return names;
}
