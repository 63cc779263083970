// A page of recipes as a reader uses it: its blocks go in by kubectl and a shell as they stand, on an API
// server that has nothing else of the kind, with a controller under the flags that the page names. The
// server is the sandbox, or under `npm run test:cluster` a real one of the file's own; what the sandbox
// does not serve (Pods, kustomize, other projects' kinds) goes in there alone.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { dump, load, loadAll } from "js-yaml";
import { OBJECT_KINDS } from "../../../src/controller/model/kinds.ts";
import { loadKubeConfig } from "../../../packages/kube/kubeconfig/kubeconfig.ts";
import { createClient } from "../../../packages/kube/rest/client.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { startSandbox } from "../../../packages/sandbox/server.ts";
import { controllerAccount } from "../api-server/account.ts";
import { ownCluster } from "../api-server/cluster.ts";
import { field } from "../../../packages/sandbox/testing/http.ts";
import type { CodeBlock } from "../documents/markdown.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { endsWith } from "./scenario-end.ts";
import { Scene } from "./scene.ts";

const MANIFESTS = fileURLToPath(new URL("../../../manifests", import.meta.url));
const SERVED_BY_THE_SANDBOX = new Set(["Namespace", "Secret", "ConfigMap", "ServiceAccount"]);
/** What a block that needs more than the sandbox says. */
const REAL = /apply -k|rollout/;

/** The namespaces of a page, beside the cluster's own and the controller's. */
export const NAMESPACES_OF_RECIPES: readonly string[] = [
  "team-a",
  "team-b",
  "other",
  "platform",
  "argocd",
  "argocd-team-a",
];

/** A kind of another project: its schema is not ours to check, so that everything goes in. */
export type ForeignKind = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
};

// What the chart's value configMaps brings beside the flag: the rights.
const WITH_CONFIG_MAPS = JSON.stringify({
  resources: ["../manifests"],
  components: ["../manifests/components/config-maps"],
});

/** Everything on the server counts, as nobody else is on it. */
class WholeServer extends Scene {
  override versions(): Promise<ReadonlyMap<string, string>> {
    return this.api.versions(() => true);
  }
}

export class RecipeStage {
  readonly scene: Scene;
  readonly isReal: boolean;
  readonly #folder: string;
  readonly #userKubeconfig: string;

  constructor(scene: Scene, folder: string, userKubeconfig: string) {
    this.scene = scene;
    scene.given = { "source-namespaces": "secretcast" };
    this.isReal = scene.sandbox === undefined;
    this.#folder = folder;
    this.#userKubeconfig = userKubeconfig;
  }

  /** Of the user who types. */
  get kubeconfig(): string {
    return this.#userKubeconfig;
  }

  /** Puts the blocks in, one after the other. */
  async apply(blocks: readonly CodeBlock[]): Promise<void> {
    for (const { language, text } of blocks) {
      const [, file] = /^# (\S+\.yaml)\n/.exec(text) ?? [];
      if (file === "values.yaml") await this.#readValues(text);
      else if (file !== undefined) this.write(file, text);
      else if (language === "yaml") await this.#applyYaml(text);
      else if (language === "sh") {
        if (this.isReal || !REAL.test(text)) await this.shell(text);
      } else throw new Error(`what is to be done with a block of "${language}"?`);
    }
  }

  /** As a reader types it; fails unless it succeeds. Answers with what it printed. */
  async shell(lines: string, input = ""): Promise<string> {
    const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
    const own = { HOME: this.#folder, KUBECONFIG: this.#userKubeconfig };
    const env = { PATH, NODE_COMPILE_CACHE, ...own };
    // The sandbox answers from this very process, which therefore must not wait for the shell.
    const child = spawn("bash", ["-ec", lines], { cwd: this.#folder, env });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => void (stdout += chunk));
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => void (stderr += chunk));
    // A shell may end before it has read what it does not need.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    const code = await new Promise((resolve) => child.on("close", resolve));
    assert.equal(code, 0, `${lines}: ${stderr}`);
    return stdout;
  }

  /** What the chart would make of them for the controller; `sources` is a ConfigMap of its own. */
  async #readValues(text: string): Promise<void> {
    const values: unknown = load(text);
    const flags = Object.entries(field(values, "flags") ?? {}).map(
      ([flag, value]: [string, unknown]) => [flag, Array.isArray(value) ? value.join() : value],
    );
    if (field(values, "configMaps") === true) {
      flags.push(["config-maps", true]);
      this.scene.kinds = OBJECT_KINDS;
      this.write("maps/kustomization.yaml", WITH_CONFIG_MAPS);
      if (this.isReal) await this.shell("kubectl apply -k maps");
    }
    this.scene.given = { ...this.scene.given, ...Object.fromEntries(flags) };
  }

  /** A file beside which the page's commands run. */
  write(file: string, text: string): void {
    const path = join(this.#folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  async #applyYaml(text: string): Promise<void> {
    const taken = loadAll(text).filter(
      (one) => this.isReal || SERVED_BY_THE_SANDBOX.has(String(field(one, "kind"))),
    );
    const input = taken.map((one) => dump(one)).join("---\n");
    if (taken.length > 0) await this.shell("kubectl apply -f -", input);
  }
}

/** A real API server for a page of recipes, with an account for the controller. */
export type RecipeCluster = {
  readonly kubeconfig: string;
  readonly controllerKubeconfig: string;
  readonly stop: () => Promise<void>;
};

export async function recipeCluster(kinds: readonly ForeignKind[]): Promise<RecipeCluster> {
  const cluster = await ownCluster();
  const { kubeconfig, stop } = cluster;
  try {
    const controllerKubeconfig = await controllerAccount(cluster);
    await define(kubeconfig, kinds);
    return { kubeconfig, controllerKubeconfig, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A stage on the real server, on which nothing of the recipe before is left, or on a new sandbox. */
export async function openRecipe(
  t: TestContext,
  cluster: RecipeCluster | undefined,
): Promise<RecipeStage> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "secretcast-recipe-")));
  symlinkSync(MANIFESTS, join(folder, "manifests"));
  const sandbox = cluster ? undefined : await startSandbox({});
  const user = cluster?.kubeconfig ?? join(folder, "kubeconfig");
  if (sandbox) writeFileSync(user, sandbox.kubeconfig());
  const kubeconfig = cluster?.controllerKubeconfig ?? user;
  const [ours, users] = [kubeconfig, user].map((file) => loadKubeConfig({ kubeconfig: file }));
  assert.ok(ours && users);
  const client = createClient(users, { clock: systemClock, userAgent: "secretcast-test" });
  const scene = new WholeServer({ kind: "Secret", client, kubeconfig, kubeConfig: ours, sandbox });
  const stage = new RecipeStage(scene, folder, user);
  endsWith(t, scene);
  t.after(async () => {
    await scene.clear();
    if (!sandbox) await stage.shell(CLEAR);
    await client.close();
    await sandbox?.stop();
    rmSync(folder, { recursive: true });
  });
  const namespaces = ["secretcast", ...NAMESPACES_OF_RECIPES].map((name) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name },
  }));
  if (sandbox) {
    sandbox.load(namespaces);
    return stage;
  }
  await stage.shell(
    "kubectl apply --server-side -f -",
    namespaces.map((one) => dump(one)).join("---\n"),
  );
  await eventually("team-a takes Pods", () =>
    stage.shell("kubectl get serviceaccount default -n team-a").catch(() => false),
  );
  return stage;
}

// Namespaces stay, as one takes five seconds to go.
const CLEAR = `
kubectl delete secrets,pods,deployments --all --all-namespaces
kubectl delete configmaps secretcast-sources -n secretcast --ignore-not-found
kubectl delete configmaps --all-namespaces --field-selector metadata.name=ca-bundle
kubectl label namespaces --all ci-
kubectl annotate namespaces --all secretcast.io/accept-
kubectl get --raw /apis/admissionregistration.k8s.io/v1 | grep -q MutatingAdmissionPolicy || exit 0
kubectl delete mutatingadmissionpolicies,mutatingadmissionpolicybindings --all
`;

/** Makes the real server know other projects' kinds. */
async function define(kubeconfig: string, kinds: readonly ForeignKind[]): Promise<void> {
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  for (const { group, version: name, kind } of kinds) {
    const version = { name, served: true, storage: true, schema: { openAPIV3Schema: schema } };
    const plural = `${kind.toLowerCase()}s`;
    const definition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: "Namespaced", names: { kind, plural }, versions: [version] },
    };
    const given = ["--kubeconfig", kubeconfig];
    const input = JSON.stringify(definition);
    execFileSync("kubectl", ["apply", "-f", "-", ...given], { input });
    const established = ["wait", "--for=condition=Established", `crd/${plural}.${group}`];
    execFileSync("kubectl", [...established, ...given]);
  }
}
