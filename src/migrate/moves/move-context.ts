// The context in which each source of a move is judged.
import type { Holds } from "./holdings.ts";
import type { MoveList } from "./list-moves.ts";
import type { OldNamespace, OldObject } from "../oldtools/old-objects.ts";
import type { PatternAnswers } from "../oldtools/patterns/old-patterns.ts";
import type { Namespace, PlannerSettings } from "../../controller/model/cluster.ts";
import type { Digest } from "../../controller/model/secret-data.ts";

export type MoveContext = {
  readonly old: readonly OldNamespace[];
  /** The namespaces after the move. */
  readonly namespaces: readonly Namespace[];
  readonly answers: PatternAnswers;
  readonly settings: PlannerSettings;
  readonly digest: Digest;
  /** Undefined when the copies of now are not known. */
  readonly holds: Holds | undefined;
  /** Places of pulling objects that name a source, by its kind and place. */
  readonly pulling: ReadonlyMap<string, readonly OldObject[]>;
  /** Undefined when no source list is configured. */
  readonly list: MoveList | undefined;
  /** Enters sources that another tool creates into the list. */
  readonly byList: boolean;
};
