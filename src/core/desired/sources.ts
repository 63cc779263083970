// The sources as one pass sees them: which take part, in which order they win, and how the source
// stands that a copy names. It is a snapshot: a source that arrives while the pass runs is `unsettled`
// and left to the next.
import {
  type CachedObject,
  type PlannerSettings,
  type SourceObject,
  type ClusterState,
} from "../model/cluster.ts";
import { sourceRank } from "./namespace-rules.ts";
import type { Handled, Wanting } from "./target-batch.ts";
import type { TargetNamespace } from "./targets.ts";
import { type Tally, newTally } from "../model/verdicts.ts";
import { problemText, type NamespaceMatch } from "../annotations/rules.ts";
import { type Ref, refText } from "../annotations/names.ts";
import type { Desired } from "../model/actions.ts";

export type PlannedSource = {
  readonly source: SourceObject;
  /** refText(source). */
  readonly text: string;
  readonly namespace: string;
  readonly rank: number;
  /** Why nothing of its copies may change. */
  readonly frozen: string | undefined;
  readonly content: Desired | undefined;
  readonly tally: Tally;
};

/** An entry that may put copies somewhere: neither frozen nor without `to` and `to-selector`. */
export type Candidate = PlannedSource &
  Wanting & {
    readonly content: Desired;
    readonly push: NamespaceMatch;
    /** Of the replica, and it covers the source's name and UID: a copy that has it is of this source. */
    readonly fingerprint: string;
    readonly paused: boolean;
  };

/** All that want places of one name. */
export type CandidateGroup = Handled<TargetNamespace> & {
  readonly copyName: string;
  /** Who alone wants them; undefined where several do. */
  only: Candidate | undefined;
  /** The strongest first. */
  readonly candidates: Candidate[];
};

/** How the source stands that a copy or a pulling Secret names. */
export type SourceStatus =
  | {
      readonly kind: "entry";
      readonly entry: PlannedSource;
      readonly candidate: Candidate | undefined;
    }
  | { readonly kind: "frozen"; readonly reason: string }
  /** The Secret is there and has nothing to say. */
  | { readonly kind: "notASource"; readonly uid: string; readonly resourceVersion: string }
  | { readonly kind: "absent" }
  | { readonly kind: "arrivedDuringPlan" };

/** What a place waits for whose source arrived during the plan. */
export function justArrived(source: Ref): string {
  return `source ${refText(source)} has just arrived: it waits for the next pass, which comes at once`;
}

/** So many lie between two yields: less than two milliseconds. */
export const SOURCES_PER_TURN = 1024;

export class Sources {
  /** In the order in which they win. */
  entries: readonly PlannedSource[] = [];
  readonly candidates: Candidate[] = [];
  readonly #groups = new Map<string, CandidateGroup>();
  readonly #standings = new Map<string, Map<string, SourceStatus>>();
  readonly #world: ClusterState;
  readonly #settings: PlannerSettings;
  // Asked for once: the world may have to put it together.
  readonly #namespaces: ClusterState["namespaces"];

  private constructor(world: ClusterState, settings: PlannerSettings) {
    this.#world = world;
    this.#namespaces = world.namespaces;
    this.#settings = settings;
  }

  static *of(world: ClusterState, settings: PlannerSettings): Generator<undefined, Sources> {
    const sources = new Sources(world, settings);
    // The index of the cache changes while this yields.
    const secrets = [...world.sources];
    const entries: PlannedSource[] = [];
    for (const [index, secret] of secrets.entries()) {
      const rank = secret.role === "source" ? sourceRank(settings, secret.namespace) : -1;
      if (secret.role === "source" && rank >= 0) entries.push(sources.#entry(secret, rank));
      if (index % SOURCES_PER_TURN === 0) yield;
    }
    sources.entries = entries.toSorted(strongerFirst);
    for (const [index, entry] of sources.entries.entries()) {
      sources.#admit(entry);
      if (index % SOURCES_PER_TURN === 0) yield;
    }
    return sources;
  }

  /** Who may want a place of this name; undefined: nobody. */
  group(copyName: string): CandidateGroup | undefined {
    return this.#groups.get(copyName);
  }

  groups(): Iterable<CandidateGroup> {
    return this.#groups.values();
  }

  candidateOf(source: Ref): Candidate | undefined {
    const status = this.status(source);
    return status.kind === "entry" ? status.candidate : undefined;
  }

  status(ref: Ref): SourceStatus {
    const known = this.#standings.get(ref.namespace)?.get(ref.name);
    if (known) return known;
    const status = this.#plan(ref);
    this.#remember(ref, status);
    return status;
  }

  /** May Secrets of this namespace be sources? */
  inScope(namespace: string): boolean {
    return sourceRank(this.#settings, namespace) >= 0;
  }

  #entry(source: SourceObject, rank: number): PlannedSource {
    return {
      source,
      text: refText(source),
      namespace: source.namespace,
      rank,
      frozen: this.#frozen(source),
      content: source.replica && { source, replica: source.replica },
      tally: newTally(),
    };
  }

  #frozen(source: SourceObject): string | undefined {
    const problem = source.problems[0];
    if (problem) return `source ${refText(source)} is refused: ${problemText(problem)}`;
    if (source.deleting) return `source ${refText(source)} is being deleted`;
    if (this.#namespaces.get(source.namespace)?.terminating === true) {
      return `namespace ${source.namespace} of source ${refText(source)} is being deleted`;
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
    const { fingerprint } = content.replica;
    const { paused } = source.rule;
    const candidate = { ...entry, content, push: to, fingerprint, paused, wanted: 0 };
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
      const alone = { copyName, only: candidate, candidates: [candidate], handledIn: undefined };
      this.#groups.set(copyName, alone);
    }
  }

  #remember(ref: Ref, status: SourceStatus): void {
    const inNamespace = this.#standings.get(ref.namespace);
    if (inNamespace) inNamespace.set(ref.name, status);
    else this.#standings.set(ref.namespace, new Map([[ref.name, status]]));
  }

  #plan(ref: Ref): SourceStatus {
    if (!this.inScope(ref.namespace)) {
      const flag =
        this.#settings.scope?.watched.has(ref.namespace) === false
          ? "namespaces"
          : "source-namespaces";
      const reason = `source ${refText(ref)} is not in a source namespace (--${flag})`;
      return { kind: "frozen", reason };
    }
    if (this.#world.isUnreadable?.(ref.namespace) === true) {
      const reason = `namespace ${ref.namespace} of source ${refText(ref)} cannot be read: the API server answers 403`;
      return { kind: "frozen", reason };
    }
    return standingOf(this.#world.objectsIn(ref.namespace).get(ref.name));
  }
}

function standingOf(secret: CachedObject | undefined): SourceStatus {
  if (secret === undefined) return { kind: "absent" };
  switch (secret.role) {
    case "source":
      return { kind: "arrivedDuringPlan" };
    case "pull": {
      const problem = secret.problems[0];
      if (problem === undefined) return silent(secret);
      const reason = `source ${refText(secret)} is refused: ${problemText(problem)}`;
      return { kind: "frozen", reason };
    }
    case "copy":
    case "stranger":
      return silent(secret);
  }
}

function silent({ uid, resourceVersion }: CachedObject): SourceStatus {
  return { kind: "notASource", uid, resourceVersion };
}

// The order of --source-namespaces, then the older, then namespace/name.
function strongerFirst(a: PlannedSource, b: PlannedSource): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  const [older, younger] = [a.source.createdAt, b.source.createdAt];
  if (older !== younger) return older < younger ? -1 : 1;
  return a.text < b.text ? -1 : 1;
}
