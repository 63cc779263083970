// Kubeconfigs as kubectl takes them: the same file is given to kubectl and to us, and the API server says
// of both who they are; or both refuse it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { createClient } from "../../packages/kube/rest/client.ts";
import { loadKubeConfig } from "../../packages/kube/kubeconfig/kubeconfig.ts";
import { systemClock } from "../../packages/kube/time/clock.ts";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import { Kubectl, kubectlMissing } from "../support/api-server/kubectl.ts";
import {
  kubeConfigFor,
  kubeConfigText,
  writtenFile,
} from "../../packages/kube/testing/kubeconfig-text.ts";
import { PROXIED } from "../support/kube/proxied-servers.ts";

type Flags = { readonly as?: string; readonly asGroups?: readonly string[] };

/** A kubeconfig of the administrator; `user` and `cluster` are more fields of theirs, `head` goes before all. */
type Parts = {
  /** More fields of the user, of the cluster and of the context. */
  readonly user?: string;
  readonly cluster?: string;
  readonly context?: string;
  readonly head?: string;
  readonly tail?: string;
  /** In place of the token, of the CA's data, of the server and of the name of the context. */
  readonly login?: string;
  readonly ca?: string;
  readonly server?: string;
  readonly current?: string;
};

function kubeconfig(parts: Parts = {}): string {
  const { url, caFile, token } = sharedCluster();
  const { user = "", cluster = "", context = "", head = "", tail = "" } = parts;
  const { login = `token: ${JSON.stringify(token)}`, server = url, current = "here" } = parts;
  const { ca = `certificate-authority-data: ${readFileSync(caFile).toString("base64")}` } = parts;
  return `${head}apiVersion: v1
kind: Config
current-context: ${current}
clusters:
- name: one
  cluster: { server: ${JSON.stringify(server)}, ${ca}${cluster} }
users:
- name: admin
  user: { ${login}${user} }
contexts:
- name: here
  context: { cluster: one, user: admin${context} }
${tail}`;
}

/** A plugin that answers so: a shell prints it. */
function plugin(answer: string, more = ""): string {
  const words = JSON.stringify(["-c", `printf '%s' '${answer}'`]);
  const version = "client.authentication.k8s.io/v1";
  return `exec: { apiVersion: ${version}, command: sh, args: ${words}, interactiveMode: Never${more} }`;
}

function credential(status: string): string {
  return `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":${status}}`;
}

const ofToken = (): string => credential(JSON.stringify({ token: sharedCluster().token }));

/** Who the API server takes us for; undefined: refused. */
async function ourselves(file: string, flags: Flags): Promise<unknown> {
  try {
    const client = createClient(loadKubeConfig({ kubeconfig: file, ...flags }), {
      clock: systemClock,
      userAgent: "tests",
    });
    try {
      const review = await client.request<unknown>({
        method: "POST",
        path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
        what: "ask who I am",
      });
      return field(review, "status", "userInfo");
    } finally {
      await client.close();
    }
  } catch {
    return undefined;
  }
}

async function kubectlSelf(t: TestContext, text: string, flags: Flags): Promise<unknown> {
  const kubectl = new Kubectl(text);
  t.after(() => kubectl.close());
  const words = [
    ...(flags.as === undefined ? [] : [`--as=${flags.as}`]),
    ...(flags.asGroups ?? []).map((group) => `--as-group=${group}`),
  ];
  const { code, stdout } = await kubectl.try(["auth", "whoami", "-o", "json", ...words]);
  return code === 0 ? field(JSON.parse(stdout), "status", "userInfo") : undefined;
}

const caFile = (): string => sharedCluster().caFile;
const JANE = ", as: jane";
const CASES: readonly (readonly [name: string, text: () => string, flags?: Flags])[] = [
  ["nothing special", () => kubeconfig()],
  ["as", () => kubeconfig({ user: JANE })],
  ["as with groups", () => kubeconfig({ user: `${JANE}, as-groups: [ops, dev]` })],
  ["as with a UID", () => kubeconfig({ user: `${JANE}, as-uid: "7"` })],
  [
    "as with extra fields, whose keys are escaped",
    () =>
      kubeconfig({ user: `${JANE}, as-user-extra: { scopes: [a, b], "example.com/a%b c": [d] }` }),
  ],
  ["as with letters that are not ASCII", () => kubeconfig({ user: ", as: jürgen" })],
  ["groups without as", () => kubeconfig({ user: ", as-groups: [ops]" })],
  ["a UID without as", () => kubeconfig({ user: ', as-uid: "7"' })],
  [
    "--as over as, with the groups of the file",
    () => kubeconfig({ user: `${JANE}, as-groups: [ops]` }),
    { as: "joe" },
  ],
  [
    "--as with --as-group over as-groups",
    () => kubeconfig({ user: `${JANE}, as-groups: [ops]` }),
    { as: "joe", asGroups: ["dev", "qa"] },
  ],
  ["--as-group with as of the file", () => kubeconfig({ user: JANE }), { asGroups: ["dev"] }],
  [
    "--as where the file has groups alone",
    () => kubeconfig({ user: ", as-groups: [ops]" }),
    { as: "joe" },
  ],
  ["--as-group alone", () => kubeconfig(), { asGroups: ["dev"] }],
  ["groups that are no texts", () => kubeconfig({ user: `${JANE}, as-groups: [1]` })],
  [
    "extra fields that are no lists",
    () => kubeconfig({ user: `${JANE}, as-user-extra: { a: b }` }),
  ],
  ["a merge", () => kubeconfig({ head: "x: &x { as: jane }\n", user: ", <<: *x" })],
  ["a key that is there twice", () => kubeconfig({ user: ", as: joe, as: jane" })],
  ["a date", () => kubeconfig({ user: ", as: 2024-01-01" })],
  ["a boolean of YAML 1.1 where text is wanted", () => kubeconfig({ user: ", as: yes" })],
  [
    "a boolean of YAML 1.1 where one is wanted",
    () => kubeconfig({ cluster: ", insecure-skip-tls-verify: no" }),
  ],
  ["a number where text is wanted", () => kubeconfig({ user: ", as: 0o7" })],
  [
    "the first of two documents",
    () => kubeconfig({ head: "---\n", tail: "---\nclusters: [broken\n" }),
  ],
  ["an empty first document", () => kubeconfig({ head: "---\n---\n" })],
  ["a token with a line break", () => kubeconfig({ user: ', token: "a\\nb"' })],
  ["an empty file", () => ""],
  ["an authority as a file", () => kubeconfig({ ca: `certificate-authority: ${caFile()}` })],
  [
    "an authority as a file and as data",
    () => kubeconfig({ cluster: `, certificate-authority: ${caFile()}` }),
  ],
  ["an authority that is not there", () => kubeconfig({ ca: "certificate-authority: none.crt" })],
  [
    "an authority that is no certificate",
    () => kubeconfig({ ca: "certificate-authority-data: eA==" }),
  ],
  [
    "an authority that is no base64",
    () => kubeconfig({ ca: 'certificate-authority-data: "<ca>"' }),
  ],
  ["no authority", () => kubeconfig({ ca: 'proxy-url: ""' })],
  ["no authority, and none is asked", () => kubeconfig({ ca: "insecure-skip-tls-verify: true" })],
  [
    "an authority that is not asked",
    () => kubeconfig({ cluster: ", insecure-skip-tls-verify: true" }),
  ],
  [
    "a name of the server that its certificate has",
    () => kubeconfig({ cluster: ", tls-server-name: localhost" }),
  ],
  [
    "a name of the server that its certificate has not",
    () => kubeconfig({ cluster: ", tls-server-name: other.test" }),
  ],
  [
    "a scheme in capitals",
    () => kubeconfig({ server: sharedCluster().url.replace("https", "HTTPS") }),
  ],
  ["a server with a slash at its end", () => kubeconfig({ server: `${sharedCluster().url}/` })],
  ["a server that is empty", () => kubeconfig({ server: "" })],
  ["a context that is not there", () => kubeconfig({ current: "other" })],
  ["a context with a namespace", () => kubeconfig({ context: ", namespace: kube-system" })],
  ["a token and a password", () => kubeconfig({ user: ", username: a, password: b" })],
  ["a token file that is not there", () => kubeconfig({ login: "tokenFile: none" })],
  ["a token file that is empty", () => kubeconfig({ login: "tokenFile: /dev/null" })],
  [
    "a token beside a token file that is not there",
    () => kubeconfig({ user: ", tokenFile: none" }),
  ],
  ["a token that is wrong", () => kubeconfig({ login: "token: wrong" })],
  ["no way to log in", () => kubeconfig({ login: 'token: ""' })],
  [
    "a client certificate without its key",
    () => kubeconfig({ user: ", client-certificate-data: eA==" }),
  ],
  ["a key without a client certificate", () => kubeconfig({ user: ", client-key-data: eA==" })],
  [
    "a client certificate as a file and as data",
    () =>
      kubeconfig({
        user: `, client-certificate: ${caFile()}, client-certificate-data: eA==, client-key-data: eA==`,
      }),
  ],
  ["a plugin with a token", () => kubeconfig({ login: plugin(ofToken()) })],
  [
    "a plugin with a wrong token",
    () => kubeconfig({ login: plugin(credential('{"token":"wrong"}')) }),
  ],
  [
    "a plugin that answers in YAML",
    () =>
      kubeconfig({
        login: plugin(
          `apiVersion: client.authentication.k8s.io/v1\nkind: ExecCredential\nstatus: {token: ${sharedCluster().token}}\n`,
        ),
      }),
  ],
  [
    "a plugin with an empty variable",
    () => kubeconfig({ login: plugin(ofToken(), ", env: [{name: A, value: }]") }),
  ],
  [
    "a plugin without a name of a variable",
    () => kubeconfig({ login: plugin(ofToken(), ", env: [{value: a}]") }),
  ],
  ["a plugin that answers nothing", () => kubeconfig({ login: plugin("") })],
  ["a plugin without a status", () => kubeconfig({ login: plugin(credential("{}")) })],
  [
    "a plugin beside a provider of tokens",
    () => kubeconfig({ login: plugin(ofToken()), user: ", auth-provider: {name: oidc}" }),
  ],
  [
    "a plugin without a version",
    () => kubeconfig({ login: plugin(ofToken()).replace(/apiVersion: [^,]*, /, "") }),
  ],
  [
    "a plugin that does not exist",
    () =>
      kubeconfig({ login: plugin(ofToken()).replace("command: sh", "command: no-such-plugin") }),
  ],
];

for (const [name, text, flags = {}] of CASES)
  test(`a kubeconfig is taken as kubectl takes it: ${name}`, async (t) => {
    const missing = kubectlMissing();
    if (missing) return t.skip(missing);
    const file = writtenFile(t, text());
    assert.deepEqual(await ourselves(file, flags), await kubectlSelf(t, text(), flags));
  });

test("an empty file of KUBECONFIG is skipped as kubectl skips it", async (t) => {
  const missing = kubectlMissing();
  if (missing) return t.skip(missing);
  const files = ["", "# comments alone\n", kubeconfig({ user: JANE })].map((text) =>
    writtenFile(t, text),
  );
  const KUBECONFIG = files.join(":");
  const kubectl = new Kubectl("");
  t.after(() => kubectl.close());
  const context = await kubectl.run(["config", "current-context"], { env: { KUBECONFIG } });
  assert.equal(loadKubeConfig({ env: { KUBECONFIG } }).context, context.trim());
});

/** A proxy on loopback that counts what it is asked to connect to, and connects to nothing. */
async function deafProxy(t: TestContext): Promise<{ readonly url: string; readonly to: string[] }> {
  const to: string[] = [];
  const server = createServer((_, response) => response.writeHead(501).end());
  server.on("connect", ({ url = "" }, socket) => {
    to.push(url);
    socket.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, to };
}

test("a server is asked through the environment's proxy exactly where kubectl asks it so", async (t) => {
  const missing = kubectlMissing();
  if (missing) return t.skip(missing);
  const proxy = await deafProxy(t);
  const asked = async (ask: () => Promise<unknown>): Promise<boolean> => {
    proxy.to.length = 0;
    await ask();
    return proxy.to.length > 0;
  };
  for (const [name, server, more, isProxied] of PROXIED) {
    const env = { HTTPS_PROXY: proxy.url, ...more };
    const text = kubeConfigText(kubeConfigFor(server));
    const kubeconfig = writtenFile(t, text);
    const byUs = await asked(async () => {
      const client = createClient(loadKubeConfig({ kubeconfig, env }), {
        clock: systemClock,
        userAgent: "tests",
      });
      const path = "/version";
      await client.request({ method: "GET", path, what: "ask", timeoutMs: 1000 }).catch(() => {});
      await client.close();
    });
    const kubectl = new Kubectl(text);
    const words = ["get", "--raw", "/version", "--request-timeout=1s"];
    const byKubectl = await asked(() => kubectl.try(words, { env }));
    kubectl.close();
    assert.deepEqual([name, byUs, byKubectl], [name, isProxied, isProxied]);
  }
});
