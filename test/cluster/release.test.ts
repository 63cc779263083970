// What `npm run release -- --dry-run` leaves, installed from its folder on a real API server: the chart out of
// a registry that its OCI layout was put into, and the one YAML; each with the program of the packed npm
// package, run as its Deployment says and with its account.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { V1Deployment } from "@kubernetes/client-node";
import { openCluster, ownCluster } from "../support/api-server/cluster.ts";
import { ok } from "../../packages/sandbox/testing/facts/place.ts";
import { field, type Http } from "../../packages/sandbox/testing/http.ts";
import { quietKubectl } from "../support/api-server/kubectl.ts";
import { serviceAccountKubeconfig } from "../support/api-server/service-account.ts";
import { Helm, helmMissing, readable } from "../support/programs/helm.ts";
import { digestOf, OciRegistry, readLayout } from "../support/programs/oci-registry.ts";
import { readManifest } from "../support/programs/packed-project.ts";
import { KEEP_LINKS, linkProductionPackages } from "../support/programs/production-packages.ts";
import { releaseFolder } from "../support/programs/release-folder.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const { version } = readManifest();
const REPOSITORY = "charts/secretcast";
const options = { skip: helmMissing() ?? false };
const release = releaseFolder({ after });
const chart = join(release, "chart", `secretcast-${version}.tgz`);
const layout = join(release, "chart/oci");

let cluster: Awaited<ReturnType<typeof ownCluster>>;
let helm: Helm;
let http: Http;
let program: string;
const folder = mkdtempSync(join(tmpdir(), "secretcast-from-release-"));
before(async () => {
  cluster = await ownCluster();
  helm = new Helm(cluster.kubeconfig);
  http = openCluster(cluster);
  program = unpacked();
});
after(async () => {
  rmSync(folder, { recursive: true, force: true });
  helm.close();
  await http.close();
  await cluster.stop();
});

/** The npm package of the folder, beside what an install brings along. */
function unpacked(): string {
  const installed = join(folder, "node_modules/secretcast");
  mkdirSync(installed, { recursive: true });
  const archive = join(release, "npm", `secretcast-${version}.tgz`);
  const tar = spawnSync("tar", ["-xzf", archive, "-C", installed, "--strip-components=1"]);
  assert.equal(tar.status, 0, String(tar.stderr));
  linkProductionPackages(folder);
  return join(installed, "bin/secretcast.js");
}

test("what helm push makes of the chart in a registry is its OCI layout", options, async (t) => {
  const registry = await OciRegistry.start(t);
  await helm.runBeside("push", chart, `oci://${registry.host}/charts`, "--plain-http");
  const pushed = registry.manifest(REPOSITORY, version);
  const { manifest, blob } = readLayout(layout);
  const json = (content: Buffer): unknown => JSON.parse(content.toString());
  assert.deepEqual(json(blob(manifest.config)), json(registry.blob(pushed.config.digest)));
  assert.deepEqual(manifest.layers, pushed.layers);
  // Helm takes the time of pushing, a release that of its commit.
  const created = "org.opencontainers.image.created";
  const { [created]: committed = "", ...ours } = manifest.annotations;
  const { [created]: now = "", ...helms } = pushed.annotations;
  assert.deepEqual(ours, helms);
  assert.ok(Date.parse(committed) <= Date.parse(now), committed);
  assert.equal(manifest.config.mediaType, pushed.config.mediaType);
});

test(
  "helm pulls the chart's own archive from a registry that holds its layout",
  options,
  async (t) => {
    const registry = await OciRegistry.start(t);
    registry.load(layout, REPOSITORY);
    const from = [`oci://${registry.host}/${REPOSITORY}`, "--version", version, "--plain-http"];
    await helm.runBeside("pull", ...from, "--destination", folder);
    const pulled = readFileSync(join(folder, `secretcast-${version}.tgz`));
    assert.equal(digestOf(pulled), digestOf(readFileSync(chart)));
  },
);

test("the chart installed from the registry brings copies to their places", options, async (t) => {
  const registry = await OciRegistry.start(t);
  registry.load(layout, REPOSITORY);
  const from = [`oci://${registry.host}/${REPOSITORY}`, "--version", version, "--plain-http"];
  const home = ["--namespace", "of-chart", "--create-namespace"];
  const digest = `sha256:${"1".repeat(64)}`;
  await helm.runBeside(
    "install",
    "secretcast",
    ...from,
    ...home,
    ...readable("--set", `image.digest=${digest}`),
  );
  assert.equal(await imageOf("of-chart"), `secretcast@${digest}`);
  await bringsCopies("of-chart");
  helm.run("uninstall", "secretcast", "--namespace", "of-chart");
});

test("the one YAML applied brings copies to their places, with the image by its digest", async () => {
  const file = join(release, `secretcast-${version}.yaml`);
  quietKubectl(cluster.kubeconfig, ["apply", "-f", file]);
  const yaml = readFileSync(file, "utf8");
  const image = await imageOf("secretcast");
  assert.ok(yaml.includes(`image: ${image}\n`));
  const archive = join(release, "image", `secretcast-${version}.oci.tar`);
  const index = spawnSync("tar", ["-xOf", archive, "index.json"], { encoding: "utf8" });
  // Where no image could be built, and none was named, there is its tag.
  if (index.status === 0)
    assert.equal(
      image,
      `secretcast@${String(field(JSON.parse(index.stdout), "manifests", 0, "digest"))}`,
    );
  await bringsCopies("secretcast");
});

async function deploymentIn(namespace: string): Promise<V1Deployment> {
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/secretcast`;
  const { status, body } = await http.send("GET", path);
  assert.equal(status, 200, JSON.stringify(body));
  return body as V1Deployment;
}

async function imageOf(namespace: string): Promise<string | undefined> {
  return (await deploymentIn(namespace)).spec?.template.spec?.containers[0]?.image;
}

/** Runs the program as the Deployment says, with the right of its account. */
async function bringsCopies(home: string): Promise<void> {
  const { spec } = await deploymentIn(home);
  await eventually("its pods are let in", async () => {
    const { body } = await http.send("GET", `/api/v1/namespaces/${home}/pods`);
    return field(body, "items", (spec?.replicas ?? 1) - 1, "metadata", "name") !== undefined;
  });
  const targets = ["a", "b"].map((letter) => `${home}-team-${letter}`);
  for (const name of targets)
    ok(await http.send("POST", "/api/v1/namespaces", { body: { metadata: { name } } }), 201);
  const annotations = { "secretcast.io/to": `${home}-team-*` };
  const source = { metadata: { name: "registry", annotations }, data: { token: "c2VjcmV0" } };
  ok(await http.send("POST", `/api/v1/namespaces/${home}/secrets`, { body: source }), 201);

  const name = spec?.template.spec?.serviceAccountName ?? "";
  const kubeconfig = await serviceAccountKubeconfig(cluster, { namespace: home, name });
  // A pod knows its own namespace.
  const own = ["--kubeconfig", kubeconfig, "--source-namespaces", home, "--lease-namespace", home];
  const ports = ["--http-address=127.0.0.1:0", "--status-address=127.0.0.1:0"];
  const args = spec?.template.spec?.containers[0]?.args ?? [];
  const words = [...KEEP_LINKS, program, ...args, "--once", ...own, ...ports];
  const ran = spawnSync(process.execPath, words, { encoding: "utf8" });
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
  for (const namespace of targets) {
    const path = `/api/v1/namespaces/${namespace}/secrets/registry`;
    const { status, body } = await http.send("GET", path);
    assert.equal(status, 200, namespace);
    assert.deepEqual(field(body, "data"), source.data);
    const annotations = field(body, "metadata", "annotations");
    assert.equal(field(annotations, "secretcast.io/source"), `${home}/registry`);
  }
  // The controller that is tried next is no namesake's judge.
  const secrets = [home, ...targets].map((namespace) => `/api/v1/namespaces/${namespace}/secrets`);
  for (const path of secrets) ok(await http.send("DELETE", `${path}/registry`), 200);
}
