// mittwald/kubernetes-replicator. Its relevant behaviour:
//   patterns are RE2, "^" and "$" are put around the text, so that "a|b" is prefix a or suffix b
//   `replicate-to` and `replicate-to-matching` are a union, but `replicate-from` switches both off
//   a pull needs `replication-allowed` and `replication-allowed-namespaces`, or --allow-all
//   a pushed copy names no source. Merged Secrets of others have the same marks, so the data decide
import { REPLICATORS } from "../../controller/annotations/replicators.ts";
import type { OldCluster, OldObject } from "./old-objects.ts";
import type { OldFlags } from "./old-settings.ts";
import {
  type OldMark,
  type OldReading,
  type OldSource,
  type OldTargets,
  type OldTool,
} from "./old-tool.ts";
import type { PatternUse } from "./patterns/old-patterns.ts";
import { leftAlone, markOfOne, secretSource } from "./secret-source.ts";

const PREFIX = "replicator.v1.mittwald.de/";
const [TO, MATCHING, FROM] = ["replicate-to", "replicate-to-matching", "replicate-from"];

export const replicator: OldTool = {
  name: "replicator",
  images: REPLICATORS.replicator.image,
  settings: [
    { name: "exclude-namespaces", kind: "text" },
    { name: "allow-all", kind: "truth", widening: "true" },
    { name: "replicate-secrets", kind: "truth" },
  ],
  prefixes: [PREFIX],
  resources: [],
  read: readReplicator,
};

function readReplicator(cluster: OldCluster, flags: OldFlags): OldReading {
  const replicates = isTrue(flags.flag("replicate-secrets") ?? "true");
  const sources = cluster.secrets
    .filter((object) => replicates && isSource(object))
    .map((object) => sourceOf(object, flags));
  const byPlace = new Map(sources.map((source) => [source.title, source]));
  const byName = Map.groupBy(sources, ({ copyName }) => copyName);
  const marks = cluster.secrets.flatMap((object): OldMark[] => {
    const from = annotation(object, FROM);
    if (from !== undefined) {
      const source = byPlace.get(`Secret ${from}`);
      return [markOfOne(object, source, { pulls: true, named: from })];
    }
    const version = annotation(object, "replicated-from-version");
    if (version === undefined) return [];
    const candidates = (byName.get(object.name) ?? []).filter(
      ({ push, object: own }) => push !== undefined && own?.namespace !== object.namespace,
    );
    return [
      {
        object,
        pulls: false,
        sources: candidates,
        named: undefined,
        doubt: isSource(object) ? "it is a source itself: copy and source at once" : undefined,
        wroteLast: ({ object: own }) => own?.resourceVersion === version,
      },
    ];
  });
  const unmoved = cluster.others.filter((object) =>
    ["replicated-at", FROM].some((word) => annotation(object, word) !== undefined),
  );
  const notes = replicates
    ? []
    : ["it runs with -replicate-secrets=false: no Secret is replicated, so none moves"];
  return { sources, marks, unmoved, besides: [...notes, ...besides(cluster)] };
}

function annotation({ annotations }: OldObject, word: string): string | undefined {
  return annotations[PREFIX + word];
}

function isSource(object: OldObject): boolean {
  if (annotation(object, FROM) !== undefined) return false;
  return [TO, MATCHING, "replication-allowed", "replication-allowed-namespaces"].some(
    (word) => annotation(object, word) !== undefined,
  );
}

function sourceOf(object: OldObject, flags: OldFlags): OldSource {
  const stripped = annotation(object, "strip-labels");
  const notes: string[] = [];
  if (stripped !== undefined && stripped !== "true") {
    notes.push(`strip-labels is ${JSON.stringify(stripped)}, and strips all the same`);
  }
  if (annotation(object, "keep-owner-references") === "true") {
    notes.push("its copies bear its owner references; ours never do");
  }
  const alternation = [TO, "replication-allowed-namespaces"].filter((word) =>
    (annotation(object, word) ?? "").split(",").some((pattern) => /^[^()]*\|/.test(pattern)),
  );
  for (const word of alternation) {
    notes.push(`${word}: "a|b" means names that begin with a or end with b, and was read so`);
  }
  return secretSource(object, {
    push: pushOf(object, flags),
    allow: allowOf(object, flags),
    labels: stripped === undefined ? object.labels : {},
    notes,
  });
}

function pushOf(object: OldObject, flags: OldFlags): OldTargets | undefined {
  const [to, selector] = [annotation(object, TO), annotation(object, MATCHING)];
  if (to === undefined && selector === undefined) return undefined;
  const except = excluded(flags);
  // An empty selector is every namespace.
  if (selector?.trim() === "") return { matches: [{ kind: "all" }], except };
  const patterns = to === undefined ? [] : strict(to);
  return { matches: [{ kind: "some", patterns, selector }], except };
}

function strict(list: string): readonly PatternUse[] {
  return list.split(",").map((entry) => {
    const text = withoutBlanks(entry);
    const begun = text.startsWith("^") ? text : `^${text}`;
    const pattern = begun.endsWith("$") ? begun : `${begun}$`;
    return { engine: "RE2", mode: "search", pattern };
  });
}

// As Go's strings.Trim with " ". A regular expression would take quadratic time.
function withoutBlanks(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && text[from] === " ") from++;
  while (to > from && text[to - 1] === " ") to--;
  return text.slice(from, to);
}

// Not trimmed, and not anchored: " playground", with its blank, excludes nothing.
function excluded(flags: OldFlags): readonly PatternUse[] {
  const list = flags.flag("exclude-namespaces") ?? "";
  return list
    .split(",")
    .filter((pattern) => pattern !== "")
    .map((pattern) => ({ engine: "RE2", mode: "search", pattern }));
}

function allowOf(object: OldObject, flags: OldFlags): OldTargets | undefined {
  if (isTrue(flags.flag("allow-all"))) return { matches: [{ kind: "all" }], except: [] };
  const list = annotation(object, "replication-allowed-namespaces");
  if (!isTrue(annotation(object, "replication-allowed")) || list === undefined) return undefined;
  return {
    matches: [{ kind: "some", patterns: strict(list), selector: undefined }],
    except: [],
  };
}

// As Go's strconv.ParseBool.
function isTrue(text: string | undefined): boolean {
  return ["1", "t", "T", "true", "TRUE", "True"].includes(text ?? "");
}

function besides({ others }: OldCluster): readonly string[] {
  const byKind = Map.groupBy(
    others.filter((object) => isSource(object) || annotation(object, FROM) !== undefined),
    ({ kind }) => kind,
  );
  return [...byKind].flatMap(([kind, objects]) => leftAlone("replicates", kind, objects));
}
