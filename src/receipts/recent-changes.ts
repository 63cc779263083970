// What made a write due, as far as this process has seen it: the latest change of the source's rule, of the
// Namespace or of the source list's entry. Receipts name it. Promises:
// - It is a memory of changes and decides nothing.
// - It holds a limited number of changes. A forgotten change counts as one before the start.
import { LruMap } from "../../packages/kube/lru.ts";
import type { Action } from "../controller/model/actions.ts";
import type { CachedObject, Namespace } from "../controller/model/cluster.ts";
import { placeKey, type ObjectKind } from "../controller/model/kinds.ts";
import { sameAccept } from "../controller/desired/targets.ts";
import type { SyncHooks } from "../controller/report/sync-log.ts";
import type { Trigger } from "./triggers.ts";
import type { Ref } from "../text/names.ts";

const MOST_CHANGES = 10_000;
const MOST_LABELS = 3;

type Change = { readonly order: number; readonly trigger: Trigger };
type SourceChange = { readonly order: number; readonly ruleOrder: number };

export class RecentChanges implements SyncHooks {
  readonly #sources = new LruMap<string, SourceChange>(MOST_CHANGES);
  readonly #namespaces = new LruMap<string, Change>(MOST_CHANGES);
  readonly #entries = new LruMap<string, number>(MOST_CHANGES);
  /** Counts changes, so that the later one is known without a clock. */
  #order = 0;
  #active = false;

  /** The process leads: what comes now is a change. */
  onSync(): void {
    this.#active = true;
  }

  onSource(kind: ObjectKind, old: CachedObject | undefined, now: CachedObject | undefined): void {
    const place = now ?? old;
    if (!this.#active || !place) return;
    const key = placeKey(kind, place);
    const order = ++this.#order;
    const ruleOrder = hasOldRule(old, now) ? (this.#sources.peek(key)?.ruleOrder ?? 0) : order;
    this.#sources.set(key, { order, ruleOrder });
  }

  onNamespace(before: Namespace | undefined, now: Namespace | undefined): void {
    if (!this.#active || !now) return;
    const trigger =
      before?.uid === now.uid ? changeOf(before, now) : { code: "Namespace" as const };
    if (trigger) this.#namespaces.set(now.name, { order: ++this.#order, trigger });
  }

  onEntry(kind: ObjectKind, source: Ref): void {
    if (this.#active) this.#entries.set(placeKey(kind, source), ++this.#order);
  }

  triggerOf(action: Action): Trigger {
    if (action.kind === "adopt") return { code: "AdoptOffer" };
    switch (action.cause) {
      case "edited":
        return { code: "EditOfCopy", manager: editorOf(action) };
      case "deleted":
        return { code: "DeletionOfCopy" };
      case "gone":
        return { code: "DeletionOfSource" };
      case "changed":
        return this.#ofContent(action);
      case "new":
      case "handover":
      case "unwanted":
        return this.#latest(action);
    }
  }

  #ofContent(action: Action): Trigger {
    const key = placeKey(action.objectKind, action.source);
    const changed = this.#sources.peek(key)?.order ?? 0;
    if ((this.#entries.peek(key) ?? 0) > changed) return { code: "Entry" };
    return sourceTrigger(action);
  }

  #latest(action: Action): Trigger {
    const key = placeKey(action.objectKind, action.source);
    const ofRule = this.#sources.peek(key)?.ruleOrder ?? 0;
    const ofEntry = this.#entries.peek(key) ?? 0;
    const ofNamespace = this.#namespaces.peek(action.place.namespace);
    const latest = Math.max(ofRule, ofEntry, ofNamespace?.order ?? 0);
    // The owner of a pulling object asks by `from`, whenever its source was there before.
    if (latest === 0) return sourceTrigger(action, action.kind === "fill" ? "Pull" : "Start");
    if (latest === ofEntry) return { code: "Entry" };
    return latest === ofRule || !ofNamespace ? sourceTrigger(action) : ofNamespace.trigger;
  }
}

function hasOldRule(old: CachedObject | undefined, now: CachedObject | undefined): boolean {
  return (
    old?.role === "source" &&
    now?.role === "source" &&
    old.uid === now.uid &&
    old.ruleDigest === now.ruleDigest &&
    old.entry === now.entry &&
    old.problems.length === now.problems.length
  );
}

function changeOf(before: Namespace, now: Namespace): Trigger | undefined {
  if (!sameAccept(before.accept, now.accept)) return { code: "Accept" };
  const keys = new Set([...Object.keys(before.labels), ...Object.keys(now.labels)]);
  const labels = [...keys].filter((key) => before.labels[key] !== now.labels[key]);
  if (labels.length === 0) return undefined;
  return { code: "NamespaceLabels", labels: labels.toSorted().slice(0, MOST_LABELS) };
}

function sourceTrigger(action: Action, code: "Source" | "Start" | "Pull" = "Source"): Trigger {
  if (!("content" in action)) return { code };
  const { resourceVersion: version, changedBy: manager } = action.content.source;
  return { code, version, manager };
}

function editorOf(action: Action): string | undefined {
  const isCopy = action.kind === "update" || action.kind === "replace";
  return isCopy ? action.target.template.changedBy : undefined;
}
