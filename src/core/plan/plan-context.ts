// What judging a single place needs of the pass that it belongs to.
import type { Endings } from "./removals.ts";
import type { Settings, World } from "../model/cluster.ts";
import type { Pass } from "./plan-builder.ts";
import type { Sources } from "../desired/sources.ts";

export type Desk = {
  readonly pass: Pass;
  readonly settings: Settings;
  readonly sources: Sources;
  readonly endings: Endings;
  readonly offerOf: World["offerOf"];
};
