// What planning a single place needs of the sync that it belongs to.
import type { IgnoredObjects } from "./ignored-objects.ts";
import type { Removals } from "./removals.ts";
import type { PlannerSettings, ClusterState } from "../model/cluster.ts";
import type { Sources } from "../desired/sources.ts";
import type { PlanBuilder } from "./plan-builder.ts";

export type PlanContext = {
  readonly planBuilder: PlanBuilder;
  readonly settings: PlannerSettings;
  readonly sources: Sources;
  readonly removals: Removals;
  readonly ignored: IgnoredObjects;
  readonly offerOf: ClusterState["offerOf"];
};
