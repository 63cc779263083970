// Reads a cluster once. Promises: what the API server refuses to show is reported and never treated as absent.
// When the user may not list the whole cluster, the most important namespaces are read separately.
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { CONFIG_MAPS } from "../../../packages/kube/rest/resource.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import type { KubectlFlags } from "../kubectl/kubectl-flags.ts";
import type { Program } from "../../run/program-context.ts";
import { refText, type Ref } from "../../text/names.ts";
import { KINDS, type ObjectKind } from "../../controller/model/kinds.ts";
import type { Config } from "../../controller/settings/config.ts";
import type { ClusterState, PlannerSettings } from "../../controller/model/cluster.ts";
import { ClusterBuilder, type BuilderOptions } from "./cluster-builder.ts";
import { forbiddenListState } from "../../controller/observed/list-state.ts";
import { ObjectReads } from "./object-reads.ts";
import type { ReaderRights } from "./reader-rights.ts";
import { NO_LIST, clusterList, type ClusterList } from "./cluster-list.ts";

export type ReadCluster = {
  readonly builder: ClusterBuilder;
  /** One a kind. */
  readonly clusterStates: readonly ClusterState[];
  /** What could not be read, one line each. Empty when everything is known. */
  readonly unknown: readonly string[];
  readonly rights: ReaderRights;
  /** Reads the current object at a place. Undefined when it does not exist. */
  readonly readLive: (kind: ObjectKind, place: Ref) => Promise<unknown>;
};

export type ReadOptions = {
  readonly client: ApiClient;
  readonly settings: PlannerSettings;
  readonly config: Config;
  /** Names of namespaces to fall back on where the whole cluster may not be listed. */
  readonly fallback: readonly string[];
  readonly flags: Pick<KubectlFlags, "selector">;
  readonly withShapes: boolean;
  readonly onObject?: BuilderOptions["onObject"];
  readonly program: Pick<Program, "stderr" | "signal">;
};

/** Rejects with an ApiError when the server does not answer or refuses the user. */
export async function readCluster(options: ReadOptions): Promise<ReadCluster> {
  const { client, settings, config, flags, program, withShapes, onObject } = options;
  const { selector } = flags;
  const { kinds, dataCacheBytes } = config;
  const reduced = { settings, kinds, selector, dataCacheBytes, withShapes, onObject };
  const builder = new ClusterBuilder(reduced);
  const reads = new ObjectReads(client, builder, settings, program);
  const reading = new Reading(reads, builder);
  const readLive = (kind: ObjectKind, place: Ref): Promise<unknown> =>
    reads.one(KINDS[kind].resource, place);
  const names = settings.scope ? [...settings.scope.watched] : undefined;
  try {
    builder.list = await reading.list(config, settings);
    const namespace = names
      ? await reading.listed(names)
      : await reading.whole(() => fallbackOf(options));
    const rights = { namespace, list: reading.listUnread };
    const clusterStates = builder.states((name) => namespace(name) !== undefined);
    return { builder, readLive, clusterStates, unknown: reading.unknown, rights };
  } finally {
    reads.end();
  }
}

function fallbackOf({ fallback, settings }: ReadOptions): readonly string[] {
  const literal = settings.sourceNamespaces.text
    .split(",")
    .filter((entry) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(entry));
  return [...new Set([...literal, ...fallback])];
}

class Reading {
  readonly unknown: string[] = [];
  /** Set where the source list may not be read. */
  listUnread: ReaderRights["list"];
  readonly #reads: ObjectReads;
  readonly #builder: ClusterBuilder;

  constructor(reads: ObjectReads, builder: ClusterBuilder) {
    this.#reads = reads;
    this.#builder = builder;
  }

  /** Reads the whole cluster, or `fallback` where it may not be listed. Returns what may not be read. */
  async whole(fallback: () => readonly string[]): Promise<ReaderRights["namespace"]> {
    const [namespaces, secrets] = await Promise.all([
      may(() => this.#reads.listNamespaces()),
      may(() => this.#reads.listObjects()),
    ]);
    if (namespaces && secrets) return () => undefined;
    const names = fallback();
    const instead = names.length > 0 ? `; read instead: ${names.join(", ")}` : "";
    if (!namespaces)
      this.unknown.push(
        `namespaces cannot be listed (403 Forbidden): whether others want copies is not known${instead}`,
      );
    if (!secrets)
      this.unknown.push(
        `${this.#resources} cannot be listed in all namespaces (403 Forbidden): only some are known${instead}`,
      );
    const denied = await this.listed(names, { namespaces, secrets });
    const asked = new Set(names);
    const { namespaces: known } = this.#builder;
    return (name) => {
      if (asked.has(name)) return denied(name);
      if (namespaces && !known.has(name)) return undefined;
      return secrets ? `you may not read namespace ${name}` : this.#unreadObjects(name);
    };
  }

  /** Each for itself. */
  async listed(
    names: readonly string[],
    known = { namespaces: false, secrets: false },
  ): Promise<ReaderRights["namespace"]> {
    const denied = new Map<string, string>();
    for (const name of names) {
      // A namespace that is missing in the complete list does not exist, even if other reads are forbidden.
      if (known.namespaces && !this.#builder.namespaces.has(name)) continue;
      const shown = known.namespaces || (await may(() => this.#reads.getNamespace(name)));
      const read = shown && (known.secrets || (await may(() => this.#reads.listObjects(name))));
      if (read) continue;
      denied.set(name, shown ? this.#unreadObjects(name) : `you may not read namespace ${name}`);
      this.unknown.push(`namespace ${name} cannot be read (403 Forbidden)`);
    }
    return (name) => denied.get(name);
  }

  #unreadObjects(namespace: string): string {
    return `you may not read ${this.#resources} in namespace ${namespace}`;
  }

  get #resources(): string {
    return this.#builder.kinds.map((kind) => KINDS[kind].resource.plural).join(" or ");
  }

  /** Reads the source list, before the objects that it makes sources. */
  async list(
    { sourceList, ownNamespace, kinds }: Config,
    { onlyNames }: PlannerSettings,
  ): Promise<ClusterList> {
    if (sourceList === undefined) return NO_LIST;
    const ref = { namespace: ownNamespace, name: sourceList };
    const terms = { list: ref, kinds, onlyNames };
    try {
      return clusterList(await this.#reads.one(CONFIG_MAPS, ref), terms);
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== "forbidden") throw error;
      const text = `you may not read the source list ${refText(ref)}`;
      const unread = forbiddenListState(ref);
      this.listUnread = text;
      this.unknown.push(
        `the source list ${refText(ref)} cannot be read (403 Forbidden): what it orders is not known; --source-list '' leaves it out`,
      );
      return () => unread;
    }
  }
}

/** Returns false when the API server forbids it. */
async function may(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.kind === "forbidden") return false;
    throw error;
  }
}
