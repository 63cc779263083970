// external-secrets/external-secrets as a copier inside one cluster, by its source (2.9.0). Its relevant
// behaviour:
//   a ClusterExternalSecret makes ExternalSecrets, and each of these a Secret of its namespace
//   the source is a key of a store. Only a store of the provider kubernetes with this cluster's server counts
//   a copy names its ExternalSecret by an owner reference, unless creationPolicy is Orphan
//   deleting an ExternalSecret deletes what it owns: the garbage collector does it, with or without the operator
//   neither the type nor the labels and annotations of the source are copied
import {
  accessKey,
  customPlace,
  fields,
  objectsIn,
  type OldAccess,
  type OldCluster,
  type OldCustom,
  type OldObject,
} from "../old-objects.ts";
import { chooseData, type ReadData } from "./external-data.ts";
import { externalLeftovers } from "./external-leftovers.ts";
import { armed } from "./external-disarming.ts";
import { isMarked, markOf, RECONCILE } from "./external-marks.ts";
import {
  externalFault,
  GROUP,
  readExternalRules,
  specOf,
  type ExternalRule,
} from "./external-rules.ts";
import { readStores, type ExternalStores } from "./external-stores.ts";
import type { OldFlags } from "../old-settings.ts";
import type { OldContent, OldReading, OldSource, OldTool } from "../old-tool.ts";
import { faultsOf, sourceOfRules, sourcesOf, unprovenFault } from "../rule-targets.ts";
import type { SecretData } from "../../../controller/model/secret-data.ts";
import { listed } from "../../../text/listed.ts";
import { refText } from "../../../text/names.ts";
import type { StringMap } from "../../../text/string-map.ts";

export const externalSecrets: OldTool = {
  name: "external-secrets",
  images: /(^|\/)external-secrets([:@]|$)/,
  // Its webhook runs the same image with other flags, so that no Deployment is read.
  settings: [],
  prefixes: [RECONCILE, "external-secrets.io/"],
  // A source may be a Secret that another rule makes, out of a vault. Its marks are needed.
  sourcePrefixes: [],
  owner: { group: GROUP, kind: "ExternalSecret" },
  resources: (
    [
      ["ClusterExternalSecret", false],
      ["ExternalSecret", true],
      ["ClusterSecretStore", false],
      ["SecretStore", true],
      ["ClusterPushSecret", false],
      ["PushSecret", true],
    ] as const
  ).map(([kind, namespaced]) => ({
    group: GROUP,
    versions: kind.endsWith("PushSecret") ? ["v1alpha1"] : ["v1", "v1beta1"],
    kind,
    namespaced,
  })),
  rulesNeedMore: true,
  accesses: ({ customs }) =>
    readExternalRules(customs, readStores(customs, "default")).rules.flatMap(
      (rule) => accessOf(rule) ?? [],
    ),
  copies: (custom, customs) => {
    const stores = readStores(customs, "default");
    const { rules } = readExternalRules([custom], stores);
    return rules.some(({ read }) => read.kind !== "left" || !read.store.isOther);
  },
  armed,
  read: readExternalSecrets,
};

function readExternalSecrets(cluster: OldCluster, flags: OldFlags): OldReading {
  const { customs, secrets } = cluster;
  const stores = readStores(customs, flags.flag("controller-class") ?? "default");
  const all = readExternalRules(customs, stores);
  const { rules, objects } = all;
  const byPlace = new Map(secrets.map((secret) => [refText(secret), secret]));
  const places = Map.groupBy(objects, ({ custom, copyName }) =>
    refText({ namespace: custom.namespace ?? "", name: copyName }),
  );
  const isCopy = (object: OldObject): boolean =>
    (places.get(refText(object)) ?? []).some(({ rule }) => rule?.read.kind === "data");
  const faultOf = (rule: ExternalRule): string | undefined =>
    externalFault(rule) ?? (isEntitled(rule, cluster) ? undefined : ownFault(rule, byPlace));
  const usable = rules.filter(isUsable).filter((rule) => faultOf(rule) === undefined);
  const { sources, ofRule } = sourcesOf<DataRule>(usable, identityOf, (first, same, deleting) =>
    sourceOf(first, same, deleting, byPlace.get(refText(first.read.data.source)), isCopy, cluster),
  );
  const marks = secrets
    .filter(isMarked)
    .flatMap((object) => markOf(object, places.get(refText(object)) ?? [], ofRule));
  return {
    sources,
    marks,
    besides: usable.some(keepsCopies) ? [KEEPS] : [],
    problems: [...faultsOf(rules, faultOf), ...leftStores(rules), ...pushedHere(customs, stores)],
    leftovers: (moving, copies) =>
      externalLeftovers(cluster, all, movingRules(moving, ofRule), copies),
  };
}

function movingRules(
  moving: readonly OldSource[],
  ofRule: ReadonlyMap<ExternalRule, OldSource>,
): readonly ExternalRule[] {
  const titles = new Set(moving.map(({ title }) => title));
  return [...ofRule].flatMap(([rule, { title }]) => (titles.has(title) ? [rule] : []));
}

const KEEPS =
  "External Secrets keeps the copies of a deleted source (deletionPolicy: Retain); secretcast deletes them after --delete-hold, unless the source has secretcast.io/on-delete: keep";

function keepsCopies({ custom }: ExternalRule): boolean {
  return fields(specOf(custom)["target"])["deletionPolicy"] !== "Delete";
}

/** Those that push Secrets of this cluster into Secrets of this cluster. */
function pushedHere(customs: readonly OldCustom[], stores: ExternalStores): readonly string[] {
  return customs.flatMap((custom) => {
    const { kind, namespace, fields: all } = custom;
    if (kind !== "PushSecret" && kind !== "ClusterPushSecret") return [];
    const spec = fields(all["spec"]);
    const { secretStoreRefs } = kind === "PushSecret" ? spec : fields(spec["pushSecretSpec"]);
    const isHere = objectsIn(secretStoreRefs).some(
      (one) => one["labelSelector"] !== undefined || stores.storeOf(one, namespace).kind === "here",
    );
    return isHere ? [`${kind} ${customPlace(custom)}: it pushes Secrets, and stays as before`] : [];
  });
}

function leftStores(rules: readonly ExternalRule[]): readonly string[] {
  const left = rules.flatMap(({ title, read }) =>
    read.kind === "left" ? [{ title, store: read.store }] : [],
  );
  const byStore = Map.groupBy(left, ({ store }) => `${store.title}: ${store.why}`);
  return [...byStore].map(([store, found]) => {
    const names = listed(found.map(({ title }) => title));
    return `${store}: ${names} ${found.length === 1 ? "stays" : "stay"} as before`;
  });
}

/** What the account of a rule of one namespace reads. */
function accessOf({ custom, read }: ExternalRule): OldAccess | undefined {
  if (custom.namespace === undefined || read.kind !== "data") return undefined;
  const { store, source } = read.data;
  return store.account === undefined ? undefined : { user: store.account, secret: source };
}

function isEntitled(rule: ExternalRule, { readable }: OldCluster): boolean {
  const access = accessOf(rule);
  return access !== undefined && readable?.has(accessKey(access)) === true;
}

/** Why a rule of one namespace moves nothing, although it can be expressed. */
function ownFault(
  { custom, read, copyName }: ExternalRule,
  secrets: ReadonlyMap<string, OldObject>,
): string | undefined {
  const { namespace } = custom;
  if (namespace === undefined || read.kind !== "data") return undefined;
  const { source, store } = read.data;
  const isOwnStore = store.title.startsWith("SecretStore ");
  if (custom.uid === "" && isOwnStore) {
    return `whether the account of ${store.title} may read ${refText(source)} is not known from files: it does not move`;
  }
  const { data } = chooseData(secrets.get(refText(source)), read.data);
  return unprovenFault(custom, data, secrets.get(refText({ namespace, name: copyName })));
}

type DataRule = ExternalRule & { readonly read: Extract<ReadData, { kind: "data" }> };

function isUsable(rule: ExternalRule): rule is DataRule {
  return externalFault(rule) === undefined && rule.read.kind === "data";
}

/** Rules with the same identity make the same copies of the same source. */
function identityOf({ read, copyName, type, immutable }: DataRule): string {
  const { source, whole, renamings } = read.data;
  return JSON.stringify([refText(source), copyName, whole, renamings, type, immutable]);
}

function sourceOf(
  first: DataRule,
  rules: readonly DataRule[],
  deleting: boolean,
  object: OldObject | undefined,
  isCopy: (object: OldObject) => boolean,
  cluster: OldCluster,
): OldSource {
  const { namespaces } = cluster;
  const { copyName, read } = first;
  const place = read.data.source;
  const chosen = chooseData(object, read.data);
  const content = object && chosen.data && contentOf(object, chosen.data);
  const isSourceCopy = object !== undefined && isCopy(object);
  const named = { object, place, copyName };
  const base = sourceOfRules(rules.map(targetsOf), named, isSourceCopy, namespaces);
  const entitled = rules.flatMap((rule) =>
    isEntitled(rule, cluster) ? (rule.custom.namespace ?? []) : [],
  );
  return {
    ...base,
    entitled: new Set(entitled),
    keys: chosen.keys,
    content,
    going: deleting ? "its rule is being deleted: somebody wanted its copies gone" : undefined,
    problems: [...base.problems, ...chosen.problems],
    incomplete: [
      ...base.incomplete,
      ...read.data.incomplete,
      ...new Set(rules.flatMap((rule) => rule.incomplete)),
      ...(first.immutable && content?.immutable === false ? [MUTABLE] : []),
    ],
    added: {
      labels: addedBy(rules, "labels"),
      annotations: addedBy(rules, "annotations"),
      type: first.type,
    },
  };
}

const MUTABLE = "its copies are immutable, and those of secretcast are so only if their source is";

function targetsOf({ title, any, read }: DataRule) {
  return { title, targets: { any, within: read.data.store.within } };
}

function contentOf({ type, immutable }: OldObject, data: SecretData): OldContent {
  // Labels and annotations of the source are on no copy.
  return { type, immutable, data, labels: {}, annotations: {} };
}

function addedBy(rules: readonly ExternalRule[], what: "labels" | "annotations"): StringMap {
  return Object.fromEntries(rules.flatMap((rule) => Object.entries(rule[what])));
}
