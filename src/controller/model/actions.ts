// The writes that follow from verdicts, and the live reads before some of them. All of it is data.
import type { Reason } from "./reasons.ts";
import type { Ref } from "../../text/names.ts";
import type {
  DesiredCopy,
  SourceObject,
  CopyObject,
  PullingObject,
  UnmanagedObject,
} from "./cluster.ts";
import { type ObjectKind, placeKey } from "./kinds.ts";
import type { SecretData } from "./secret-data.ts";

/** What made a write due. `edited` and `deleted` are repairs of a copy that others changed. */
export type WriteCause =
  | "new"
  | "changed"
  | "edited"
  | "deleted"
  | "handover"
  | "unwanted"
  | "gone";

type Write = {
  /** The kind of the object at the place, and of its source. */
  readonly objectKind: ObjectKind;
  readonly place: Ref;
  readonly source: Ref;
  readonly cause: WriteCause;
  /** Why, in plain English. */
  readonly reason: Reason;
  /** Key of the decision behind this write, without the target's version. A failure is remembered under it. */
  readonly decisionKey: string;
};

/** A source as a write needs it. */
export type Desired = { readonly source: SourceObject; readonly desiredCopy: DesiredCopy };

/** What a write that makes a place so follows from: its failure is remembered under it. */
export function decisionKeyOf({ source, desiredCopy }: Desired): string {
  return `${source.uid} ${desiredCopy.fingerprint}`;
}

export type Action =
  | (Write & { readonly kind: "create"; readonly content: Desired })
  | (Write & { readonly kind: "update"; readonly content: Desired; readonly target: CopyObject })
  | (Write & { readonly kind: "replace"; readonly content: Desired; readonly target: CopyObject })
  | (Write & {
      readonly kind: "adopt";
      readonly content: Desired;
      readonly target: UnmanagedObject;
    })
  | (Write & { readonly kind: "delete"; readonly target: CopyObject })
  | (Write & { readonly kind: "release"; readonly target: CopyObject })
  /** A pulling Secret gets or refreshes its entries. A look at it shows which (pull-fill.ts). */
  | (Write & { readonly kind: "fill"; readonly content: Desired; readonly target: PullingObject })
  /** A pulling Secret loses its entries. */
  | (Write & { readonly kind: "clear"; readonly target: PullingObject })
  /** No write: one live GET of a place where a Secret is that the cache does not show. */
  | (Write & { readonly kind: "liveGet" })
  /** No write: one live GET of each object that endings follow from, one after the other. */
  | (Write & {
      readonly kind: "confirm";
      readonly batch: string;
      readonly liveReads: readonly LiveRead[];
    });

/** Actions that make what a source wants out of whatever is at the place. */
export type CopyAction = Extract<Action, { kind: "create" | "update" | "replace" | "adopt" }>;

/** Actions after which there is less of ours. */
export type EndAction = Extract<Action, { kind: "delete" | "release" | "clear" }>;

export function isCopying(action: Action): action is CopyAction {
  const { kind } = action;
  return kind === "create" || kind === "update" || kind === "replace" || kind === "adopt";
}

export function isEnding(action: Action): action is EndAction {
  return action.kind === "delete" || action.kind === "release" || action.kind === "clear";
}

/** What must not be under way twice at a time: a place, or one of the few batches of live reads. */
export function actionKey(action: Action): string {
  return action.kind === "confirm" ? action.batch : placeKey(action.objectKind, action.place);
}

/** Entries to write into and take out of a pulling Secret, and the record of them. */
export type Fill = {
  readonly set: SecretData;
  readonly remove: readonly string[];
  /** undefined: its content is its owner's from now on. source-uid stays. */
  readonly record:
    | {
        readonly placedAt: string;
        readonly sourceUid: string;
        readonly sourceVersion: string;
        readonly entry: string | undefined;
        readonly list: string | undefined;
      }
    | undefined;
};

export type LiveRead = {
  readonly kind: ObjectKind | "Namespace" | "SourceList";
  /** A namespace has its name in `namespace`, and "" in `name`. */
  readonly ref: Ref;
  /** What the cache shows: versionOf. */
  readonly shown: string;
  /** UID of an object that must not exist, whatever has its name by now. */
  readonly gone?: string;
};
