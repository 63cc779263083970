import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { KubeConfigError } from "./kubeconfig-error.ts";
import { loadKubeConfig, type ConnectionOverrides } from "./kubeconfig.ts";
import { folderOf } from "../testing/folder.ts";

const TWO = `
apiVersion: v1
kind: Config
current-context: first
clusters:
- name: c1
  cluster: { server: "https://one:6443", certificate-authority: ca.crt }
- name: c2
  cluster: { server: "http://two:8080" }
users:
- name: u1
  user: { token: secret-token, tokenFile: tok }
- name: u2
  user: {}
contexts:
- name: first
  context: { cluster: c1, user: u1, namespace: n1 }
- name: second
  context: { cluster: c2, user: u2 }
- name: no-cluster
  context: { cluster: c9, user: u2 }
- name: no-user
  context: { cluster: c1, user: u9 }
`;

function written(t: TestContext, text: string, name = "config"): string {
  const file = join(folderOf(t), name);
  writeFileSync(file, text);
  return file;
}

test("a named file gives its current context, with paths relative to the file", (t) => {
  const file = written(t, TWO);
  const config = loadKubeConfig({ kubeconfig: file });
  const beside = (name: string): string => join(file, "..", name);
  assert.equal(config.cluster.server, "https://one:6443");
  assert.equal(config.cluster.caFile, beside("ca.crt"));
  assert.equal(config.user.tokenFile, beside("tok"));
});

test("a named context is taken instead of the current one", (t) => {
  const config = loadKubeConfig({ kubeconfig: written(t, TWO), context: "second" });
  assert.equal(config.cluster.server, "http://two:8080");
});

test("every field of a user and a cluster is read, and empty ones are absent", (t) => {
  const file = written(
    t,
    `
current-context: all
clusters:
- name: c
  cluster:
    server: https://one
    certificate-authority-data: Y2E=
    tls-server-name: api.test
    proxy-url: http://proxy:3128
- name: d
  cluster: { server: "https://two", insecure-skip-tls-verify: true }
users:
- name: v
  user: { username: jane, password: "" }
- name: u
  user:
    token: "007"
    client-certificate: /pki/cert.pem
    client-key: key.pem
    as: other
    as-uid: "7"
    as-groups: [a, b]
    as-user-extra: { scopes: [x, z] }
    exec: { command: get-token, args: [a] }
- name: w
  user:
    client-certificate-data: Y2VydA==
    client-key-data: a2V5
    auth-provider: { name: oidc, config: { id-token: t } }
contexts:
- { name: all, context: { cluster: c, user: u } }
- { name: data, context: { cluster: c, user: w } }
- { name: none, context: { cluster: c, user: "" } }
- { name: other, context: { cluster: d, user: v } }
`,
  );
  const { cluster, user } = loadKubeConfig({ kubeconfig: file });
  assert.deepEqual(cluster, {
    name: "c",
    server: "https://one",
    caData: "Y2E=",
    tlsServerName: "api.test",
    proxyUrl: "http://proxy:3128",
  });
  assert.deepEqual(user, {
    name: "u",
    token: "007",
    certFile: "/pki/cert.pem",
    keyFile: join(file, "..", "key.pem"),
    impersonateUser: "other",
    impersonateUid: "7",
    impersonateGroups: ["a", "b"],
    impersonateExtra: { scopes: ["x", "z"] },
    exec: { command: "get-token", args: ["a"] },
  });
  assert.deepEqual(loadKubeConfig({ kubeconfig: file, context: "data" }).user, {
    name: "w",
    certData: "Y2VydA==",
    keyData: "a2V5",
    authProvider: { name: "oidc", config: { "id-token": "t" } },
    file,
  });
  const none = loadKubeConfig({ kubeconfig: file, context: "none" });
  assert.deepEqual(none.user, { name: "anonymous" });
  const other = loadKubeConfig({ kubeconfig: file, context: "other" });
  assert.equal(other.cluster.skipTLSVerify, true);
  assert.deepEqual(other.user, { name: "v", username: "jane" });
});

test("an exec plugin with a path is beside the file, otherwise in the PATH", (t) => {
  const of = (command: string): unknown => {
    const text = TWO.replace("user: {}", `user: { exec: { command: ${command}, args: [a] } }`);
    const kubeconfig = written(t, text);
    const { exec } = loadKubeConfig({ kubeconfig, context: "second" }).user;
    assert.deepEqual(exec?.["args"], ["a"]);
    return relative(dirname(kubeconfig), String(exec?.["command"]));
  };
  assert.equal(of("./bin/get-token"), "bin/get-token");
  assert.equal(of("../get-token"), "../get-token");
  assert.match(String(of("/bin/get-token")), /^[./]*\/bin\/get-token$/);
});

test("each wrong kubeconfig is one clear line that names the file and quotes no credential", (t) => {
  const config = (text: string): string => TWO.replace(/current-context.*/, text);
  const cases: readonly (readonly [string | undefined, RegExp, string?])[] = [
    [undefined, /^kubeconfig ".*none" does not exist$/],
    ["a: [b", /^kubeconfig ".*" is not YAML: .*$/],
    ["token: {secret-token\n  x: *secret-token", /^kubeconfig ".*" is not YAML: .*$/],
    ["token: *secret-token", /^kubeconfig ".*" is not YAML: unidentified alias \(1:9\)$/],
    ["token: !secret-token", /^kubeconfig ".*" is not YAML: unknown scalar tag \(1:8\)$/],
    [
      "a: b\ntoken: !secret-token%",
      /is not YAML: tag name cannot contain such characters \(2:\d+\)$/,
    ],
    ["", /^kubeconfig ".*" has no current-context; name one with --context$/],
    ["- a", /^kubeconfig ".*" holds no configuration$/],
    ["clusters: [{}]", /^kubeconfig ".*" is not valid: clusters\[0\].name is missing$/],
    ["clusters: {}", /^kubeconfig ".*" is not valid: clusters is no list$/],
    ["users: [null]", /^kubeconfig ".*" is not valid: users\[0\] is no mapping$/],
    [
      "users: [{ name: u, user: { password: 1234 } }]",
      /is not valid: users\[0\].user.password is no text; put it in quotes$/,
    ],
    [
      TWO.replace("ca.crt", "ca.crt, insecure-skip-tls-verify: 1"),
      /is not valid: clusters\[0\].cluster.insecure-skip-tls-verify is neither true nor false$/,
    ],
    [TWO, /has no context "third"; it has "first", "second", "no-cluster", "no-user"$/, "third"],
    [config(""), /has no current-context; name one with --context$/],
    [TWO, /^context "no-cluster" of .* names cluster "c9", which is not there$/, "no-cluster"],
    [TWO, /^context "no-user" of .* names user "u9", which is not there$/, "no-user"],
    [TWO.replace("https://one", "one"), /server "one:6443", which is no http\(s\) URL$/],
    ...["", "http://", "ftp://"].map(
      (scheme) =>
        [
          TWO.replace("https://one:6443", `${scheme}jane:secret-token@one:99999`),
          new RegExp(`server "${scheme}…@one:99999", which is no http\\(s\\) URL$`),
        ] as const,
    ),
  ];
  for (const [text, message, context] of cases) {
    const kubeconfig = text === undefined ? join(folderOf(t), "none") : written(t, text);
    assert.throws(
      () => loadKubeConfig({ kubeconfig, context }),
      (error) => {
        assert.ok(error instanceof KubeConfigError);
        assert.match(error.message, message);
        assert.ok(!error.message.includes("\n"));
        assert.doesNotMatch(error.message, /secret-token|1234/);
        return true;
      },
    );
  }
});

test("an entry without a server matters only to a command that uses it", (t) => {
  const text = TWO.replace("users:", "- name: c3\n- { name: c4, cluster: {} }\nusers:").concat(
    "- { name: namespace-only, context: { namespace: n2 } }\n",
    "- { name: no-server, context: { cluster: c4, user: u2 } }\n",
  );
  const kubeconfig = written(t, text);
  assert.equal(loadKubeConfig({ kubeconfig }).cluster.server, "https://one:6443");
  assert.throws(
    () => loadKubeConfig({ kubeconfig, context: "namespace-only" }),
    /^KubeConfigError: context "namespace-only" of .* names no cluster$/,
  );
  assert.throws(
    () => loadKubeConfig({ kubeconfig, context: "no-server" }),
    /^KubeConfigError: cluster "c4" of .* has no server$/,
  );
});

test("files in KUBECONFIG merge as in kubectl: the first to name a thing wins", (t) => {
  const one = written(t, TWO);
  const two = written(
    t,
    TWO.replaceAll("https://one", "https://other")
      .replace("first", "second")
      .replace("name: u2", "name: extra")
      .concat("- { name: of-two-only, context: { cluster: c1, user: extra } }\n"),
  );
  const list = [join(folderOf(t), "none"), one, two].join(":");
  const config = loadKubeConfig({ env: { KUBECONFIG: list } });
  assert.equal(config.cluster.server, "https://one:6443");
  assert.equal(config.user.name, "u1");
  const extra = loadKubeConfig({ env: { KUBECONFIG: list }, context: "of-two-only" });
  assert.deepEqual([extra.cluster.server, extra.user.name], ["https://one:6443", "extra"]);
  assert.throws(
    () => loadKubeConfig({ env: { KUBECONFIG: join(folderOf(t), "none") } }),
    /does not exist$/,
  );
});

test("the file in the home folder is used where none is named", (t) => {
  const home = folderOf(t);
  assert.throws(() => loadKubeConfig({ env: { HOME: home } }), {
    message: `no kubeconfig: not in a cluster, KUBECONFIG is not set, and "${home}/.kube/config" does not exist; name one with --kubeconfig`,
  });
  mkdirSync(join(home, ".kube"));
  writeFileSync(join(home, ".kube", "config"), TWO);
  assert.equal(loadKubeConfig({ env: { HOME: home } }).user.name, "u1");
});

test("in a pod the service account is taken, and what it lacks is one line", (t) => {
  const root = folderOf(t);
  const account = join(root, "var/run/secrets/kubernetes.io/serviceaccount");
  mkdirSync(account, { recursive: true });
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  assert.throws(() => loadKubeConfig({ inCluster: true, env, root }), /token" does not exist/);
  for (const file of ["token", "ca.crt"]) writeFileSync(join(account, file), file);
  const config = loadKubeConfig({ inCluster: true, env, root });
  assert.deepEqual(config, {
    cluster: {
      name: "in-cluster",
      server: "https://[fd00::1]:443",
      caFile: join(account, "ca.crt"),
    },
    user: { name: "in-cluster", tokenFile: join(account, "token") },
  });
  assert.throws(() => loadKubeConfig({ inCluster: true, env: {}, root }), {
    message: "not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be set",
  });
});

const text = (value: string): string =>
  TWO.replace("u1\n  user: { token: secret-token", `u1\n  user: { token: ${value}`);

for (const [rule, changed, token] of [
  [
    "an anchor and a merge",
    `x: &u { token: merged }\n${TWO.replace("{ token: secret-token, tokenFile: tok }", "{ <<: *u }")}`,
    "merged",
  ],
  [
    "of a key that is there twice the last counts",
    `current-context: none\n${TWO.replace("current-context: first\n", "")}current-context: first`,
    "secret-token",
  ],
  ["the first document counts", `---\n${TWO}\n---\na: [broken`, "secret-token"],
  ["what follows an end marker does not count", `%YAML 1.1\n---\n${TWO}\n...\n}`, "secret-token"],
  ["a date is text", text("2024-01-01"), "2024-01-01"],
  ["a number of base sixty is text", text("1:30"), "1:30"],
  ["binary text is decoded", text("!!binary YWJj"), "abc"],
] as const)
  test(`a kubeconfig is read as kubectl reads it: ${rule}`, (t) => {
    const { user } = loadKubeConfig({ kubeconfig: written(t, changed) });
    assert.equal(user.token, token);
  });

test("booleans of YAML 1.1 are booleans, and no text: as for kubectl", (t) => {
  for (const yes of ["yes", "On", "y", "TRUE"]) {
    const changed = TWO.replace(':8080"', `:8080", insecure-skip-tls-verify: ${yes}`);
    const kubeconfig = written(t, changed);
    const { cluster } = loadKubeConfig({ kubeconfig, context: "second" });
    assert.equal(cluster.skipTLSVerify, true);
  }
  for (const odd of ["yes", "007", "0o7", "1e3", "1_000"])
    assert.throws(
      () => loadKubeConfig({ kubeconfig: written(t, text(odd)) }),
      /users\[0\]\.user\.token is no text; put it in quotes$/,
    );
});

test("an empty file of KUBECONFIG is skipped, also one of comments alone", (t) => {
  const empty = [written(t, ""), written(t, "# nothing\n"), written(t, "---\n")];
  const KUBECONFIG = [...empty, written(t, TWO)].join(":");
  assert.equal(loadKubeConfig({ env: { KUBECONFIG } }).user.name, "u1");
});

test("--as replaces the user that a kubeconfig impersonates and leaves its groups", (t) => {
  const as = (fields: string): string => TWO.replace("tokenFile: tok", fields);
  const kubeconfig = written(t, as("as: jane, as-groups: [ops], as-uid: '7'"));
  const of = (options: object) => loadKubeConfig({ kubeconfig, ...options }).user;
  const { impersonateUser, impersonateGroups, impersonateUid } = of({ as: "joe" });
  assert.deepEqual([impersonateUser, impersonateGroups, impersonateUid], ["joe", ["ops"], "7"]);
  assert.deepEqual(of({ asGroups: ["dev"] }).impersonateGroups, ["dev"]);
  assert.equal(of({ asGroups: ["dev"] }).impersonateUser, "jane");
  const groups = written(t, as("as-groups: [ops]"));
  assert.throws(() => loadKubeConfig({ kubeconfig: groups }), /as-groups .* without as/);
  assert.equal(loadKubeConfig({ kubeconfig: groups, as: "joe" }).user.impersonateUser, "joe");
  const none = written(t, TWO);
  assert.throws(
    () => loadKubeConfig({ kubeconfig: none, asGroups: ["a"] }),
    /--as-group needs --as/,
  );
});

for (const [what, changed, message] of [
  [
    "a client certificate without its key",
    TWO.replace("tokenFile: tok", "client-certificate: c.pem"),
    'user "u1" has client-certificate without client-key: client-key or client-key-data must be set',
  ],
  [
    "an authority that is not asked",
    TWO.replace("ca.crt", "ca.crt, insecure-skip-tls-verify: true"),
    'cluster "c1" has insecure-skip-tls-verify and a certificate-authority: one of them must be removed',
  ],
  [
    "a token and a password",
    TWO.replace("tokenFile: tok", "password: p"),
    'user "u1" has a token and a username or password: only one is allowed',
  ],
  [
    "an authority as a file and as data",
    TWO.replace("ca.crt", "ca.crt, certificate-authority-data: eA=="),
    'cluster "c1" has certificate-authority and certificate-authority-data: one of them must be removed',
  ],
  [
    "a client certificate as a file and as data",
    TWO.replace(
      "tokenFile: tok",
      "client-certificate: c.pem, client-certificate-data: eA==, client-key: k.pem",
    ),
    'user "u1" has client-certificate and client-certificate-data: one of them must be removed',
  ],
  [
    "a client key as a file and as data",
    TWO.replace(
      "tokenFile: tok",
      "client-certificate: c.pem, client-key: k.pem, client-key-data: eA==",
    ),
    'user "u1" has client-key and client-key-data: one of them must be removed',
  ],
  [
    "a plugin beside a provider of tokens",
    TWO.replace(
      "tokenFile: tok",
      "exec: {apiVersion: client.authentication.k8s.io/v1, command: p, interactiveMode: Never}, auth-provider: {name: oidc}",
    ),
    'user "u1" has exec and auth-provider: one of them must be removed',
  ],
] as const)
  test(`${what} is refused, as by kubectl`, (t) => {
    const kubeconfig = written(t, changed);
    assert.throws(() => loadKubeConfig({ kubeconfig }), new KubeConfigError(message));
  });

test("the scheme of a server may be in capitals", (t) => {
  const kubeconfig = written(t, TWO.replace("https://one", "HTTPS://one"));
  assert.equal(loadKubeConfig({ kubeconfig }).cluster.server, "https://one:6443");
});

test("connection flags replace fields of the context, with what would contradict them", (t) => {
  const kubeconfig = written(t, TWO);
  const of = (overrides: ConnectionOverrides, as?: string) =>
    loadKubeConfig({ kubeconfig, overrides, as });
  assert.equal(of({ cluster: "c2", user: "u2" }).cluster.server, "http://two:8080");
  assert.equal(of({ user: "u2" }).user.token, undefined);
  const token = of({ token: "given" }).user;
  assert.deepEqual([token.token, token.tokenFile], ["given", undefined]);
  const open = of({ skipTLSVerify: true }).cluster;
  assert.deepEqual([open.skipTLSVerify, open.caFile], [true, undefined]);
  const moved = of({ server: "https://three", tlsServerName: "api" }).cluster;
  assert.deepEqual([moved.server, moved.tlsServerName], ["https://three", "api"]);
  assert.equal(of({ asUid: "7" }, "jane").user.impersonateUid, "7");
  for (const [overrides, message] of [
    [{ cluster: "c9" }, /--cluster names cluster "c9", which is not there/],
    [{ user: "u9" }, /--user names user "u9", which is not there/],
    [{ server: "three" }, /--server is "three", which is no http\(s\) URL/],
    [{ asUid: "7" }, /--as-uid needs --as/],
    [{ certFile: "c.pem" }, /has client-certificate without client-key/],
    [{ caFile: "ca", skipTLSVerify: true }, /has insecure-skip-tls-verify and a certificate-auth/],
  ] as const)
    assert.throws(() => of(overrides), message);
});

test("--server needs no kubeconfig", (t) => {
  const env = { HOME: folderOf(t) };
  const { cluster, user } = loadKubeConfig({ env, overrides: { server: "http://127.0.0.1:8001" } });
  assert.equal(cluster.server, "http://127.0.0.1:8001");
  assert.equal(user.name, "anonymous");
});
