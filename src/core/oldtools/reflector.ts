// emberstack/kubernetes-reflector, by its documents and its source. What of its ways counts here:
//   nothing happens without reflection-allowed; a push needs reflection-auto-enabled as well
//   the allowed namespaces are a list or a selector, the automatic ones too; both pairs have to hold
//   patterns are .NET's: the first match has to be the whole name; an empty list is every namespace
//   a copy bears type and data alone, and names its source
import type { OldCluster, OldObject } from "./old-objects.ts";
import {
  type OldFlags,
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
  images: /kubernetes-reflector/,
  flags: ["excluded-namespaces"],
  prefixes: [PREFIX],
  hasClusterSecrets: false,
  optIn: false,
  read: readReflector,
};

function readReflector({ secrets, others }: OldCluster, flags: OldFlags): OldReading {
  const excluded = flags.flag("excluded-namespaces") ?? "";
  const sources = secrets.filter(isSource).map(sourceOf);
  const byTitle = new Map(sources.map((source) => [source.title, source]));
  const marks = secrets.flatMap((object): OldMark[] => {
    const named = annotation(object, "reflects");
    if (named === undefined || named === "") return [];
    const source = byTitle.get(`Secret ${named}`);
    const pulls = !isTrue(annotation(object, "auto-reflects"));
    const sameName = source === undefined || source.copyName === object.name;
    const doubt = pulls || sameName ? undefined : "its mark names another name than its own";
    return [markOfOne(object, pulls || source?.push ? source : undefined, { pulls, named, doubt })];
  });
  const maps = others.filter(isSource);
  const besides = [...leftAlone("reflects", "ConfigMap", maps)];
  if (excluded !== "") {
    besides.push(
      `its excluded namespaces (${excluded}) are no sources and hold no mirrors that ask, but are pushed into: look at each`,
    );
  }
  const unmoved = others.filter((object) => annotation(object, "reflects") !== undefined);
  return { sources, marks, asking: [], unmoved, besides };
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
