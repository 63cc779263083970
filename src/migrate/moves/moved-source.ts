// A source after the move: its place, its new annotations, and the namespaces that it gains and loses. The
// controller's own reader decides whether it is accepted as a source.
import { newWords } from "./new-words.ts";
import { entryFor, listProblem } from "./list-moves.ts";
import { copiedType } from "./judge-copies.ts";
import type { MoveContext } from "./move-context.ts";
import { rawSource, readMoved } from "./moved-content.ts";
import { reachDifference, type ReachDifference } from "./reach-difference.ts";
import type { OldContent, OldSource } from "../oldtools/old-tool.ts";
import { type KindPlace, objectTitle, type OldObject } from "../oldtools/old-objects.ts";
import type { ListEntry } from "../../controller/annotations/list-entry.ts";
import {
  annotationKey,
  PREFIX,
  isMark,
  ANNOTATION_NAMES,
  TARGET_ANNOTATIONS,
} from "../../controller/annotations/vocabulary.ts";
import { isNeverCopied } from "../../controller/annotations/never-copied.ts";
import type { StringMap } from "../../text/string-map.ts";

export type MovedSource = ReachDifference & {
  readonly old: OldSource;
  readonly place: KindPlace;
  /**
   * `none`: it has the new form already, or reaches nothing. `refused`: it does not move, and the problems
   * say why.
   */
  readonly write: "annotate" | "create" | "enter" | "none" | "refused";
  /** The entry of the source list, when it moves by one. Its annotations are then not written. */
  readonly entry: ListEntry | undefined;
  /** Undefined when it is to be created. */
  readonly object: OldObject | undefined;
  readonly annotations: StringMap;
  /** Content of an object that is to be created. */
  readonly content: OldContent | undefined;
  /** The tool that also writes it. The annotations may be needed in its configuration as well. */
  readonly madeBy: string | undefined;
  readonly notes: readonly string[];
  /** The parts of the tool's rule that its annotations do not express. */
  readonly incomplete: readonly string[];
  readonly problems: readonly string[];
};

/** `object` is the object to annotate. Undefined when one is to be created at `place`. */
export function moveSource(
  old: OldSource,
  place: KindPlace,
  object: OldObject | undefined,
  context: MoveContext,
): MovedSource {
  const { content } = old;
  const words = (["push", "allow"] as const).flatMap((what) => {
    const targets = old[what];
    return targets ? newWords(what, targets, place.namespace, context) : [];
  });
  const added = addedParts(old);
  const notes = [...old.notes, ...added.notes, ...words.flatMap((one) => one.notes)];
  const incomplete = [
    ...words.flatMap((one) => one.incomplete),
    ...(old.incomplete ?? []),
    ...added.incomplete,
  ];
  const problems = [...old.problems, ...(old.going === undefined ? [] : [old.going])];
  if (!content && !old.absent) problems.push("what it holds is not known");
  problems.push(...words.flatMap(({ problem }) => problem ?? []));
  const annotations = Object.fromEntries(
    [...words.map((one) => one.annotations), shape(old, place, content)].flatMap(
      Object.entries<string>,
    ),
  );
  const isNamed = TARGET_ANNOTATIONS.some((word) => annotationKey(word) in annotations);
  if (!isNamed && incomplete.length > 0) {
    return { ...NOTHING, write: "refused", old, place, object, content, notes, incomplete };
  }
  if (old.absent) problems.push(absenceText(place, annotations));
  if (problems.length === 0 && !isNamed) {
    const note = "it reaches no namespace and allows none: there is nothing to move";
    return { ...NOTHING, old, place, object, content, notes: [...notes, note] };
  }
  const madeBy = object && makerOf(object);
  const entry = entryOf(place, annotations, madeBy, context);
  const taken = context.list && listProblem(place, entry, context.list);
  if (taken !== undefined) problems.push(taken);
  const done = entry
    ? context.list?.present?.data?.[entry.key] === entry.text
    : object && isAnnotated(object, annotations, problems);
  const raw = content && rawSource(place, object, content, entry ? {} : annotations);
  const read = raw === undefined ? undefined : readMoved(raw, context, { kind: place.kind, entry });
  if (read && problems.length === 0) problems.push(...read.problems);
  const refused = problems.length > 0;
  const writing = entry ? "enter" : object ? "annotate" : "create";
  return {
    old,
    place,
    write: refused ? "refused" : done === true ? "none" : writing,
    entry,
    object,
    annotations,
    content,
    ...reachDifference(old, place, refused ? undefined : read?.content?.source, context),
    madeBy,
    notes,
    incomplete,
    problems,
  };
}

// The entry of a source that another tool creates, if requested, or of one that is already in the list.
function entryOf(
  place: KindPlace,
  annotations: StringMap,
  madeBy: string | undefined,
  { list, byList }: MoveContext,
): ListEntry | undefined {
  const entry = list && entryFor(place, annotations, list.ref);
  if (!entry) return undefined;
  const listed = list.present?.data?.[entry.key] === entry.text;
  return listed || (byList && madeBy !== undefined) ? entry : undefined;
}

// Whether the annotations are as wanted. Other secretcast annotations are a problem.
function isAnnotated(object: OldObject, annotations: StringMap, problems: string[]): boolean {
  const present = secretcastWords(object);
  const keys = Object.keys(present);
  const equal = Object.keys(annotations).every((key) => present[key] === annotations[key]);
  if (equal && keys.length === Object.keys(annotations).length) return true;
  if (keys.length > 0) {
    problems.push(`it has annotations of ours already, other ones: ${keys.join(", ")}`);
  }
  return false;
}

const NOTHING = {
  write: "none",
  annotations: {},
  reached: [],
  gained: [],
  lost: [],
  madeBy: undefined,
  entry: undefined,
  incomplete: [],
  problems: [],
} as const;

// What the tool puts on copies: its own keys are on those of now alone. Keys of other tools are a danger.
function addedParts({ added, content }: OldSource): Pick<MovedSource, "incomplete" | "notes"> {
  if (!added) return { incomplete: [], notes: [] };
  const keys = [...Object.keys(added.labels), ...Object.keys(added.annotations)];
  const [tracking, own] = [keys.filter(isNeverCopied), keys.filter((key) => !isNeverCopied(key))];
  const incomplete: string[] = [];
  const notes: string[] = [];
  if (own.length > 0) {
    incomplete.push(
      `the labels and annotations that it adds (${own.join(", ")}) cannot be expressed: copies of now keep them, and new ones have no such keys`,
    );
  }
  const type = content && copiedType(content);
  if (added.type !== undefined && type !== undefined && type !== added.type) {
    incomplete.push(
      `its copies have the type ${added.type}, and those of secretcast have that of their source, ${type}: present ones stay as they are`,
    );
  }
  if (tracking.length > 0) {
    notes.push(
      `it adds ${tracking.join(", ")} to its copies, by which another tool may delete them: take these keys off the rule first`,
    );
  }
  return { incomplete, notes };
}

function absenceText(absent: KindPlace, annotations: StringMap): string {
  const lines = Object.entries(annotations).map(([key, text]) => `${key}: ${JSON.stringify(text)}`);
  return `its source, the ${objectTitle(absent)}, is not there: where it is made, give it ${lines.join(", ")}`;
}

// Name, keys, and the copied labels and annotations.
function shape(old: OldSource, place: KindPlace, content: OldContent | undefined): StringMap {
  const texts: Record<string, string> = {};
  if (old.copyName !== place.name) texts[annotationKey("name")] = old.copyName;
  // A created Secret only holds the chosen entries.
  if (old.keys && (old.object ?? old.absent)) texts[annotationKey("keys")] = old.keys.join(",");
  const kept = (all: StringMap): string =>
    Object.keys(all)
      .filter((key) => !isNeverCopied(key))
      .toSorted()
      .join(",");
  const [labels, annotations] = [kept(content?.labels ?? {}), kept(content?.annotations ?? {})];
  if (old.push && labels !== "") texts[annotationKey("copy-labels")] = labels;
  if (old.push && annotations !== "") texts[annotationKey("copy-annotations")] = annotations;
  return texts;
}

const OUR_MARKS = new Set(ANNOTATION_NAMES.filter(isMark).map(annotationKey));

/** The secretcast annotations of an object, without marks. */
export function secretcastWords({ annotations }: OldObject): StringMap {
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) => key.startsWith(PREFIX) && !OUR_MARKS.has(key)),
  );
}

/** The tool that also writes an object. Undefined when none is recognized. */
function makerOf({ owners, labels, annotations }: OldObject): string | undefined {
  const certificate = annotations["cert-manager.io/certificate-name"];
  if (certificate !== undefined) return `the Certificate ${certificate}`;
  const [owner] = owners;
  if (owner !== undefined) return `its owner, a ${owner.kind}`;
  if ("argocd.argoproj.io/tracking-id" in annotations) return "Argo CD";
  if (Object.keys(labels).some((key) => key.includes("fluxcd.io/"))) return "Flux";
  if ("meta.helm.sh/release-name" in annotations) {
    return `the Helm release ${annotations["meta.helm.sh/release-name"]}`;
  }
  const manager = labels["app.kubernetes.io/managed-by"];
  return manager === undefined ? undefined : manager;
}
