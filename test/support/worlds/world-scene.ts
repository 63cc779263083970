// A recorded world in an API server, and a move of it: marks name UIDs and versions of the cluster in
// which they were recorded, so the loader writes into annotations and labels what the objects have here.
import {
  applyMigration,
  type MoveResult,
  type MoveWriter,
} from "../../../src/migrate/command/apply-migration.ts";
import { planMove } from "../../../src/migrate/command/plan-move.ts";
import { readOldObjects } from "../../../src/migrate/command/read-old-cluster.ts";
import type { Migration } from "../../../src/migrate/moves/migration.ts";
import { OLD_TOOL } from "../../../src/migrate/oldtools/old-tools.ts";
import { objectTitle, pluralOf } from "../../../src/migrate/oldtools/old-objects.ts";
import { refText } from "../../../src/text/names.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { createClient } from "../../../packages/kube/rest/client.ts";
import {
  CONFIG_MAPS,
  NAMESPACES,
  resourcePath,
  SECRETS,
} from "../../../packages/kube/rest/resource.ts";
import { loadKubeConfig } from "../../../packages/kube/kubeconfig/kubeconfig.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import type { TestContext } from "node:test";
import { eraseNamespaces, sharedCluster } from "../api-server/cluster.ts";
import { listBody } from "../api-server/list-body.ts";
import { Api, type RawSecret } from "../scenes/api.ts";
import { moveSettings } from "./migration.ts";
import { worldObjects, type WorldName, type WorldObject } from "./world.ts";

const OWN = "secretcast";
const THERE_ALREADY = new Set(["default", "kube-system", "kube-public", "kube-node-lease"]);

type NamespaceList = {
  readonly items: readonly { readonly metadata: { name: string; deletionTimestamp?: string } }[];
};

/** A Scene is one; `sandbox` is undefined on a server that others share. */
export type WorldStage = {
  readonly api: Api;
  readonly prefix: string;
  readonly sandbox: unknown;
};

export class WorldScene<Stage extends WorldStage = WorldStage> {
  readonly scene: Stage;
  readonly world: WorldName;
  readonly #secrets = new Set<string>();
  readonly #configMaps = new Set<string>();
  readonly #namespaces = new Set<string>();
  /** Objects of the tool's own kinds, as the API server has them by now. */
  customs: readonly OfAKind[];

  readonly #byList: boolean;
  /** Namespaces of earlier tests that go meanwhile, on a shared server. */
  #going: ReadonlySet<string> = new Set();

  constructor(scene: Stage, world: WorldName, byList = false) {
    this.#byList = byList;
    this.scene = scene;
    this.world = world;
    this.customs = worldObjects(world);
  }

  /** Makes the namespaces and Secrets; whose mark names another comes after it. */
  async load(t: Pick<TestContext, "after">): Promise<void> {
    t.after(() => this.#unload());
    const { client } = this.scene.api;
    const list = {
      method: "GET",
      path: resourcePath(NAMESPACES),
      what: "list namespaces",
    } as const;
    const { items } = await client.request<NamespaceList>(list);
    const going = items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    this.#going = new Set(going.map(({ metadata }) => metadata.name));
    const objects = worldObjects(this.world);
    const named = objects.filter(({ kind }) => kind === "Namespace");
    const texts = new Map<string, string>();
    await Promise.all([...named.map((one) => this.#makeNamespace(one, texts)), this.#makeOwn()]);
    const maps = objects.filter(({ kind }) => kind === "ConfigMap");
    const [copies, originals] = [maps.filter(isMarked), maps.filter((one) => !isMarked(one))];
    await Promise.all(originals.map((one) => this.#makeConfigMap(one, texts)));
    await Promise.all(copies.map((one) => this.#makeConfigMap(one, texts)));
    const secrets = objects.filter(({ kind }) => kind === "Secret");
    const first = secrets.filter((one) => !isMarked(one) || isSource(one));
    await Promise.all(first.map((one) => this.#makeSecret(one, texts)));
    await Promise.all(
      secrets.filter((one) => !first.includes(one)).map((one) => this.#makeSecret(one, texts)),
    );
  }

  /** As Api.versions, of what stays. */
  async versions(): Promise<ReadonlyMap<string, string>> {
    const secrets = await this.scene.api.versions(({ metadata }) => this.#stays(metadata));
    const maps = await this.maps.versions((one) => this.#isOwnMap(one));
    return new Map([
      ...secrets,
      ...[...maps].map(([place, version]) => [`ConfigMap ${place}`, version] as const),
    ]);
  }

  /** For ConfigMaps, as `scene.api` is for Secrets. */
  get maps(): Api {
    return new Api(this.scene.api.client, "ConfigMap");
  }

  // The cluster's own change by themselves.
  #isOwnMap({ metadata: { namespace = "", name } }: RawSecret): boolean {
    return this.#configMaps.has(`${namespace}/${name}`);
  }

  #stays({ namespace = "" }: { readonly namespace?: string }): boolean {
    return !this.#going.has(namespace);
  }

  // The scene's own client is closed by then.
  async #unload(): Promise<void> {
    if (this.scene.sandbox) return;
    await eraseNamespaces(sharedCluster(), this.#namespaces);
    const client = ownClient();
    const api = new Api(client);
    const places = [...THERE_ALREADY, OWN];
    const left = (await api.secrets()).filter(({ metadata }) => {
      const { namespace = "", name, labels, annotations } = metadata;
      if (!places.includes(namespace)) return false;
      const ours = labels?.["app.kubernetes.io/managed-by"] === "secretcast";
      const source = annotations?.["secretcast.io/to"] !== undefined;
      const own = this.#secrets.has(`${namespace}/${name}`);
      return ours || source || own;
    });
    await inTurns(left, ({ metadata }) =>
      api.deleteSecret(metadata.namespace ?? "", metadata.name),
    );
    const maps = new Api(client, "ConfigMap");
    for (const place of this.#configMaps) {
      const [namespace = "", name = ""] = place.split("/");
      if (places.includes(namespace)) await maps.deleteSecret(namespace, name);
    }
    if (this.#byList) {
      const path = `/api/v1/namespaces/${OWN}/configmaps/secretcast-sources`;
      await client.request({ method: "DELETE", path, what: "delete the source list" });
    }
    await client.close();
  }

  /** The client of whoever moves; objects of the tool's own kinds are what the world says. */
  get client(): ApiClient {
    const { client } = this.scene.api;
    return {
      server: client.server,
      reachability: client.reachability,
      open: (request) => client.open(request),
      close: () => Promise.resolve(),
      request: async <T>(request: ApiRequest): Promise<T> => {
        const list = this.customList(request.path);
        return list === undefined ? client.request<T>(request) : (list as T);
      },
    };
  }

  /** The answer to a list of one of the tool's own kinds. */
  customList(path: string): unknown {
    const plain = path.replace(/\?.*/, "");
    for (const { group, versions, kind } of OLD_TOOL[this.world].resources) {
      const plural = pluralOf({ kind });
      const [version = ""] = versions;
      if (plain !== resourcePath({ group, version, plural, kind })) continue;
      const items = this.customs.filter((one) => one.kind === kind);
      return listBody(`${group}/${version}`, kind, items);
    }
    return undefined;
  }

  async plan(client = this.client): Promise<Migration> {
    const tool = OLD_TOOL[this.world];
    const { signal } = new AbortController();
    const { objects } = await readOldObjects(tool, { client, signal, onRead: () => undefined });
    // What other tests left on a shared server is no part of the world.
    const own = objects.filter((raw) => !isAnothers(raw, this.scene.prefix));
    return planMove(tool, own, { flag: () => undefined }, moveSettings(INCLUDING, this.#byList));
  }

  async move(
    change: Partial<MoveWriter> = {},
  ): Promise<Migration & { readonly result: MoveResult }> {
    const migration = await this.plan(change.client);
    const { planner: settings, digest } = moveSettings(INCLUDING, this.#byList);
    const result = await applyMigration(migration, {
      client: this.client,
      signal: new AbortController().signal,
      settings,
      digest,
      adoptDrifted: new Set(),
      obstacle: () => Promise.resolve(undefined),
      onProgress: () => undefined,
      ...change,
    });
    return { ...migration, result };
  }

  /** What every Secret that stays and every ConfigMap of the world holds, by placeText. */
  async contents(): Promise<ReadonlyMap<string, string>> {
    const maps = (await this.maps.secrets()).filter((one) => this.#isOwnMap(one));
    const secrets = (await this.scene.api.secrets()).filter(({ metadata }) =>
      this.#stays(metadata),
    );
    return new Map([
      ...secrets.map(
        ({ metadata, type, data }) =>
          [`${metadata.namespace ?? ""}/${metadata.name}`, JSON.stringify([type, data])] as const,
      ),
      ...maps.map(
        ({ metadata, immutable, data, binaryData }) =>
          [
            `ConfigMap ${metadata.namespace ?? ""}/${metadata.name}`,
            JSON.stringify([immutable, data, binaryData]),
          ] as const,
      ),
    ]);
  }

  #post(namespace: string, name: string, rest: object, metadata: object): Promise<WorldObject> {
    this.#secrets.add(`${namespace}/${name}`);
    return this.client.request<WorldObject>({
      method: "POST",
      path: resourcePath(SECRETS, namespace),
      what: `create ${namespace}/${name}`,
      body: {
        apiVersion: "v1",
        kind: "Secret",
        ...rest,
        metadata: { ...metadata, name, namespace },
      },
    });
  }

  async #makeNamespace({ metadata }: WorldObject, texts: Map<string, string>): Promise<void> {
    const { name, labels = {}, annotations = {} } = metadata;
    const { api } = this.scene;
    if (!THERE_ALREADY.has(name)) {
      this.#namespaces.add(name);
      const created = await api.createNamespace(name, { labels, annotations });
      texts.set(metadata.uid || name, created.metadata.uid);
      return;
    }
    // What an earlier test wrote there goes.
    const path = resourcePath(NAMESPACES, undefined, name);
    const found = await this.client.request<WorldObject>({
      method: "GET",
      path,
      what: `get ${name}`,
    });
    texts.set(metadata.uid || name, found.metadata.uid);
    const before = Object.keys(found.metadata.annotations ?? {}).map((key) => [key, null]);
    await api.patchNamespace(name, {
      labels,
      annotations: { ...Object.fromEntries(before), ...annotations },
    });
  }

  // Which ConfigMaps a tool reads, and those that it copies.
  async #makeConfigMap(object: WorldObject, texts: Map<string, string>): Promise<void> {
    const { metadata, kind, apiVersion, ...rest } = object;
    const { name, namespace = "", labels, annotations } = metadata;
    const body = {
      apiVersion,
      kind,
      ...rest,
      metadata: { name, namespace, annotations, labels: here(labels, texts) },
    };
    const path = resourcePath(CONFIG_MAPS, namespace);
    const what = `create ${namespace}/${name}`;
    try {
      const made = await this.client.request<WorldObject>({ method: "POST", path, what, body });
      this.#configMaps.add(`${namespace}/${name}`);
      texts.set(metadata.uid, made.metadata.uid);
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind !== "alreadyExists") throw error;
    }
  }

  async #makeOwn(): Promise<void> {
    // On a shared server the controller's account lives there.
    if (this.scene.sandbox) await this.scene.api.createNamespace(OWN);
  }

  async #makeSecret(object: WorldObject, texts: Map<string, string>): Promise<void> {
    const { metadata, kind: _kind, apiVersion: _version, ...rest } = object;
    const { name, namespace = "", labels, annotations, ownerReferences } = metadata;
    const made = await this.#post(namespace, name, rest, {
      labels: here(labels, texts),
      annotations: here(annotations, texts),
      ownerReferences,
    });
    texts.set(metadata.uid, made.metadata.uid);
    texts.set(metadata.resourceVersion, made.metadata.resourceVersion);
  }
}

function ownClient(): ApiClient {
  const { kubeconfig } = sharedCluster();
  const options = { clock: systemClock, userAgent: "secretcast-test" };
  return createClient(loadKubeConfig({ kubeconfig }), options);
}

type OfAKind = { readonly kind: string };

/** With what the objects have here in place of what they had where they were recorded. */
function here(
  marks: Readonly<Record<string, string>> = {},
  texts: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(marks).map(([key, value]) => {
      let text = texts.get(value) ?? value;
      for (const [old, now] of texts)
        if (text.includes(`"${old}"`)) text = text.replaceAll(`"${old}"`, `"${now}"`);
      return [key, text];
    }),
  );
}

const INCLUDING = { includeSystemNamespaces: true } as const;

const AT_ONCE = 32;

async function inTurns<T>(items: readonly T[], make: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) {
    await Promise.all(items.slice(at, at + AT_ONCE).map(make));
  }
}

function isMarked({ metadata }: WorldObject): boolean {
  return [metadata.annotations, metadata.labels].some((marks = {}) =>
    Object.keys(marks).some((key) =>
      /replicated-from-version|appscode.com\/origin$|kyverno.io\/source-uid$/.test(key),
    ),
  );
}

function isSource({ metadata }: WorldObject): boolean {
  return Object.keys(metadata.annotations ?? {}).some((key) =>
    /appscode.com\/sync$|replicate-to|replication-allowed/.test(key),
  );
}

function isAnothers(raw: unknown, prefix: string): boolean {
  const { metadata } = raw as WorldObject;
  return metadata.name.startsWith(prefix) || (metadata.namespace ?? "").startsWith(prefix);
}

/** A place among those of both kinds: that of a Secret is without its kind. */
export function placeText(place: Parameters<typeof objectTitle>[0]): string {
  return place.kind === "ConfigMap" ? objectTitle(place) : refText(place);
}

/** What stands at a place, for messages. */
export function adoptedPlaces({ copies }: Migration): readonly string[] {
  return copies.filter(({ state }) => state === "adoptable").map(({ object }) => placeText(object));
}
