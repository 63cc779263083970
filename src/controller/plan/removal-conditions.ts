// When an absent source counts as deleted: it is absent for the grace, and a live read confirms it.
// And when anything may be removed: its place has been unwanted for the grace, whatever the
// reason, and live reads confirm the objects from which that follows.
import { because, followedBy, type Reason } from "../model/reasons.ts";
import type { CachedObject, ListState, SourceObject } from "../model/cluster.ts";
import type { PlanBuilder, KindSync } from "./plan-builder.ts";
import { type ResultAge, versionOf } from "../state/live-reads.ts";
import type { SourceStatus } from "../desired/sources.ts";
import type { TargetNamespace } from "../desired/targets.ts";
import { type Ref, refText } from "../../text/names.ts";
import { EVERYWHERE } from "../state/recent-removals.ts";
import type { SourceAbsence, LiveRead } from "../model/actions.ts";
import type { RemovalHoldCause } from "../model/verdicts.ts";
import type { ObjectKind } from "../model/kinds.ts";

/** Why a copy, or what was filled into a pulling object, is to be removed. */
export type RemovalReason = {
  readonly cause: "unwanted" | "gone";
  readonly reason: Reason;
  /** The objects that say so. */
  readonly evidence: readonly LiveRead[];
  /** With cause `gone`: the source, and when (ms, monotonic) it has been absent for long enough. */
  readonly vanished?: SourceAbsence;
  readonly absentUntil?: number;
  /** With cause `gone`: the namespace of the source was deleted with it. */
  readonly namespaceLost?: boolean;
  /** The namespace says that it does not accept the source. */
  readonly declined?: boolean;
  /** The source would want the place if the namespace accepted it. */
  readonly covered?: boolean;
  /** The source list does not have the entry that made the copy. */
  readonly entryRemoved?: boolean;
  /** With cause `gone`: another source has its name now, and does not want the place. */
  readonly succeeded?: boolean;
};

/** The namespace in which removals of its copies count (CountedAs), or EVERYWHERE. */
export function accountOf({ settings, sources }: KindSync, source: Ref): string {
  const isNamed = settings.namedSources?.matches(source.namespace) === true;
  return isNamed || sources.entryOf(source) ? EVERYWHERE : source.namespace;
}

/** The source `ref` with this UID no longer exists. `status`: what has its name now. */
export function sourceGone(
  sync: KindSync,
  ref: Ref,
  uid: string,
  status: SourceStatus,
  reason: Reason,
): RemovalReason {
  const key = `${refText(ref)} ${uid}`;
  const { planBuilder, settings, sources } = sync;
  const { memory, now } = planBuilder;
  const since = memory.absentSince.of(key, () => now);
  const seen = memory.gone.touchKnown(uid, now) || sources.hasUid(uid);
  return {
    cause: "gone",
    reason,
    evidence: [{ ...readOfSource(planBuilder.kind, ref, shownAt(status)), gone: uid, seen }],
    vanished: { key, account: accountOf(sync, ref), since, seen },
    absentUntil: since + settings.sourceGraceMs,
    succeeded: status.kind === "entry",
    namespaceLost: memory.homes.isLost(key, ref.namespace, sources.namespace(ref.namespace)),
  };
}

/** The condition that holds a removal whatever else is due, as far as one place shows it. */
export function ownHold({
  declined,
  namespaceLost,
  vanished,
  entryRemoved,
}: RemovalReason): RemovalHoldCause | undefined {
  if (declined) return undefined;
  if (namespaceLost) return "namespace";
  if (vanished?.seen === false) return "unseen";
  return entryRemoved ? "entry" : undefined;
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
  { planBuilder, sources }: KindSync,
  ref: Ref,
  shown: Shown,
  ...entries: readonly unknown[]
): readonly LiveRead[] {
  return [readOfSource(planBuilder.kind, ref, shown), ...readsOfList(sources.list, ...entries)];
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

/** What prevents a removal now. It has a `verdict` only where that differs from the removal's own. */
export type RemovalHold = {
  readonly verdict?: "frozen";
  readonly reason: Reason;
  readonly dueAt?: number;
};

/** For a removal reason at a place that no other source wants: the whole grace counts. */
export function removalHold(
  sync: KindSync,
  unwantedSince: number,
  removalReason: RemovalReason,
): RemovalHold | undefined {
  const { planBuilder, settings } = sync;
  const until = Math.max(unwantedSince + settings.deleteGraceMs, removalReason.absentUntil ?? 0);
  // A read since then, so that a hold does not begin anew with each change of the object.
  const age = { same: Number.POSITIVE_INFINITY, newer: planBuilder.now - unwantedSince };
  return stayUntil(sync, removalReason, until, age);
}

/** For a removal reason at a place that another source takes over: only an absent source is waited for. */
export function handoverHold(
  sync: KindSync,
  removalReason: RemovalReason,
): RemovalHold | undefined {
  return stayUntil(sync, removalReason, removalReason.absentUntil ?? 0);
}

function stayUntil(
  { planBuilder, settings }: KindSync,
  removalReason: RemovalReason,
  until: number,
  age?: ResultAge,
): RemovalHold | undefined {
  const { reason, evidence } = removalReason;
  if (until > planBuilder.now) {
    const bySource = removalReason.absentUntil === until;
    const [ms, flag] = bySource
      ? [settings.sourceGraceMs, "--source-grace"]
      : [settings.deleteGraceMs, "--delete-grace"];
    const later = because("RemovedLater", { seconds: ms / 1000, flag });
    return { reason: followedBy(reason, later), dueAt: until };
  }
  return unconfirmed(planBuilder, reason, evidence, age);
}

/** Why what follows from these objects is not done now. `age`: how old the results of its live reads may be. */
export function unconfirmed(
  planBuilder: PlanBuilder,
  reason: Reason,
  evidence: readonly LiveRead[],
  age?: ResultAge,
): RemovalHold | undefined {
  const result = planBuilder.confirm(evidence, age);
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
