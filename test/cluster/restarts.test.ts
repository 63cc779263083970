// The API server killed again and again, with edits, deletions and rotations between: each is mended before
// the next kill. And etcd restored from a backup. A leader that could not renew its Lease for ten
// seconds, as on a busy machine, ends by itself and is started again, as a kubelet would.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { TestContext } from "node:test";
import type { FlagValues } from "../../src/controller/settings/config.ts";
import { controllerAccount } from "../support/api-server/account.ts";
import { openCluster, ownCluster } from "../support/api-server/cluster.ts";
import type { ControlPlane } from "../support/api-server/control-plane.ts";
import { spawnController } from "../support/programs/controller-process.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { ok } from "../../packages/sandbox/testing/facts/place.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import type { Http } from "../../packages/sandbox/testing/http.ts";

const RESTARTS = 4;
const SOURCE = "/api/v1/namespaces/shared/secrets/s";
/** Until the next kill; most of it for machines that are busy. */
const PAUSE_MS = 30_000;

let cluster: ControlPlane;
let kubeconfig: string;
let http: Http;
before(async () => {
  cluster = await ownCluster();
  kubeconfig = await controllerAccount(cluster);
  http = openCluster(cluster);
});
after(async () => {
  await http.close();
  await cluster.stop();
});

const copy = (at: number): string => `/api/v1/namespaces/team-${at}/secrets/s`;

/** A controller that is started again when it has ended. */
function supervised(
  t: TestContext,
  flags: FlagValues,
): { readonly stop: () => Promise<number | null> } {
  let controller = spawnController(t, kubeconfig, flags);
  let stopping = false;
  const again = (): void => {
    if (stopping) return;
    t.diagnostic("the controller lost its Lease");
    controller = spawnController(t, kubeconfig, flags);
    void controller.ended.then(again);
  };
  void controller.ended.then(again);
  t.after(() => (stopping = true));
  return {
    stop: () => {
      stopping = true;
      return controller.stop();
    },
  };
}

async function patch(path: string, k: string): Promise<void> {
  const contentType = "application/merge-patch+json";
  ok(await http.send("PATCH", path, { body: { stringData: { k } }, contentType }), 200);
}

async function holds(path: string, k: string): Promise<boolean> {
  const { body } = await http.send("GET", path);
  return field(body, "data", "k") === Buffer.from(k).toString("base64");
}

test("RF-36 four restarts: every edit, deletion and rotation is mended before the next", async (t) => {
  for (const name of ["shared", "team-0", "team-1", "team-2"])
    ok(await http.send("POST", "/api/v1/namespaces", { body: { metadata: { name } } }), 201);
  const metadata = { name: "s", annotations: { "secretcast.io/to": "team-*" } };
  const body = { metadata, stringData: { k: "0" } };
  ok(await http.send("POST", "/api/v1/namespaces/shared/secrets", { body }), 201);
  const controller = supervised(t, {
    "source-namespaces": "shared",
    "leader-elect": "true",
    "lease-namespace": "secretcast",
  });
  const all = (k: string) => async (): Promise<boolean> =>
    (await Promise.all([0, 1, 2].map((at) => holds(copy(at), k)))).every(Boolean);
  await eventually("the copies", all("0"));
  const took: number[] = [];
  for (let restart = 1; restart <= RESTARTS; restart++) {
    const k = String(restart);
    await cluster.restartApiServer({ signal: "SIGKILL" });
    const back = performance.now();
    await patch(copy(0), "edited");
    ok(await http.send("DELETE", copy(1)), 200);
    await patch(SOURCE, k);
    await eventually(`restart ${restart}: all is mended`, all(k), PAUSE_MS);
    took.push(Math.round(performance.now() - back));
  }
  t.diagnostic(`mended after ${took.join(", ")} ms`);
  assert.equal(await controller.stop(), 0);
});

type Restored = {
  readonly source: string;
  readonly copy: string;
  readonly controller: ReturnType<typeof supervised>;
};

/** A source, one copy, and a controller of their own. */
async function publish(t: TestContext, base: string, flags: FlagValues): Promise<Restored> {
  for (const name of [`source-of-${base}`, `${base}-0`])
    ok(await http.send("POST", "/api/v1/namespaces", { body: { metadata: { name } } }), 201);
  const secrets = `/api/v1/namespaces/source-of-${base}/secrets`;
  const metadata = { name: "s", annotations: { "secretcast.io/to": `${base}-*` } };
  ok(await http.send("POST", secrets, { body: { metadata, stringData: { k: "old" } } }), 201);
  const controller = supervised(t, { "source-namespaces": `source-of-${base}`, ...flags });
  return { source: `${secrets}/s`, copy: `/api/v1/namespaces/${base}-0/secrets/s`, controller };
}

test("a restored etcd is listed anew within a minute, with and without a Lease", async (t) => {
  const mendedAt = (copy: string, k: string): Promise<unknown> =>
    eventually(`${copy} holds ${k}`, () => holds(copy, k), 60_000);
  // Without a Lease none starts beside one that leads.
  const alone = await publish(t, "alone", {});
  await mendedAt(alone.copy, "old");
  const elected = { "leader-elect": "true", "lease-namespace": "secretcast" };
  const both = [alone, await publish(t, "elected", elected)];
  const each = (act: (one: Restored) => Promise<unknown>): Promise<unknown> =>
    Promise.all(both.map(act));
  const mended = (k: string): Promise<unknown> => each(({ copy }) => mendedAt(copy, k));
  await mended("old");
  await cluster.backUp();
  // A new history that the backup does not know, a good deal longer than the way back to now.
  for (let at = 0; at < 250; at++) await each(({ source }) => patch(source, `lost ${at}`));
  await mended("lost 249");
  await cluster.restore();
  for (const { copy } of both) assert.ok(await holds(copy, "old"), "the backup is back");
  // The sources change below the versions that were followed.
  await each(({ source }) => patch(source, "new"));
  await mended("new");
  await each(async ({ copy }) => ok(await http.send("DELETE", copy), 200));
  await mended("new");
  for (const { controller } of both) assert.equal(await controller.stop(), 0);
});
