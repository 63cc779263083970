// `secretcast/kube` and its examples as a stranger has them: the packed tarball in an empty TypeScript
// project, type-checked as strictly as there is, each example run on each Node that the package says it
// runs on, against the sandbox.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { after, before, test } from "node:test";
import type { TestContext } from "node:test";
import { loadAll } from "js-yaml";
import { startSandbox } from "../src/sandbox/server.ts";
import { field, openHttp } from "./support/api-server/http.ts";
import { startExample } from "./support/programs/example-process.ts";
import type { ExampleName, ExampleProcess } from "./support/programs/example-process.ts";
import {
  allowedNodes,
  compileProject,
  installPacked,
  readManifest,
} from "./support/programs/packed-project.ts";
import { eventually } from "./support/time/eventually.ts";
import { folderOf } from "./support/programs/folder.ts";

const EXAMPLES = join(import.meta.dirname, "../examples");
const folder = folderOf({ after });

const STRICTEST = {
  target: "es2024",
  lib: ["es2024"],
  module: "nodenext",
  types: ["node"],
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  // Ours are checked too.
  skipLibCheck: false,
};

let project = "";
let nodes: Readonly<Record<string, string>> = {};
before(() => {
  const { devDependencies } = readManifest();
  const needed = ["typescript", "@types/node"].map((name) => `${name}@${devDependencies[name]}`);
  project = installPacked(folder, ...needed);
  cpSync(EXAMPLES, project, { recursive: true });
  // What the guide shows is right by its types too.
  const guide = readFileSync(join(EXAMPLES, "../docs/kube.md"), "utf8");
  for (const [at, [, code = ""]] of [...guide.matchAll(/^```ts\n(.*?)^```$/gms)].entries())
    writeFileSync(join(project, `guide-${at}.ts`), code);
  const config = { compilerOptions: STRICTEST, include: ["*.ts"] };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
  nodes = allowedNodes(folder);
});

test("the guide and every example are right by their types where only the package is installed", () => {
  assert.ok(existsSync(join(project, "guide-1.ts")));
  const { status, stdout } = compileProject(project);
  assert.equal(status, 0, stdout);
});

test("a wrong use of the library is an error of the compiler", (t) => {
  const file = join(project, "wrong.ts");
  t.after(() => rmSync(file));
  const wrong =
    'import { WorkQueue } from "secretcast/kube";\nnew WorkQueue<string>({ name: 1 });\n';
  writeFileSync(file, wrong);
  const { status, stdout } = compileProject(project);
  assert.notEqual(status, 0);
  assert.match(stdout, /^wrong\.ts\(2,\d+\): error TS2322/m);
});

test("what is not exported cannot be imported", () => {
  const script =
    'import("secretcast/dist/kube/time/heap.js").catch(({ code }) => console.log(code))';
  const { stdout } = spawnSync(process.execPath, ["--eval", script], {
    cwd: project,
    encoding: "utf8",
  });
  assert.equal(stdout.trim(), "ERR_PACKAGE_PATH_NOT_EXPORTED");
});

type Method = "GET" | "POST" | "PATCH" | "DELETE";
type Play = {
  readonly start: (name: ExampleName, ...words: readonly string[]) => ExampleProcess;
  readonly send: (method: Method, path: string, body?: unknown) => Promise<unknown>;
};

async function onEachNode(t: TestContext, play: (t: TestContext, on: Play) => Promise<void>) {
  for (const [number, bin] of Object.entries(nodes))
    await t.test(`Node ${number}`, async (inner) => {
      const sandbox = await startSandbox({ shallowKinds: true });
      inner.after(() => sandbox.stop());
      const kubeconfig = join(folder, `kubeconfig-${number}`);
      writeFileSync(kubeconfig, sandbox.kubeconfig());
      const http = openHttp({ url: sandbox.url });
      inner.after(() => http.close());
      const node = join(bin, "node");
      await play(inner, {
        start: (name, ...words) =>
          startExample(inner, { name, kubeconfig, words, node, folder: project }),
        send: async (method, path, body) => {
          const contentType = "application/merge-patch+json";
          const options = method === "PATCH" ? { body, contentType } : { body };
          const answer = await http.send(method, path, body === undefined ? {} : options);
          assert.ok(answer.status < 300 || answer.status === 404, JSON.stringify(answer.body));
          return answer.body;
        },
      });
    });
}

const PODS = "/api/v1/namespaces/default/pods";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const SERVICES = "/api/v1/namespaces/default/services";
const ICECREAMS = "/apis/example.com/v1alpha1/namespaces/default/icecreams";

test("pod-logger writes of a Pod that came, ran and went", async (t) => {
  await onEachNode(t, async (_, { start, send }) => {
    const { wrote } = start("pod-logger");
    await wrote("pod-logger: starting 1 workers");
    await send("POST", PODS, { metadata: { name: "kuard" }, spec: { nodeName: "node-1" } });
    await wrote("Pod default/kuard is Pending on node-1");
    await send("PATCH", `${PODS}/kuard/status`, { status: { phase: "Running" } });
    await wrote("Pod default/kuard is Running on node-1");
    await send("DELETE", `${PODS}/kuard`);
    await wrote("Pod default/kuard is gone");
  });
});

test("service-per-deployment keeps a Service while it is asked for, and no other's", async (t) => {
  await onEachNode(t, async (_, { start, send }) => {
    const port = async (name: string) =>
      field(await send("GET", `${SERVICES}/${name}`), "spec", "ports", 0, "port");
    const deploy = (name: string, annotations: object) => ({
      metadata: { name, annotations },
      spec: { selector: { matchLabels: { app: name } } },
    });
    await send("POST", SERVICES, { metadata: { name: "taken" }, spec: { ports: [{ port: 1 }] } });
    const { wrote } = start("service-per-deployment");
    await send("POST", DEPLOYMENTS, deploy("taken", { "example.com/service-port": "80" }));
    await send("POST", DEPLOYMENTS, deploy("web", { "example.com/service-port": "8080" }));
    await wrote("created service default/web");
    assert.equal(await port("web"), 8080);
    await send("PATCH", `${SERVICES}/web`, { spec: { ports: [{ port: 9 }] } });
    await eventually("an edit is taken back", async () => (await port("web")) === 8080);
    const without = { metadata: { annotations: { "example.com/service-port": null } } };
    await send("PATCH", `${DEPLOYMENTS}/web`, without);
    await wrote("deleted service default/web");
    assert.equal(await port("web"), undefined);
    assert.equal(await port("taken"), 1);
  });
});

test("notifier tells a webhook of what happens from now on, and tries again", async (t) => {
  await onEachNode(t, async (inner, { start, send }) => {
    const told: string[] = [];
    let failures = 2;
    const receiver = createServer((request, response) => {
      void json(request).then((notice) => {
        const fails = failures-- > 0;
        const words = ["action", "kind", "namespace", "name"].map((word) => field(notice, word));
        if (!fails) told.push(words.join(" "));
        response.writeHead(fails ? 503 : 204).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    inner.after(() => receiver.close());
    const address = receiver.address();
    assert.ok(address !== null && typeof address === "object");
    await send("POST", PODS, { metadata: { name: "old" }, spec: {} });
    const { wrote } = start("notifier", `http://127.0.0.1:${address.port}/`, "Pod", "Deployment");
    await wrote("notifier: starting 2 workers");
    await send("POST", PODS, { metadata: { name: "new" }, spec: {} });
    await wrote("Error: webhook answered 503, again later");
    await eventually("the third try", () => told.includes("created Pod default new"));
    await send("DELETE", `${PODS}/old`);
    await eventually("an end", () => told.includes("deleted Pod default old"));
    assert.equal(told.includes("created Pod default old"), false);
  });
});

test("icecream leads, makes its Deployment, says where its Pods are, and warns of a stranger's", async (t) => {
  const [definition] = loadAll(readFileSync(join(EXAMPLES, "icecream.yaml"), "utf8"));
  await onEachNode(t, async (_, { start, send }) => {
    await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    const order = (name: string, deploymentName: string, replicas?: number) =>
      send("POST", ICECREAMS, { metadata: { name }, spec: { deploymentName, replicas } });
    await send("POST", DEPLOYMENTS, { metadata: { name: "parlour" }, spec: { replicas: 7 } });
    const { wrote } = start("icecream");
    await wrote("icecream: starting 2 workers");
    const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases/icecream-controller";
    assert.ok(field(await send("GET", leases), "spec", "holderIdentity"));

    await order("vanilla", "stand", 2);
    await wrote("Successfully synced 'default/vanilla'");
    const stand = (): Promise<unknown> => send("GET", `${DEPLOYMENTS}/stand`);
    assert.equal(field(await stand(), "metadata", "ownerReferences", 0, "name"), "vanilla");
    await send("PATCH", `${DEPLOYMENTS}/stand`, { spec: { replicas: 5 } });
    const two = async () => field(await stand(), "spec", "replicas") === 2;
    await eventually("the scaling is taken back", two);
    const labels = { "example.com/icecream": "vanilla" };
    await send("POST", PODS, { metadata: { name: "a", labels }, spec: { nodeName: "node-1" } });
    await send("PATCH", `${DEPLOYMENTS}/stand/status`, { status: { availableReplicas: 1 } });
    const status = { availableReplicas: 1, nodes: ["node-1"] };
    await eventually("the status", async () => {
      const seen = field(await send("GET", `${ICECREAMS}/vanilla`), "status");
      return JSON.stringify(seen) === JSON.stringify(status);
    });

    await order("lemon", "parlour");
    const events = "/apis/events.k8s.io/v1/namespaces/default/events";
    const note = "Deployment parlour exists and is not managed by default/lemon";
    await eventually("a warning", async () =>
      JSON.stringify(await send("GET", events)).includes(note),
    );
    assert.equal(field(await send("GET", `${DEPLOYMENTS}/parlour`), "spec", "replicas"), 7);
  });
});
