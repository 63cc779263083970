// Secrets that pull: filled when their source comes, again after somebody empties them, and emptied whenever source,
// consent or reference goes. Content of their owners' stays. Runs on the sandbox and on a
// real API server.
import { whyOf } from "../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { scenario as test, secretsAlone } from "../support/scenes/both-kinds.ts";
import type { NewSecret } from "../support/scenes/api.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { openFastScene } from "../support/scenes/fast-scene.ts";
import type { Running, Scene } from "../support/scenes/scene.ts";

const LOGIN = { username: "ada", password: "one" };

async function allow(
  scene: Scene,
  name: string,
  data: Readonly<Record<string, string>>,
): Promise<void> {
  const annotations = { "secretcast.io/allow": scene.name("team-*") };
  await scene.api.createSecret(scene.source, name, { annotations, data });
}

/** "team-a" with a Secret "db" that pulls "login", and unmanaged objects beside both. */
async function pulling(scene: Scene, secret: NewSecret = {}): Promise<string> {
  const namespace = await scene.namespace("team-a");
  const annotations = { "secretcast.io/from": `${scene.source}/login`, ...secret.annotations };
  await scene.api.createSecret(namespace, "db", { ...secret, annotations });
  await scene.unmanaged(namespace, "login", { data: { mine: "untouched" } });
  await scene.unmanaged(scene.source, "db", { data: { mine: "untouched" } });
  return namespace;
}

/** Waits for a settled plan that tells the owner of "db" why it is not filled. */
async function refused(running: Running): Promise<string> {
  return eventually("its owner is told", () => {
    const row = running.settled()?.rows.find(({ place }) => place.name === "db");
    return row?.verdict === "conflict" && whyOf(row);
  });
}

test("a Secret that pulls from a source not there yet is filled when it comes", async (t) => {
  const scene = await openFastScene(t);
  const namespace = await pulling(scene, { data: { username: "" } });
  const running = scene.start();
  const absent = await refused(running);
  await scene.api.createSecret(scene.source, "login", { data: LOGIN });
  await scene.api.createSecret(scene.source, "later", {
    annotations: { "secretcast.io/to": namespace },
    data: LOGIN,
  });
  await eventually("what came later is settled", () => running.settled()?.states.current === 1);
  assert.equal(
    await refused(running),
    absent,
    "the same words when it is there and does not allow",
  );
  await scene.api.annotate(scene.source, "login", { "secretcast.io/allow": scene.name("team-*") });
  await scene.holds(namespace, "db", LOGIN);
  await scene.api.setData(scene.source, "login", { password: "two", username: null });
  await scene.holds(namespace, "db", { password: "two" });
  const { states } = await scene.finish();
  assert.equal(states.current, 2);
});

secretsAlone(
  "a filled Secret is filled again after a manifest, and a fight backs off",
  "no entry of a ConfigMap is required",
  async (t) => {
    const scene = await openFastScene(t);
    const type = "kubernetes.io/dockerconfigjson";
    const config = { ".dockerconfigjson": '{"auths":{}}' };
    await scene.api.createSecret(scene.source, "login", {
      type,
      annotations: { "secretcast.io/allow": "*" },
      data: config,
    });
    const namespace = await pulling(scene, { type, data: { ".dockerconfigjson": "{}" } });
    const running = scene.start();
    await scene.holds(namespace, "db", config);
    await scene.api.setData(namespace, "db", { ".dockerconfigjson": "{}" });
    await scene.holds(namespace, "db", config);
    const failed = (): boolean => running.settled()?.states.failed === 1;
    await insist(scene, failed, async () => {
      const { data } = (await scene.api.secret(namespace, "db")) ?? {};
      if (data?.[".dockerconfigjson"] === "{}") return;
      await scene.api.setData(namespace, "db", { ".dockerconfigjson": "{}" });
    });
    assert.ok(running.outcomes.length <= MOST_WRITES, `${running.outcomes.length} writes`);
    await running.stop();
    await scene.start({ once: true }).ended;
    await scene.holds(namespace, "db", config);
  },
);

/** Five, and a few more where a slow machine sees it late: the scene's clock is fast. */
const MOST_WRITES = 20;

/** Does `again` until `over`. */
async function insist(
  scene: Scene,
  over: () => boolean,
  again: () => Promise<void>,
): Promise<void> {
  await eventually(
    `${scene.prefix}: the fight is over`,
    async () => {
      await again();
      return over();
    },
    60_000,
  );
}

test("the content goes with source or consent, and the Secret stays with a record", async (t) => {
  const scene = await openFastScene(t);
  await allow(scene, "login", LOGIN);
  const sourceUid = (await scene.api.secret(scene.source, "login"))?.metadata.uid;
  const namespace = await pulling(scene);
  const { metadata } = (await scene.api.secret(namespace, "db")) ?? {};
  scene.start();
  await scene.holds(namespace, "db", LOGIN);
  await scene.api.setData(namespace, "db", { own: "x" });
  await scene.holds(namespace, "db", LOGIN);
  await scene.api.annotate(scene.source, "login", { "secretcast.io/allow": scene.name("other") });
  await scene.holds(namespace, "db", {});
  await scene.api.annotate(scene.source, "login", { "secretcast.io/allow": namespace });
  await scene.holds(namespace, "db", LOGIN);
  await scene.api.deleteSecret(scene.source, "login");
  await scene.holds(namespace, "db", {});
  const left = (await scene.api.secret(namespace, "db"))?.metadata;
  assert.equal(left?.uid, metadata?.uid);
  const record = { "secretcast.io/source-uid": sourceUid };
  assert.deepEqual(left?.annotations, { ...metadata?.annotations, ...record });
});

test("own content is a conflict until its owner empties it", async (t) => {
  const scene = await openFastScene(t);
  await allow(scene, "login", LOGIN);
  const annotations = { "secretcast.io/on-delete": "keep" };
  const namespace = await pulling(scene, { annotations, data: { own: "x" } });
  const running = scene.start();
  assert.match(await refused(running), /^it has content of its own: own; empty it/);
  await scene.api.setData(namespace, "db", { own: null });
  await scene.holds(namespace, "db", LOGIN);
  await scene.api.deleteSecret(scene.source, "login");
  await eventually("it is its owner's", async () => {
    const { metadata, data } = (await scene.api.secret(namespace, "db")) ?? {};
    assert.deepEqual(data, LOGIN);
    return metadata?.annotations?.["secretcast.io/source-version"] === undefined;
  });
});

test("a Secret that pulls is no source, in a chain or a cycle", async (t) => {
  const scene = await openFastScene(t);
  const given = { "source-namespaces": `${scene.source},${scene.name("team-a")}` };
  await allow(scene, "login", LOGIN);
  const namespace = await pulling(scene);
  const last = await scene.namespace("team-b");
  await scene.api.createSecret(last, "db", {
    annotations: { "secretcast.io/from": `${namespace}/db` },
  });
  const running = scene.start({ ...given, "namespace-policy": "opt-out" });
  await scene.holds(namespace, "db", LOGIN);
  await scene.api.annotate(namespace, "db", { "secretcast.io/allow": "*" });
  await scene.api.annotate(scene.source, "login", { "secretcast.io/from": `${last}/db` });
  const frozen = await eventually("the chain is refused", () => {
    const { rows = [], states } = running.settled() ?? {};
    return states?.frozen === 2 && rows.find(({ place }) => place.namespace === namespace);
  });
  assert.match(whyOf(frozen), /^invalid secretcast.io\/allow: .* a pulling Secret is no source$/);
  await scene.finish(given);
  assert.equal((await scene.api.secret(last, "db"))?.data, undefined);
  assert.deepEqual((await scene.api.secret(namespace, "db"))?.data, LOGIN);
});

test("a data cache of 0 reads every source again and makes every copy", async (t) => {
  const scene = await openFastScene(t);
  const namespace = await scene.namespace("team-a");
  scene.given = { "data-cache": "0" };
  const to = { "secretcast.io/to": namespace, "secretcast.io/allow": namespace };
  await scene.api.createSecret(scene.source, "login", { annotations: to, data: LOGIN });
  const from = {
    "secretcast.io/from": `${scene.source}/login`,
    "secretcast.io/keys": "pw=password",
  };
  await scene.api.createSecret(namespace, "db", { annotations: from });
  scene.start();
  await scene.holds(namespace, "login", LOGIN);
  await scene.holds(namespace, "db", { pw: "one" });
  await scene.api.setData(scene.source, "login", { password: "two", username: null });
  await scene.holds(namespace, "login", { password: "two" });
  await scene.holds(namespace, "db", { pw: "two" });
  await scene.api.annotate(scene.source, "login", { "secretcast.io/copy-labels": "none" });
});

test("an entry called __proto__ is filled in, follows its source, and is taken out again", async (t) => {
  const scene = await openFastScene(t);
  const namespace = await pulling(scene);
  const named = (value: string) => Object.fromEntries([["__proto__", value]]);
  await allow(scene, "login", named("one"));
  scene.start();
  await scene.holds(namespace, "db", named("one"));
  await scene.api.setData(scene.source, "login", named("two"));
  await scene.holds(namespace, "db", named("two"));
  await scene.api.annotate(scene.source, "login", { "secretcast.io/allow": null });
  await scene.holds(namespace, "db", {});
});
