// Why a place is unwanted, the objects that say so, and whether live reads confirm them.
import { because, followedBy, type Reason } from "../model/reasons.ts";
import type { CachedObject, ListState, SourceObject } from "../model/cluster.ts";
import type { PlanBuilder } from "./plan-builder.ts";
import { type ResultAge, versionOf } from "../state/live-reads.ts";
import type { Candidate, PlannedSource, Sources, SourceStatus } from "../desired/sources.ts";
import type { TargetNamespace } from "../desired/targets.ts";
import type { NamespaceMatch } from "../annotations/rules.ts";
import type { Ref } from "../../text/names.ts";
import type { LiveRead } from "../model/actions.ts";
import type { ObjectKind } from "../model/kinds.ts";

/** Why a copy, or what was filled into a pulling object, is to be removed. */
export type RemovalReason = {
  readonly reason: Reason;
  /** The objects that say so. */
  readonly evidence: readonly LiveRead[];
} & (
  | {
      /**
       * `declined`: the namespace says accept: "false". `nobody`: the source names nobody on purpose.
       * `unannotated`: the object asks for nothing. `entry`: the source list does not have the entry that made
       * the copy. `gone`: the source no longer exists.
       */
      readonly kind: "declined" | "nobody" | "unannotated" | "entry" | "gone";
    }
  | {
      /** The source is valid and wants other places, or the namespace does not accept it. */
      readonly kind: "narrowed";
      readonly asks: AsksFor;
    }
);

/** Which namespaces a valid source asks for: by `to` and `to-selector`, or by `allow` and `allow-selector`. */
export type AsksFor =
  | { readonly kind: "to"; readonly match: NamespaceMatch; readonly source: Candidate }
  | { readonly kind: "allow"; readonly match: NamespaceMatch; readonly source: PlannedSource };

/** The source `ref` with this UID no longer exists. `status`: what has its name now. */
export function sourceGone(
  kind: ObjectKind,
  ref: Ref,
  uid: string,
  status: SourceStatus,
  reason: Reason,
): RemovalReason {
  const read = { ...readOfSource(kind, ref, shownAt(status)), gone: uid };
  return { kind: "gone", reason, evidence: [read] };
}

/** The object that is there under the source's name, if one is. */
export function shownAt(status: SourceStatus): Shown {
  if (status.kind === "entry") return status.entry.source;
  return status.kind === "notASource" ? status : undefined;
}

type Shown = Pick<SourceObject, "uid" | "resourceVersion"> | undefined;

export function readOfSource(kind: ObjectKind, { namespace, name }: Ref, shown: Shown): LiveRead {
  return { kind, ref: { namespace, name }, shown: versionOf(shown) };
}

/** The source list, where something follows from what it says, else nothing. */
export function readsOfList(
  list: ListState | undefined,
  ...entries: readonly unknown[]
): readonly LiveRead[] {
  const isListed = entries.some((entry) => entry !== undefined);
  if (!isListed || list?.state !== "read") return [];
  return [{ kind: "SourceList", ref: list.ref, shown: versionOf(list) }];
}

/** A source, and the list where it decides something. `entries`: as readsOfList takes them. */
export function readsOfSourceAndList(
  { kind, sources }: { readonly kind: ObjectKind; readonly sources: Pick<Sources, "list"> },
  ref: Ref,
  shown: Shown,
  ...entries: readonly unknown[]
): readonly LiveRead[] {
  return [readOfSource(kind, ref, shown), ...readsOfList(sources.list, ...entries)];
}

/** A source that is newly listed or delisted, which changes its data. */
export function readForList(kind: ObjectKind, object: CachedObject): LiveRead {
  const { namespace, name } = object;
  // No version has this name: the result is stored, and does not confirm what is there.
  return { kind, ref: { namespace, name }, shown: `${versionOf(object)} unread` };
}

export function readOfNamespace({ name, namespace }: TargetNamespace): LiveRead {
  return {
    kind: "Namespace",
    ref: { namespace: name, name: "" },
    shown: versionOf(namespace),
  };
}

/** What a live read has not confirmed. It has a `verdict` only where that differs from the decision's own. */
export type Unconfirmed = {
  readonly verdict?: "frozen";
  readonly reason: Reason;
  readonly dueAt?: number;
};

/** An answer from before the wait is asked for once more. */
export const FRESH: ResultAge = { same: 60_000, newer: 60_000 };

/** Why what follows from these objects is not done now. `age`: how old the results of its live reads may be. */
export function unconfirmed(
  planBuilder: PlanBuilder,
  reason: Reason,
  evidence: readonly LiveRead[],
  { namespace }: Ref,
  age?: ResultAge,
): Unconfirmed | undefined {
  const result = planBuilder.confirm(evidence, namespace, age);
  switch (result.kind) {
    case "confirmed":
      return undefined;
    case "pending":
      return { reason: followedBy(reason, because("BeingConfirmed")) };
    case "unreadable": {
      const dueAt = result.until === undefined ? {} : { dueAt: result.until };
      const unread = followedBy(reason, because("NotConfirmed", { error: result.reason }));
      return { verdict: "frozen", reason: unread, ...dueAt };
    }
  }
}
