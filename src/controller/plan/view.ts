// What the decision for one place follows from.
import type { NamespaceMatch } from "../annotations/rules.ts";
import type { Candidate, Sources } from "../desired/sources.ts";
import type { TargetNamespace } from "../desired/targets.ts";
import type { CachedObject, CopyObject, PlannerSettings } from "../model/cluster.ts";
import type { ObjectKind } from "../model/kinds.ts";
import type { Ref } from "../../text/names.ts";

/** All that a decision follows from, beside its place. */
export type View = {
  readonly kind: ObjectKind;
  readonly settings: PlannerSettings;
  readonly sources: Sources;
  /** Whether a rule names the namespace of a copy that is only kept. */
  readonly covers: (rule: NamespaceMatch, copy: CopyObject, target: TargetNamespace) => boolean;
  /** The source for which an empty place is reserved. */
  readonly reservedFor: (place: Ref) => Ref | undefined;
  /** By a source's UID, the fingerprint that all its copies had when a sync last found them so. */
  readonly settled: ReadonlyMap<string, string>;
  /** How many existing namespaces a source still wants. Asked after all places were judged. */
  readonly stillWanted: (candidate: Candidate) => number;
};

/** A namespace and a name in it. `present`: the object there. */
export type TargetPlace = {
  readonly target: TargetNamespace;
  readonly name: string;
  readonly present: CachedObject | undefined;
};

export type CopyPlace = { readonly target: TargetNamespace; readonly copy: CopyObject };
