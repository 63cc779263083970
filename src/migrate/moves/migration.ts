// Computes a move from what another tool left in a cluster. It is pure and writes nothing. The rules of
// both tools are evaluated for every existing namespace. What cannot be known is reported and does not
// move.
import { isEqualContent, judgeCopy, type JudgedCopy, type Reach } from "./judge-copies.ts";
import { holdingsOf } from "./holdings.ts";
import { isListed, readMoveList, type MoveList } from "./list-moves.ts";
import type { MoveContext } from "./move-context.ts";
import { mirrorHints } from "./mirror-advice.ts";
import { flagsOfMove, hintsOfMove, movedKinds, namesToAdd } from "./move-flags.ts";
import { placeSources } from "./place-sources.ts";
import { moveSource, secretcastWords, type MovedSource } from "./moved-source.ts";
import {
  copyableObjects,
  type KindPlace,
  objectTitle,
  type OldCluster,
  type OldNamespace,
  type OldObject,
} from "../oldtools/old-objects.ts";
import type { PatternAnswers } from "../oldtools/patterns/old-patterns.ts";
import { withNamespaces } from "./source-namespaces.ts";
import { sourceOrder } from "./source-order.ts";
import { namesOf, type OldReading, type OldSource, type OldTool } from "../oldtools/old-tool.ts";
import { NAMESPACE_GLOBS, parseGlobList } from "../../text/globs.ts";
import { listed } from "../../text/listed.ts";
import { parseRef, refText, type Ref } from "../../text/names.ts";
import { annotationKey } from "../../controller/annotations/vocabulary.ts";
import type { Namespace, PlannerSettings } from "../../controller/model/cluster.ts";
import type { Digest } from "../../controller/model/secret-data.ts";
import { readNamespace } from "../../controller/observed/read-namespace.ts";

/** A namespace that asks for copies, with its new `accept`. */
export type MovedNamespace = {
  readonly namespace: OldNamespace;
  readonly accept: string;
  /** The namespace has this value already. */
  readonly done: boolean;
};

export type MovedCopy = JudgedCopy & {
  /** The place of its source after the move. Undefined when its source does not move. */
  readonly moved: MovedSource | undefined;
};

export type Migration = {
  readonly tool: OldTool;
  readonly sources: readonly MovedSource[];
  readonly namespaces: readonly MovedNamespace[];
  readonly copies: readonly MovedCopy[];
  /** Controller flags with which the sources may publish and the copies keep their sources. */
  readonly flags: readonly string[];
  /** The source list for the entries of sources. Undefined when it is not used. */
  readonly list: MoveList | undefined;
  readonly hints: readonly string[];
  readonly besides: readonly string[];
  /** What to change by hand before the first write. */
  readonly preparations: readonly string[];
  /** Rules to delete by hand before the clean-up. Shown only then, because an earlier deletion loses them. */
  readonly deletions: readonly string[];
  /** The steps by hand that remove what the tool leaves, in order. */
  readonly leftovers: readonly string[];
  /** What is unknown or cannot be expressed. When not empty, the move is incomplete. */
  readonly problems: readonly string[];
};

export type MoveSettings = {
  /** Settings of the future controller. The move itself determines the namespaces of the sources. */
  readonly planner: PlannerSettings;
  /**
   * Current entries of the controller's --source-namespaces. Empty when it is not installed, undefined when
   * unknown.
   */
  readonly present: readonly string[] | undefined;
  /** Namespace for new Secrets with data that no Secret holds yet. */
  readonly newSourcesIn: string;
  readonly digest: Digest;
  /** Whether a source may serve namespaces that have no copy of it now. */
  readonly mayGain: (source: KindPlace) => boolean;
  /** Leaves such a source out if it may not. Otherwise it is only named. */
  readonly writing: boolean;
  /** The source list. Undefined when none is configured. */
  readonly list: Ref | undefined;
  /** Enters sources that another tool creates into the list. */
  readonly byList: boolean;
};

export function planMigration(
  tool: OldTool,
  cluster: OldCluster,
  reading: OldReading,
  answers: PatternAnswers,
  given: MoveSettings,
): Migration {
  const planner = {
    ...given.planner,
    sourceNamespaces: everyNamespace(),
    namespacePolicy: tool.optIn ? "opt-in" : given.planner.namespacePolicy,
  } as const;
  const old = cluster.namespaces.filter(({ deleting }) => !deleting);
  const asking = (reading.asking ?? []).map((one) => movedNamespace(one, reading.sources));
  const sets = new Map<string, ReturnType<typeof namesOf>>();
  const reaches: Reach = (source, what, namespace) => {
    const targets = source[what];
    if (!targets) return false;
    const key = `${what} ${source.title}`;
    const set = sets.get(key) ?? namesOf(targets, old, answers);
    sets.set(key, set);
    return typeof set === "string" ? set : set.has(namespace);
  };
  const judged = reading.marks.map((mark) => judgeCopy(mark, reaches, tool));
  const context: MoveContext = {
    old,
    namespaces: asBefore(old, asking),
    answers,
    settings: planner,
    digest: given.digest,
    holds: holdingsOf(tool, cluster, judged),
    pulling: pullingOf(cluster),
    list: given.list && readMoveList(given.list, cluster.list),
    byList: given.byList,
  };
  const adoptedTitles = new Set(
    judged.flatMap(({ object, source, state }) =>
      source?.copyName === object.name && state === "adopted" ? [source.title] : [],
    ),
  );
  const known = reading.sources.filter(
    ({ isRuleless, kind, title, object }) =>
      isRuleless !== true ||
      adoptedTitles.has(title) ||
      (object &&
        (Object.keys(secretcastWords(object)).length > 0 ||
          isListed({ ...object, kind }, context.list))),
  );
  const moved = known.filter(({ title }) => adoptedTitles.has(title));
  const places = placeSources(known, judged, cluster, given.newSourcesIn);
  const gains: string[] = [];
  const sources = places.map(({ old: source, place, object, problem }) => {
    const moved = moveSource(source, place, object, context);
    if (problem !== undefined) return refused(moved, problem);
    const gain = context.holds && gainFault(moved, given.mayGain);
    if (gain === undefined) return moved;
    if (given.writing) return refused(moved, gain);
    gains.push(`${source.title}: ${gain}`);
    return moved;
  });
  const byTitle = new Map(sources.map((source) => [source.old.title, source]));
  const copies = [
    ...judged,
    ...strangersOf(reading.sources, judged, cluster, reaches, sources),
  ].map((copy) => settled(copy, byTitle));
  const order = sourceOrder(sources, copies, reaches, given.present ?? []);
  const publishing = withNamespaces(given.present ?? [], order.namespaces);
  const adopted = new Set(
    copies.filter(({ state }) => state === "adopted").map(({ object }) => refText(object)),
  );
  const moving = sources.filter(({ write }) => write !== "refused").map(({ old }) => old);
  const problems = [
    ...(reading.problems ?? []),
    ...order.problems,
    ...publishing.problems,
    ...gains,
    ...sources.flatMap(({ old: { title }, problems: all, incomplete }) =>
      [...all, ...incomplete].map((problem) => `${title}: ${problem}`),
    ),
  ];
  return {
    tool,
    sources,
    namespaces: asking,
    copies: [...copies, ...(reading.unmoved ?? []).map((object) => unmoved(object, tool))],
    list: context.list,
    flags: flagsOfMove(
      order.namespaces.length > 0 ? publishing.entries : [],
      tool.optIn === true,
      movedKinds({ sources, copies }),
      planner,
      namesToAdd({ sources, copies }, planner.onlyNames),
    ),
    hints: [...hintsOfMove(sources, order.namespaces, given.present), ...mirrorHints(copies)],
    besides: reading.besides ?? [],
    preparations: reading.preparations ?? [],
    deletions: reading.deletionsFor?.(moved) ?? [],
    leftovers: reading.leftovers?.(moving, adopted) ?? [],
    problems,
  };
}

/** Why a source that would serve more than now does not move. */
function gainFault(
  { write, place, gained }: MovedSource,
  mayGain: MoveSettings["mayGain"],
): string | undefined {
  if (gained.length === 0 || write === "none" || write === "refused" || mayGain(place)) {
    return undefined;
  }
  const which = gained.length === 1 ? "which has no copy" : "which have no copies";
  return `it would also serve ${listed(gained, MOST_GAINED)}, ${which} of it now: --write leaves it out without ${gainFlag(place)}`;
}

const MOST_GAINED = 10;

/** The flag that lets a source gain namespaces. */
function gainFlag({ kind, namespace, name }: KindPlace): string {
  return `--gain ${kind === "Secret" ? "" : `${kind.toLowerCase()}/`}${namespace}/${name}`;
}

function pullingOf(cluster: OldCluster): MoveContext["pulling"] {
  const pulling = new Map<string, OldObject[]>();
  for (const object of copyableObjects(cluster)) {
    const from = parseRef(object.annotations[annotationKey("from")] ?? "");
    if (!from) continue;
    const source = objectTitle({ kind: object.kind, ...from });
    const some = pulling.get(source) ?? [];
    some.push(object);
    pulling.set(source, some);
  }
  return pulling;
}

function refused(moved: MovedSource, problem: string): MovedSource {
  return { ...moved, write: "refused", problems: [...moved.problems, problem] };
}

function everyNamespace(): PlannerSettings["sourceNamespaces"] {
  const globs = parseGlobList("*", NAMESPACE_GLOBS);
  if (!globs.ok) throw new Error("no list of every namespace");
  return globs.value;
}

function movedNamespace(namespace: OldNamespace, sources: readonly OldSource[]): MovedNamespace {
  const key = annotationKey("accept");
  const present = namespace.annotations[key];
  const wanted = [...new Set(sources.map(({ object }) => `${object?.namespace ?? ""}/*`))];
  const listed = present?.split(",").map((entry) => entry.trim()) ?? [];
  const missing = wanted.filter((glob) => !listed.includes(glob));
  const done = present === "true" || missing.length === 0;
  const accept = done ? (present ?? "") : [...listed, ...missing].join(",");
  return { namespace, accept, done };
}

// The namespaces after the move, with their new `accept`.
function asBefore(
  namespaces: readonly OldNamespace[],
  asking: readonly MovedNamespace[],
): readonly Namespace[] {
  const accepts = new Map(asking.map(({ namespace, accept }) => [namespace.name, accept]));
  return namespaces.flatMap(({ name, annotations, labels }) => {
    const accept = accepts.get(name);
    const own = accept === undefined ? {} : { [annotationKey("accept")]: accept };
    const read = readNamespace({
      metadata: { name, labels, annotations: { ...annotations, ...own } },
    });
    return read ? [read] : [];
  });
}

// Unmarked objects in the places of wanted copies.
function strangersOf(
  sources: readonly OldSource[],
  judged: readonly JudgedCopy[],
  cluster: OldCluster,
  reaches: Reach,
  moved: readonly MovedSource[],
): readonly JudgedCopy[] {
  const marked = new Set(judged.map(({ object }) => objectTitle(object)));
  const own = new Set(moved.map(({ place }) => objectTitle(place)));
  for (const { object } of sources) if (object) own.add(objectTitle(object));
  const byName = Map.groupBy(sources, ({ kind, copyName }) => `${kind} ${copyName}`);
  return copyableObjects(cluster).flatMap((object): JudgedCopy[] => {
    if (marked.has(objectTitle(object)) || own.has(objectTitle(object))) return [];
    const source = (byName.get(`${object.kind} ${object.name}`) ?? []).find(
      (one) => reaches(one, "push", object.namespace) === true,
    );
    if (!source) return [];
    const equal = source.content && isEqualContent(object, source.content);
    const why = equal
      ? `a ${object.kind} without the tool's mark is in the way; its data are equal, but it is not known to be a copy`
      : `a ${object.kind} without the tool's mark is in the way`;
    return [
      { object, pulls: false, source, named: undefined, state: "unmanaged", why, isHealthy: false },
    ];
  });
}

function settled(copy: JudgedCopy, byTitle: ReadonlyMap<string, MovedSource>): MovedCopy {
  const moved = copy.source && byTitle.get(copy.source.title);
  if (!moved || copy.state !== "adoptable") return { ...copy, moved };
  if (objectTitle(moved.place) === objectTitle(copy.object)) {
    return { ...copy, moved, state: "source", why: "it becomes the source" };
  }
  if (moved.write !== "refused") return { ...copy, moved };
  return {
    ...copy,
    moved,
    state: "doubtful",
    why: `its source does not move: ${moved.problems[0]}`,
  };
}

function unmoved(object: OldObject, { kinds = ["Secret"] }: OldTool): MovedCopy {
  const copy = {
    object,
    pulls: false,
    source: undefined,
    named: undefined,
    moved: undefined,
    isHealthy: false,
  };
  return { ...copy, state: "other", why: `not a ${kinds.join(" or ")}: it stays as it is` };
}
