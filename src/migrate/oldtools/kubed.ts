// config-syncer/config-syncer, formerly appscode/kubed. Its relevant behaviour:
//   `sync` is "" or "true" for every namespace, else a label selector. "false" is a selector too
//   a source whose selector names its own namespace is marked as a copy of itself
//   a copy names its source thrice: two labels, and an annotation with the UID. All three must agree
import { REPLICATORS } from "../../controller/annotations/replicators.ts";
import { fields, type OldCluster, type OldObject } from "./old-objects.ts";
import type { OldFlags } from "./old-settings.ts";
import {
  withoutKeys,
  type OldMark,
  type OldReading,
  type OldSource,
  type OldTargets,
  type OldTool,
} from "./old-tool.ts";
import { leftAlone, markOfOne, secretSource } from "./secret-source.ts";
import { refText } from "../../text/names.ts";
import { stringOf } from "../../controller/model/unstructured.ts";

const PREFIX = "kubed.appscode.com/";
const [SYNC, CONTEXTS, ORIGIN] = [`${PREFIX}sync`, `${PREFIX}sync-contexts`, `${PREFIX}origin`];
const [NAME, NAMESPACE] = [`${PREFIX}origin.name`, `${PREFIX}origin.namespace`];

export const kubed: OldTool = {
  name: "kubed",
  images: REPLICATORS.kubed.image,
  settings: [{ name: "config-source-namespace", kind: "text" }],
  prefixes: [PREFIX],
  resources: [],
  read: readKubed,
};

function readKubed({ secrets, others }: OldCluster, flags: OldFlags): OldReading {
  const only = flags.flag("config-source-namespace") ?? "";
  // On a Secret that is marked as another's copy, `sync` is left from before the takeover.
  const speaking = secrets.filter(
    (object) =>
      Object.hasOwn(object.annotations, SYNC) && (only === "" || object.namespace === only),
  );
  const sources = speaking.filter((object) => !isOthersCopy(object)).map(sourceOf);
  const byTitle = new Map(sources.map((source) => [source.title, source]));
  const marks = secrets
    .filter(isMarked)
    .map((object) => markOf(object, byTitle, speaking.includes(object)));
  const maps = others.filter(({ annotations }) => Object.hasOwn(annotations, SYNC));
  const elsewhere = [...secrets, ...others].filter(({ annotations }) =>
    Object.hasOwn(annotations, CONTEXTS),
  );
  const besides = [...leftAlone("copies", "ConfigMap", maps)];
  if (elsewhere.length > 0) {
    besides.push(
      `it also copies into other clusters (sync-contexts of ${elsewhere.map(refText).slice(0, 5).join(", ")}): those copies stay as they are and are no longer kept current`,
    );
  }
  return { sources, marks, unmoved: others.filter(isMarked), besides };
}

function isMarked({ labels, annotations }: OldObject): boolean {
  return [NAME, NAMESPACE].some((key) => key in labels) || ORIGIN in annotations;
}

function namedBy(object: OldObject): { readonly place: string; readonly uid: string } {
  const origin = originOf(object);
  const namespace = object.labels[NAMESPACE] ?? stringOf(origin["namespace"]);
  const name = object.labels[NAME] ?? stringOf(origin["name"]);
  return { place: `${namespace}/${name}`, uid: stringOf(origin["uid"]) };
}

function originOf({ annotations }: OldObject): Readonly<Record<string, unknown>> {
  try {
    return fields(JSON.parse(annotations[ORIGIN] ?? "{}"));
  } catch {
    return {};
  }
}

function isOthersCopy(object: OldObject): boolean {
  return isMarked(object) && namedBy(object).place !== refText(object);
}

function sourceOf(object: OldObject): OldSource {
  const sync = object.annotations[SYNC] ?? "";
  const notes =
    sync === "false"
      ? ['sync is "false", which is a selector of namespaces with the label "false"']
      : [];
  return secretSource(object, {
    push: pushOf(sync),
    labels: withoutKeys(object.labels, [PREFIX]),
    annotations: withoutKeys(object.annotations, [PREFIX]),
    notes,
  });
}

function pushOf(sync: string): OldTargets {
  if (sync === "" || sync === "true") return { matches: [{ kind: "all" }], except: [] };
  return { matches: [{ kind: "some", patterns: [], selector: sync }], except: [] };
}

function markOf(
  object: OldObject,
  byTitle: ReadonlyMap<string, OldSource>,
  speaks: boolean,
): OldMark {
  const { place, uid } = namedBy(object);
  const source = byTitle.get(`Secret ${place}`);
  const doubt = doubtOf(object, source, uid, speaks && place !== refText(object));
  return markOfOne(object, source, { named: place, doubt });
}

function doubtOf(
  object: OldObject,
  source: OldSource | undefined,
  uid: string,
  speaks: boolean,
): string | undefined {
  const origin = originOf(object);
  const { [NAME]: name, [NAMESPACE]: namespace } = object.labels;
  if (name !== undefined && name !== object.name) return "its mark names another name than its own";
  if (name === undefined || namespace === undefined) return "one of its labels of origin is gone";
  if (stringOf(origin["name"]) !== name || stringOf(origin["namespace"]) !== namespace) {
    return "its labels and its annotation of origin do not agree";
  }
  if (source?.object && source.object.uid !== uid) {
    return "its mark names the UID of a source that was made again since";
  }
  if (speaks) return "it has a sync annotation of its own: copy and source at once";
  return undefined;
}
