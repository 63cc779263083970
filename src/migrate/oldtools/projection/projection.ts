// projection-operator/projection, by its source (0.3.2). Its relevant behaviour:
//   a copy names its ClusterProjection or Projection by annotation, and that one's UID by label
//   the annotation alone makes an object the operator's, which then overwrites or deletes it
//   a source must consent by annotation, and "false" is a veto in both modes
//   all labels and annotations of the source are copied, and an overlay wins over them
//   copies under a former name or of a former source stay, with all marks
//   while it runs, it reverts our marks and copies annotations of a source within seconds
import type { OldCluster, OldObject } from "../old-objects.ts";
import type { OldFlags } from "../old-settings.ts";
import {
  withoutKeys,
  type OldContent,
  type OldMark,
  type OldReading,
  type OldSource,
  type OldTool,
} from "../old-tool.ts";
import { projectionLeftovers } from "./projection-leftovers.ts";
import {
  projectionFault,
  OWNER_KEYS,
  PROJECTION_PREFIX,
  projectionRule,
  uidKey,
  type ProjectionRule,
} from "./projection-rules.ts";
import {
  faultsOf,
  isIn,
  NO_NAMESPACES,
  sourceOfRules,
  sourcesOf,
  unprovenFault,
} from "../rule-targets.ts";
import { markOfOne } from "../secret-source.ts";
import { refText } from "../../../text/names.ts";
import type { StringMap } from "../../../text/string-map.ts";

const PROJECTABLE = `${PROJECTION_PREFIX}projectable`;
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
export const projection: OldTool = {
  name: "projection",
  images: /(^|\/)projection([:@]|$)/,
  settings: [{ name: "source-mode", kind: "text", widening: "permissive" }],
  prefixes: [PROJECTION_PREFIX],
  resources: ["ClusterProjection", "Projection"].map((kind) => ({
    group: "projection.sh",
    versions: ["v1"],
    kind,
    namespaced: kind === "Projection",
  })),
  rulesNeedMore: true,
  read: readProjections,
};

function readProjections(cluster: OldCluster, flags: OldFlags): OldReading {
  const { customs, secrets, others } = cluster;
  const rules = customs.map(projectionRule);
  const byPlace = new Map(secrets.map((secret) => [refText(secret), secret]));
  const faultOf = (rule: ProjectionRule): string | undefined =>
    projectionFault(rule) ?? ownFault(rule, byPlace);
  const usable = rules.filter((rule) => faultOf(rule) === undefined);
  const permissive = flags.flag("source-mode") === "permissive";
  const { sources, ofRule } = sourcesOf(
    usable,
    ({ source, copyName }) => `${refText(source)} ${copyName}`,
    (first, same, deleting) =>
      sourceOf(first, same, { deleting, permissive, secrets: byPlace, cluster }),
  );
  const marks = secrets.filter(isMarked).map((object) => markOf(object, rules, ofRule, cluster));
  return {
    sources,
    marks,
    unmoved: others.filter(isMarked),
    problems: faultsOf(rules, faultOf),
    leftovers: () => projectionLeftovers(customs),
  };
}

/** Why a Projection of one namespace moves nothing, although it can be expressed. */
function ownFault(
  { custom, source, copyName }: ProjectionRule,
  secrets: ReadonlyMap<string, OldObject>,
): string | undefined {
  const { namespace } = custom;
  if (namespace === undefined) return undefined;
  const target = secrets.get(refText({ namespace, name: copyName }));
  return unprovenFault(custom, secrets.get(refText(source))?.data, target);
}

type Circumstances = {
  readonly deleting: boolean;
  readonly permissive: boolean;
  readonly secrets: ReadonlyMap<string, OldObject>;
  readonly cluster: OldCluster;
};

function sourceOf(
  { copyName, source: place }: ProjectionRule,
  rules: readonly ProjectionRule[],
  { deleting, permissive, secrets, cluster: { namespaces } }: Circumstances,
): OldSource {
  const object = secrets.get(refText(place));
  const isCopy = object !== undefined && isMarked(object);
  return {
    ...sourceOfRules(rules.map(targetsOf), { object, place, copyName }, isCopy, namespaces),
    keys: undefined,
    content: object && contentOf(object, rules),
    going: goingOf(object, deleting, permissive),
    added: { labels: overlaid(rules, "labels"), annotations: overlaid(rules, "annotations") },
  };
}

function targetsOf({ title, any }: ProjectionRule) {
  return { title, targets: { any, within: undefined } };
}

// An overlay wins over the source, so that the source's values of its keys are on no copy.
function contentOf(object: OldObject, rules: readonly ProjectionRule[]): OldContent {
  const { type, immutable, data, labels, annotations } = object;
  return {
    type,
    immutable,
    data,
    labels: without(withoutKeys(labels, [PROJECTION_PREFIX]), overlaid(rules, "labels")),
    annotations: without(withoutKeys(annotations, [PROJECTION_PREFIX]), {
      ...overlaid(rules, "annotations"),
      [LAST_APPLIED]: "",
    }),
  };
}

function goingOf(
  object: OldObject | undefined,
  deleting: boolean,
  permissive: boolean,
): string | undefined {
  if (deleting) return "its projection is being deleted: somebody wanted its copies gone";
  if (!object) return undefined;
  const consent = object.annotations[PROJECTABLE];
  if (consent === "false") return `its owner has vetoed copies of it (${PROJECTABLE}: "false")`;
  if (permissive || consent === "true") return undefined;
  return `it has no ${PROJECTABLE}: "true", without which projection copies nothing (--source-mode)`;
}

function overlaid(rules: readonly ProjectionRule[], what: "labels" | "annotations"): StringMap {
  return Object.fromEntries(rules.flatMap(({ overlay }) => Object.entries(overlay[what])));
}

function without(texts: StringMap, others: StringMap): StringMap {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => !Object.hasOwn(others, key)));
}

function isMarked({ labels, annotations }: OldObject): boolean {
  return OWNER_KEYS.some((key) => key in annotations || uidKey(key) in labels);
}

function markOf(
  object: OldObject,
  rules: readonly ProjectionRule[],
  ofRule: ReadonlyMap<ProjectionRule, OldSource>,
  { namespaces }: OldCluster,
): OldMark {
  const named = OWNER_KEYS.filter((key) => key in object.annotations);
  const [key = ""] = named;
  const rule = rules.find(({ ownerKey, owner, uid }) =>
    named.length === 0
      ? uid !== "" && object.labels[uidKey(ownerKey)] === uid
      : ownerKey === key && owner === object.annotations[key],
  );
  const title = rule?.title ?? object.annotations[key];
  const source = rule && ofRule.get(rule);
  const doubt =
    rule &&
    (named.length === 1
      ? doubtOf(object, rule)
      : "one of its two marks is gone, or there are too many");
  const own = namespaces.find(({ name }) => name === object.namespace);
  const isStray =
    source !== undefined && own !== undefined && !isIn(rule?.any ?? NO_NAMESPACES, own);
  const stray = isStray && source.title !== rule?.title ? OF_ANOTHER : undefined;
  return markOfOne(object, source, { named: title, doubt: doubt ?? stray });
}

const OF_ANOTHER =
  "its projection does not name this namespace, and another one of the same source does";

function doubtOf(object: OldObject, rule: ProjectionRule): string | undefined {
  const uid = object.labels[uidKey(rule.ownerKey)];
  if (rule.copyName !== object.name) return "its projection makes copies of another name";
  const [namespace] = rule.owner.split("/");
  if (rule.owner.includes("/") && namespace !== object.namespace) {
    return "its mark names a Projection of another namespace";
  }
  if (rule.deleting) return "its projection is being deleted: somebody wanted its copies gone";
  if (uid === undefined) return "one of its two marks is gone";
  if (rule.uid !== "" && uid !== rule.uid)
    return "its mark names the UID of a projection that was made again since";
  return undefined;
}
