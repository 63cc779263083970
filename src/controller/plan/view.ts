// What the decision for one place follows from.
import type { NamespaceMatch } from "../annotations/rules.ts";
import type { Sources } from "../desired/sources.ts";
import type { TargetNamespace } from "../desired/targets.ts";
import type { CachedObject, CopyObject, PlannerSettings, PullingObject } from "../model/cluster.ts";
import type { ObjectKind } from "../model/kinds.ts";
import type { PullResult } from "../state/planner-state.ts";
import type { Desired } from "../model/actions.ts";
import type { Ref } from "../../text/names.ts";

/** All that a decision follows from, beside its place. */
export type View = {
  readonly kind: ObjectKind;
  readonly settings: PlannerSettings;
  readonly sources: Sources;
  /** Whether a rule names the namespace of a copy that is only kept, or of a pulling object. */
  readonly covers: (
    rule: NamespaceMatch,
    object: CopyObject | PullingObject,
    target: TargetNamespace,
  ) => boolean;
  /** The source for which an empty place is reserved. */
  readonly reservedFor: (place: Ref) => Ref | undefined;
  /** By a source's UID, the fingerprint that all its copies had when a sync last found them so. */
  readonly settled: ReadonlyMap<string, string>;
  /**
   * The decision key of the last fill, and what a look at this version of a pulling object showed. The record of a fill
   * may have been removed since.
   */
  readonly rememberedOf: (pull: PullingObject) => {
    readonly lastFill: string | undefined;
    readonly result: PullResult | undefined;
  };
  /** The digest of what a source offers to the keys of a pulling object; undefined: its data are not at hand. */
  readonly offerDigest: (pull: PullingObject, content: Desired) => string | undefined;
};

/** A namespace and a name in it. `present`: the object there. */
export type TargetPlace = {
  readonly target: TargetNamespace;
  readonly name: string;
  readonly present: CachedObject | undefined;
};

export type CopyPlace = { readonly target: TargetNamespace; readonly copy: CopyObject };
