// What another tool left behind, as the planner of a move knows it: whole objects, with data in the same form as
// secretcast's own.
import { OBJECT_KINDS, placeKey, type ObjectKind } from "../../controller/model/kinds.ts";
import { refText, type Ref } from "../../text/names.ts";
import type { SecretData } from "../../controller/model/secret-data.ts";
import type { StringMap } from "../../text/string-map.ts";

type OldMetadata = {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** A Namespace: it is terminating. */
  readonly deleting: boolean;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly finalizers: readonly string[];
};

export type OldNamespace = OldMetadata;

export type OldObject = OldMetadata & {
  readonly kind: string;
  readonly namespace: string;
  readonly type: string;
  readonly immutable: boolean;
  readonly data: SecretData;
  /** The texts of a ConfigMap. Empty for other kinds. */
  readonly texts: StringMap;
  readonly owners: readonly OldOwner[];
  /** Has a map of labels, of annotations. */
  readonly labelled: boolean;
  readonly annotated: boolean;
};

export type OldOwner = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
};

/** A kind that the tool defines or writes besides Secrets: its rules, and what it leaves behind. */
export type OldResource = {
  readonly group: string;
  /** The first that the API server serves is read. */
  readonly versions: readonly string[];
  readonly kind: string;
  readonly namespaced: boolean;
};

/** The kind's name in paths. */
export function pluralOf({ kind }: Pick<OldResource, "kind">): string {
  return `${kind.toLowerCase()}s`.replace(/ys$/, "ies");
}

/** An object of an OldResource. */
export type OldCustom = OldMetadata & {
  readonly group: string;
  readonly kind: string;
  /** Undefined when the kind has no namespaces. */
  readonly namespace: string | undefined;
  /** The whole object. */
  readonly fields: RawFields;
};

/** "NAMESPACE/NAME", or the name alone when its kind has no namespaces. */
export function customPlace({ namespace, name }: OldCustom): string {
  return namespace === undefined ? name : refText({ namespace, name });
}

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

export function placeOf({ kind, namespace, name }: OldObject): KindPlace {
  return { kind: copiedKind(kind), namespace, name };
}

/** "ConfigMap NAMESPACE/NAME". */
export function objectTitle(object: Ref & { readonly kind: string }): string {
  return placeKey(copiedKind(object.kind), object);
}

export type RawFields = Readonly<Record<string, unknown>>;

export type OldCluster = {
  readonly namespaces: readonly OldNamespace[];
  readonly secrets: readonly OldObject[];
  /** ConfigMaps, Roles, RoleBindings and ServiceAccounts. */
  readonly others: readonly OldObject[];
  /** Objects of the tool's own kinds, in the order of its `resources`. */
  readonly customs: readonly OldCustom[];
  /** secretcast's current source list. Undefined when it does not exist. */
  readonly list: unknown;
  /** What accounts of the tool may read, as accessKey names it. Undefined when nobody was asked. */
  readonly readable?: ReadonlySet<string>;
};

/** A Secret that an account of the tool has to read for a rule. */
export type OldAccess = {
  /** "system:serviceaccount:NAMESPACE:NAME". */
  readonly user: string;
  readonly secret: Ref;
};

export function accessKey({ user, secret }: OldAccess): string {
  return `${user} ${refText(secret)}`;
}

/** The resource of the tool that `raw` is an object of. Other groups have kinds of the same names. */
export function resourceOf(
  raw: unknown,
  resources: readonly OldResource[],
): OldResource | undefined {
  const { kind, apiVersion } = fields(raw);
  return resources.find(
    (one) =>
      one.kind === kind &&
      (apiVersion === undefined ||
        one.versions.some((version) => apiVersion === `${one.group}/${version}`)),
  );
}

export function fields(value: unknown): RawFields {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/** The objects of a list. Empty when it is not a list. What is not an object has no fields. */
export function objectsIn(value: unknown): readonly RawFields[] {
  return Array.isArray(value) ? value.map(fields) : [];
}

/** The texts of a list. Undefined when it is not a list. */
export function textsOf(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter((item): item is string => typeof item === "string");
}
