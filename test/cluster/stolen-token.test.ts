// The proof for `--only-names`: with the controller's stolen token, beside many Secrets of other names, everything
// that the API offers is tried. None of these Secrets is read, and none is changed.
// SECRETCAST_FOREIGN_SECRETS=100000 sets how many there are.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { kubectlAt, tryKubectl } from "../support/api-server/kubectl.ts";
import { openCluster, ownCluster } from "../support/api-server/cluster.ts";
import type { ControlPlane } from "../support/api-server/control-plane.ts";
import { field, type Answer, type Http } from "../../packages/sandbox/testing/http.ts";
import { serviceAccountKubeconfig } from "../support/api-server/service-account.ts";
import { commandLine } from "../support/programs/command-line.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { attemptsOn, type Attempt, type Target } from "./stolen/requests.ts";

const COUNT = Number(process.env["SECRETCAST_FOREIGN_SECRETS"] ?? 2000);
const NAMESPACES = 20;
const AT_ONCE = 32;
const LISTED = "registry";
const ACCOUNT = "system:serviceaccount:secretcast:secretcast";
const GUARDRAIL = fileURLToPath(new URL("../../manifests/components/guardrail", import.meta.url));
// Every foreign value begins with it, so its base64 begins with that of the mark.
const MARK = "foreign-value-";
const MARK_BASE64 = "Zm9yZWlnbi12YWx1ZS";

let cluster: ControlPlane;
let admin: Http;
/** The controller's token, in the hands of a thief. */
let thief: Http;

before(async () => {
  cluster = await ownCluster();
  admin = openCluster(cluster);
  const names = ["secretcast", ...Array.from({ length: NAMESPACES }, (_, at) => namespaceOf(at))];
  for (const name of names) await created("/api/v1/namespaces", { metadata: { name } });
  await inTurns(
    Array.from({ length: COUNT }, (_, at) => at),
    async (at) => {
      const { namespace, name } = targetAt(at);
      const stringData = { value: `${MARK}${at}` };
      await created(`/api/v1/namespaces/${namespace}/secrets`, { metadata: { name }, stringData });
    },
  );
  for (const namespace of ["secretcast", ...SAMPLE.map((target) => target.namespace)])
    await created(`/api/v1/namespaces/${namespace}/secrets`, {
      metadata: { name: LISTED },
      stringData: { value: "listed" },
    });
  kubectl("create", "serviceaccount", "secretcast", "-n", "secretcast");
  const rights = await commandLine(["rights", "--only-names", LISTED]);
  assert.equal(rights.code, 0);
  kubectlAt(cluster.kubeconfig, ["apply", "-f", "-"], rights.stdout);
  const account = { namespace: "secretcast", name: "secretcast" };
  const kubeconfig = await serviceAccountKubeconfig(cluster, account);
  const token = field(JSON.parse(readFileSync(kubeconfig, "utf8")), "users", 0, "user", "token");
  assert.ok(typeof token === "string");
  thief = openCluster(cluster, token);
});
after(async () => {
  await thief.close();
  await admin.close();
  await cluster.stop();
});

const namespaceOf = (at: number): string => `foreign-${at % NAMESPACES}`;
const targetAt = (at: number): Target => ({ namespace: namespaceOf(at), name: `password-${at}` });
const SAMPLE = [0, Math.floor(COUNT / 2) + 1, COUNT - 2].map(targetAt);

const kubectl = (...words: readonly string[]): string => kubectlAt(cluster.kubeconfig, words);

async function created(path: string, body: object): Promise<void> {
  const { status } = await admin.send("POST", path, { body });
  assert.equal(status, 201, path);
}

async function inTurns<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await run(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** A hash of every Secret with another name: its version and its data. */
async function foreignHash(): Promise<{ readonly count: number; readonly hash: string }> {
  const hash = createHash("sha256");
  let count = 0;
  for (let next: string | undefined = ""; next !== undefined;) {
    const path = `/api/v1/secrets?limit=500&fieldSelector=metadata.name!%3D${LISTED}&continue=${next}`;
    const { status, body } = await admin.send("GET", path);
    assert.equal(status, 200);
    const items = field(body, "items");
    assert.ok(Array.isArray(items));
    for (const item of items) {
      if (!String(field(item, "metadata", "namespace")).startsWith("foreign-")) continue;
      count++;
      const version = ["uid", "resourceVersion"].map((key) => field(item, "metadata", key));
      hash.update(JSON.stringify([version, field(item, "metadata", "name"), field(item, "data")]));
    }
    const token = field(body, "metadata", "continue");
    next = typeof token === "string" && token !== "" ? encodeURIComponent(token) : undefined;
  }
  return { count, hash: hash.digest("hex") };
}

const textOf = ({ body, headers }: Answer): string => JSON.stringify([body, headers]);
const shows = (answer: Answer): boolean =>
  [MARK, MARK_BASE64].some((mark) => textOf(answer).includes(mark));

async function attempt({ method, path, mayWork, ...options }: Attempt): Promise<Answer> {
  const answer = await thief.send(method, path, options);
  assert.ok(!shows(answer), `${method} ${path} shows a value`);
  const refused = answer.status >= 300;
  assert.ok(refused || mayWork === true, `${method} ${path} worked: ${answer.status}`);
  return answer;
}

/** Tries the whole table, and a GET of each foreign Secret. */
async function tryEverything(t: TestContext): Promise<void> {
  const earlier = await foreignHash();
  assert.equal(earlier.count, COUNT);
  const statuses = new Map<number, number>();
  const all = SAMPLE.flatMap((target) => attemptsOn(target, { account: ACCOUNT, listed: LISTED }));
  const each = Array.from({ length: COUNT }, (_, at): Attempt => {
    const { namespace, name } = targetAt(at);
    return { method: "GET", path: `/api/v1/namespaces/${namespace}/secrets/${name}` };
  });
  await inTurns([...all, ...each], async (one) => {
    const { status } = await attempt(one);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  });
  assert.deepEqual(await foreignHash(), earlier, "nothing has changed");
  const counts = [...statuses].toSorted(([a], [b]) => a - b);
  t.diagnostic(
    `${all.length + COUNT} requests beside ${COUNT} foreign Secrets: 0 read, 0 changed; ` +
      counts.map(([status, count]) => `${status}: ${count}`).join(", "),
  );
}

test("a value is found in an answer that has it", async () => {
  const [{ namespace, name }] = SAMPLE as [Target];
  const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
  for (const accept of ["application/json", "application/vnd.kubernetes.protobuf"])
    assert.ok(shows(await admin.send("GET", path, { accept })), accept);
});

test("the stolen token has its rights to the listed name", async () => {
  const [{ namespace }] = SAMPLE as [Target];
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  const selected = `fieldSelector=metadata.name%3D${LISTED}`;
  const paths = [`${secrets}/${LISTED}`, `${secrets}?${selected}`, `/api/v1/secrets?${selected}`];
  for (const path of paths) {
    const { status, body } = await thief.send("GET", path);
    assert.equal(status, 200, path);
    assert.ok(JSON.stringify(body).includes(Buffer.from("listed").toString("base64")), path);
  }
});

const tokenSecret = (name: string): object => ({
  metadata: { name, annotations: { "kubernetes.io/service-account.name": "default" } },
  type: "kubernetes.io/service-account-token",
});

async function createToken(name: string, dryRun: boolean): Promise<number> {
  const path = `/api/v1/namespaces/${namespaceOf(7)}/secrets${dryRun ? "?dryRun=All" : ""}`;
  return (await thief.send("POST", path, { body: tokenSecret(name) })).status;
}

test("a stolen token without the guardrail can create a token Secret and no more", async (t) => {
  await tryEverything(t);
  // What remains possible: a token of an account, under the name that the thief may read.
  assert.equal(await createToken(LISTED, true), 201);
});

test("a stolen token behind the guardrail reads and changes no foreign Secret", async (t) => {
  kubectl("apply", "-k", GUARDRAIL);
  await eventually(
    "the guardrail is in force",
    async () => (await createToken("probe", true)) === 403,
  );
  await tryEverything(t);
  for (const name of [LISTED, "other"]) assert.equal(await createToken(name, false), 403);
});

test("kubectl auth can-i answers as docs/hardening.md prints it", () => {
  const page = readFileSync(new URL("../../docs/hardening.md", import.meta.url), "utf8");
  const lines = Array.from(
    page.matchAll(/^\$ kubectl (auth can-i .*)\n(yes|no)$/gm),
    ([, words = "", answer = ""]) => ({ words: words.split(" "), answer }),
  );
  assert.equal(lines.length, 3);
  for (const { words, answer } of lines) {
    const { stdout, stderr } = tryKubectl(cluster.kubeconfig, words);
    assert.equal(stdout.trim(), answer, `${words.join(" ")}: ${stderr}`);
  }
});
