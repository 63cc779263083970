// The rules of projection: ClusterProjections and Projections.
import { fields, textsOf, type OldCustom } from "../old-objects.ts";
import { readLabelSelector } from "../label-selectors.ts";
import { NO_NAMESPACES, type NamespaceSet } from "../rule-targets.ts";
import { objectOf, stringOf, stringsOf } from "../../../controller/model/unstructured.ts";
import { refText, type Ref } from "../../../text/names.ts";
import type { StringMap } from "../../../text/string-map.ts";

export const PROJECTION_PREFIX = "projection.sh/";
const OWNERS: Readonly<Record<string, string>> = {
  ClusterProjection: `${PROJECTION_PREFIX}owned-by-cluster-projection`,
  Projection: `${PROJECTION_PREFIX}owned-by-projection`,
};
export const OWNER_KEYS = Object.values(OWNERS);

/** The label with the UID that belongs to an annotation of OWNER_KEYS. */
export function uidKey(key: string): string {
  return `${key}-uid`;
}

export type ProjectionRule = {
  readonly title: string;
  readonly custom: OldCustom;
  /** As the annotation of a copy names it. */
  readonly owner: string;
  readonly ownerKey: string;
  readonly uid: string;
  /** The kind and the place of its source. */
  readonly kind: string;
  readonly source: Ref;
  readonly copyName: string;
  readonly any: NamespaceSet;
  readonly deleting: boolean;
  readonly overlay: { readonly labels: StringMap; readonly annotations: StringMap };
  /** Why it makes no copies. */
  readonly fault: string | undefined;
};

export function projectionRule(custom: OldCustom): ProjectionRule {
  const { kind, namespace, name, uid, deleting } = custom;
  const { source, destination, overlay } = fields(custom.fields["spec"]);
  const from = objectOf(source);
  const { group, version, kind: sourceKind } = fields(source);
  const to = fields(destination);
  const { any, fault } =
    namespace === undefined
      ? setOf(to)
      : { any: { ...NO_NAMESPACES, names: [namespace] }, fault: undefined };
  const owner = namespace === undefined ? name : `${namespace}/${name}`;
  const otherVersion = stringOf(version) !== "" && version !== "v1";
  const isSecret = stringOf(group) === "" && sourceKind === "Secret" && !otherVersion;
  return {
    title: `${kind} ${owner}`,
    custom,
    owner,
    ownerKey: OWNERS[kind] ?? "",
    uid,
    kind: isSecret ? "Secret" : [stringOf(sourceKind), stringOf(group)].filter(Boolean).join("."),
    source: { namespace: stringOf(from.namespace), name: stringOf(from.name) },
    copyName: stringOf(objectOf(to).name) || stringOf(from.name),
    any,
    deleting,
    overlay: {
      labels: stringsOf(objectOf(overlay).labels),
      annotations: stringsOf(objectOf(overlay).annotations),
    },
    fault,
  };
}

// A list of names has precedence over a selector.
function setOf({ namespaces, namespaceSelector }: Readonly<Record<string, unknown>>): {
  readonly any: NamespaceSet;
  readonly fault: string | undefined;
} {
  const names = textsOf(namespaces) ?? [];
  if (names.length > 0) return { any: { ...NO_NAMESPACES, names }, fault: undefined };
  const none = (fault: string): ReturnType<typeof setOf> => ({ any: NO_NAMESPACES, fault });
  if (namespaceSelector === undefined) return none("it names no namespaces");
  const selector = readLabelSelector(namespaceSelector);
  if (typeof selector === "string") return none(`its selector cannot be read: ${selector}`);
  if (selector.length === 0) {
    return none("its selector is empty, which projection refuses, so that it has no copies");
  }
  return { any: { ...NO_NAMESPACES, selectors: [selector] }, fault: undefined };
}

/** Why it is no rule for copies of a Secret. Undefined when it is. */
export function projectionFault({ kind, source, fault }: ProjectionRule): string | undefined {
  if (kind === "Secret") return fault;
  return `it projects the ${kind} ${refText(source)}, and only Secrets are moved: its copies stay as they are and are no longer kept current`;
}
