// A team that has the built-in ClusterRole `admin` in three namespaces, and no right beyond them, installs
// and runs the controller with these rights alone.
import assert from "node:assert/strict";
import { after, before, test, type TestContext } from "node:test";
import { auditEventsOf, isForbidden } from "../support/api-server/audit-log.ts";
import { kubectlAt, tryKubectl } from "../support/api-server/kubectl.ts";
import { openCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { field, type Http } from "../../packages/sandbox/testing/http.ts";
import { serviceAccountKubeconfig } from "../support/api-server/service-account.ts";
import { commandLine } from "../support/programs/command-line.ts";
import { spawnController, type ControllerProcess } from "../support/programs/controller-process.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const HOME = "platform-home";
const [A, B] = ["platform-a", "platform-b"] as const;
const OWN = [HOME, A, B];
const CONTROLLER = `system:serviceaccount:${HOME}:secretcast`;
const CLUSTER_SCOPED = [
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
  "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
  "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
  "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
];

let http: Http;
/** The kubeconfig of the team's account. */
let team: string;

const kubectl = (kubeconfig: string, ...words: readonly string[]): string =>
  kubectlAt(kubeconfig, words);

before(async () => {
  const access = sharedCluster();
  http = openCluster(access);
  for (const name of OWN) kubectl(access.kubeconfig, "create", "namespace", name);
  kubectl(access.kubeconfig, "create", "serviceaccount", "team", "-n", HOME);
  const account = `--serviceaccount=${HOME}:team`;
  for (const namespace of OWN) {
    const binding = ["rolebinding", "team", "-n", namespace, "--clusterrole=admin", account];
    kubectl(access.kubeconfig, "create", ...binding);
  }
  team = await serviceAccountKubeconfig(access, { namespace: HOME, name: "team" });
});
after(async () => {
  for (const name of OWN) await http.send("DELETE", `/api/v1/namespaces/${name}`);
  await http.close();
});

async function clusterScoped(): Promise<readonly string[]> {
  const lists = await Promise.all(CLUSTER_SCOPED.map((path) => http.send("GET", path)));
  return lists.flatMap(({ body }, at) => {
    const items = field(body, "items");
    assert.ok(Array.isArray(items));
    return items.map((item) => `${CLUSTER_SCOPED[at]}/${String(field(item, "metadata", "name"))}`);
  });
}

const keyOf = (namespace: string): string =>
  kubectl(
    team,
    "get",
    "secret",
    "s",
    "-n",
    namespace,
    "--ignore-not-found",
    "-o",
    "jsonpath={.data.k}",
  );
const holds = (namespace: string, text: string): Promise<unknown> =>
  eventually(
    `${namespace}/s holds ${text}`,
    () => keyOf(namespace) === Buffer.from(text).toString("base64"),
  );

/** Requests of the controller that the API server refused, without repetitions. */
function refused(): readonly string[] {
  const forbidden = auditEventsOf(CONTROLLER, sharedCluster().auditLog).filter(isForbidden);
  return forbidden.map((event) => {
    const [path] = String(field(event, "requestURI")).split("?");
    return `${String(field(event, "verb"))} ${path}`;
  });
}

/** The team applies what `rights` prints, and takes a token of the account. */
async function install(flags: readonly string[]): Promise<string> {
  const account = `${HOME}/secretcast`;
  const { code, stdout } = await commandLine(["rights", ...flags, "--service-account", account]);
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, /ClusterRole/);
  kubectl(team, "create", "serviceaccount", "secretcast", "-n", HOME);
  kubectlAt(team, ["apply", "-f", "-"], stdout);
  return serviceAccountKubeconfig(sharedCluster(), { namespace: HOME, name: "secretcast" });
}

const saidOf = ({ log }: ControllerProcess, text: RegExp): number =>
  log.filter((line) => text.test(String(field(line, "msg")))).length;

/** The team looks at its copies with its own rights. */
async function teamLooks(words: readonly string[]): Promise<void> {
  const env = { SECRETCAST_LEASE_NAMESPACE: HOME };
  for (const command of ["status", "plan"]) {
    const said = await commandLine([command, "--kubeconfig", team, ...words], { env });
    assert.equal(said.code, 0, `${command}: ${said.stdout}${said.stderr}`);
  }
}

async function copiesFollow(t: TestContext, kubeconfig: string, flags: object): Promise<void> {
  const controller = spawnController(t, kubeconfig, {
    ...flags,
    "delete-grace": "1s",
    "delete-hold": "1s",
  });
  await holds(A, "1");
  await holds(B, "1");
  assert.ok(await controller.ready());
  const patch = JSON.stringify({ stringData: { k: "2" } });
  kubectl(team, "patch", "secret", "s", "-n", HOME, "-p", patch);
  for (const namespace of [A, B]) await holds(namespace, "2");
  kubectl(team, "delete", "secret", "s", "-n", A);
  await holds(A, "2");
  await teamLooks([`--namespaces=${OWN.join()}`, `--source-namespaces=${HOME}`]);
  kubectl(team, "annotate", "--overwrite", "secret", "s", "-n", HOME, `secretcast.io/to=${A}`);
  await eventually(`${B} has no copy`, () => keyOf(B) === "");
  await eventually("an Event", () =>
    kubectl(team, "get", "events.events.k8s.io", "-n", HOME).includes("copied to"),
  );
  assert.equal(await controller.metric("secretcast_unreadable_namespaces"), 0);
  assert.equal(saidOf(controller, /^no right to list and watch Namespaces/), 1);
  assert.equal(saidOf(controller, /list or watch failed|event not sent|lease not/), 0);
  kubectl(team, "delete", "secret", "s", "-n", HOME);
  await eventually(`${A} has no copy`, () => keyOf(A) === "");
  assert.equal(await controller.stop(), 0);
}

test("a team with admin in three namespaces installs and runs it without any cluster-scoped object", async (t) => {
  const may = ["auth", "can-i", "create", "events.events.k8s.io", "-n", HOME];
  // The API server fills `admin` after it started.
  await eventually("admin has its rules", () => tryKubectl(team, may).code === 0);
  const before = await clusterScoped();
  const flags = {
    namespaces: OWN.join(),
    "source-namespaces": HOME,
    "leader-elect": "true",
    "lease-namespace": HOME,
  };
  const words = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  const kubeconfig = await install(words);
  kubectl(team, "create", "secret", "generic", "s", "-n", HOME, "--from-literal=k=1");
  kubectl(team, "annotate", "secret", "s", "-n", HOME, "secretcast.io/to=*");
  await copiesFollow(t, kubeconfig, flags);
  const unasked = refused().filter(
    (request) => !/^(list|watch) \/api\/v1\/namespaces$/.test(request),
  );
  assert.deepEqual(unasked, [], "only lists of Namespaces were refused");
  assert.ok(refused().length <= 20, `${refused().length} refused lists of three Namespaces`);
  assert.deepEqual(await clusterScoped(), before);
});
