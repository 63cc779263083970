// Values are planted wherever a controller meets one: in sources, copies, unmanaged objects, credentials,
// in what a server says of a refusal, in lines that cannot be read. Then everything that leaves the
// process is searched for them: both outputs at the highest log level, Events, metrics and pages.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { scenario as test, secretsAlone } from "../support/scenes/both-kinds.ts";
import type { AnnotationName } from "../../src/controller/annotations/vocabulary.ts";
import { EVENTS, resourcePath } from "../../packages/kube/rest/resource.ts";
import { eavesdrop, leaks, planted, type Overheard } from "../support/programs/eavesdrop.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import type { Fault, FaultProxy } from "../../packages/kube/testing/fault-proxy.ts";
import {
  kubeConfigFile,
  kubeConfigFor,
  kubeConfigText,
} from "../../packages/kube/testing/kubeconfig-text.ts";
import { proxied } from "../support/scenes/proxied.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";

const APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Values by where they stand; each test plants its own. */
class Values {
  readonly all: string[] = [];

  in(what: string): string {
    const value = planted(what);
    this.all.push(value);
    return value;
  }
}

function says(words: Partial<Record<AnnotationName, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(words).map(([word, value]) => [`secretcast.io/${word}`, value]),
  );
}

/** What kubectl apply leaves on a Secret: its values once more. */
function applied(value: string): Record<string, string> {
  const password = Buffer.from(value).toString("base64");
  return { [APPLIED]: JSON.stringify({ kind: "Secret", data: { password } }) };
}

/** One Secret of each kind that a controller meets. */
async function plant(scene: Scene, values: Values): Promise<void> {
  const { api, source } = scene;
  const crew = await scene.namespace("crew-a");
  const taken = await scene.namespace("crew-taken");
  const to = scene.name("crew-*");
  const make = async (
    namespace: string,
    name: string,
    words: Partial<Record<AnnotationName, string>>,
  ) => {
    const password = values.in(name);
    const annotations = { ...says(words), ...applied(values.in(`${name}-applied`)) };
    await api.createSecret(namespace, name, { annotations, data: { password } });
  };
  await make(source, "registry", { to, allow: to });
  for (const at of [0, 1, 2, 3]) await make(source, `more-${at}`, { to });
  await make(source, "refused", { to: "", name: "No_Name" });
  await make(crew, "pulled", { from: `${source}/registry` });
  await make(crew, "pulled-in-vain", { from: `${source}/nothing` });
  await make(taken, "registry", {});
  await make(taken, "forged", { source: `${source}/registry`, "placed-at": `${taken}/forged` });
}

/** Every way in which a server may quote what it was sent. */
function quoting(values: Values): readonly Fault[] {
  const message = `Secret "registry" is invalid: data[password]: Invalid value: "${values.in("status")}"`;
  const cause = { field: "data[password]", message, reason: "FieldValueInvalid" };
  const status = (code: number, reason: string): Fault => {
    const body = { kind: "Status", code, reason, message, details: { causes: [cause] } };
    return { kind: "answer", status: code, body };
  };
  const page = `<html><title>${values.in("page")}</title></html>`;
  return [
    status(422, "Invalid"),
    status(409, "Conflict"),
    status(500, values.in("reason")),
    status(403, "Forbidden"),
    { kind: "answer", status: 502, body: page, headers: { "content-type": "text/html" } },
    { kind: "answer", status: 200, body: page, headers: { "content-type": "text/html" } },
    { kind: "answer", status: 429, body: message, headers: { "retry-after": values.in("after") } },
    { kind: "answer", status: 200, body: `{"data": "${values.in("half")}` },
  ];
}

/** The first list meets the last of the faults, the first writes of Secrets one each. */
function meet({ collection }: Scene, proxy: FaultProxy, faults: readonly Fault[]): () => boolean {
  const left = [...faults];
  let listed = false;
  proxy.rule = ({ method, path, kind }) => {
    if (!path.includes(collection)) return undefined;
    if (method !== "GET") return left.shift();
    if (kind !== "stream" || listed) return undefined;
    listed = true;
    return faults.at(-1);
  };
  return () => left.length === 0;
}

function run(t: TestContext, scene: Scene, kubeconfig: string): Overheard {
  const flags = { ...scene.flags(), kubeconfig, "log-format": "json", "delete-hold": "0" };
  return eavesdrop(t, [
    "run",
    ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
  ]);
}

async function copies(scene: Scene): Promise<number> {
  const found = await scene.api.secrets(scene.name("crew-a"));
  return found.filter(({ metadata }) => "secretcast.io/source" in (metadata.annotations ?? {}))
    .length;
}

async function eventsOf(scene: Scene): Promise<string> {
  const path = resourcePath(EVENTS);
  const list = await scene.api.client.request<{ items: readonly unknown[] }>({
    method: "GET",
    path,
    what: "list events",
  });
  return list.items.map((event) => JSON.stringify(event)).join("\n");
}

test("no log line, Event, metric or page has a value", async (t) => {
  const scene = await openScene(t);
  const values = new Values();
  await plant(scene, values);
  const proxy = await proxied(t, scene);
  const met = meet(scene, proxy, quoting(values));
  const child = run(t, scene, kubeConfigFile(t, scene.access));
  const crew = scene.name("crew-a");
  const copied = async (name: string, value: string): Promise<void> => {
    await scene.api.setData(scene.source, name, { password: value });
    await eventually(
      `${name} is copied`,
      async () => (await scene.api.secret(crew, name))?.data?.["password"] === value,
      30_000,
    );
  };
  await copied("registry", values.in("update"));
  await eventually("every fault was met", met, 30_000);
  proxy.inject(`{"type":"MODIFIED","object":{"data":{"a":"${values.in("cut-line")}\n`);
  const error = { kind: "Status", code: 500, reason: "InternalError", message: values.in("error") };
  proxy.inject(`${JSON.stringify({ type: "ERROR", object: error })}\n`);
  await copied("more-0", values.in("later"));
  await scene.api.setData(crew, "registry", { password: values.in("drift") });
  await scene.api.annotate(scene.source, "more-0", says({ to: "elsewhere" }));
  for (const namespace of [crew, scene.name("crew-taken")]) await scene.absent(namespace, "more-0");
  const heard = `${child.text()}${await child.pages()}${await eventsOf(scene)}`;
  for (const word of ["Refused", "Conflict", "will try again", "written", "secretcast_copies"])
    assert.ok(heard.includes(word), `"${word}" was heard`);
  assert.match(heard, /secretcast_write_failures_total\{cause="invalid"\} [1-9]/);
  assert.deepEqual(leaks(heard, values.all), []);
  assert.equal(await child.stop(), 0);
  assert.deepEqual(leaks(child.text(), values.all), []);
});

test("credentials stay inside, and so does what a failing credential plugin prints", async (t) => {
  const scene = await openScene(t);
  const values = new Values();
  await plant(scene, values);
  const proxy = await proxied(t, scene);
  scene.isFinished = true;
  const kubeconfig = withPlugin(kubeConfigFile(t, scene.access), proxy.url, values);
  const failing = run(t, scene, kubeconfig);
  assert.equal(await failing.ended, 1);
  assert.match(failing.text(), /^secretcast: cannot reach the API server/m);
  const child = run(t, scene, kubeconfig);
  await eventually("it has copied", () => copies(scene).then((count) => count > 0), 30_000);
  // The token is refused for a while, by a server that quotes it.
  const body = { kind: "Status", code: 401, message: `"${values.all.at(-1)}" is no good` };
  proxy.rule = () => ({ kind: "answer", status: 401, body });
  proxy.resetAll();
  await eventually("it is told", () => child.text().includes("401 Unauthorized"), 30_000);
  proxy.rule = () => undefined;
  const heard = `${failing.text()}${child.text()}${await child.pages()}${await eventsOf(scene)}`;
  assert.deepEqual(leaks(heard, values.all), []);
});

test("the heap holds no value of a Secret that is none of the controller's business", async (t) => {
  const scene = await openScene(t);
  const [own, theirs, late, drift] = [
    planted("own"),
    planted("theirs"),
    planted("late"),
    planted("drift"),
  ];
  const crew = await scene.namespace("crew-a");
  const taken = await scene.namespace("crew-taken");
  const unmanaged = (namespace: string, name: string, value: string): Promise<void> =>
    scene.unmanaged(namespace, name, { data: { value }, annotations: applied(value) });
  await unmanaged(crew, "own", theirs);
  await unmanaged(taken, "registry", theirs);
  const annotations = says({ to: scene.name("crew-*") });
  await scene.api.createSecret(scene.source, "registry", { annotations, data: { own } });
  const child = run(t, scene, scene.kubeconfig);
  await eventually("it is copied", () => scene.api.secret(crew, "registry"), 30_000);
  await scene.api.setData(crew, "registry", { own: drift });
  await unmanaged(crew, "late", late);
  await scene.holds(crew, "registry", { own });
  const heap = await child.heap();
  assert.deepEqual(
    leaks(heap, [own]),
    [`${own} as ${scene.api.kind === "Secret" ? "base64" : "plain text"}`],
    "what a source holds is seen",
  );
  assert.deepEqual(leaks(heap, [theirs, late, drift]), []);
  assert.equal(await child.stop(), 0);
});

secretsAlone("the demonstration prints no value", "it has no others", async (t) => {
  const child = eavesdrop(t, ["sandbox", "--once"]);
  assert.equal(await child.ended, 0);
  assert.match(child.text(), /copied/);
  const values = ["not-a-real-password", "ZXhhbXBsZTpub3QtYS1yZWFsLXBhc3N3b3Jk"];
  assert.deepEqual(leaks(child.text(), values), []);
});

/** A plugin that fails at first and says why with a secret, and then hands out a token. */
function withPlugin(file: string, server: string, values: Values): string {
  const script = join(dirname(file), "plugin.sh");
  const [stderr, stdout, token] = [values.in("stderr"), values.in("stdout"), values.in("token")];
  const credential = {
    kind: "ExecCredential",
    apiVersion: "client.authentication.k8s.io/v1",
    status: { token },
  };
  writeFileSync(
    script,
    `#!/bin/sh
if [ ! -e "$0.once" ]; then touch "$0.once"; echo "${stderr}" >&2; echo "${stdout}"; exit 1; fi
echo '${JSON.stringify(credential)}'
`,
    { mode: 0o700 },
  );
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: script,
    interactiveMode: "Never",
  };
  const config = kubeConfigFor(server, { exec });
  writeFileSync(file, kubeConfigText(config));
  return file;
}
