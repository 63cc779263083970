// zakkg3/ClusterSecret. Its relevant behaviour:
//   patterns are Python's and match from the beginning of a name, so that "dev" also names dev-2
//   no matchNamespace is every namespace, an empty one names no namespace
//   data are in the ClusterSecret itself, or in a Secret that it names and does not watch
//   a copy names neither the ClusterSecret's UID nor a version: only its name and its data identify it
import { REPLICATORS } from "../../controller/annotations/replicators.ts";
import { fields, textsOf, type OldCluster, type OldCustom, type OldObject } from "./old-objects.ts";
import {
  titleOf,
  withoutKeys,
  type OldContent,
  type OldMark,
  type OldMatch,
  type OldReading,
  type OldSource,
  type OldTool,
} from "./old-tool.ts";
import { markOfOne } from "./secret-source.ts";
import type { PatternUse } from "./patterns/old-patterns.ts";
import type { OldFlags } from "./old-settings.ts";
import { KINDS } from "../../controller/model/kinds.ts";
import { SecretData } from "../../controller/model/secret-data.ts";
import { stringOf, stringsOf } from "../../controller/model/unstructured.ts";
import type { Ref } from "../../text/names.ts";

const [CREATED_BY, LABEL] = ["clustersecret.io/created-by", "clustersecret.io"];
/** Its own defaults, in consts.py. */
const BLOCKED_ANNOTATIONS = ["kopf.zalando.org", "kubectl.kubernetes.io"];
const BLOCKED_LABELS = "app.kubernetes.io";
/** Its own marks. */
const OWN = "clustersecret";

export const clustersecret: OldTool = {
  name: "clustersecret",
  images: REPLICATORS.clustersecret.image,
  settings: [{ name: "blocked-labels", kind: "text", variable: "BLOCKED_LABELS" }],
  prefixes: ["clustersecret.io"],
  resources: [
    { group: "clustersecret.io", versions: ["v1"], kind: "ClusterSecret", namespaced: false },
  ],
  read: readClusterSecrets,
};

type ClusterSecret = Pick<OldCustom, "name" | "deleting" | "labels" | "annotations"> & {
  readonly type: string;
  /** Undefined when absent, which means every namespace. */
  readonly matchNamespace: readonly string[] | undefined;
  readonly avoidNamespace: readonly string[];
  readonly inline: SecretData | undefined;
  readonly valueFrom: (Ref & { readonly keys: readonly string[] }) | undefined;
};

function readClusterSecrets({ customs, secrets }: OldCluster, flags: OldFlags): OldReading {
  const clusterSecrets = customs.map(clusterSecretOf);
  // An empty variable counts as not set.
  const blocked = (flags.flag("blocked-labels") || BLOCKED_LABELS).split(",");
  const blockedLabels = [...blocked.map((label) => label.trim()), OWN];
  const byPlace = new Map(secrets.map((secret) => [titleOf("Secret", secret), secret]));
  const sources = clusterSecrets.map((one) => sourceOf(one, byPlace, blockedLabels));
  const byName = new Map(sources.map((source) => [source.copyName, source]));
  const marks = secrets.flatMap((object): OldMark[] => {
    const [created, labelled] = [CREATED_BY in object.annotations, LABEL in object.labels];
    if (!created && !labelled) return [];
    const source = byName.get(object.name);
    const sure = created && object.labels[LABEL] === "true";
    return [
      markOfOne(object, source, { doubt: sure ? undefined : "one of its two marks is gone" }),
    ];
  });
  const besides =
    clusterSecrets.length === 0
      ? []
      : [
          "deleting a ClusterSecret deletes every Secret of its name that its status lists, whoever made it, as soon as the operator runs: with the operator gone take its finalizer off first, then delete it",
        ];
  return { sources, marks, besides };
}

function clusterSecretOf({ fields: all, ...rest }: OldCustom): ClusterSecret {
  const reference = fields(fields(fields(all["data"])["valueFrom"])["secretKeyRef"]);
  const from = { namespace: stringOf(reference["namespace"]), name: stringOf(reference["name"]) };
  const referenced = Object.hasOwn(fields(all["data"]), "valueFrom");
  return {
    ...rest,
    type: stringOf(all["type"]) || "Opaque",
    matchNamespace: textsOf(all["matchNamespace"]),
    avoidNamespace: textsOf(all["avoidNamespaces"]) ?? [],
    inline: referenced ? undefined : new SecretData(KINDS.Secret, stringsOf(all["data"])),
    valueFrom: referenced ? { ...from, keys: textsOf(reference["keys"]) ?? [] } : undefined,
  };
}

function sourceOf(
  one: ClusterSecret,
  secrets: ReadonlyMap<string, OldObject>,
  blockedLabels: readonly string[],
): OldSource {
  const { name, valueFrom } = one;
  const object = valueFrom && secrets.get(titleOf("Secret", valueFrom));
  const notes: string[] = [];
  const problems: string[] = [];
  if (valueFrom && !object) {
    problems.push(`the Secret ${valueFrom.namespace}/${valueFrom.name} that it names is not there`);
  }
  if (object) {
    notes.push("copies follow the Secret from now on; the old tool read it at its start alone");
  } else if (!valueFrom) {
    notes.push("its data stand in the ClusterSecret: a Secret is written that holds them");
  }
  const patterns = pythonPatterns(one.matchNamespace ?? []);
  const match: OldMatch =
    one.matchNamespace === undefined
      ? { kind: "all" }
      : { kind: "some", patterns, selector: undefined };
  return {
    kind: "Secret",
    title: `ClusterSecret ${name}`,
    object,
    copyName: name,
    push: { matches: [match], except: pythonPatterns(one.avoidNamespace) },
    allow: undefined,
    keys: valueFrom && valueFrom.keys.length > 0 ? valueFrom.keys : undefined,
    content: contentOf(one, object, blockedLabels),
    going: one.deleting ? "its ClusterSecret is being deleted: somebody wanted it gone" : undefined,
    notes,
    problems,
  };
}

function pythonPatterns(list: readonly string[]): readonly PatternUse[] {
  return list.map((pattern) => ({ engine: "Python", mode: "prefix", pattern }));
}

function contentOf(
  { type, inline, valueFrom, labels, annotations }: ClusterSecret,
  object: OldObject | undefined,
  blockedLabels: readonly string[],
): OldContent | undefined {
  const data = inline ?? (object && chosen(object.data, valueFrom?.keys ?? []));
  if (!data) return undefined;
  // The labels of a named Secret are its own, and the tool did not copy them.
  const own = inline !== undefined;
  return {
    type: own ? type : (object?.type ?? type),
    immutable: object?.immutable ?? false,
    data,
    labels: own ? withoutKeys(labels, blockedLabels) : {},
    annotations: own ? withoutKeys(annotations, [...BLOCKED_ANNOTATIONS, OWN]) : {},
  };
}

function chosen(data: SecretData, keys: readonly string[]): SecretData {
  if (keys.length === 0) return data;
  return new SecretData(
    KINDS.Secret,
    Object.fromEntries(Object.entries(data.reveal()).filter(([key]) => keys.includes(key))),
  );
}
