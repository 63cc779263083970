// The kinds of objects that secretcast copies, among those that a move reads. Secrets and ConfigMaps never
// meet at a place.
import type { OldCluster, OldObject } from "./old-objects.ts";
import { OBJECT_KINDS, placeKey, type ObjectKind } from "../../controller/model/kinds.ts";
import type { Ref } from "../../text/names.ts";

/** The objects of the kinds that secretcast copies. */
export function copyableObjects({ secrets, others }: OldCluster): readonly OldObject[] {
  return [...secrets, ...others.filter(({ kind }) => isCopied(kind))];
}

function isCopied(kind: string): boolean {
  return OBJECT_KINDS.some((each) => each === kind);
}

/** The place of such an object. */
export type KindPlace = Ref & { readonly kind: ObjectKind };

/** The kind of an object, as secretcast copies it. */
export function copiedKind(kind: string): ObjectKind {
  return OBJECT_KINDS.find((each) => each === kind) ?? "Secret";
}

/** "ConfigMap NAMESPACE/NAME". */
export function objectTitle(object: Ref & { readonly kind: string }): string {
  return placeKey(copiedKind(object.kind), object);
}
