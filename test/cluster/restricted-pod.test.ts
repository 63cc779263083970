// The program with the Deployment's arguments as a Pod of OpenShift's restricted-v2 runs it, on a real API server by
// its service account: a user that no file knows, group 0, a read-only root, no path to write to and no home.
import { placeLiveLease } from "../support/api-server/live-lease.ts";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadYaml, type V1Deployment } from "@kubernetes/client-node";
import { controllerToken } from "../support/api-server/account.ts";
import { openCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { ok } from "../../packages/sandbox/testing/facts/place.ts";
import { field, type Http } from "../../packages/sandbox/testing/http.ts";
import { layOut, startIn, whyNoRestrictedPod } from "../support/programs/restricted-pod.ts";
import type { RestrictedPod } from "../support/programs/restricted-pod.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TARGET = "restricted-pod";
const why = whyNoRestrictedPod();
const options = { skip: why ?? false };

const folder = mkdtempSync(join(tmpdir(), "secretcast-restricted-"));
const root = join(folder, "root");
let http: Http;
let pod: RestrictedPod;
before(async () => {
  if (why !== undefined) return;
  const bundle = ["tools/bundle.ts", join(folder, "layer"), join(folder, "maps")];
  const made = spawnSync(process.execPath, bundle, { cwd: ROOT, encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const cluster = sharedCluster();
  const { hostname, port } = new URL(cluster.url);
  const token = controllerToken(cluster);
  const ca = readFileSync(cluster.caFile, "utf8");
  pod = {
    account: { token, "ca.crt": ca, namespace: "secretcast" },
    env: {
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      NODE_ENV: "production",
    },
  };
  layOut(root, join(folder, "layer"), pod);
  http = openCluster(cluster);
});
after(async () => {
  if (why === undefined) {
    await http.send("DELETE", `/api/v1/namespaces/${TARGET}`);
    await http.send("DELETE", "/api/v1/namespaces/secretcast/secrets/restricted-pod");
    await http.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

/** Node's flags in the image, and the arguments of the base's container. */
function command(): readonly string[] {
  const file = readFileSync(join(ROOT, "Dockerfile"), "utf8");
  const [, ...entry]: readonly string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(file)?.[1] ?? "[]");
  return entry;
}
function deployed(): readonly string[] {
  const text = readFileSync(join(ROOT, "manifests/deployment.yaml"), "utf8");
  const { spec } = loadYaml<V1Deployment>(text);
  return spec?.template.spec?.containers[0]?.args ?? assert.fail("no arguments");
}
// The ports may be taken on this machine.
const PORTS = ["--http-address=127.0.0.1:0", "--status-address=127.0.0.1:0"];

test("the process is what restricted-v2 makes of it, and can write nowhere", options, async () => {
  const script = `
    const fs = require("node:fs");
    const asked = ["/", "/app", "/app/dist", "/tmp", "/var", "/var/run", "/dev", process.cwd()];
    const written = asked.filter((path) => {
      try { fs.writeFileSync(path + "/x", ""); return true; } catch { return false; }
    });
    const status = fs.readFileSync("/proc/self/status", "utf8");
    const capabilities = /CapEff:\\s*(\\w+)/.exec(status)[1];
    let home = "none";
    try { home = require("node:os").homedir(); } catch {}
    const ids = [process.getuid(), process.getgid(), process.getgroups()];
    console.log(JSON.stringify({ ids, written, capabilities, home }));`;
  const child = startIn(root, pod, ["--eval", script]);
  const [out, err] = await Promise.all([text(stdoutOf(child)), text(stderrOf(child))]);
  assert.equal(err, "");
  assert.deepEqual(JSON.parse(out), {
    ids: [1_000_680_000, 0, [0]],
    written: [],
    capabilities: "0000000000000000",
    home: "none",
  });
});

test("the controller leads, copies and stops in it", options, async () => {
  const make = (path: string, body: object) => http.send("POST", path, { body });
  ok(await make("/api/v1/namespaces", { metadata: { name: TARGET } }), 201);
  const metadata = { name: TARGET, annotations: { "secretcast.io/to": TARGET } };
  ok(await make("/api/v1/namespaces/secretcast/secrets", { metadata }), 201);
  const child = startIn(root, pod, [...command(), ...deployed(), ...PORTS]);
  const said = Promise.all([text(stdoutOf(child)), text(stderrOf(child))]);
  const ended = once(child, "exit");
  await eventually("the copy is there", async () => {
    const copy = await http.send("GET", `/api/v1/namespaces/${TARGET}/secrets/${TARGET}`);
    return field(copy.body, "metadata", "annotations", "secretcast.io/source") !== undefined;
  });
  child.kill("SIGTERM");
  const [code, signal]: readonly unknown[] = await ended;
  const [out, err] = await said;
  assert.deepEqual([code, signal], [0, null], out + err);
  assert.equal(err, "");
  assert.doesNotMatch(out, /"level":(?:50|60|"error"|"fatal")/);
});

test("the Pod of `helm test` finds every right in it", options, async () => {
  const words = ["check", "--namespace=secretcast", ...deployed().slice(1)];
  const remove = await placeLiveLease(sharedCluster());
  const child = startIn(root, pod, [...command(), ...words]);
  const [out, err] = await Promise.all([text(stdoutOf(child)), text(stderrOf(child))]);
  await remove();
  if (child.exitCode === null) await once(child, "exit");
  assert.equal(child.exitCode, 0, out + err);
});

type Child = ReturnType<typeof startIn>;
const stdoutOf = ({ stdout }: Child) => stdout ?? assert.fail("no stdout");
const stderrOf = ({ stderr }: Child) => stderr ?? assert.fail("no stderr");
