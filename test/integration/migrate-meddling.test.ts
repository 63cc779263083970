// What the old tool writes to a copy while a move goes on stays its own: nothing is lost, and a later run
// adopts the copy. The writes are those that each tool was seen to make.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiClient, ApiRequest } from "../../packages/kube/rest/api-client.ts";
import { resourcePath, SECRETS } from "../../packages/kube/rest/resource.ts";
import type { RawSecret } from "../support/scenes/api.ts";
import { openScene } from "../support/scenes/scene.ts";
import { WorldScene } from "../support/worlds/world-scene.ts";
import type { WorldName } from "../support/worlds/world.ts";

type Objects = {
  readonly copy: RawSecret;
  /** The copy before the move. */
  readonly recorded: RawSecret;
  readonly source: RawSecret;
};
type Place = readonly [namespace: string, name: string];
type Meddler = {
  readonly world: WorldName;
  readonly copy: Place;
  readonly source: Place;
  /** The copy as the tool writes it. */
  readonly write: (objects: Objects) => object;
  /** Our marks are off the copy after it. */
  readonly reverts: boolean;
};

/** Writes all of it anew, with every annotation of its source. */
function anew({ copy, recorded, source }: Objects, own: readonly string[]): object {
  const { annotations = {}, labels } = recorded.metadata;
  const marks = own.map((key) => [key, annotations[key]]);
  const all = { ...source.metadata.annotations, ...Object.fromEntries(marks) };
  return { ...recorded, metadata: { ...copy.metadata, labels, annotations: all } };
}

const MEDDLERS: readonly Meddler[] = [
  {
    world: "kyverno",
    copy: ["team-a", "registry-pull"],
    source: ["platform", "registry-pull"],
    write: (objects) => anew(objects, []),
    reverts: true,
  },
  {
    world: "projection",
    copy: ["team-a", "registry-pull"],
    source: ["platform", "registry-pull"],
    write: (objects) => anew(objects, ["projection.sh/owned-by-projection"]),
    reverts: true,
  },
  {
    // It leaves our marks alone, and takes its owner reference and its own marks back.
    world: "external-secrets",
    copy: ["team-a", "registry-cred"],
    source: ["vault", "registry-pull"],
    write: ({ copy, recorded }) => {
      const { labels, annotations, ownerReferences } = recorded.metadata;
      const metadata = {
        ...copy.metadata,
        labels: { ...labels, ...copy.metadata.labels },
        annotations: { ...annotations, ...copy.metadata.annotations },
        ownerReferences,
      };
      return { ...copy, metadata };
    },
    reverts: false,
  },
];

for (const {
  world,
  copy: [namespace, name],
  source,
  write,
  reverts,
} of MEDDLERS) {
  for (const moment of ["before", "after"] as const) {
    test(`a later run adopts a copy that ${world} writes ${moment} our write`, async (t) => {
      const scene = await openScene(t);
      const stage = new WorldScene(scene, world);
      await stage.load(t);
      const contents = await stage.contents();
      const { client } = stage;
      const path = resourcePath(SECRETS, namespace, name);
      const home = resourcePath(SECRETS, ...source);
      const get = (at = path): Promise<RawSecret> =>
        client.request({ method: "GET", path: at, what: "get" });
      const recorded = await get();
      let wrote = 0;
      const meddle = async (): Promise<void> => {
        await scene.api.annotate(namespace, name, { "example.com/seen": `${++wrote}` });
        const objects = { copy: await get(), recorded, source: await get(home) };
        const body = { apiVersion: "v1", kind: "Secret", ...write(objects) };
        await client.request({ method: "PUT", path, what: "the old tool's update", body });
      };
      const meddling: ApiClient = {
        ...client,
        request: async <T>(request: ApiRequest): Promise<T> => {
          const isIt = wrote === 0 && request.method === "PATCH" && request.path === path;
          if (isIt && moment === "before") await meddle();
          const answer = await client.request<T>(request);
          if (isIt && moment === "after") await meddle();
          return answer;
        },
      };
      const { result } = await stage.move({ client: meddling });
      assert.equal(wrote, 1);
      const refusal = `adopt Secret ${namespace}/${name}: somebody changed it meanwhile; left alone, run it again to look at it anew`;
      assert.deepEqual(result.failures, moment === "before" ? [refusal] : []);
      const isMarked = (await get()).metadata.annotations?.["secretcast.io/source"] !== undefined;
      assert.equal(isMarked, moment === "after" && !reverts);
      assert.deepEqual(await stage.contents(), contents);

      const again = await stage.move();
      assert.deepEqual(again.result.written, { sources: 0, namespaces: 0, copies: 1 });
      assert.deepEqual(await stage.contents(), contents);
      const adopted = (await get()).metadata;
      assert.equal(adopted.annotations?.["secretcast.io/source"], source.join("/"));
      assert.equal(adopted.ownerReferences, undefined);
      const [from = ""] = again.flags;
      const run = scene.start({
        "source-namespaces": from.replace("--source-namespaces=", ""),
        "include-system-namespaces": true,
        once: true,
      });
      await run.ended;
      const onCopy = run.outcomes.filter(({ kind, action }) => {
        const { place } = action;
        return kind === "done" && place.namespace === namespace && place.name === name;
      });
      assert.deepEqual(onCopy, [], "nothing is written to the copy");
    });
  }
}
