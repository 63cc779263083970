// `secretcast/kube` and its examples as a user has them: the packed tarball in an empty TypeScript
// project, type-checked as strictly as there is, each example run on each Node that the package says it
// runs on, against the sandbox.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { loadAll } from "js-yaml";
import { startSandbox } from "../packages/sandbox/server.ts";
import { openHttp } from "../packages/sandbox/testing/http.ts";
import { startExample } from "./support/programs/example-process.ts";
import type { ExampleName, ExampleProcess } from "./support/programs/example-process.ts";
import {
  allowedNodes,
  compileProject,
  configureProject,
  installPacked,
  readManifest,
} from "./support/programs/packed-project.ts";
import { folderOf } from "../packages/kube/testing/folder.ts";

const EXAMPLES = join(import.meta.dirname, "../examples");
const folder = folderOf({ after });

let project = "";
let nodes: Readonly<Record<string, string>> = {};
before(() => {
  const { devDependencies } = readManifest();
  const needed = ["typescript", "@types/node"].map((name) => `${name}@${devDependencies[name]}`);
  project = installPacked(folder, ...needed);
  cpSync(EXAMPLES, project, { recursive: true });
  // What the guide and the READMEs of the packages show is right by its types too.
  const guide = ["docs/kube.md", "packages/kube/README.md", "packages/sandbox/README.md"]
    .map((page) => readFileSync(join(EXAMPLES, "..", page), "utf8"))
    .join("\n");
  for (const [at, [, code = ""]] of [...guide.matchAll(/^```ts\n(.*?)^```$/gms)].entries())
    writeFileSync(join(project, `guide-${at}.ts`), code);
  // Our declarations are checked too.
  configureProject(project, { skipLibCheck: false });
  nodes = allowedNodes(folder);
});

test("the guide and every example compile with only the package installed", () => {
  assert.ok(existsSync(join(project, "guide-3.ts")));
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

// What each does is shown on a real API server, from its sources.
const EXAMPLES_BY_WORKERS = {
  "pod-logger": { workers: 1, words: [] },
  "service-per-deployment": { workers: 2, words: [] },
  notifier: { workers: 2, words: ["http://127.0.0.1:9/", "Pod"] },
  icecream: { workers: 2, words: [] },
} as const satisfies Readonly<Record<ExampleName, object>>;

test("every example handles a Pod's life on each Node and ends in order", async (t) => {
  const [definition] = loadAll(readFileSync(join(EXAMPLES, "icecream.yaml"), "utf8"));
  for (const [number, bin] of Object.entries(nodes))
    await t.test(`Node ${number}`, async (inner) => {
      const sandbox = await startSandbox({ shallowKinds: true });
      inner.after(() => sandbox.stop());
      const kubeconfig = join(folder, `kubeconfig-${number}`);
      writeFileSync(kubeconfig, sandbox.kubeconfig());
      const http = openHttp({ url: sandbox.url });
      inner.after(() => http.close());
      const send = async (method: "POST" | "PATCH" | "DELETE", path: string, body?: unknown) => {
        const contentType = "application/merge-patch+json";
        const options = method === "PATCH" ? { body, contentType } : { body };
        const answer = await http.send(method, path, body === undefined ? {} : options);
        assert.ok(answer.status < 300, JSON.stringify(answer.body));
      };
      await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
      const start = async (name: ExampleName): Promise<ExampleProcess> => {
        const { workers, words } = EXAMPLES_BY_WORKERS[name];
        const node = join(bin, "node");
        const example = startExample(inner, { name, kubeconfig, words, node, folder: project });
        await example.wrote(`${name}: starting ${workers} workers`);
        return example;
      };
      await start("service-per-deployment");
      await start("notifier");
      await start("icecream");
      const { wrote } = await start("pod-logger");
      const pods = "/api/v1/namespaces/default/pods";
      await send("POST", pods, { metadata: { name: "kuard" }, spec: { nodeName: "node-1" } });
      await wrote("Pod default/kuard is Pending on node-1");
      await send("PATCH", `${pods}/kuard/status`, { status: { phase: "Running" } });
      await wrote("Pod default/kuard is Running on node-1");
      await send("DELETE", `${pods}/kuard`);
      await wrote("Pod default/kuard is gone");
    });
});
