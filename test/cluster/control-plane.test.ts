// The control plane itself: that it is the real thing, that it can be killed and comes back with its
// data, and that it leaves nothing behind.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { kubectlAt } from "../support/api-server/kubectl.ts";
import { openCluster, ownCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { field } from "../../packages/sandbox/testing/http.ts";

test("kubectl names the version that was built", () => {
  const { kubeconfig } = sharedCluster();
  const printed = JSON.parse(kubectlAt(kubeconfig, ["version", "-o", "json"]));
  const { gitVersion, major, minor } = printed.serverVersion;
  const chosen = process.env["SECRETCAST_KUBERNETES"] ?? "";
  const files = globSync("assets/{*/,}go.mod", { cwd: import.meta.dirname });
  const requiring = files.filter((file) =>
    readFileSync(`${import.meta.dirname}/${file}`, "utf8").includes(
      `k8s.io/kubernetes ${gitVersion}\n`,
    ),
  );
  assert.equal(requiring.length, 1, gitVersion);
  assert.ok(
    chosen === "" ? requiring[0] === "assets/go.mod" : gitVersion.startsWith(`v${chosen}.`),
  );
  assert.ok(gitVersion.startsWith(`v${major}.${minor}.`), `${gitVersion} is ${major}.${minor}`);
});

test("a deleted namespace is emptied under the controller's own account", async (t) => {
  const cluster = sharedCluster();
  const http = openCluster(cluster);
  t.after(() => http.close());
  const body = { metadata: { name: "comes-and-goes" } };
  const path = "/api/v1/namespaces/comes-and-goes";
  assert.equal((await http.send("POST", "/api/v1/namespaces", { body })).status, 201);
  assert.equal((await http.send("POST", `${path}/secrets`, { body })).status, 201);
  await http.send("DELETE", path);
  const gone = async (): Promise<boolean> => (await http.send("GET", path)).status === 404;
  await eventually("the namespace is gone", gone, 60_000);
  const account = '"username":"system:serviceaccount:kube-system:namespace-controller"';
  await eventually("the audit log names the account", () =>
    readFileSync(cluster.auditLog, "utf8")
      .split("\n")
      .some((line) => line.includes(`${path}/finalize`) && line.includes(account)),
  );
});

test("an unknown token is refused, and RBAC is on", async (t) => {
  const cluster = sharedCluster();
  const admin = openCluster(cluster);
  const unmanaged = openCluster(cluster, "no-such-token");
  const path = "/api/v1/namespaces/default/serviceaccounts/default/token";
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const granted = await admin.send("POST", path, { body });
  const account = openCluster(cluster, String(field(granted.body, "status", "token")));
  t.after(() => Promise.all([admin.close(), unmanaged.close(), account.close()]));
  assert.equal((await unmanaged.send("GET", "/api/v1/secrets")).status, 401);
  assert.equal((await account.send("GET", "/api/v1/secrets")).status, 403);
});

test("the API server killed and started again has its objects and its address", async (t) => {
  const cluster = await ownCluster();
  t.after(() => cluster.stop());
  const http = openCluster(cluster);
  t.after(() => http.close());
  const body = { metadata: { name: "survivor" } };
  const made = await http.send("POST", "/api/v1/namespaces/default/secrets", { body });
  await cluster.restartApiServer({ signal: "SIGKILL" });
  const again = openCluster(cluster);
  t.after(() => again.close());
  const found = await again.send("GET", "/api/v1/namespaces/default/secrets/survivor");
  assert.equal(field(found.body, "metadata", "uid"), field(made.body, "metadata", "uid"));
});

// The child starts a control plane and is killed before it can stop it.
const ABANDON = `
  import { ownCluster } from "./test/support/api-server/cluster.ts";
  const { caFile } = await ownCluster();
  process.stdout.write(caFile, () => process.kill(process.pid, "SIGKILL"));
`;

test("nothing of it outlives a test process that is killed", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", ABANDON], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed, [, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  assert.equal(signal, "SIGKILL");
  const folder = dirname(dirname(printed));
  assert.match(folder, /secretcast-cluster-/);
  await eventually("the folder is gone", () => !existsSync(folder));
  await eventually("no process names it", () => !commandLines().includes(folder));
});

const commandLines = (): string => execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
