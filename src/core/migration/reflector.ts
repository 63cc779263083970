// emberstack/kubernetes-reflector, by its documents and its source. What of its ways counts here:
//   nothing happens without reflection-allowed; a push needs reflection-auto-enabled as well
//   the allowed namespaces are a list or a selector, the automatic ones too; both pairs have to hold
//   patterns are .NET's: the first match has to be the whole name; an empty list is every namespace
//   a copy bears type and data alone, and names its source
import type { OldCluster, OldObject } from "./old-objects.ts";
import {
  countText,
  titleOf,
  type OldFlags,
  type OldMark,
  type OldMatch,
  type OldReading,
  type OldSource,
  type OldTool,
} from "./old-tool.ts";
import { refText } from "../annotations/names.ts";

const PREFIX = "reflector.v1.k8s.emberstack.com/";

export const reflector: OldTool = {
  name: "reflector",
  images: /kubernetes-reflector/,
  flags: ["excluded-namespaces"],
  prefixes: [PREFIX],
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
    return [
      {
        object,
        pulls,
        sources: source && (pulls || source.push) ? [source] : [],
        named,
        doubt: pulls || sameName ? undefined : "its mark names another name than its own",
        wroteLast: () => true,
      },
    ];
  });
  const maps = others.filter(isSource);
  const besides: string[] = [];
  if (maps.length > 0) {
    const some = maps.slice(0, 5).map(refText).join(", ");
    besides.push(
      `it also reflects ${countText(maps.length, "ConfigMap")} (${some}): their copies stay as they are and are kept current no more`,
    );
  }
  if (excluded !== "") {
    besides.push(
      `its excluded namespaces (${excluded}) are no sources and hold no mirrors that ask, but are pushed into: look at each`,
    );
  }
  const unmoved = others.filter((object) => annotation(object, "reflects") !== undefined);
  return { sources, marks, asking: [], unmoved, besides, problems: [] };
}

function annotation({ annotations }: OldObject, word: string): string | undefined {
  const key = PREFIX + word;
  return Object.hasOwn(annotations, key) ? annotations[key] : undefined;
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
  return {
    title: titleOf("Secret", object),
    object,
    copyName: object.name,
    push: pushes ? { matches: [allowed, auto], except: [] } : undefined,
    allow: { matches: [allowed], except: [] },
    keys: undefined,
    content: {
      type: object.type,
      immutable: object.immutable,
      data: object.data,
      labels: {},
      annotations: {},
    },
    going: undefined,
    notes: [],
    problems: [],
  };
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
