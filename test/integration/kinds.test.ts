// Secrets and ConfigMaps beside each other: they never meet at a place, count together where a bound is
// for all, and ConfigMaps that tell somebody what to do are nobody's place. Runs on the sandbox and on a
// real API server.
import { whyOf } from "../support/planner/why-of.ts";
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Api } from "../support/scenes/api.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { proxied } from "../support/scenes/proxied.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import { eventNotes, rowAt } from "../support/scenes/told.ts";
import { openMaps } from "../support/scenes/both-kinds.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";

const ONE = { password: "one" };
const TWO = { mode: "two" };

/** A scene of ConfigMaps with an Api for Secrets as well; its controllers serve both. */
async function openBoth(t: TestContext): Promise<{ scene: Scene; maps: Api; secrets: Api }> {
  const scene = await openMaps(t, openScene);
  scene.kinds = ["Secret", "ConfigMap"];
  return { scene, maps: scene.api, secrets: new Api(scene.api.client) };
}

function to(scene: Scene): Readonly<Record<string, string>> {
  return { "secretcast.io/to": scene.name("team-*") };
}

test("a Secret and a ConfigMap of one name are two sources with two places", async (t) => {
  const { scene, maps, secrets } = await openBoth(t);
  const [a, taken] = [await scene.namespace("team-a"), await scene.namespace("team-taken")];
  // An unmanaged ConfigMap is in nobody's way but a ConfigMap's.
  await scene.unmanaged(taken, "app", { data: { mine: "x" } });
  await secrets.createSecret(scene.source, "app", { annotations: to(scene), data: ONE });
  await maps.createSecret(scene.source, "app", { annotations: to(scene), data: TWO });
  const running = scene.start();
  await scene.holds(a, "app", TWO);
  for (const namespace of [a, taken])
    await eventually("the Secret is copied", async () => {
      assert.deepEqual((await secrets.secret(namespace, "app"))?.data, ONE);
      return true;
    });
  const row = await eventually("the conflict is told", () => {
    const found = rowAt(running.settled(), `${taken}/app`);
    return found?.verdict === "conflict" && found;
  });
  assert.equal(row.kind, "ConfigMap");
  assert.match(whyOf(row), /^a ConfigMap of that name already exists/);
  const counted = (state: string, resource: string): Promise<number> =>
    running.metric(`secretcast_copies{state="${state}",resource="${resource}"}`);
  await eventually("both are counted", async () => (await counted("current", "secrets")) === 2);
  assert.equal(await counted("current", "configmaps"), 1);
  assert.equal(await counted("conflict", "configmaps"), 1);
  assert.equal(await counted("conflict", "secrets"), 0);
  await eventually("each has an Event of its own", async () => {
    const [ofMap, ofSecret] = await Promise.all([
      eventNotes(scene, scene.source, "app", "Copied", "ConfigMap"),
      eventNotes(scene, scene.source, "app", "Copied", "Secret"),
    ]);
    return ofMap.length > 0 && ofSecret.length > 0;
  });
  await maps.deleteSecret(scene.source, "app");
  await scene.absent(a, "app");
  assert.deepEqual((await secrets.secret(a, "app"))?.data, ONE, "the Secret's copy stays");
});

test("an entry of a ConfigMap stays in its field, through renames and when it moves", async (t) => {
  const { scene, maps } = await openBoth(t);
  const team = await scene.namespace("team-a");
  await maps.createSecret(scene.source, "app", {
    annotations: { ...to(scene), "secretcast.io/keys": "*,logo.bin=logo,text=note" },
  });
  await maps.patchSecret(scene.source, "app", {
    data: { note: "plain", kept: "ünïcode" },
    binaryData: { logo: "/wD/" },
  });
  await maps.createSecret(scene.source, "offer", {
    annotations: { "secretcast.io/allow": "*" },
    data: { a: "text", b: "text" },
  });
  await maps.createSecret(team, "pulling", {
    annotations: { "secretcast.io/from": `${scene.source}/offer` },
  });
  scene.start();
  const fields = (name: string, data: object, binaryData: object | undefined): Promise<unknown> =>
    eventually(`${name} is right`, async () => {
      const found = await maps.secret(team, name);
      assert.deepEqual([found?.data, found?.binaryData], [data, binaryData]);
      return true;
    });
  await fields("app", { text: "plain", kept: "ünïcode" }, { "logo.bin": "/wD/" });
  await fields("pulling", { a: "text", b: "text" }, undefined);
  // The same key in the other field, in a copy and in what pulls.
  await maps.patchSecret(scene.source, "app", {
    data: { note: null, logo: "drawn" },
    binaryData: { logo: null, note: "/wAA" },
  });
  await fields("app", { "logo.bin": "drawn", kept: "ünïcode" }, { text: "/wAA" });
  await maps.patchSecret(scene.source, "offer", { data: { a: null }, binaryData: { a: "/wAA" } });
  await fields("pulling", { b: "text" }, { a: "/wAA" });
  await maps.patchSecret(scene.source, "offer", { data: { a: "back" }, binaryData: { a: null } });
  await fields("pulling", { a: "back", b: "text" }, undefined);
});

test("ConfigMaps that tell somebody what to do are no sources, places or pulling", async (t) => {
  const { scene, maps } = await openBoth(t);
  const team = await scene.namespace("team-a");
  const ours = ["secretcast-sources", "secretcast-pull-secrets"];
  await maps.createSecret(scene.source, "offer", {
    annotations: { ...to(scene), "secretcast.io/allow": "*" },
    data: TWO,
  });
  for (const name of ours) {
    await maps.createSecret(scene.source, `to-${name}`, {
      annotations: { ...to(scene), "secretcast.io/name": name },
      data: TWO,
    });
    const pulls = { "secretcast.io/from": `${scene.source}/offer` };
    await scene.unmanaged(team, name, { annotations: pulls, data: { names: "registry" } });
  }
  await maps.createSecret(scene.source, "ca", {
    annotations: { ...to(scene), "secretcast.io/name": "kube-root-ca.crt" },
    data: TWO,
  });
  scene.given = { "include-system-namespaces": true };
  const running = scene.start();
  await scene.holds(team, "offer", TWO);
  const refused = await eventually("they are refused", () => {
    const found = running.settled()?.sources.filter(({ state }) => state === "refused") ?? [];
    return found.length === 3 && found;
  });
  assert.match(
    refused.map(({ problems }) => problems[0]?.expected).join("\n"),
    /another name: a ConfigMap called so tells secretcast what to do, and is nobody's copy/,
  );
  assert.equal(
    await maps.secret(team, "kube-root-ca.crt").then((found) => found?.data?.["mode"]),
    undefined,
  );
});

test("without --config-maps not one ConfigMap is read", async (t) => {
  const scene = await openScene(t);
  const proxy = await proxied(t, scene);
  const team = await scene.namespace("team-a");
  await scene.api.createSecret(scene.source, "app", { annotations: to(scene), data: ONE });
  const running = scene.start();
  await scene.holds(team, "app", ONE);
  await running.stop();
  const read = proxy.seen.filter(({ path }) => path.includes("configmaps"));
  assert.deepEqual(
    read.filter(({ query }) => query.get("fieldSelector") !== "metadata.name=secretcast-sources"),
    [],
  );
});
