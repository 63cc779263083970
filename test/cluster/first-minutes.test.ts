// An operator's first minutes, on a real API server, by the lines of the README and of the chart's own
// notes: install, look, a Secret, the guards, an upgrade, and away again. No node runs here: the
// controller is the program beside it, and what needs a pod (`helm test`) is not asked for.
import { placeLiveLease } from "../support/api-server/live-lease.ts";
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { ownCluster } from "../support/api-server/cluster.ts";
import { folderOf } from "../../packages/kube/testing/folder.ts";
import { Helm, helmMissing } from "../support/programs/helm.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = `${process.execPath} ${ROOT}bin/secretcast.js`;

/** Undefined: the test was skipped, for want of Helm. */
async function openStage(t: TestContext) {
  const missing = helmMissing();
  if (missing !== undefined) return t.skip(missing);
  const cluster = await ownCluster();
  t.after(() => cluster.stop());
  const helm = new Helm(cluster.kubeconfig);
  t.after(() => helm.close());
  return { cluster, helm };
}

/** The last line of the README's installation that begins so. */
function installLine(start: string): string {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const section = readme.slice(readme.indexOf("## Install"), readme.indexOf("## How it works"));
  const line = section.split("\n").findLast((each) => each.startsWith(start));
  return line?.replaceAll("REGISTRY", "registry.example") ?? assert.fail(`no line ${start}`);
}

/** The four lines for kind, and the one for minikube. */
function quickStart(): readonly [readonly string[], string] {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const [, block = "", minikube = ""] =
    /On a new kind cluster[^`]*```sh\n([^`]*)```[^`]*`([^`]*)`/.exec(readme) ?? [];
  return [block.trimEnd().split("\n"), minikube];
}

test("the quick start on kind and minikube installs the image that it builds", async (t) => {
  const stage = await openStage(t);
  if (!stage) return;
  const { helm } = stage;
  // They write down what they are asked for. The cluster that `kind create` would make is the one of this test.
  const standIn = `#!/bin/sh\necho "\${0##*/} $*" >> "$LOG"\n`;
  const folder = folderOf(t, {
    "bin/docker": standIn,
    "bin/kind": standIn,
    "bin/minikube": standIn,
  });
  for (const name of ["docker", "kind", "minikube"]) chmodSync(join(folder, "bin", name), 0o755);
  const env = { ...helm.env, PATH: `${folder}/bin:${helm.env["PATH"]}`, LOG: join(folder, "log") };
  const [[build = "", load = "", install = "", check = ""], minikube] = quickStart();
  for (const line of [build, load, minikube, install])
    execFileSync("bash", ["-ec", line], { cwd: ROOT, env, stdio: "ignore" });
  assert.deepEqual(readFileSync(env.LOG, "utf8").trimEnd().split("\n"), [
    "docker build -t secretcast:dev .",
    "kind create cluster",
    "kind load docker-image secretcast:dev",
    "minikube start",
    "minikube image load secretcast:dev",
  ]);
  const container = "{.spec.template.spec.containers[0]";
  const image = `${container}.image} ${container}.imagePullPolicy}`;
  const words = ["get", "deployment", "secretcast", "-n", "secretcast", "-o", `jsonpath=${image}`];
  // What is loaded is not pulled.
  assert.equal(
    execFileSync("kubectl", words, { env, encoding: "utf8" }),
    "secretcast:dev IfNotPresent",
  );
  assert.equal(check, "helm test secretcast -n secretcast");
});

test("the README's lines install, guard, upgrade and remove, and the copies stay", async (t) => {
  const stage = await openStage(t);
  if (!stage) return;
  const { cluster, helm } = stage;
  const shell = (line: string, ...codes: readonly number[]): string => {
    const options = { cwd: ROOT, env: helm.env, encoding: "utf8" } as const;
    const { status, stdout, stderr } = spawnSync("bash", ["-c", line], options);
    assert.ok([0, ...codes].includes(status ?? -1), `${line}: ${stdout}${stderr}`);
    return stdout + stderr;
  };

  const notes = shell(installLine("helm install"));
  assert.match(notes, /secretcast \S+ is installed in namespace secretcast/);
  assert.match(
    shell("kubectl get deployment secretcast -n secretcast -o wide"),
    /registry\.example\/secretcast:/,
  );
  // There is no kubelet, so no replica leads by itself.
  const stopLeading = await placeLiveLease(cluster);
  const check = `${PROGRAM} check --as system:serviceaccount:secretcast:secretcast`;
  const asAccount = shell(check);
  assert.doesNotMatch(asAccount, /^missing /m);
  // The account may not read policies. Everything except the rights is read as the user.
  assert.match(asAccount, /^ok +guardrail +secretcast-guardrail is of /m);

  shell(installLine("kubectl apply -f manifests/example"));
  shell(`${PROGRAM} plan`, 2);
  await stopLeading();
  shell(`${PROGRAM} run --once --log-level warn`);
  await placeLiveLease(cluster);
  assert.match(shell("kubectl get secret registry -n team-a"), /dockerconfigjson/);
  assert.match(shell(`${PROGRAM} status`), /all current/);

  const [guards = ""] = notes.match(/helm upgrade .*guardrail=true.*/) ?? [];
  shell(guards.replace("CHART", "manifests/chart"));
  assert.match(shell(`${PROGRAM} check`), /^ok +guardrail +- +secretcast-guardrail is of /m);
  const versions = "kubectl get secrets -A -l app.kubernetes.io/managed-by=secretcast -o name";
  const before = shell(versions);
  shell(
    "helm upgrade secretcast manifests/chart -n secretcast --reset-then-reuse-values --set replicaCount=3",
  );
  assert.match(shell(`${PROGRAM} plan`), /nothing to do/);

  shell("helm uninstall secretcast -n secretcast");
  assert.equal(shell(versions), before);
  assert.match(
    shell("kubectl get validatingadmissionpolicies -l app.kubernetes.io/name=secretcast"),
    /No resources found/,
  );
});
