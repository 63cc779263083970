// --only-names among the flags of one controller and not of the next, and a name that the API server denies.
import assert from "node:assert/strict";
import { ApiError } from "../../src/kube/rest/api-error.ts";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { skippedInMode } from "../support/scenes/named-mode.ts";
import { openFastScene } from "../support/scenes/fast-scene.ts";
import { openScene } from "../support/scenes/scene.ts";
import { eventually } from "../support/time/eventually.ts";

const COMPARED = skippedInMode("it compares the mode with all names");
const NOTHING_WAITS = { "delete-grace": "0", "source-grace": "0" };

test(
  "all names, then some, then all again writes nothing, though the sources of the others are deleted (34)",
  COMPARED,
  async (t) => {
    const scene = await openScene(t);
    const { api, source } = scene;
    const crew = await scene.namespace("crew-a");
    const annotations = { "secretcast.io/to": scene.name("crew-*") };
    for (const name of ["registry", "ca"])
      await api.createSecret(source, name, { annotations, data: { k: name } });
    const wide = scene.start();
    for (const name of ["registry", "ca"]) await scene.holds(crew, name, { k: name });
    await wide.stop();
    const before = await scene.versions();
    const named = { ...NOTHING_WAITS, "only-names": "registry,unused" };
    const plan = await scene.finish(named);
    assert.deepEqual(plan.rows, []);
    assert.equal(plan.states.current, 1);
    const again = await scene.finish();
    assert.equal(again.states.current, 2);
    assert.deepEqual(await scene.versions(), before);
    await api.deleteSecret(source, "ca");
    const running = scene.start(named);
    await eventually("it is settled", () => running.settled());
    await api.setData(source, "registry", { k: "new" });
    await scene.holds(crew, "registry", { k: "new" });
    assert.deepEqual((await api.secret(crew, "ca"))?.data, { k: "ca" });
    await running.stop();
    await scene.finish(named);
  },
);

test(
  "a name that answers 403 freezes its places, the others go on, and it is served again with the right (34)",
  COMPARED,
  async (t) => {
    const scene = await openFastScene(t);
    const { api, source } = scene;
    const crew = await scene.namespace("crew-a");
    const annotations = { "secretcast.io/to": scene.name("crew-*") };
    for (const name of ["registry", "ca"])
      await api.createSecret(source, name, { annotations, data: { k: "1" } });
    const given = { "only-names": "registry,ca" };
    const first = scene.start(given);
    for (const name of ["registry", "ca"]) await scene.holds(crew, name, { k: "1" });
    await first.stop();
    const frozen = await api.secret(crew, "ca");
    let isDenied = true;
    const running = scene.start(given, async ({ query, what }) => {
      const selector = String(query?.["fieldSelector"]);
      if (isDenied && selector.startsWith("metadata.name=ca"))
        throw new ApiError(what, { kind: "forbidden", status: 403, reason: "Forbidden" });
    });
    for (const name of ["registry", "ca"]) await api.setData(source, name, { k: "2" });
    await scene.holds(crew, "registry", { k: "2" });
    assert.ok(running.ready());
    assert.equal(await running.metric("secretcast_unreadable_names"), 1);
    assert.deepEqual(await api.secret(crew, "ca"), frozen);
    isDenied = false;
    await scene.holds(crew, "ca", { k: "2" });
    await eventually(
      "the metric says so",
      async () => (await running.metric("secretcast_unreadable_names")) === 0,
    );
    await running.stop();
    await scene.finish(given);
  },
);
