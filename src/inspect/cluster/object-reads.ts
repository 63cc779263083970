// The requests that read a cluster: its Namespaces and objects in pages, with at most one page in memory.
import { nameSelector } from "../../../packages/kube/cache/list-scope.ts";
import { listAll } from "../../../packages/kube/cache/list.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { NAMESPACES, type Resource } from "../../../packages/kube/rest/resource.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { KINDS, type KindRules, type ObjectKind } from "../../controller/model/kinds.ts";
import type { PlannerSettings } from "../../controller/model/cluster.ts";
import type { Program } from "../../run/program-context.ts";
import type { Ref } from "../../text/names.ts";
import { Progress } from "../kubectl/progress.ts";
import { countObjects } from "../requests/count-objects.ts";
import { getObject } from "../requests/get.ts";
import type { ClusterBuilder } from "./cluster-builder.ts";

/** Adds what it reads to a builder. Every method rejects with an ApiError. */
export class ObjectReads {
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

  /** Undefined when the object does not exist. */
  async one(resource: Resource, place: Ref): Promise<unknown> {
    try {
      return await getObject(this.#client, resource, place, this.#signal);
    } catch (error) {
      if (error instanceof ApiError && error.kind === "notFound") return undefined;
      throw error;
    }
  }

  async getNamespace(name: string): Promise<void> {
    const raw = await this.one(NAMESPACES, { namespace: "", name });
    if (raw !== undefined) this.#builder.addNamespace(raw);
  }

  async listObjects(namespace?: string): Promise<void> {
    for (const kind of this.#builder.kinds)
      for (const name of this.#names)
        await this.#list({
          ...KINDS[kind],
          add: (raw) => this.#builder.addObject(kind, raw),
          namespace,
          name,
        });
  }

  listNamespaces(): Promise<unknown> {
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

  /** Counts the objects for the progress line. */
  async #count(): Promise<void> {
    if (this.#counted) return;
    this.#counted = true;
    try {
      const counts = this.#builder.kinds.map((kind) =>
        countObjects(this.#client, KINDS[kind].resource, this.#signal),
      );
      this.#progress.expect((await Promise.all(counts)).reduce((sum, count) => sum + count, 0));
    } catch {
      // It is reported without a total.
    }
  }
}
