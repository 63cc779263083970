// Reads a cluster once: its Namespaces and Secrets in pages, with at most one page in memory. Promises:
// what the API server refuses to show is reported and never treated as absent. When the user may not list
// the whole cluster, the most important namespaces are read separately.
import { nameSelector } from "../../kube/cache/list-scope.ts";
import { listAll } from "../../kube/cache/list.ts";
import { ApiError } from "../../kube/rest/api-error.ts";
import { systemClock } from "../../kube/time/clock.ts";
import {
  CONFIG_MAPS,
  NAMESPACES,
  resourcePath,
  SECRETS,
  type Resource,
} from "../../kube/rest/resource.ts";
import type { ApiClient } from "../../kube/rest/api-client.ts";
import type { KubectlFlags } from "../kubectl/kubectl-flags.ts";
import { countObjects } from "./count-objects.ts";
import { Progress } from "../kubectl/progress.ts";
import type { Program } from "../../run/program-context.ts";
import { refText, type Ref } from "../../text/names.ts";
import { KINDS, type KindRules, type ObjectKind } from "../../controller/model/kinds.ts";
import type { Config } from "../../controller/settings/config.ts";
import type { ClusterState, PlannerSettings } from "../../controller/model/cluster.ts";
import { ClusterBuilder, type BuilderOptions } from "./cluster-builder.ts";
import { forbiddenList } from "../../controller/observed/list-state.ts";
import type { ReaderRights } from "./reader-rights.ts";
import { NO_LIST, clusterList, type ClusterList } from "./cluster-list.ts";

export type ReadCluster = {
  readonly builder: ClusterBuilder;
  /** One a kind. */
  readonly clusterStates: readonly ClusterState[];
  /** What could not be read, one line each. Empty when everything is known. */
  readonly unknown: readonly string[];
  readonly rights: ReaderRights;
  readonly look: (kind: ObjectKind, place: Ref) => Promise<unknown>;
};

export type ReadOptions = {
  readonly client: ApiClient;
  readonly settings: PlannerSettings;
  readonly config: Config;
  /** Names of namespaces to fall back on where the whole cluster may not be listed. */
  readonly fallback: readonly string[];
  readonly flags: Pick<KubectlFlags, "selector">;
  readonly outlined: boolean;
  readonly onObject?: BuilderOptions["onObject"];
  readonly program: Pick<Program, "stderr" | "signal">;
};

/** Rejects with an ApiError when the server does not answer or refuses the user. */
export async function readCluster(options: ReadOptions): Promise<ReadCluster> {
  const { client, settings, config, flags, program, outlined, onObject } = options;
  const { selector } = flags;
  const { kinds, dataCacheBytes } = config;
  const reduced = { settings, kinds, selector, dataCacheBytes, outlined, onObject };
  const builder = new ClusterBuilder(reduced);
  const reading = new Reading(client, builder, settings, program);
  const look = (kind: ObjectKind, place: Ref): Promise<unknown> =>
    reading.one(KINDS[kind].resource, place);
  const names = settings.scope ? [...settings.scope.watched] : undefined;
  try {
    builder.list = await reading.list(config, settings);
    const namespace = names
      ? await reading.listed(names)
      : await reading.whole(() => fallbackOf(options));
    const rights = { namespace, list: reading.listUnread };
    const clusterStates = builder.states((name) => namespace(name) !== undefined);
    return { builder, look, clusterStates, unknown: reading.unknown, rights };
  } finally {
    reading.end();
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
  readonly #client: ApiClient;
  readonly #builder: ClusterBuilder;
  /** Each name is listed by itself, so that rights by name are enough. Undefined: all names. */
  readonly #names: readonly (string | undefined)[];
  readonly #signal: AbortSignal;
  readonly #progress: Progress;
  #counted = false;

  constructor(
    client: ApiClient,
    builder: ClusterBuilder,
    { onlyNames }: PlannerSettings,
    program: Pick<Program, "stderr" | "signal">,
  ) {
    this.#client = client;
    this.#builder = builder;
    this.#names = onlyNames ? [...onlyNames] : [undefined];
    this.#signal = program.signal;
    this.#progress = new Progress("objects read", program, systemClock);
  }

  end(): void {
    this.#progress.end();
  }

  /** Reads the whole cluster, or `fallback` where it may not be listed. Returns what may not be read. */
  async whole(fallback: () => readonly string[]): Promise<ReaderRights["namespace"]> {
    const [namespaces, secrets] = await Promise.all([
      this.#may(() => this.#listNamespaces()),
      this.#may(() => this.#listObjects()),
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
      const shown = known.namespaces || (await this.#may(() => this.#getNamespace(name)));
      const read = shown && (known.secrets || (await this.#may(() => this.#listObjects(name))));
      if (read) continue;
      denied.set(name, shown ? this.#unreadObjects(name) : `you may not read namespace ${name}`);
      this.unknown.push(`namespace ${name} cannot be read (403 Forbidden)`);
    }
    return (name) => denied.get(name);
  }

  #unreadObjects(namespace: string): string {
    return `you may not read ${this.#resources} in namespace ${namespace}`;
  }

  /** Undefined when the object does not exist. */
  async one(resource: Resource, { namespace, name }: Ref): Promise<unknown> {
    const place = namespace === "" ? undefined : namespace;
    const what = `get ${resource.kind.toLowerCase()} ${place === undefined ? "" : `${place}/`}${name}`;
    try {
      return await this.#client.request<unknown>({
        method: "GET",
        path: resourcePath(resource, place, name),
        what,
        signal: this.#signal,
      });
    } catch (error) {
      if (error instanceof ApiError && error.kind === "notFound") return undefined;
      throw error;
    }
  }

  async #getNamespace(name: string): Promise<void> {
    const raw = await this.one(NAMESPACES, { namespace: "", name });
    if (raw !== undefined) this.#builder.addNamespace(raw);
  }

  get #resources(): string {
    return this.#builder.kinds.map((kind) => KINDS[kind].resource.plural).join(" or ");
  }

  async #listObjects(namespace?: string): Promise<void> {
    for (const kind of this.#builder.kinds)
      for (const name of this.#names)
        await this.#list({
          ...KINDS[kind],
          add: (raw) => this.#builder.addObject(kind, raw),
          namespace,
          name,
        });
  }

  #listNamespaces(): Promise<unknown> {
    const add = (raw: unknown): void => this.#builder.addNamespace(raw);
    return this.#list({ resource: NAMESPACES, fieldSelector: undefined, add });
  }

  async #list({
    resource,
    fieldSelector,
    kind,
    add,
    namespace,
    name,
  }: Pick<KindRules, "fieldSelector"> & {
    readonly resource: Resource;
    readonly kind?: ObjectKind;
    readonly add: (raw: unknown) => void;
    readonly namespace?: string | undefined;
    readonly name?: string | undefined;
  }): Promise<unknown> {
    const selector = name === undefined ? fieldSelector : nameSelector(name, fieldSelector);
    return listAll({
      client: this.#client,
      scope: { resource, namespace, fieldSelector: selector },
      signal: this.#signal,
      onPage: (items) => {
        for (const item of items) add(item);
        if (kind === undefined) return;
        this.#progress.advance(items.length);
        if (this.#progress.isLong && name === undefined) void this.#count();
      },
      onRestart: () => {
        if (kind !== undefined) this.#builder.forgetObjects(kind, { namespace, name });
      },
    });
  }

  /** Reads the source list, before the objects that it makes sources. */
  async list(
    { sourceList, ownNamespace, kinds }: Config,
    { onlyNames }: PlannerSettings,
  ): Promise<ClusterList> {
    if (sourceList === undefined) return NO_LIST;
    const ref = { namespace: ownNamespace, name: sourceList };
    const terms = { list: ref, configMaps: kinds.includes("ConfigMap"), onlyNames };
    try {
      return clusterList(await this.one(CONFIG_MAPS, ref), terms);
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== "forbidden") throw error;
      const text = `you may not read the source list ${refText(ref)}`;
      const unread = forbiddenList(ref);
      this.listUnread = text;
      this.unknown.push(
        `the source list ${refText(ref)} cannot be read (403 Forbidden): what it orders is not known; --source-list '' leaves it out`,
      );
      return () => unread;
    }
  }

  /** Counts the Secrets for the progress line. */
  async #count(): Promise<void> {
    if (this.#counted) return;
    this.#counted = true;
    try {
      this.#progress.expect(await countObjects(this.#client, SECRETS, this.#signal));
    } catch {
      // It is reported without a total.
    }
  }

  /** Returns false when the API server forbids it. */
  async #may(read: () => Promise<unknown>): Promise<boolean> {
    try {
      await read();
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.kind === "forbidden") return false;
      throw error;
    }
  }
}
