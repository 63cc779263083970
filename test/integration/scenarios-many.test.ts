// What the cache promises while it reads long lists: memory and pages stay bounded, and half a list counts for nothing.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { all, copied, crews, ONE } from "../support/scenes/crews.ts";
import { runWords } from "../support/programs/controller-process.ts";
import { skippedInMode } from "../support/scenes/named-mode.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import type { Fault, FaultProxy, ProxyRequest } from "../../packages/kube/testing/fault-proxy.ts";
import { openStage, refusal } from "../support/scenes/proxied.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";

const IN_PAGES = skippedInMode("a list of one name is one page");
const LARGE = 300;

test("the first list of many large Secrets fits into a smaller heap", async (t) => {
  const scene = await openScene(t);
  const namespaces = await crews(scene);
  const large = { blob: "x".repeat(200_000) };
  // A real server takes a request for each.
  await many(scene, scene.sandbox ? 2000 : 500);
  await many(scene, LARGE, large);
  const child = spawnRun(t, scene, ["--max-old-space-size=96"]);
  const [first = ""] = namespaces;
  await eventually("there are copies", () => scene.api.secret(first, "registry"), 60_000);
  await all(scene, namespaces, ONE);
  assert.equal(child.exitCode, null);
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
});

test(
  "a list in pages that breaks off after the first page counts for nothing",
  IN_PAGES,
  async (t) => {
    const { scene, proxy } = await openStage(t);
    await copied(scene);
    await many(scene, 600);
    const before = await scene.versions();
    proxy.rule = pagesOnly({ kind: "cut", afterBytes: 1000 });
    const running = scene.start();
    await eventually("two lists have broken off", () => rest(proxy).length >= 2);
    assert.equal(running.ready(), false);
    assert.deepEqual(await scene.versions(), before);
    proxy.rule = pagesOnly(undefined);
    await eventually("the controller has seen it all", () => running.settled());
    assert.deepEqual(await scene.versions(), before);
  },
);

test("the first list names no version, so that it comes in pages", IN_PAGES, async (t) => {
  const { scene, proxy } = await openStage(t);
  const namespaces = await crews(scene);
  await many(scene, 1100);
  proxy.rule = pagesOnly(undefined);
  scene.start();
  await all(scene, namespaces, ONE);
  const pages = proxy.seen.filter(
    ({ kind, path, query }) =>
      kind === "list" && path.endsWith(scene.collection) && !isSourceList(query),
  );
  assert.ok(pages.length >= 3, `${pages.length} pages of more than 1,100 Secrets`);
  for (const { query } of pages) {
    assert.equal(query.get("resourceVersion"), null);
    assert.equal(query.get("limit"), "500");
  }
  assert.equal(rest(proxy).length, pages.length - 1, "each page but the first continues one");
});

/** The one ConfigMap that is read whatever the flags say. */
function isSourceList(query: URLSearchParams): boolean {
  return query.get("fieldSelector")?.startsWith("metadata.name=") === true;
}

/** A server that knows no streaming lists; later pages of a list meet `fault`. */
function pagesOnly(fault: Fault | undefined): FaultProxy["rule"] {
  return ({ kind, query }) => {
    if (kind === "stream") return refusal(400, "BadRequest");
    return kind === "list" && query.has("continue") ? fault : undefined;
  };
}

const rest = (proxy: FaultProxy): readonly ProxyRequest[] =>
  proxy.seen.filter(({ query }) => query.has("continue"));

type Data = Readonly<Record<string, string>>;

/** So many Secrets that are nothing to us, before the source in a list. */
async function many({ api, sandbox, source: namespace }: Scene, amount: number, data: Data = {}) {
  const names = Array.from({ length: amount }, (_, at) => `any-${at}${Object.keys(data).join()}`);
  if (sandbox)
    sandbox.load(
      names.map((name) => {
        return { kind: api.kind, metadata: { namespace, name }, data: api.encode(data) };
      }),
    );
  else await Promise.all(names.map((name) => api.createSecret(namespace, name, { data })));
}

function spawnRun(t: TestContext, scene: Scene, nodeFlags: readonly string[]): ChildProcess {
  const words = runWords(scene.kubeconfig, scene.flags());
  const child = spawn(process.execPath, [...nodeFlags, "bin/secretcast.js", ...words], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  return child;
}
