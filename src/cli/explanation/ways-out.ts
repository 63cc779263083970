// The two ways to settle the removals of one source, as complete commands: to keep the copies, or to remove
// them now. Only copies with the most common content are kept, so a copy that a tenant forged never becomes
// the source's content.
import type {
  ClusterState,
  CopyObject,
  Namespace,
  SourceObject,
} from "../../controller/model/cluster.ts";
import type { RemovalHoldCause } from "../../controller/model/verdicts.ts";
import { NAMESPACE_GLOBS, parseGlobList } from "../../text/globs.ts";
import { entryText } from "../../controller/annotations/list-entry.ts";
import { type Ref, refText } from "../../text/names.ts";
import type { NamespaceMatch } from "../../controller/annotations/rules.ts";
import { covers } from "../../controller/desired/targets.ts";
import type { PlaceAnswer } from "./answer.ts";
import {
  annotateAll,
  LONGEST_COMMAND,
  patchList,
  recreateSource,
  removeNow,
  unnamed,
  type Home,
  type AnnotationChanges,
} from "./removal-commands.ts";

export type WaysOut = {
  readonly source: Ref;
  readonly hold: RemovalHoldCause | undefined;
  readonly count: number;
  /** Commands to run in this order. When empty, `note` says why. */
  readonly keep: readonly string[];
  /** Commands. */
  readonly remove: readonly string[];
  readonly note: string | undefined;
};

/** `places`: those of an explanation. */
export function waysOut(
  clusterState: ClusterState,
  places: readonly PlaceAnswer[],
): readonly WaysOut[] {
  const removals = places.filter(awaitsRemoval);
  const groups = Map.groupBy(removals, ({ source, due, verdict }) => {
    const removal = removalOf({ due, verdict });
    return `${refText(source)} ${due.hold} ${removal}`;
  });
  return Array.from(groups.values(), (members) => wayOut(clusterState, members));
}

export function awaitsRemoval({ verdict, pulling, due }: PlaceAnswer): boolean {
  if (pulling) return false;
  return verdict === "delete" || verdict === "release" || due.hold !== undefined;
}

function removalOf({ verdict, due }: Pick<PlaceAnswer, "verdict" | "due">): "delete" | "release" {
  return verdict === "release" || due.removal === "release" ? "release" : "delete";
}

function wayOut(clusterState: ClusterState, members: readonly PlaceAnswer[]): WaysOut {
  const [first] = members;
  const source = first ? first.source : { namespace: "", name: "" };
  const places = members.map(({ place }) => place);
  const removal = first ? removalOf(first) : "delete";
  const rest = unnamed(places.length);
  const notes = rest > 0 ? [`${rest} more copies are not named: run this again afterwards`] : [];
  const common = {
    source,
    hold: first?.due.hold,
    count: places.length,
    remove: removeNow(clusterState.kind, places, removal),
  };
  const kept = keep(clusterState, source, members);
  const note = [kept.note, ...notes].filter((text) => text !== undefined).join("; ");
  return { ...common, keep: kept.commands, note: note === "" ? undefined : note };
}

type Kept = { readonly commands: readonly string[]; readonly note?: string | undefined };

function keep(clusterState: ClusterState, source: Ref, members: readonly PlaceAnswer[]): Kept {
  const all = members.flatMap(({ place }) => copyAt(clusterState, place) ?? []);
  const copies = ofMost(all);
  const [copy] = copies;
  if (!copy) return { commands: [], note: "there is no copy to be kept" };
  const others = all.length - copies.length;
  const note = others > 0 ? `${others} copies with other content are not kept` : undefined;
  const commands = keptBy({ clusterState, source, copies, copy });
  if (typeof commands === "string") return { commands: [], note: commands };
  if (commands.some(({ length }) => length > LONGEST_COMMAND))
    return { commands: [], note: `${copies.length} namespaces are too many for one command` };
  return commands.length > 0 ? { commands, note } : byNamespaces(members, note);
}

function copyAt(clusterState: ClusterState, { namespace, name }: Ref): CopyObject | undefined {
  const object = clusterState.objectsIn(namespace).get(name);
  return object?.role === "copy" ? object : undefined;
}

/** The copies with the most common content, sorted by namespace. */
function ofMost(copies: readonly CopyObject[]): readonly CopyObject[] {
  const groups = [
    ...Map.groupBy(
      copies,
      ({ template: { type, dataDigest } }) => `${type} ${dataDigest}`,
    ).values(),
  ];
  const [most = []] = groups.toSorted((a, b) => b.length - a.length);
  return most.toSorted((a, b) => (a.namespace < b.namespace ? -1 : 1));
}

type Question = {
  readonly clusterState: ClusterState;
  readonly source: Ref;
  readonly copies: readonly CopyObject[];
  readonly copy: CopyObject;
};

/**
 * Commands after which the source wants the places again, or a text why none exist. An empty list means
 * that it wants them already.
 */
function keptBy(question: Question): readonly string[] | string {
  const { clusterState, source, copy } = question;
  const { list } = clusterState;
  const object = clusterState.objectsIn(source.namespace).get(source.name);
  const exists =
    object !== undefined && (object.role === "source" || object.uid === copy.template.sourceUid);
  if (object !== undefined && !exists)
    return `another ${clusterState.kind} is called ${refText(source)}: delete it first, then run this again`;
  const entry = copy.template.entry !== undefined && list?.state === "read" ? list : undefined;
  const known = entry?.of(source);
  const listed =
    entry && copy.template.entry !== undefined && (known ?? { key: copy.template.entry, text: "" });
  // An entry overrides the object's own annotations.
  const decides = listed === undefined || known !== undefined;
  const rule = object?.role === "source" && decides ? object : undefined;
  // An entry for an object that does not exist is not known to be wrong.
  const changes = exists || known === undefined ? annotationsFor(question, rule) : {};
  if (changes === undefined) return [];
  const commands: string[] = [];
  if (!exists) {
    const home = homeOf(clusterState.namespaces.get(source.namespace));
    const own = listed ? {} : changes;
    commands.push(recreateSource(clusterState.kind, source, copy, own, home));
  }
  if (listed) {
    const free = known !== undefined || entry.get(listed.key) === undefined;
    const key = free ? listed.key : `${source.namespace}.${source.name}`.slice(0, LONGEST_KEY);
    const { kind } = clusterState;
    const text = entryText({ kind, ...bare(source) }, changes, free ? listed.text : "");
    if (Object.keys(changes).length > 0 && text !== undefined)
      commands.push(patchList(entry.ref, key, text));
  } else if (exists) commands.push(annotateAll(clusterState.kind, source, changes));
  return commands;
}

const LONGEST_KEY = 253;

function bare({ namespace, name }: Ref): Ref {
  return { namespace, name };
}

function homeOf(namespace: Namespace | undefined): Home {
  if (!namespace) return "absent";
  return namespace.terminating ? "terminating" : "there";
}

/** Undefined when it already wants all of them and another rule is the cause. */
function annotationsFor(
  { clusterState, source, copies, copy }: Question,
  rule: SourceObject | undefined,
) {
  const names = copies.map(({ namespace }) => namespace);
  const to = rule?.rule.to;
  const copyName = rule?.rule.copyName ?? source.name;
  const renamed = copyName === copy.name ? {} : nameAnnotation(source, copy.name);
  const unwanted = to === undefined || !names.every((name) => isCovered(clusterState, to, name));
  const wanted = unwanted ? namesAnnotations(clusterState, to, names) : {};
  const keeps =
    rule === undefined && copy.template.onDelete === "keep" ? { "on-delete": "keep" } : {};
  const changes: AnnotationChanges = { ...wanted, ...renamed, ...keeps };
  return Object.keys(changes).length > 0 ? changes : undefined;
}

function nameAnnotation(source: Ref, name: string): AnnotationChanges {
  return { name: name === source.name ? undefined : name };
}

function isCovered(clusterState: ClusterState, match: NamespaceMatch, name: string): boolean {
  const namespace = clusterState.namespaces.get(name);
  return namespace !== undefined && covers(match, namespace);
}

/**
 * `to` with these names added. Where that cannot match them all, a list of names: these and all that `to`
 * matches now.
 */
function namesAnnotations(
  clusterState: ClusterState,
  to: NamespaceMatch | undefined,
  names: readonly string[],
): AnnotationChanges {
  if (to === undefined) return { to: names.join() };
  const { globs, selector } = to;
  if (selector === undefined && globs !== undefined) {
    const longer = `${globs.text},${names.join()}`;
    const list = parseGlobList(longer, NAMESPACE_GLOBS);
    if (list.ok && names.every((name) => list.value.matches(name))) return { to: longer };
  }
  const now = [...clusterState.namespaces.values()].filter((namespace) => covers(to, namespace));
  const all = new Set([...now.map(({ name }) => name), ...names]);
  return {
    to: [...all].toSorted().join(),
    ...(selector && { "to-selector": undefined }),
    ...(to.any && { match: undefined }),
  };
}

const MOST_NAMESPACES = 8;

/** The source wants the places already. The commands change their namespaces. */
function byNamespaces(members: readonly PlaceAnswer[], note: string | undefined): Kept {
  const changes = members.flatMap(
    ({ answers }) => answers.find(({ holds }) => !holds)?.change ?? [],
  );
  const commands = [...new Set(changes)];
  const rest = commands.length - MOST_NAMESPACES;
  const more = rest > 0 ? `${rest} more namespaces are not named` : undefined;
  const notes = [note, more].filter((text) => text !== undefined).join("; ");
  return { commands: commands.slice(0, MOST_NAMESPACES), note: notes === "" ? undefined : notes };
}
