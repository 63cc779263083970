// jbeda/tgik-controller. Its relevant behaviour:
//   sources are in the namespace secretsync
//   one annotation, of any value, makes a Secret there a source and a namespace a target. It is also on
//   every copy, so a user's own annotated Secret looks like a copy
//   a namespace without its annotation keeps its copies
import { REPLICATORS } from "../../controller/annotations/replicators.ts";
import type { OldCluster, OldObject } from "./old-objects.ts";
import { withoutKeys, type OldReading, type OldSource, type OldTool } from "./old-tool.ts";
import { markOfOne, secretSource } from "./secret-source.ts";

const PREFIX = "eightypercent.net/";
const MARK = `${PREFIX}secretsync`;
const SOURCES = "secretsync";

export const tgik: OldTool = {
  name: "tgik",
  images: REPLICATORS.tgik.image,
  settings: [],
  prefixes: [PREFIX],
  resources: [],
  optIn: true,
  read: readTgik,
};

function readTgik({ secrets, namespaces }: OldCluster): OldReading {
  const marked = secrets.filter(({ annotations }) => Object.hasOwn(annotations, MARK));
  const sources = marked.filter(({ namespace }) => namespace === SOURCES).map(sourceOf);
  const byName = new Map(sources.map((source) => [source.copyName, source]));
  const marks = marked
    .filter(({ namespace }) => namespace !== SOURCES)
    .map((object) => markOfOne(object, byName.get(object.name)));
  const asking = namespaces.filter(({ annotations }) => Object.hasOwn(annotations, MARK));
  return { sources, marks, asking };
}

function sourceOf(object: OldObject): OldSource {
  return secretSource(object, {
    push: { matches: [{ kind: "annotated", annotation: MARK }], except: [] },
    labels: object.labels,
    annotations: withoutKeys(object.annotations, [PREFIX]),
  });
}
