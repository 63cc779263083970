// What another tool left, in the sandbox without its sockets, and `migrate` on it as a process that can
// die with any of its requests. Everything is there in the same turn, so a thousand moves take seconds.
import { planMigration, type Migration } from "../../../src/migrate/moves/migration.ts";
import { refText } from "../../../src/text/names.ts";
import { annotationKey } from "../../../src/controller/annotations/vocabulary.ts";
import { readOldCluster } from "../../../src/migrate/oldtools/read-old-objects.ts";
import { patternsOf } from "../../../src/migrate/oldtools/old-tool.ts";
import { OLD_TOOL } from "../../../src/migrate/oldtools/old-tools.ts";
import type { PatternAnswers } from "../../../src/migrate/oldtools/patterns/old-patterns.ts";
import { matchPatterns } from "../../../src/migrate/command/match-patterns.ts";
import { performMove } from "../../../src/migrate/command/perform-move.ts";
import { readOldObjects } from "../../../src/migrate/command/read-old-cluster.ts";
import type { MigrationView } from "../../../src/migrate/command/show-move.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { route } from "../../../packages/sandbox/http/routes.ts";
import { readKubectlFlags } from "../../../src/inspect/kubectl/kubectl-flags.ts";
import { SandboxApi } from "../controller/sandbox-api.ts";
import { Api } from "../scenes/api.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { moveSettings } from "./migration.ts";
import type { WorldName, WorldObject } from "./world.ts";
import { WorldScene } from "./world-scene.ts";

/** The process ends with this request, counted from 1: before the server acts, or after. */
export type Death = { readonly at: number; readonly acted: boolean };

export type CommandRun = {
  /** undefined: it died. */
  readonly code: number | undefined;
  readonly requests: number;
  /** Those that change something, carried out. */
  readonly writes: number;
  readonly said: string;
};

/** What is at a place: `object` without what no two servers have in common. */
export type Standing = { readonly object: string; readonly data: string; readonly version: string };

// A thread for each plan would be most of the time; questions and names are the same each time.
const answered = new Map<string, Promise<PatternAnswers>>();

export class MemoryWorld {
  readonly #server = new SandboxApi(new FakeClock());
  readonly #scene: WorldScene;
  readonly #world: WorldName;
  readonly #byList: boolean;
  readonly #mayGain: boolean;

  /** `mayGain`: whether sources may serve namespaces without a copy of now. */
  static async load(world: WorldName, byList: boolean, mayGain = true): Promise<MemoryWorld> {
    const loaded = new MemoryWorld(world, byList, mayGain);
    await loaded.#scene.load({ after: () => undefined });
    return loaded;
  }

  private constructor(world: WorldName, byList: boolean, mayGain: boolean) {
    this.#mayGain = mayGain;
    this.#world = world;
    this.#byList = byList;
    const api = new Api(withoutOthers(this.#server.client));
    this.#scene = new WorldScene({ api, sandbox: this.#server, prefix: "none of these" }, world);
  }

  /** `migrate --write --yes`, and with `cleanup` its last step. */
  async command(cleanup: boolean, death?: Death): Promise<CommandRun> {
    const counts = { requests: 0, writes: 0 };
    const died = Promise.withResolvers<undefined>();
    const client = mortal(this.#scene.client, counts, death, () => died.resolve(undefined));
    let said = "";
    const output = { write: (text: string): boolean => ((said += text), true) };
    const program = {
      version: "0",
      env: {},
      clusterNamespace: undefined,
      stdout: output,
      stderr: output,
      signal: new AbortController().signal,
    };
    const readAgain = (): Promise<MigrationView> => this.#look(client);
    const tool = OLD_TOOL[this.#world];
    // Rules that moved are deleted by hand before the clean-up.
    if (cleanup && tool.armed) this.#scene.customs = [];
    const run = async (): Promise<number> => {
      const first = await readAgain();
      const options = { ...WISH, tool, cleanup, byList: this.#byList };
      return performMove({
        first,
        readAgain,
        options,
        flags: readKubectlFlags({}, {}),
        program,
        notKept: () => [],
      });
    };
    const code = await Promise.race([run(), died.promise]);
    return { code, ...counts, said };
  }

  async #look(client: ApiClient): Promise<MigrationView> {
    const tool = OLD_TOOL[this.#world];
    const { signal } = new AbortController();
    const { objects, unread } = await readOldObjects(tool, {
      client,
      signal,
      onRead: () => undefined,
    });
    const given = moveSettings({ includeSystemNamespaces: true }, this.#byList);
    const settings = { ...given, mayGain: () => this.#mayGain };
    const cluster = readOldCluster(objects, settings.list, tool.resources);
    const reading = tool.read(cluster, { flag: () => undefined });
    const names = cluster.namespaces.map(({ name }) => name);
    const uses = patternsOf(reading);
    const key = JSON.stringify([uses, names]);
    const answers = answered.get(key) ?? matchPatterns(uses, names);
    answered.set(key, answers);
    const migration = planMigration(tool, cluster, reading, await answers, settings);
    return { migration, unread, settings, client };
  }

  /** As the command would see it now. */
  async plan(): Promise<Migration> {
    return (await this.#look(this.#scene.client)).migration;
  }

  /** Every Secret, ConfigMap and Namespace, by kind and place. */
  standing(): ReadonlyMap<string, Standing> {
    const found = new Map<string, Standing>();
    const versions = new Map<string, string>();
    const places = new Map<string, string>();
    const raw = this.#all();
    for (const { kind, metadata } of raw) {
      const place = refText({ namespace: metadata.namespace ?? "", name: metadata.name });
      places.set(metadata.uid, place);
      versions.set(`${kind} ${place}`, metadata.resourceVersion);
    }
    for (const { kind, metadata, data, binaryData, ...rest } of raw) {
      const { uid: _, resourceVersion, creationTimestamp: __, ...same } = metadata as Fields;
      const text = JSON.stringify({ ...rest, metadata: this.#neutral(kind, same, versions) });
      const named = text.replaceAll(UID, (uid) => places.get(uid) ?? "gone");
      found.set(
        `${kind} ${refText({ namespace: metadata.namespace ?? "", name: metadata.name })}`,
        {
          object: named,
          data: JSON.stringify({ ...data, ...binaryData }).replaceAll(
            UID,
            (uid) => places.get(uid) ?? "gone",
          ),
          version: String(resourceVersion),
        },
      );
    }
    return found;
  }

  // A version is that of its source, or it is not; which number it has is the server's.
  #neutral(kind: string, metadata: Fields, versions: ReadonlyMap<string, string>): Fields {
    const annotations = { ...(metadata["annotations"] as Record<string, string> | undefined) };
    const version = annotations[annotationKey("source-version")];
    if (version !== undefined) {
      const current =
        versions.get(`${kind} ${annotations[annotationKey("source")] ?? ""}`) === version;
      annotations[annotationKey("source-version")] = current ? "the source's" : "an older one";
    }
    return { ...metadata, annotations };
  }

  /** Every Secret, ConfigMap and Namespace as it is. */
  objects(): readonly WorldObject[] {
    return this.#all().map((object): WorldObject =>
      JSON.parse(JSON.stringify({ apiVersion: "v1", ...object })),
    );
  }

  #all(): readonly Found[] {
    const of = ["secrets", "configmaps", "namespaces"];
    return of.flatMap((plural) => {
      const target = route(`/api/v1/${plural}`);
      if (!target) throw new Error(`test: the sandbox has no ${plural}`);
      const { kind } = target.resource;
      const { objects } = this.#server.storage.collection(target.resource.storage).view();
      return [...objects.values()].map((object) => ({ ...object, kind }));
    });
  }
}

type Fields = Readonly<Record<string, unknown>>;
type Found = Fields & {
  readonly kind: string;
  readonly metadata: Fields & {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly data?: Fields;
  readonly binaryData?: Fields;
};

const UID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

const WISH = {
  write: true,
  yes: true,
  printPatches: false,
  althoughRunning: false,
  adoptDrifted: new Set<string>(),
  gain: new Set<string>(),
  oldArgs: undefined,
  newSourcesIn: undefined,
} as const;

/** What the sandbox does not serve is not there. */
function withoutOthers(inner: ApiClient): ApiClient {
  return {
    ...inner,
    request: async <T>(request: ApiRequest): Promise<T> => {
      if (!route(request.path))
        throw new ApiError(request.what, { kind: "notFound", status: 404, reason: "NotFound" });
      return inner.request<T>(request);
    },
  };
}

/** A dead process sends nothing and hears nothing. */
function mortal(
  inner: ApiClient,
  counts: { requests: number; writes: number },
  death: Death | undefined,
  onDeath: () => void,
): ApiClient {
  const never = new Promise<never>(() => undefined);
  let dead = false;
  return {
    ...inner,
    request: async <T>(request: ApiRequest): Promise<T> => {
      if (dead) return never;
      const dies = ++counts.requests === death?.at;
      dead = dies;
      if (dies && !death.acted) {
        onDeath();
        return never;
      }
      const acting = inner.request<T>(request);
      if (dies) {
        await acting.catch(() => undefined);
        onDeath();
      }
      const answer = await acting;
      if (request.method !== "GET") counts.writes++;
      if (dead) return never;
      return answer;
    },
  };
}
