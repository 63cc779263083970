// Listed namespaces on a real API server: with rights in them alone the controller does its work, asks
// for nothing that it may not have, and leaves alone what is off the list.
import { placeLiveLease } from "../support/api-server/live-lease.ts";
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { ACCOUNT, controllerAccount } from "../support/api-server/account.ts";
import { auditEventsOf, isForbidden } from "../support/api-server/audit-log.ts";
import { ownCluster } from "../support/api-server/cluster.ts";
import { kubectlAt, tryKubectl } from "../support/api-server/kubectl.ts";
import { commandLine } from "../support/programs/command-line.ts";
import { spawnController } from "../support/programs/controller-process.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { field } from "../../packages/sandbox/testing/http.ts";

const OVERLAY = fileURLToPath(new URL("listed", import.meta.url));
const RIGHTS = fileURLToPath(new URL("../../manifests/namespace-rights", import.meta.url));

let cluster: Awaited<ReturnType<typeof ownCluster>>;
let kubeconfig: string;
const kubectl = (...words: readonly string[]): string => kubectlAt(cluster.kubeconfig, words);
before(async () => {
  cluster = await ownCluster();
  kubeconfig = await controllerAccount(cluster, OVERLAY);
  for (const namespace of ["team-a", "team-c"]) kubectl("create", "namespace", namespace);
  giveRights("team-a");
});
after(() => cluster.stop());

const giveRights = (namespace: string): string => kubectl("apply", "-n", namespace, "-k", RIGHTS);
const keyOf = (namespace: string): string =>
  kubectl("get", "secret", "s", "-n", namespace, "--ignore-not-found", "-o", "jsonpath={.data.k}");
const holds = (namespace: string, text: string) =>
  eventually(
    `${namespace}/s holds ${text}`,
    () => keyOf(namespace) === Buffer.from(text).toString("base64"),
  );
const start = (t: TestContext, namespaces: string) =>
  spawnController(t, kubeconfig, {
    "delete-hold": "1s",
    namespaces,
    "source-namespaces": "secretcast",
    "leader-elect": "true",
    "lease-namespace": "secretcast",
  });
const setTo = (text: string): string =>
  kubectl(
    "patch",
    "secret",
    "s",
    "-n",
    "secretcast",
    "-p",
    JSON.stringify({ stringData: { k: text } }),
  );

/** Requests of the controller that RBAC refused. */
function refused(): readonly string[] {
  const forbidden = auditEventsOf(ACCOUNT, cluster.auditLog).filter(isForbidden);
  return forbidden.map((event) => String(field(event, "requestURI")));
}

test("the account has no right on Secrets off the list, nor on all of them", () => {
  const may = (...words: readonly string[]): string =>
    tryKubectl(cluster.kubeconfig, ["auth", "can-i", "--as", ACCOUNT, ...words]).stdout.trim();
  assert.equal(may("create", "secrets", "-n", "team-a"), "yes");
  assert.equal(may("watch", "namespaces/team-a"), "yes");
  for (const words of [
    ["get", "secrets", "-n", "team-c"],
    ["create", "secrets", "-n", "team-c"],
    ["list", "secrets", "-A"],
    ["list", "namespaces"],
    ["watch", "namespaces/team-c"],
  ])
    assert.equal(may(...words), "no", words.join(" "));
});

test("listed namespaces are served, one that comes later too, and no other", async (t) => {
  kubectl("create", "secret", "generic", "s", "-n", "secretcast", "--from-literal=k=1");
  kubectl("annotate", "secret", "s", "-n", "secretcast", "secretcast.io/to=*");
  const controller = start(t, "team-a,team-b");
  await holds("team-a", "1");
  // By this name the tenant guard knows what the controller wrote.
  const managers = "jsonpath={.metadata.managedFields[*].manager}";
  const fields = ["get", "secret", "s", "-n", "team-a", "--show-managed-fields", "-o", managers];
  assert.equal(kubectl(...fields), "secretcast");
  assert.ok(await controller.ready(), "a namespace that is not there keeps nobody waiting");

  kubectl("create", "namespace", "team-b");
  giveRights("team-b");
  await holds("team-b", "1");
  setTo("2");
  for (const namespace of ["team-a", "team-b"]) await holds(namespace, "2");
  assert.equal(keyOf("team-c"), "");
  assert.equal(await controller.stop(), 0);
  // While team-b was not there, or had no Role yet, its Secrets were asked for in vain.
  const others = refused().filter((uri) => !uri.startsWith("/api/v1/namespaces/team-b/secrets"));
  assert.deepEqual(others, []);
});

test("a namespace taken off the list freezes its copies", async (t) => {
  const controller = start(t, "team-a");
  setTo("3");
  await holds("team-a", "3");
  const version = [
    "get",
    "secret",
    "s",
    "-n",
    "team-b",
    "-o",
    "jsonpath={.metadata.resourceVersion}",
  ];
  const before = kubectl(...version);
  kubectl("delete", "secret", "s", "-n", "secretcast");
  await eventually("team-a/s is gone", () => keyOf("team-a") === "");
  assert.equal(kubectl(...version), before);
  assert.equal(await controller.stop(), 0);
});

test("a namespace without rights freezes, also over a restart, until they return", async (t) => {
  kubectl("create", "secret", "generic", "s", "-n", "secretcast", "--from-literal=k=5");
  kubectl("annotate", "secret", "s", "-n", "secretcast", "secretcast.io/to=*");
  const first = start(t, "team-a,team-b");
  for (const namespace of ["team-a", "team-b"]) await holds(namespace, "5");
  assert.equal(await first.stop(), 0);
  kubectl("delete", "-n", "team-b", "-k", RIGHTS);
  const second = start(t, "team-a,team-b");
  setTo("6");
  await holds("team-a", "6");
  assert.ok(await second.ready());
  assert.equal(await second.metric("secretcast_unreadable_namespaces"), 1);
  assert.equal(keyOf("team-b"), Buffer.from("5").toString("base64"));
  giveRights("team-b");
  await holds("team-b", "6");
  assert.equal(await second.metric("secretcast_unreadable_namespaces"), 0);
  assert.equal(await second.stop(), 0);
});

test("check finds every right of an installation in listed namespaces, and yours apart", async () => {
  const admin = ["--kubeconfig", cluster.kubeconfig];
  kubectl("delete", "-n", "team-b", "-k", RIGHTS);
  await placeLiveLease(cluster);
  const some = await commandLine(["check", ...admin]);
  assert.equal(some.code, 2);
  assert.match(
    some.stdout,
    /^missing +create secrets in team-b +yes +.*-n team-b -k manifests\/namespace-rights$/m,
  );
  assert.match(some.stdout, /^ok +create secrets in team-a +yes /m);
  // The Deployment has --config-maps, so these rights are asked for too.
  assert.match(some.stdout, /^missing +create configmaps in team-a /m);
  assert.doesNotMatch(some.stdout, /every namespace|clusterrole/i);
  giveRights("team-b");
  for (const namespace of ["secretcast", "team-a", "team-b"])
    kubectl("apply", "-n", namespace, "-k", `${RIGHTS}/config-maps`);
  for (const words of [[], ["--as", ACCOUNT]]) {
    const { code, stdout, stderr } = await commandLine(["check", ...admin, ...words]);
    assert.equal(code, 0, stdout + stderr);
    assert.doesNotMatch(stdout, /^missing|every namespace/m);
    assert.match(stderr, /--namespaces=team-a,team-b .*those of Deployment secretcast\/secretcast/);
  }
  // The account itself may read neither its Deployment nor what another may do.
  const own = await commandLine(["check", "--kubeconfig", kubeconfig, "-n", "secretcast"]);
  assert.equal(own.code, 1);
  assert.doesNotMatch(own.stdout, /^missing|clusterrole/im);
  const nobody = await commandLine(["check", ...admin, "--as", "nobody"]);
  assert.match(nobody.stdout, /^missing +create secrets in team-a /m);
  assert.doesNotMatch(nobody.stdout, /every namespace/);
});
