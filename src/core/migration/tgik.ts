// jbeda/tgik-controller. What of its ways counts here:
//   sources lie in the namespace secretsync; one annotation, of any value, makes a Secret there a source,
//   a namespace a target, and is on every copy, so that a user's own annotated Secret looks like one
//   a namespace whose annotation is taken off keeps its copies
import type { OldCluster, OldObject } from "./old-objects.ts";
import { titleOf, withoutKeys, type OldReading, type OldSource, type OldTool } from "./old-tool.ts";

const MARK = "eightypercent.net/secretsync";
const SOURCES = "secretsync";

export const tgik: OldTool = {
  name: "tgik",
  images: /tgik-controller/,
  flags: [],
  prefixes: ["eightypercent.net/"],
  read: readTgik,
};

function readTgik({ secrets, namespaces }: OldCluster): OldReading {
  const marked = secrets.filter(({ annotations }) => Object.hasOwn(annotations, MARK));
  const sources = marked.filter(({ namespace }) => namespace === SOURCES).map(sourceOf);
  const byName = new Map(sources.map((source) => [source.copyName, source]));
  const marks = marked
    .filter(({ namespace }) => namespace !== SOURCES)
    .map((object) => {
      const source = byName.get(object.name);
      return {
        object,
        pulls: false,
        sources: source ? [source] : [],
        named: undefined,
        doubt: undefined,
        wroteLast: () => true,
      };
    });
  const asking = namespaces.filter(({ annotations }) => Object.hasOwn(annotations, MARK));
  return { sources, marks, asking, unmoved: [], besides: [], problems: [] };
}

function sourceOf(object: OldObject): OldSource {
  return {
    title: titleOf("Secret", object),
    object,
    copyName: object.name,
    push: { matches: [{ kind: "annotated", annotation: MARK }], except: [] },
    allow: undefined,
    keys: undefined,
    content: {
      type: object.type,
      immutable: object.immutable,
      data: object.data,
      labels: object.labels,
      annotations: withoutKeys(object.annotations, ["eightypercent.net/"]),
    },
    going: undefined,
    notes: [],
    problems: [],
  };
}
