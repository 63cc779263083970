// `secretcast inventory` and the API server's own managedFields, on the sandbox and on a real API server: what sets the
// time of a value, and what does not.
import { placeLiveLease } from "../support/api-server/live-lease.ts";
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { commandLine, type Said } from "../support/programs/command-line.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

type Value = {
  readonly known: string;
  readonly notBefore?: string;
  readonly notAfter?: string;
  readonly manager?: string;
};
type Item = {
  readonly name: string;
  readonly type?: string;
  readonly keys: readonly string[];
  readonly unnamedKeys?: number;
  readonly value: Value;
  readonly lastCopyAt?: string;
  readonly copies: readonly { readonly namespace: string; readonly writtenAt?: string }[];
};

function run(scene: Scene, ...words: readonly string[]): Promise<Said> {
  const from = ["--source-namespaces", scene.source, "-n", scene.source];
  return commandLine(["inventory", ...from, "--kubeconfig", scene.kubeconfig, ...words]);
}

async function itemOf(scene: Scene, name: string): Promise<Item> {
  const { stdout, stderr } = await run(scene, "-o", "json");
  const { items }: { readonly items: readonly Item[] } = JSON.parse(stdout);
  return items.find((item) => item.name === name) ?? assert.fail(`${name}: ${stderr}`);
}

const VALUES = ["hunter2", "correct-horse", "battery-staple"];

/** A change as a named program makes it. */
async function change(
  scene: Scene,
  name: string,
  manager: string,
  body: object,
  apply = false,
): Promise<void> {
  await scene.api.client.request({
    method: "PATCH",
    path: `/api/v1/namespaces/${scene.source}/secrets/${name}`,
    query: { fieldManager: manager },
    body: apply
      ? { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: scene.source }, ...body }
      : body,
    contentType: apply ? "application/apply-patch+yaml" : "application/merge-patch+json",
    what: "change a secret",
  });
}

async function source(t: TestContext, data: Record<string, string>): Promise<Scene> {
  const scene = await openScene(t);
  const annotations = { "secretcast.io/to": scene.name("team-*") };
  await scene.api.createSecret(scene.source, "s", { annotations, data });
  return scene;
}

/** Times of managers have whole seconds: the next change is in another one. */
async function nextSecond(scene: Scene, name: string, since: string): Promise<void> {
  await eventually("another second", async () => {
    await change(scene, name, "clock", {
      metadata: { labels: { tick: `${performance.now()}`.replace(".", "") } },
    });
    const { stdout } = await run(scene, "-o", "json");
    const asked = (await scene.api.secret(scene.source, name))?.metadata as unknown as {
      readonly managedFields?: readonly { readonly manager: string; readonly time: string }[];
    };
    const clock = asked.managedFields?.find(({ manager }) => manager === "clock");
    return (
      stdout !== "" && clock !== undefined && Date.parse(clock.time) > Date.parse(since) + 1000
    );
  });
}

test("a label edited by another program does not make the value younger, new data do", async (t) => {
  const scene = await source(t, { password: "hunter2" });
  const first = await itemOf(scene, "s");
  assert.equal(first.value.known, "exact");
  assert.deepEqual(
    [first.keys, first.type, first.unnamedKeys],
    [["password"], "Opaque", undefined],
  );
  await nextSecond(scene, "s", first.value.notAfter ?? "");
  assert.deepEqual((await itemOf(scene, "s")).value.notAfter, first.value.notAfter);
  await change(scene, "s", "rotator", { data: { password: "Y29ycmVjdC1ob3JzZQ==" } });
  const rotated = (await itemOf(scene, "s")).value;
  assert.deepEqual([rotated.known, rotated.manager], ["exact", "rotator"]);
  assert.ok(Date.parse(rotated.notAfter ?? "") > Date.parse(first.value.notAfter ?? "") + 1000);
});

test("a label of the manager that set the value gives a range of times", async (t) => {
  const scene = await source(t, { password: "hunter2" });
  const first = await itemOf(scene, "s");
  await nextSecond(scene, "s", first.value.notAfter ?? "");
  const manager = first.value.manager ?? "";
  await change(scene, "s", manager, { metadata: { labels: { edited: "yes" } } });
  const { value } = await itemOf(scene, "s");
  assert.equal(value.known, "range");
  assert.equal(value.notBefore, first.value.notBefore);
  assert.ok(Date.parse(value.notAfter ?? "") > Date.parse(value.notBefore ?? ""));
  const remove = await placeLiveLease(scene.api);
  const { code, stderr } = await run(scene, "--max-age", "1s");
  await remove();
  assert.equal(code, 2, "an edit of a label hides no old value");
  assert.match(stderr, /^value (that may be )?older than the limit/m);
});

test("an apply of stringData counts as a change of the value", async (t) => {
  const scene = await source(t, { password: "hunter2" });
  const first = await itemOf(scene, "s");
  await nextSecond(scene, "s", first.value.notAfter ?? "");
  await change(scene, "s", "applier", { stringData: { token: "battery-staple" } }, true);
  const { value } = await itemOf(scene, "s");
  assert.ok(
    value.notAfter === undefined ||
      Date.parse(value.notAfter) > Date.parse(first.value.notAfter ?? ""),
    JSON.stringify(value),
  );
});

test("copies have the time of their last data, and no value is printed", async (t) => {
  const scene = await source(t, { password: "hunter2", token: "correct-horse" });
  const [a, b] = [await scene.namespace("team-a"), await scene.namespace("team-b")];
  const running = scene.start();
  for (const namespace of [a, b])
    await scene.holds(namespace, "s", { password: "hunter2", token: "correct-horse" });
  const first = await itemOf(scene, "s");
  assert.deepEqual(
    first.copies.map(({ namespace }) => namespace),
    [a, b],
  );
  for (const { writtenAt } of first.copies)
    assert.ok(writtenAt && writtenAt >= (first.value.notBefore ?? ""));
  const times = first.copies.map(({ writtenAt = "" }) => Date.parse(writtenAt));
  assert.equal(Date.parse(first.lastCopyAt ?? ""), Math.max(...times));
  await running.stop();
  const remove = await placeLiveLease(scene.api);
  for (const form of ["json", "csv", "wide", "yaml"]) {
    const { stdout, stderr, code } = await run(scene, "-o", form, "--certificates");
    assert.equal(code, 0, stderr);
    for (const value of VALUES)
      for (const text of [value, Buffer.from(value).toString("base64")])
        assert.ok(!(stdout + stderr).includes(text), `${form} shows a value`);
  }
  await remove();
});
