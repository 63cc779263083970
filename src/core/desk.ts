// What judging a single place needs of the pass that it belongs to.
import type { Endings } from "./endings.ts";
import type { Settings, World } from "./model.ts";
import type { Pass } from "./pass.ts";
import type { Sources } from "./sources.ts";

export type Desk = {
  readonly pass: Pass;
  readonly settings: Settings;
  readonly sources: Sources;
  readonly endings: Endings;
  readonly offerOf: World["offerOf"];
};
