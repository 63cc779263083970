// --namespaces: only these are read and served. What is off the list stays as it is.
import { reasonText } from "../../src/controller/model/reasons.ts";
import assert from "node:assert/strict";
import { scenario as test } from "../support/scenes/both-kinds.ts";
import { ApiError } from "../../packages/kube/rest/api-error.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { openFastScene } from "../support/scenes/fast-scene.ts";
import type { Meddle } from "../support/scenes/meddle.ts";
import { openScene } from "../support/scenes/scene.ts";

test("only listed namespaces have copies; each keeps up with its source and its own Secrets", async (t) => {
  const scene = await openScene(t);
  const { api, source } = scene;
  const [a, b, c] = [
    await scene.namespace("a"),
    await scene.namespace("b"),
    await scene.namespace("c"),
  ];
  await api.createSecret(source, "s", {
    annotations: { "secretcast.io/to": "*" },
    data: { k: "1" },
  });
  await scene.unmanaged(b, "taken");
  scene.given = { namespaces: `${a},${b}` };
  scene.start();
  for (const place of [a, b]) await scene.holds(place, "s", { k: "1" });
  await api.setData(source, "s", { k: "2" });
  for (const place of [a, b]) await scene.holds(place, "s", { k: "2" });
  await api.deleteSecret(a, "s");
  await scene.holds(a, "s", { k: "2" });
  await api.annotate(source, "s", { "secretcast.io/to": `!${b}` });
  await scene.absent(b, "s");
  assert.deepEqual(await api.secrets(c), []);
  assert.equal((await api.secrets(source)).length, 1, "a source namespace that is not listed");
});

test("a listed namespace that is missing delays nobody and is served later", async (t) => {
  const scene = await openScene(t);
  const { api, source } = scene;
  const a = await scene.namespace("a");
  const later = scene.name("later");
  await api.createSecret(source, "s", {
    annotations: { "secretcast.io/to": "*" },
    data: { k: "1" },
  });
  scene.given = { namespaces: `${a},${later}` };
  const controller = scene.start();
  await scene.holds(a, "s", { k: "1" });
  assert.ok(controller.ready());
  await scene.namespace("later");
  await scene.holds(later, "s", { k: "1" });
  await api.deleteNamespace(later);
  await api.namespaceGone(later);
  await api.setData(source, "s", { k: "2" });
  await scene.holds(a, "s", { k: "2" });
});

test("a namespace taken off the list, of copies or of their source, freezes the copies", async (t) => {
  const scene = await openScene(t);
  const { api } = scene;
  const [one, two] = [await scene.namespace("src-1"), await scene.namespace("src-2")];
  const [a, b] = [await scene.namespace("a"), await scene.namespace("b")];
  const sources = { "source-namespaces": scene.name("src-*"), "namespace-policy": "opt-out" };
  const to = { "secretcast.io/to": `${a},${b}` };
  await api.createSecret(one, "first", { annotations: to, data: { k: "1" } });
  await api.createSecret(two, "second", { annotations: to, data: { k: "1" } });
  const whole = scene.start({ ...sources, namespaces: [one, two, a, b].join() });
  for (const place of [a, b])
    for (const name of ["first", "second"]) await scene.holds(place, name, { k: "1" });
  await whole.stop();

  await api.setData(one, "first", { k: "2" });
  await api.deleteSecret(two, "second");
  for (const name of ["first", "second"]) await scene.leaveAlone(b, name);
  await scene.leaveAlone(a, "second");
  scene.given = { ...sources, namespaces: [one, a].join() };
  const narrow = scene.start();
  await scene.holds(a, "first", { k: "2" });
  const rows = await eventually("a settled plan", () => narrow.settled()?.rows);
  assert.deepEqual(
    rows.map(
      ({ verdict, place, reason }) =>
        `${verdict} ${place.namespace}/${place.name} ${reasonText(reason)}`,
    ),
    [`frozen ${a}/second source ${two}/second is not in a source namespace (--namespaces)`],
  );
});

test("a namespace with 403 freezes with the copies of its sources", async (t) => {
  const scene = await openFastScene(t);
  const { api } = scene;
  const [one, two] = [await scene.namespace("src-1"), await scene.namespace("src-2")];
  const [a, b] = [await scene.namespace("a"), await scene.namespace("b")];
  scene.given = {
    "source-namespaces": scene.name("src-*"),
    "namespace-policy": "opt-out",
    namespaces: [one, two, a, b].join(),
  };
  const to = { "secretcast.io/to": `${a},${b}` };
  await api.createSecret(one, "first", { annotations: to, data: { k: "1" } });
  await api.createSecret(two, "second", { annotations: to, data: { k: "1" } });
  const whole = scene.start();
  for (const place of [a, b])
    for (const name of ["first", "second"]) await scene.holds(place, name, { k: "1" });
  await whole.stop();

  const closed = new Set([two, b]);
  const partial = scene.start({}, async ({ path, query, what }) => {
    const asked = `${path} ${String(query?.["fieldSelector"])}`;
    if ([...closed].some((name) => new RegExp(`[/=]${name}(?:[/ ]|$)`).test(asked)))
      throw new ApiError(what, { kind: "forbidden", status: 403, reason: "Forbidden" });
  });
  const frozen = [await api.secret(a, "second"), await api.secret(b, "first")];
  await api.setData(one, "first", { k: "2" });
  await api.deleteSecret(two, "second");
  await scene.holds(a, "first", { k: "2" });
  assert.ok(partial.ready());
  assert.deepEqual(partial.live(), []);
  const rows = await eventually("a settled plan", () => partial.settled()?.rows);
  assert.deepEqual(
    rows.map(({ verdict, place: { namespace, name } }) => `${verdict} ${namespace}/${name}`),
    [`frozen ${a}/second`],
  );
  assert.deepEqual([await api.secret(a, "second"), await api.secret(b, "first")], frozen);
  const reported = partial.log.filter((line) => line.includes("cannot be read (403)"));
  const kind = `"kind":"${api.kind}"`;
  assert.equal(reported.filter((line) => line.includes(kind)).length, 2, "one line each");

  closed.clear();
  await scene.holds(b, "first", { k: "2" });
  for (const place of [a, b]) await scene.absent(place, "second");
});

test("Namespaces that may be read, but not listed, are served, those created later too", async (t) => {
  const scene = await openFastScene(t);
  const { api, source } = scene;
  const a = await scene.namespace("a");
  const later = scene.name("later");
  const given = { namespaces: `${a},${later}` };
  const to = { "secretcast.io/to": "*" };
  await api.createSecret(source, "s", { annotations: to, data: { k: "1" } });
  let lists = 0;
  const refuseLists: Meddle = async ({ path, what }) => {
    if (path !== "/api/v1/namespaces") return;
    lists++;
    throw new ApiError(what, { kind: "forbidden", status: 403, reason: "Forbidden" });
  };
  const controller = scene.start(given, refuseLists);
  await scene.holds(a, "s", { k: "1" });
  assert.ok(controller.ready());
  assert.deepEqual(controller.live(), []);
  assert.equal(await controller.metric("secretcast_unreadable_namespaces"), 0);
  await scene.namespace("later");
  await scene.holds(later, "s", { k: "1" });
  await api.patchNamespace(a, { annotations: { "secretcast.io/accept": "false" } });
  await scene.absent(a, "s");
  await api.deleteNamespace(later);
  await api.namespaceGone(later);
  await api.patchNamespace(a, { annotations: { "secretcast.io/accept": "true" } });
  await scene.holds(a, "s", { k: "1" });
  assert.ok(lists < 30, `${lists} refused lists of three namespaces`);
  const said = controller.log.filter((line) => line.includes("no right to list and watch"));
  assert.equal(said.length, 1, "said once");
  await controller.stop();

  const once = scene.start({ ...given, once: "true" }, refuseLists);
  assert.equal(await once.ended, "converged");
  await scene.finish(given);
});
