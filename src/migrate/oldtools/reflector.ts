// emberstack/kubernetes-reflector, by its documents and its source. Its relevant behaviour:
//   nothing happens without reflection-allowed, and a push needs reflection-auto-enabled as well
//   the allowed namespaces are a list or a selector, the automatic ones too. Both pairs must hold
//   patterns are .NET's: the first match must be the whole name. An empty list is every namespace
//   a copy only has type and data, and names its source
import { REPLICATORS } from "../../controller/annotations/replicators.ts";
import type { OldCluster, OldObject } from "./old-objects.ts";
import { NAMESPACE_GLOBS, parseGlobList } from "../../text/globs.ts";
import type { OldFlags } from "./old-settings.ts";
import {
  type OldMark,
  type OldMatch,
  type OldReading,
  type OldSource,
  type OldTool,
} from "./old-tool.ts";
import { leftAlone, markOfOne, secretSource } from "./secret-source.ts";

const PREFIX = "reflector.v1.k8s.emberstack.com/";

export const reflector: OldTool = {
  name: "reflector",
  images: REPLICATORS.reflector.image,
  settings: [
    {
      name: "excluded-namespaces",
      kind: "text",
      variable: "ES_Reflector__Watcher__ExcludedNamespaces",
    },
  ],
  prefixes: [PREFIX],
  resources: [],
  read: readReflector,
};

function readReflector({ secrets, others }: OldCluster, flags: OldFlags): OldReading {
  const excluded = excludedNamespaces(flags);
  // Reflector ignores every object in an excluded namespace. It still pushes into one.
  const sources = secrets
    .filter((object) => isSource(object) && !excluded(object.namespace))
    .map(sourceOf);
  const byTitle = new Map(sources.map((source) => [source.title, source]));
  const marks = secrets.flatMap((object): OldMark[] => {
    const named = annotation(object, "reflects");
    if (named === undefined || named === "") return [];
    const source = byTitle.get(`Secret ${named}`);
    const pulls = !isTrue(annotation(object, "auto-reflects"));
    if (pulls && excluded(object.namespace)) return [];
    const sameName = source === undefined || source.copyName === object.name;
    const doubt = pulls || sameName ? undefined : "its mark names another name than its own";
    return [markOfOne(object, pulls || source?.push ? source : undefined, { pulls, named, doubt })];
  });
  const maps = others.filter((object) => isSource(object) && !excluded(object.namespace));
  const besides = [...leftAlone("reflects", "ConfigMap", maps)];
  const unmoved = others.filter((object) => annotation(object, "reflects") !== undefined);
  return { sources, marks, unmoved, besides };
}

// Like its GlobMatcher: trimmed, in lower case, and only "*" and "?" have a meaning.
function excludedNamespaces(flags: OldFlags): (namespace: string) => boolean {
  const texts = (flags.flag("excluded-namespaces") ?? "").toLowerCase().split(",");
  const globs = texts.flatMap((text) => {
    const list = parseGlobList(text.trim(), NAMESPACE_GLOBS);
    // Any other character is in no namespace's name.
    return list.ok && !text.trim().startsWith("!") ? [list.value] : [];
  });
  return (namespace) => globs.some((glob) => glob.matches(namespace));
}

function annotation({ annotations }: OldObject, word: string): string | undefined {
  return annotations[PREFIX + word];
}

// As .NET's bool.TryParse.
function isTrue(text: string | undefined): boolean {
  return (text ?? "").trim().toLowerCase() === "true";
}

function isSource(object: OldObject): boolean {
  return isTrue(annotation(object, "reflection-allowed"));
}

function sourceOf(object: OldObject): OldSource {
  const allowed = matchOf(object, "reflection-allowed-namespaces");
  const auto = matchOf(object, "reflection-auto-namespaces");
  const pushes = isTrue(annotation(object, "reflection-auto-enabled"));
  return secretSource(object, {
    push: pushes ? { matches: [allowed, auto], except: [] } : undefined,
    allow: { matches: [allowed], except: [] },
  });
}

function matchOf(object: OldObject, word: string): OldMatch {
  const list = annotation(object, word) ?? "";
  const selector = annotation(object, `${word}-selector`)?.trim() || undefined;
  const patterns = list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((pattern) => ({ engine: ".NET", mode: "cover", pattern }) as const);
  if (patterns.length === 0 && selector === undefined) return { kind: "all" };
  return { kind: "some", patterns, selector };
}
