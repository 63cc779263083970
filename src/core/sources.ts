// The sources as one pass sees them: which take part, in which order they win, and how the source
// stands that a copy names. It is a snapshot: a source that arrives while the pass runs is `unsettled`
// and left to the next.
import {
  problemText,
  refText,
  type Ref,
  type Secret,
  type Settings,
  type SourceSecret,
  type Wants,
  type World,
} from "./model.ts";
import { sourceRank } from "./settings.ts";
import type { Content } from "./verdicts.ts";
import { newTally, type Tally } from "./tally.ts";

export type Entry = {
  readonly source: SourceSecret;
  /** refText(source). */
  readonly text: string;
  readonly namespace: string;
  readonly rank: number;
  /** Why nothing of its copies may change. */
  readonly frozen: string | undefined;
  readonly content: Content | undefined;
  readonly tally: Tally;
};

/** An entry that may put copies somewhere: neither frozen nor without `to` and `to-selector`. */
export type Contender = Entry & { readonly content: Content; readonly push: Wants };

/** How the source stands that a copy or a pulling Secret names. */
export type Standing =
  | {
      readonly kind: "entry";
      readonly entry: Entry;
      readonly contender: Contender | undefined;
      /** All that want places of the contender's copy name; filled while the snapshot is taken. */
      readonly group: readonly Contender[];
    }
  | { readonly kind: "frozen"; readonly reason: string }
  /** The Secret is there and has nothing to say. */
  | { readonly kind: "silent"; readonly uid: string }
  | { readonly kind: "absent" }
  | { readonly kind: "unsettled" };

export class Sources {
  /** In the order in which they win. */
  readonly entries: readonly Entry[];
  readonly contenders: readonly Contender[];
  readonly #byCopyName = new Map<string, Contender[]>();
  readonly #standings = new Map<string, Map<string, Standing>>();
  readonly #world: World;
  readonly #settings: Settings;
  // Asked for once: the world may have to put it together.
  readonly #namespaces: World["namespaces"];

  constructor(world: World, settings: Settings) {
    this.#world = world;
    this.#namespaces = world.namespaces;
    this.#settings = settings;
    const entries: Entry[] = [];
    for (const secret of world.sources) {
      const rank = secret.role === "source" ? sourceRank(settings, secret.namespace) : -1;
      if (secret.role === "source" && rank >= 0) entries.push(this.#entry(secret, rank));
    }
    this.entries = entries.toSorted(strongerFirst);
    this.contenders = this.entries.flatMap((entry) => this.#admit(entry));
  }

  /** Who may want a place of this name; the strongest first. */
  contendersFor(copyName: string): readonly Contender[] {
    return this.#byCopyName.get(copyName) ?? [];
  }

  groups(): Iterable<readonly Contender[]> {
    return this.#byCopyName.values();
  }

  standing(ref: Ref): Standing {
    const known = this.#standings.get(ref.namespace)?.get(ref.name);
    if (known) return known;
    const standing = this.#judge(ref);
    this.#remember(ref, standing);
    return standing;
  }

  /** May Secrets of this namespace be sources? */
  inScope(namespace: string): boolean {
    return sourceRank(this.#settings, namespace) >= 0;
  }

  #entry(source: SourceSecret, rank: number): Entry {
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

  #frozen(source: SourceSecret): string | undefined {
    const problem = source.problems[0];
    if (problem) return `source ${refText(source)} is refused: ${problemText(problem)}`;
    if (source.deleting) return `source ${refText(source)} is being deleted`;
    if (this.#namespaces.get(source.namespace)?.terminating === true) {
      return `namespace ${source.namespace} of source ${refText(source)} is being deleted`;
    }
    return undefined;
  }

  #admit(entry: Entry): readonly Contender[] {
    const { source, content, frozen } = entry;
    const { push, copyName } = source.rule;
    const contender =
      content && push && frozen === undefined ? { ...entry, content, push } : undefined;
    if (!contender) {
      this.#remember(source, { kind: "entry", entry, contender, group: [] });
      return [];
    }
    const group = this.#byCopyName.get(copyName) ?? [];
    group.push(contender);
    this.#byCopyName.set(copyName, group);
    this.#remember(source, { kind: "entry", entry: contender, contender, group });
    return [contender];
  }

  #remember(ref: Ref, standing: Standing): void {
    const inNamespace = this.#standings.get(ref.namespace);
    if (inNamespace) inNamespace.set(ref.name, standing);
    else this.#standings.set(ref.namespace, new Map([[ref.name, standing]]));
  }

  #judge(ref: Ref): Standing {
    if (!this.inScope(ref.namespace)) {
      const flag =
        this.#settings.scope?.watched.has(ref.namespace) === false
          ? "namespaces"
          : "source-namespaces";
      const reason = `source ${refText(ref)} is not in a source namespace (--${flag})`;
      return { kind: "frozen", reason };
    }
    return standingOf(this.#world.secretsIn(ref.namespace).get(ref.name));
  }
}

function standingOf(secret: Secret | undefined): Standing {
  if (secret === undefined) return { kind: "absent" };
  switch (secret.role) {
    case "source":
      return { kind: "unsettled" };
    case "pull": {
      const problem = secret.problems[0];
      if (problem === undefined) return { kind: "silent", uid: secret.uid };
      const reason = `source ${refText(secret)} is refused: ${problemText(problem)}`;
      return { kind: "frozen", reason };
    }
    case "copy":
    case "stranger":
      return { kind: "silent", uid: secret.uid };
  }
}

// The order of --source-namespaces, then the older, then namespace/name.
function strongerFirst(a: Entry, b: Entry): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  const [older, younger] = [a.source.createdAt, b.source.createdAt];
  if (older !== younger) return older < younger ? -1 : 1;
  return a.text < b.text ? -1 : 1;
}
