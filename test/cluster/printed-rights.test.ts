// What `secretcast rights` prints, on a real API server: an account that has exactly these rights is enough for
// a controller with these flags, and each of the rights is used.
import { placeLiveLease } from "../support/api-server/live-lease.ts";
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import { auditEventsOf, isForbidden } from "../support/api-server/audit-log.ts";
import { kubectlAt } from "../support/api-server/kubectl.ts";
import { openCluster, ownCluster } from "../support/api-server/cluster.ts";
import { ok } from "../../packages/sandbox/testing/facts/place.ts";
import { field, type Http } from "../../packages/sandbox/testing/http.ts";
import { kubeConfigFor, kubeConfigText } from "../../packages/kube/testing/kubeconfig-text.ts";
import { grantsOf, type RbacManifest } from "../support/kube/rbac.ts";
import { commandLine } from "../support/programs/command-line.ts";
import { spawnController } from "../support/programs/controller-process.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

let cluster: Awaited<ReturnType<typeof ownCluster>>;
let http: Http;
const kubectl = (...words: readonly string[]): string => kubectlAt(cluster.kubeconfig, words);
before(async () => {
  cluster = await ownCluster();
  http = openCluster(cluster);
  for (const namespace of ["home", "team-a", "team-b", "vault"])
    kubectl("create", "namespace", namespace);
});
after(async () => {
  await http.close();
  await cluster.stop();
});

/** Path of a kubeconfig of home/NAME, which has what is printed for `flags` and nothing else. */
async function accountWith(name: string, flags: readonly string[]) {
  kubectl("create", "serviceaccount", name, "-n", "home");
  const { code, stdout, stderr } = await commandLine([
    "rights",
    `--service-account=home/${name}`,
    "-o=json",
    ...flags,
  ]);
  assert.equal(code, 0, stderr);
  kubectlAt(cluster.kubeconfig, ["apply", "-f", "-"], stdout);
  const token = kubectl("create", "token", name, "-n", "home", "--duration=2h").trim();
  const kubeconfig = join(dirname(cluster.kubeconfig), `${name}.kubeconfig`);
  const { url, caFile } = cluster;
  writeFileSync(kubeconfig, kubeConfigText(kubeConfigFor(url, { token }, { caFile })), {
    mode: 0o600,
  });
  const { items }: { items: readonly RbacManifest[] } = JSON.parse(stdout);
  return { kubeconfig, granted: grantsOf(items) };
}

/** Each request of the account, with the decision of the API server. */
function requestsOf(name: string) {
  return auditEventsOf(`system:serviceaccount:home:${name}`, cluster.auditLog).map((event) => ({
    verb: String(field(event, "verb")),
    resource: String(field(event, "objectRef", "resource")),
    isRefused: isForbidden(event),
    uri: String(field(event, "requestURI")),
  }));
}

const secrets = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`;

function holds(namespace: string, text: string): Promise<unknown> {
  const wanted = text === "" ? undefined : Buffer.from(text).toString("base64");
  return eventually(`${namespace}/s holds ${text || "nothing"}`, async () => {
    const { body } = await http.send("GET", `${secrets(namespace)}/s`);
    return field(body, "data", "k") === wanted;
  });
}

async function patch(path: string, body: object): Promise<void> {
  ok(await http.send("PATCH", path, { body, contentType: "application/merge-patch+json" }), 200);
}

async function source(namespace: string, text: string, annotations = {}): Promise<void> {
  const body = { metadata: { name: "s", annotations }, stringData: { k: text } };
  ok(await http.send("POST", secrets(namespace), { body }), 201);
}

async function declineAndAccept(): Promise<void> {
  for (const [word, text] of [
    ["false", ""],
    [null, "2"],
  ] as const) {
    const metadata = { annotations: { "secretcast.io/accept": word } };
    await patch("/api/v1/namespaces/team-b", { metadata });
    await holds("team-b", text);
  }
}

const remove = async (path: string): Promise<void> => void ok(await http.send("DELETE", path), 200);

/** A source and an entry of the source list: copies are made, changed and removed, and Events are sent. */
async function liveThroughIt(t: TestContext, kubeconfig: string, flags: readonly string[]) {
  const fast = { "delete-grace": "100ms", "delete-hold": "0" };
  const given = flags.map((flag) => flag.replace("--", "").split("="));
  const controller = spawnController(t, kubeconfig, {
    ...fast,
    "leader-elect": "true",
    "lease-namespace": "home",
    ...Object.fromEntries(given),
  });
  await source("home", "0", { "secretcast.io/to": "team-*" });
  for (const text of ["1", "2", "1", "2"]) {
    await patch(`${secrets("home")}/s`, { stringData: { k: text } });
    for (const namespace of ["team-a", "team-b"]) await holds(namespace, text);
  }
  // Listed namespaces are read again every 30 s; test/integration/listed-namespaces.test.ts waits for it.
  if (!flags.some((flag) => flag.startsWith("--namespaces"))) await declineAndAccept();
  await remove(`${secrets("home")}/s`);
  for (const namespace of ["team-a", "team-b"]) await holds(namespace, "");
  await source("vault", "9");
  const maps = "/api/v1/namespaces/home/configmaps";
  const listed = { listed: "secret: vault/s\nto: team-a" };
  const list = { metadata: { name: "secretcast-sources" }, data: listed };
  ok(await http.send("POST", maps, { body: list }), 201);
  await holds("team-a", "9");
  const unrelated = { listed: null, unrelated: "secret: vault/other\nto: nobody" };
  await patch(`${maps}/secretcast-sources`, { data: unrelated });
  await holds("team-a", "");
  await remove(`${secrets("vault")}/s`);
  await remove(`${maps}/secretcast-sources`);
  assert.equal(await controller.stop(), 0);
  await remove("/apis/coordination.k8s.io/v1/namespaces/home/leases/secretcast");
}

const MODES = {
  wide: ["--source-namespaces=home"],
  names: ["--source-namespaces=home", "--only-names=s,other"],
  listed: ["--source-namespaces=home,vault", "--namespaces=team-a,team-b"],
  "names-listed": [
    "--source-namespaces=home,vault",
    "--namespaces=team-a,team-b",
    "--only-names=s",
  ],
} as const;

for (const [name, flags] of Object.entries(MODES))
  test(`a whole sync works with exactly the printed rights: ${name}`, async (t) => {
    const { kubeconfig, granted } = await accountWith(name, flags);
    await liveThroughIt(t, kubeconfig, flags);
    const requests = requestsOf(name);
    // Where no Role can grant it, a list of Namespaces is tried in vain.
    const refused = requests.filter(
      ({ isRefused, resource, verb }) =>
        isRefused && !(resource === "namespaces" && verb !== "get"),
    );
    assert.deepEqual([...new Set(refused.map(({ verb, uri }) => `${verb} ${uri}`))], []);
    // In one of the namespaces of a list is enough.
    const used = new Set(
      requests
        .filter(({ isRefused }) => !isRefused)
        .map(({ verb, resource }) => `${verb} ${resource}`),
    );
    // Where lists are streamed, no list is sent; test/cluster/rights.test.ts shows that one is.
    const unused = granted.filter((grant) => {
      const [, verb = "", resource = ""] = /^(\S+) ([a-z]+)/.exec(grant) ?? [];
      return verb !== "list" && !used.has(`${verb} ${resource}`);
    });
    assert.deepEqual(unused, []);
    const account = `--as=system:serviceaccount:home:${name}`;
    const asked = ["check", "-n", "home", account, "--kubeconfig", cluster.kubeconfig, ...flags];
    const remove = await placeLiveLease(cluster, "home");
    const { code, stdout } = await commandLine(asked);
    await remove();
    assert.equal(code, 0, stdout);
    assert.doesNotMatch(stdout, /too wide|^missing/m);
  });
