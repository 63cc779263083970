// The sources as one sync sees them: which take part, in which order they win, and the status of each
// source that a copy names. It is a snapshot: a source that arrives while the sync runs is `unsettled`
// and left to the next.
import { because, type Reason } from "../model/reasons.ts";
import type {
  CachedObject,
  ListState,
  Namespace,
  PlannerSettings,
  SourceObject,
  ClusterState,
} from "../model/cluster.ts";
import { isMadeByOther, isRead, sourceRank, type InstallationMarks } from "./namespace-rules.ts";
import type { ListEntry } from "../annotations/list-entry.ts";
import { alsoAwaited } from "../model/finalizers.ts";
import { isUnreadable, statusOf, type UnplannedStatus } from "./source-status.ts";
import { NOTHING_WANTED, type Wanting } from "./wants.ts";
import type { TargetNamespace } from "./targets.ts";
import { type Tally, newTally, unreadableName } from "../model/verdicts.ts";
import { problemText, type NamespaceMatch } from "../annotations/rules.ts";
import { type Ref, refText } from "../../text/names.ts";
import type { Desired } from "../model/actions.ts";

export type PlannedSource = {
  readonly source: SourceObject;
  /** refText(source). */
  readonly text: string;
  readonly namespace: string;
  readonly rank: number;
  /** Why nothing of its copies may change. */
  readonly frozen: Reason | undefined;
  readonly content: Desired | undefined;
  readonly tally: Tally;
};

/** An entry that may put copies somewhere: neither frozen nor without `to` and `to-selector`. */
export type Candidate = PlannedSource &
  Wanting & {
    readonly content: Desired;
    readonly to: NamespaceMatch;
    /** The desired copy's. It covers the source's name and UID: a copy that has it is of this source. */
    readonly fingerprint: string;
    readonly paused: boolean;
    /** The fan-out limit holds its creates back. Known once the targets that it wants are noted. */
    overLimit: boolean;
  };

/** All that want places of one name. */
export type CandidateGroup = {
  readonly copyName: string;
  /** The target in which a copy of this name was judged last. It has no other place of this name. */
  copyIn: TargetNamespace | undefined;
  /** The only source that wants them, or undefined where several do. */
  only: Candidate | undefined;
  /** The strongest first. */
  readonly candidates: Candidate[];
};

/** The status of the source that a copy or a pulling Secret names. */
export type SourceStatus = EntryStatus | UnplannedStatus;

export type EntryStatus = {
  readonly kind: "entry";
  readonly entry: PlannedSource;
  readonly candidate: Candidate | undefined;
};

// Stronger than every namespace of --source-namespaces.
const RANK_BY_LIST = -1;

/** So many are read between two yields: less than two milliseconds. */
export const SOURCES_PER_TURN = 1024;

export class Sources {
  /** In the order in which they win. */
  entries: readonly PlannedSource[] = [];
  readonly candidates: Candidate[] = [];
  /** The source list, as it was when the sync began. */
  readonly list: ListState | undefined;
  /** Cached as something else than the list makes of them by now. */
  readonly toBeRead: CachedObject[] = [];
  readonly #groups = new Map<string, CandidateGroup>();
  readonly #sourceStatuses = new Map<string, Map<string, SourceStatus>>();
  /** Statuses of sources out of scope, by their texts. */
  readonly #outside = new Map<string, SourceStatus>();
  readonly #clusterState: ClusterState;
  readonly #settings: PlannerSettings;
  // Asked for once: the cluster state may have to put it together.
  readonly #namespaces: ClusterState["namespaces"];

  private constructor(clusterState: ClusterState, settings: PlannerSettings) {
    this.#clusterState = clusterState;
    this.#namespaces = clusterState.namespaces;
    this.#settings = settings;
    this.list = clusterState.list;
  }

  static *of(clusterState: ClusterState, settings: PlannerSettings): Generator<undefined, Sources> {
    const sources = new Sources(clusterState, settings);
    // The index of the cache changes while this yields.
    const secrets = [...clusterState.sources];
    const entries: PlannedSource[] = [];
    for (const [index, secret] of secrets.entries()) {
      if (secret.role === "source") sources.#take(secret, entries);
      if (index % SOURCES_PER_TURN === 0) yield;
    }
    yield* sources.#findUnread();
    sources.entries = entries.toSorted(strongerFirst);
    for (const [index, entry] of sources.entries.entries()) {
      sources.#admit(entry);
      if (index % SOURCES_PER_TURN === 0) yield;
    }
    return sources;
  }

  /** The sources that may want a place of this name, or undefined: none does. */
  group(copyName: string): CandidateGroup | undefined {
    return this.#groups.get(copyName);
  }

  groups(): Iterable<CandidateGroup> {
    return this.#groups.values();
  }

  /** What the list says of an object, or undefined: nothing, as far as is known. */
  entryOf(object: Ref): ListEntry | undefined {
    return this.list?.state === "read" ? this.list.of(object) : undefined;
  }

  /** A mark alone, which a tenant can forge, makes nothing of a source of this installation another's. */
  isMadeByOther(marks: InstallationMarks): boolean {
    return this.entryOf(marks.source) === undefined && isMadeByOther(this.#settings, marks);
  }

  #take(source: SourceObject, entries: PlannedSource[]): void {
    const { entry, namespace } = source;
    if (entry !== this.entryOf(source)) {
      this.toBeRead.push(source);
      return;
    }
    const rank = entry ? RANK_BY_LIST : sourceRank(this.#settings, namespace);
    if (entry ? isRead(this.#settings, namespace) : rank >= 0)
      entries.push(this.#entry(source, rank));
  }

  // What the list names and the cache holds as something that asks for nothing.
  *#findUnread(): Generator<undefined, void> {
    if (this.list?.state !== "read") return;
    let count = 0;
    for (const { object } of this.list.entries()) {
      if (++count % SOURCES_PER_TURN === 0) yield;
      if (object?.kind !== this.#clusterState.kind) continue;
      const cached = this.#clusterState.objectsIn(object.namespace).get(object.name);
      if (cached?.role === "unmanaged") this.toBeRead.push(cached);
    }
  }

  candidateOf(source: Ref): Candidate | undefined {
    const status = this.status(source);
    return status.kind === "entry" ? status.candidate : undefined;
  }

  status(ref: Ref): SourceStatus {
    const known = this.#sourceStatuses.get(ref.namespace)?.get(ref.name);
    if (known) return known;
    const outside = this.#outOfScope(ref);
    if (outside) return outside;
    const status = this.#statusOf(ref);
    this.#remember(ref, status);
    return status;
  }

  /** As it is, whatever --source-namespaces says of its namespace: of a copy that an entry made. */
  statusAnywhere(ref: Ref): SourceStatus {
    return this.#sourceStatuses.get(ref.namespace)?.get(ref.name) ?? this.#statusOf(ref);
  }

  /** May Secrets of this namespace be sources? */
  inScope(namespace: string): boolean {
    return sourceRank(this.#settings, namespace) >= 0;
  }

  /** Undefined: the cache knows no namespace of this name. */
  namespace(name: string): Namespace | undefined {
    return this.#namespaces.get(name);
  }

  #entry(source: SourceObject, rank: number): PlannedSource {
    return {
      source,
      text: refText(source),
      namespace: source.namespace,
      rank,
      frozen: this.#frozen(source),
      content: source.desiredCopy && { source, desiredCopy: source.desiredCopy },
      tally: newTally(),
    };
  }

  #frozen(source: SourceObject): Reason | undefined {
    if (isUnreadable(this.#clusterState, source)) return unreadableName(source.name);
    const problem = source.problems[0];
    const text = refText(source);
    if (problem) return because("SourceRefused", { source: text, problem: problemText(problem) });
    if (source.deleting)
      return because("SourceDeleting", { source: text, waits: alsoAwaited(source) });
    if (this.#namespaces.get(source.namespace)?.terminating === true) {
      return because("SourceNamespaceDeleting", { namespace: source.namespace, source: text });
    }
    return undefined;
  }

  #admit(entry: PlannedSource): void {
    const { source, content, frozen } = entry;
    const { to } = source.rule;
    if (!content || !to || frozen !== undefined) {
      this.#remember(source, { kind: "entry", entry, candidate: undefined });
      return;
    }
    const { fingerprint } = content.desiredCopy;
    const { paused } = source.rule;
    const row = { wanted: NOTHING_WANTED, wantedTotal: 0, overLimit: false };
    const candidate = { ...entry, ...row, content, to, fingerprint, paused };
    this.candidates.push(candidate);
    this.#remember(source, { kind: "entry", entry: candidate, candidate });
    this.#join(candidate);
  }

  #join(candidate: Candidate): void {
    const { copyName } = candidate.source.rule;
    const group = this.#groups.get(copyName);
    if (group) {
      group.candidates.push(candidate);
      group.only = undefined;
    } else {
      const alone = { copyName, only: candidate, candidates: [candidate], copyIn: undefined };
      this.#groups.set(copyName, alone);
    }
  }

  #remember(ref: Ref, status: SourceStatus): void {
    const inNamespace = this.#sourceStatuses.get(ref.namespace);
    if (inNamespace) inNamespace.set(ref.name, status);
    else this.#sourceStatuses.set(ref.namespace, new Map([[ref.name, status]]));
  }

  // Remembered by itself: copies that an entry made do not use it.
  #outOfScope(ref: Ref): SourceStatus | undefined {
    if (this.inScope(ref.namespace) || this.entryOf(ref)) return undefined;
    const text = refText(ref);
    const known = this.#outside.get(text);
    if (known) return known;
    const flag = isRead(this.#settings, ref.namespace) ? "source-namespaces" : "namespaces";
    const reason = because("SourceOutOfScope", { source: text, flag });
    const status = { kind: "frozen", reason } as const;
    this.#outside.set(text, status);
    return status;
  }

  #statusOf(ref: Ref): UnplannedStatus {
    return statusOf(ref, this.#clusterState, this.#settings, this.entryOf(ref));
  }
}

/** The bytes of all the copies that a source wants. */
export function fanoutBytes({ content, wantedTotal }: Candidate): number {
  return wantedTotal * content.desiredCopy.bytes;
}

/** Whether a source may get a place that it does not hold. */
export function takesPlaces({ paused, overLimit }: Candidate): boolean {
  return !paused && !overLimit;
}

// The order of --source-namespaces, then the older, then namespace/name.
function strongerFirst(a: PlannedSource, b: PlannedSource): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  const [older, younger] = [a.source.createdAt, b.source.createdAt];
  if (older !== younger) return older < younger ? -1 : 1;
  return a.text < b.text ? -1 : 1;
}
