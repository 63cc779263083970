// `helm test` on a real API server: the Pod is let in where Pod Security is restricted, and what it runs
// says of the release's own account that every right is there, or which is not. There is no kubelet: the
// test runs the Pod's command itself, with the Pod's account, and reports the Pod's end.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { V1Pod } from "@kubernetes/client-node";
import { openCluster, ownCluster } from "../support/api-server/cluster.ts";
import { ok } from "../../packages/sandbox/testing/facts/place.ts";
import type { Http } from "../../packages/sandbox/testing/http.ts";
import { placeLiveLease } from "../support/api-server/live-lease.ts";
import { serviceAccountKubeconfig } from "../support/api-server/service-account.ts";
import { Helm, helmMissing, readable } from "../support/programs/helm.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CHART = `${ROOT}manifests/chart`;
const HOME = "chart-test";
const POD = `/api/v1/namespaces/${HOME}/pods/mine-secretcast-test`;
const MERGE = { contentType: "application/merge-patch+json" } as const;

let cluster: Awaited<ReturnType<typeof ownCluster>>;
let helm: Helm;
let http: Http;
before(async () => {
  cluster = await ownCluster();
  helm = new Helm(cluster.kubeconfig);
  http = openCluster(cluster);
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  const body = { metadata: { name: HOME, labels } };
  ok(await http.send("POST", "/api/v1/namespaces", { body }), 201);
});
after(async () => {
  helm.close();
  await http.close();
  await cluster.stop();
});

type Ended = { readonly code: number | null; readonly said: string };

async function run(command: string, words: readonly string[], env = process.env): Promise<Ended> {
  const child = spawn(command, words, { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  const [code] = await once(child, "close");
  return { code: typeof code === "number" ? code : null, said };
}

/** In the kubelet's place: what the Pod's container runs, as the Pod's account, and its end. */
async function runThePod(): Promise<Ended> {
  const found = await eventually("the test's Pod is there", async () => {
    const { status, body } = await http.send("GET", POD);
    return status === 200 && (body as V1Pod);
  });
  const { serviceAccountName: name = "", containers = [] } = found.spec ?? {};
  const kubeconfig = await serviceAccountKubeconfig(cluster, { namespace: HOME, name });
  const args = [...(containers[0]?.args ?? []), "--kubeconfig", kubeconfig];
  const ended = await run(process.execPath, [`${ROOT}bin/secretcast.js`, ...args]);
  const status = { phase: ended.code === 0 ? "Succeeded" : "Failed" };
  ok(await http.send("PATCH", `${POD}/status`, { body: { status }, ...MERGE }), 200);
  return ended;
}

async function helmTest(): Promise<{ readonly pod: Ended; readonly helm: Ended }> {
  const words = ["test", "mine", "--namespace", HOME, "--timeout", "120s"];
  const [said, pod] = await Promise.all([run("helm", words, helm.env), runThePod()]);
  return { helm: said, pod };
}

for (const values of ["configMaps=true,guardrail=true", "flags.namespaces={chart-test,default}"])
  test(
    `helm test passes for a release with ${values}, and takes its Pod along`,
    { skip: helmMissing() ?? false },
    async () => {
      helm.run("install", "mine", CHART, "--namespace", HOME, ...readable("--set", values));
      await placeLiveLease(cluster, HOME, "mine-secretcast");
      const said = await helmTest();
      assert.equal(said.pod.code, 0, said.pod.said);
      assert.match(said.pod.said, /^ok +delete secrets in /m);
      assert.equal(said.helm.code, 0, said.helm.said);
      assert.match(said.helm.said, /^Phase: +Succeeded$/m);
      await eventually("the Pod is gone", async () => (await http.send("GET", POD)).status === 404);
      helm.run("uninstall", "mine", "--namespace", HOME);
    },
  );

test(
  "helm test fails on a right that was removed and names it in its log",
  { skip: helmMissing() ?? false },
  async () => {
    helm.run("install", "mine", CHART, "--namespace", HOME, ...readable());
    const role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/mine-secretcast";
    ok(await http.send("PATCH", role, { body: { rules: [] }, ...MERGE }), 200);
    await placeLiveLease(cluster, HOME, "mine-secretcast");
    const { pod, helm: said } = await helmTest();
    assert.equal(pod.code, 2, pod.said);
    assert.match(pod.said, /^missing +list secrets in every namespace/m);
    assert.equal(said.code, 1);
    assert.equal((await http.send("GET", POD)).status, 200, "it stays, to be looked at");
    helm.run("uninstall", "mine", "--namespace", HOME);
  },
);
