// Reads what another tool left behind for the planner of a move. Any field may be absent or have the wrong type,
// and nothing here throws.
import { apiVersionOf, refText, type Ref } from "../../text/names.ts";
import { objectOf, stringOf, stringsOf } from "../../controller/model/unstructured.ts";
import { entriesOf, KINDS, OBJECT_KINDS, typeOf } from "../../controller/model/kinds.ts";
import { SecretData } from "../../controller/model/secret-data.ts";
import {
  copiedKind,
  fields,
  resourceOf,
  textsOf,
  type OldCluster,
  type OldCustom,
  type OldNamespace,
  type OldObject,
  type OldOwner,
  type OldResource,
} from "./old-objects.ts";

type Lists = Omit<OldCluster, "list" | "readable">;
type Mutable = { [K in keyof Lists]: Lists[K][number][] };

/** Reads objects of the API or a manifest. Objects that a move does not need are skipped. */
export function readOldCluster(
  objects: Iterable<unknown>,
  listRef: Ref | undefined,
  resources: readonly OldResource[],
): OldCluster {
  let list: unknown;
  const read: Mutable = { namespaces: [], secrets: [], others: [], customs: [] };
  for (const raw of objects) {
    const resource = resourceOf(raw, resources);
    if (resource) {
      addIf(read.customs, readCustom(raw, resource));
      continue;
    }
    const { kind, apiVersion } = fields(raw);
    if (apiVersion !== undefined && apiVersion !== API_VERSIONS[stringOf(kind)]) continue;
    if (kind === "Namespace") addIf(read.namespaces, readOldNamespace(raw));
    else if (kind === "Secret") addIf(read.secrets, readOldObject(raw));
    else if (Object.hasOwn(API_VERSIONS, stringOf(kind))) {
      const object = readOldObject(raw);
      addIf(read.others, object);
      const isList = kind === "ConfigMap" && listRef && object;
      if (isList && refText(object) === refText(listRef)) list = raw;
    }
  }
  return {
    list,
    namespaces: sortedBy(read.namespaces, ({ name }) => name),
    secrets: sortedBy(read.secrets, refText),
    others: sortedBy(read.others, (one) => `${one.kind} ${refText(one)}`),
    customs: resources.flatMap(({ group, kind }) => {
      const own = read.customs.filter((one) => one.group === group && one.kind === kind);
      return sortedBy(own, ({ namespace = "", name }) => refText({ namespace, name }));
    }),
  };
}

/** Other groups have kinds of the same names. The items of a list have no apiVersion. */
const API_VERSIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(OBJECT_KINDS.map((kind) => [kind, apiVersionOf(KINDS[kind].resource)])),
  Namespace: "v1",
  ServiceAccount: "v1",
  Role: "rbac.authorization.k8s.io/v1",
  RoleBinding: "rbac.authorization.k8s.io/v1",
};

function sortedBy<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

function addIf<T>(list: T[], item: T | undefined): void {
  if (item !== undefined) list.push(item);
}

function readMetadata(raw: unknown): OldNamespace | undefined {
  const metadata = objectOf(objectOf(raw).metadata);
  const name = stringOf(metadata.name);
  if (name === "") return undefined;
  return {
    name,
    uid: stringOf(metadata.uid),
    resourceVersion: stringOf(metadata.resourceVersion),
    deleting: stringOf(metadata.deletionTimestamp) !== "",
    labels: stringsOf(metadata.labels),
    annotations: stringsOf(metadata.annotations),
    finalizers: textsOf(metadata.finalizers) ?? [],
  };
}

function namespaceOf(raw: unknown): string {
  return stringOf(objectOf(objectOf(raw).metadata).namespace) || "default";
}

function readOldNamespace(raw: unknown): OldNamespace | undefined {
  const metadata = readMetadata(raw);
  const isTerminating = objectOf(objectOf(raw).status).phase === "Terminating";
  if (!metadata) return undefined;
  // The API server gives it to each Namespace, and files do not have it.
  const labels = { ...metadata.labels, "kubernetes.io/metadata.name": metadata.name };
  return { ...metadata, labels, deleting: metadata.deleting || isTerminating };
}

function readCustom(raw: unknown, { group, kind, namespaced }: OldResource): OldCustom | undefined {
  const metadata = readMetadata(raw);
  const namespace = namespaced ? namespaceOf(raw) : undefined;
  return metadata && { ...metadata, group, kind, namespace, fields: fields(raw) };
}

function readOldObject(raw: unknown): OldObject | undefined {
  const metadata = readMetadata(raw);
  if (!metadata) return undefined;
  const object = objectOf(raw);
  const kind = stringOf(fields(raw)["kind"]);
  const { labels, annotations, ownerReferences } = fields(object.metadata);
  return {
    ...metadata,
    kind,
    namespace: namespaceOf(raw),
    type: typeOf(KINDS[copiedKind(kind)], object),
    immutable: object.immutable === true,
    data: dataOf(raw),
    texts: kind === "ConfigMap" ? stringsOf(object.data) : {},
    owners: Array.isArray(ownerReferences) ? ownerReferences.map(readOwner) : [],
    labelled: typeof labels === "object" && labels !== null,
    annotated: typeof annotations === "object" && annotations !== null,
  };
}

function readOwner(raw: unknown): OldOwner {
  const { apiVersion, kind, name, uid } = fields(raw);
  return {
    apiVersion: stringOf(apiVersion),
    kind: stringOf(kind),
    name: stringOf(name),
    uid: stringOf(uid),
  };
}

// The manifest of a Secret may contain plain text that the API server would encode as base64.
function dataOf(raw: unknown): SecretData {
  const { kind, data, stringData } = fields(raw);
  const rules = KINDS[copiedKind(stringOf(kind))];
  if (rules.kind !== kind) return new SecretData(rules, {});
  if (kind !== "Secret") return new SecretData(rules, entriesOf(rules, objectOf(raw)));
  const plain = Object.entries(stringsOf(stringData)).map(
    ([key, value]) => [key, Buffer.from(value).toString("base64")] as const,
  );
  return new SecretData(rules, { ...stringsOf(data), ...Object.fromEntries(plain) });
}
