// `secretcast inventory` on the sandbox: what it requests, what it prints, limits, gaps and invalid input.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { forbidden } from "../../support/cli/checked-server.ts";
import { sandboxCluster, type SandboxCluster } from "../../support/cli/sandbox-cluster.ts";
import { ENDS_2031, ENDS_AT } from "../../support/cli/short-certificate.ts";
import { ONE } from "../../../packages/kube/testing/certificates.ts";
import type { JsonObject } from "../../../packages/sandbox/storage/object.ts";

const UID = "11111111-1111-1111-1111-111111111111";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

function secret(
  place: string,
  annotations: Record<string, string>,
  more: JsonObject = {},
): JsonObject {
  const [namespace = "", name = ""] = place.split("/");
  const data = { password: base64("hunter2") };
  return { kind: "Secret", metadata: { namespace, name, annotations }, data, ...more };
}

function copyOf(source: string, place: string, uid = UID): JsonObject {
  const [namespace = "", name = ""] = place.split("/");
  const annotations = {
    "secretcast.io/source": source,
    "secretcast.io/source-uid": uid,
    "secretcast.io/placed-at": place,
    "secretcast.io/source-version": "1",
  };
  const labels = { "app.kubernetes.io/managed-by": "secretcast" };
  return {
    kind: "Secret",
    metadata: { namespace, name, labels, annotations },
    data: { password: base64("hunter2") },
  };
}

const TLS = secret(
  "secretcast/wildcard",
  { "secretcast.io/to": "*" },
  {
    type: "kubernetes.io/tls",
    data: { "tls.crt": base64(ENDS_2031 + ONE.cert), "tls.key": base64("hunter2") },
  },
);
const PULL = secret("team-b/pulled", {
  "secretcast.io/from": "secretcast/shared",
  "secretcast.io/source-uid": UID,
  "secretcast.io/source-version": "1",
  "secretcast.io/placed-at": "team-b/pulled",
});

const OBJECTS: readonly JsonObject[] = [
  ...["secretcast", "team-a", "team-b"].map((name) => ({ kind: "Namespace", metadata: { name } })),
  secret("secretcast/registry", { "secretcast.io/to": "team-*" }),
  secret("secretcast/shared", { "secretcast.io/allow": "*" }),
  secret("secretcast/plain", {}),
  TLS,
  PULL,
  copyOf("secretcast/registry", "team-a/registry"),
  copyOf("secretcast/lost", "team-a/lost"),
  secret("team-b/registry", {}),
];

type Item = {
  readonly name: string;
  readonly isSource: boolean;
  readonly keys: readonly string[];
  readonly copies: readonly {
    namespace: string;
    name: string;
    pulling?: true;
    formerSource?: true;
  }[];
  readonly value: Readonly<Record<string, unknown>>;
  readonly over: readonly string[];
  readonly unsure: readonly string[];
  readonly certificate?: unknown;
  readonly readers?: readonly Readonly<Record<string, unknown>>[];
};

async function items(
  cluster: SandboxCluster,
  ...words: readonly string[]
): Promise<readonly Item[]> {
  const { stdout } = await cluster.run(["inventory", "-o", "json", ...words]);
  return JSON.parse(stdout).items;
}

const openCluster = (t: TestContext): Promise<SandboxCluster> => sandboxCluster(t, OBJECTS);

test("each source has its copies, also a source that no longer exists", async (t) => {
  const cluster = await openCluster(t);
  const found = await items(cluster);
  assert.deepEqual(
    found.map(({ name, isSource, keys, copies }) => [
      name,
      isSource,
      keys.join(),
      copies.map((copy) => `${copy.namespace}/${copy.name}${copy.pulling ? " pulls" : ""}`).join(),
    ]),
    [
      ["lost", false, "", "team-a/lost"],
      ["registry", true, "password", "team-a/registry"],
      ["shared", true, "password", "team-b/pulled pulls"],
      ["wildcard", true, "tls.crt,tls.key", ""],
    ],
  );
  assert.deepEqual(found[1]?.copies[0]?.formerSource, true, "it names another UID");
  const one = await items(cluster, "-n", "team-b");
  assert.deepEqual(
    one.map(({ name }) => name),
    ["shared"],
    "of -n: sources there, or copied there",
  );
});

test("without --certificates, no data of a Secret is requested; with it, only that of sources", async (t) => {
  const cluster = await openCluster(t);
  const asked: string[] = [];
  cluster.sandbox.beforeRequest = ({ method, path, query }) => {
    if (!path.includes("/secrets")) return undefined;
    asked.push(`${method} ${path} ${query.get("includeObject") ?? "whole"}`);
    return undefined;
  };
  const { stdout, stderr, code } = await cluster.run(["inventory", "-o", "wide"]);
  assert.deepEqual(asked, ["GET /api/v1/secrets Metadata"]);
  assert.equal(code, 0);
  asked.length = 0;
  await cluster.run(["inventory", "--certificates"]);
  assert.deepEqual(asked, [
    "GET /api/v1/secrets Metadata",
    "GET /api/v1/namespaces/secretcast/secrets/wildcard whole",
  ]);
  assert.doesNotMatch(stdout + stderr, /hunter2|aHVudGVyM/);
});

test("a certificate is shown by subject, issuer and the earliest date of its chain", async (t) => {
  const cluster = await openCluster(t);
  const [wildcard] = (await items(cluster, "--certificates")).filter(
    ({ name }) => name === "wildcard",
  );
  const { earliestExpiry, chain, subject } = Object(wildcard?.certificate);
  assert.deepEqual([earliestExpiry, chain], [ENDS_AT, 2]);
  assert.match(subject, /^O==HYPERLINK/);
  const soon = await cluster.run(["inventory", "--certificates", "--min-validity", "99999d"]);
  assert.equal(soon.code, 2);
  assert.match(
    soon.stderr,
    /^certificate expires sooner than the limit, has expired, or is not valid yet \(--min-validity=99999d\): secretcast\/wildcard$/m,
  );
  const later = await cluster.run(["inventory", "--certificates", "--min-validity", "1h"]);
  assert.equal(later.code, 0, later.stderr);
  const csv = await cluster.run(["inventory", "--certificates", "-o", "csv"]);
  assert.match(csv.stdout, /,"?O==HYPERLINK/, "it does not begin with a sign of a formula");
  for (const { stdout, stderr } of [soon, later, csv])
    assert.doesNotMatch(stdout + stderr, /hunter2|BEGIN|MII|Rldva/);
});

test("an empty certificate is unreadable and may expire too soon", async (t) => {
  const to = { "secretcast.io/to": "*" };
  const cluster = await sandboxCluster(t, [
    { kind: "Namespace", metadata: { name: "secretcast" } },
    secret("secretcast/opaque", to, { type: "Opaque", data: { "tls.crt": "" } }),
    secret("secretcast/without", to, { type: "Opaque", data: { "ca.crt": base64(ENDS_2031) } }),
  ]);
  const { code, stderr } = await cluster.run(["inventory", "--certificates", "--min-validity=30d"]);
  assert.equal(code, 2);
  assert.match(stderr, /^certificate that cannot be read .*: secretcast\/opaque$/m);
});

test("without a source, the certificate of a copy is read, and its expiry counts", async (t) => {
  const cluster = await sandboxCluster(t, [
    ...["secretcast", "team-a"].map((name) => ({ kind: "Namespace", metadata: { name } })),
    {
      ...copyOf("secretcast/lost", "team-a/tls"),
      type: "kubernetes.io/tls",
      data: { "tls.crt": base64(ENDS_2031), "tls.key": base64("hunter2") },
    },
  ]);
  const words = ["inventory", "--certificates", "--min-validity=99999d"];
  const { code, stdout, stderr } = await cluster.run(words);
  assert.equal(code, 2);
  assert.match(stdout, /^secretcast +lost +kubernetes\.io\/tls \(no source\) /m);
  assert.match(stderr, /^certificate expires sooner .*: secretcast\/lost$/m);
});

test("a certificate of a missing source is looked for in any type", async (t) => {
  const cluster = await sandboxCluster(t, [
    ...["secretcast", "team-a"].map((name) => ({ kind: "Namespace", metadata: { name } })),
    { ...copyOf("secretcast/bundle", "team-a/bundle"), data: { "tls.crt": base64(ENDS_2031) } },
    copyOf("secretcast/password", "team-a/password"),
  ]);
  const { code, stderr } = await cluster.run([
    "inventory",
    "--certificates",
    "--min-validity=99999d",
  ]);
  assert.equal(code, 2);
  assert.match(stderr, /^certificate expires sooner .*: secretcast\/bundle$/m);
});

test("ConfigMaps are sources of their own with --config-maps", async (t) => {
  const cluster = await sandboxCluster(t, [
    ...["secretcast", "team-a"].map((name) => ({ kind: "Namespace", metadata: { name } })),
    secret("secretcast/app", { "secretcast.io/to": "*" }),
    {
      ...secret("secretcast/app", { "secretcast.io/to": "*" }),
      kind: "ConfigMap",
      data: { mode: "x" },
    },
    { ...copyOf("secretcast/app", "team-a/app"), kind: "ConfigMap", data: { mode: "x" } },
  ]);
  const { stdout } = await cluster.run(["inventory", "--config-maps"]);
  assert.match(stdout, /^secrets +secretcast +app +Opaque +password +0 /m);
  assert.match(stdout, /^configmaps +secretcast +app +mode +1 /m);
  const { stdout: alone, stderr } = await cluster.run(["inventory", "-n", "team-a"]);
  assert.deepEqual([alone, stderr.split("\n", 1)[0]], ["", "no source was found"]);
});

test("a source with an unreadable certificate is named, and the exit code is 1", async (t) => {
  const cluster = await openCluster(t);
  cluster.sandbox.beforeRequest = ({ path }) => {
    if (!path.endsWith("/secrets/wildcard")) return undefined;
    const [status, body] = forbidden("get", "secrets");
    return { status, body };
  };
  const { code, stderr } = await cluster.run(["inventory", "--certificates"]);
  assert.equal(code, 1);
  assert.match(stderr, /certificates cannot be read \(403 Forbidden.*\): secretcast\/wildcard$/m);
});

test("a value above --max-age, or one that may be, is named with exit code 2", async (t) => {
  const cluster = await openCluster(t);
  const young = await cluster.run(["inventory", "--max-age", "1h", "-l", "none=none"]);
  assert.equal(young.code, 0, "nothing is selected");
  const found = await cluster.run(["inventory", "--max-age=1h", "-o", "json"]);
  assert.equal(found.code, 2);
  assert.match(
    found.stderr,
    /^value that may be older than the limit, .* \(--max-age=1h\): secretcast\/lost$/m,
  );
  assert.doesNotMatch(found.stderr, /^value older/m);
  const lenient = await cluster.run(["inventory", "--max-age=1h", "--exit-code=false"]);
  assert.equal(lenient.code, 0);
});

test("readers come from RBAC with their places, and gaps give exit code 1", async (t) => {
  const cluster = await openCluster(t);
  const role = (name: string, namespace?: string) => ({
    metadata: { name, namespace, uid: UID, resourceVersion: "1" },
    rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["get", "list"] }],
  });
  const binding = (name: string, roleRef: object, subject: object, namespace?: string) => ({
    metadata: { name, namespace, uid: UID, resourceVersion: "1" },
    roleRef,
    subjects: [subject],
  });
  const lists: Record<string, readonly object[]> = {
    clusterroles: [role("reader")],
    clusterrolebindings: [
      binding(
        "all",
        { kind: "ClusterRole", name: "reader" },
        { kind: "Group", name: "system:masters" },
      ),
    ],
    roles: [],
    rolebindings: [
      binding(
        "jane",
        { kind: "ClusterRole", name: "reader" },
        { kind: "User", name: "=jane" },
        "team-a",
      ),
      binding("old", { kind: "Role", name: "deleted" }, { kind: "User", name: "joe" }, "team-a"),
      binding("far", { kind: "Role", name: "deleted" }, { kind: "User", name: "joe" }, "elsewhere"),
    ],
  };
  let denied = "";
  cluster.sandbox.beforeRequest = ({ path }) => {
    const [, plural = ""] =
      /^\/apis\/rbac\.authorization\.k8s\.io\/v1\/(?:.*\/)?([a-z]+)$/.exec(path) ?? [];
    const items = lists[plural];
    if (!items) return undefined;
    if (plural === denied) {
      const [status, body] = forbidden("list", plural);
      return { status, body };
    }
    const kind = { clusterroles: "ClusterRole", roles: "Role", rolebindings: "RoleBinding" }[
      plural
    ];
    const body = {
      kind: `${kind ?? "ClusterRoleBinding"}List`,
      metadata: { resourceVersion: "1" },
      items,
    };
    return { status: 200, body: JSON.parse(JSON.stringify(body)) };
  };
  const [, registry] = await items(cluster, "--readers");
  assert.deepEqual(registry?.readers, [
    {
      kind: "Group",
      name: "system:masters",
      verbs: ["get", "list"],
      binding: "ClusterRoleBinding/all",
      role: "ClusterRole/reader",
      everyPlace: true,
      count: 2,
      note: "reads everything, whatever RBAC says",
    },
    {
      kind: "User",
      name: "=jane",
      verbs: ["get", "list"],
      binding: "RoleBinding/team-a/jane",
      role: "ClusterRole/reader",
      places: ["team-a/registry"],
      count: 1,
    },
  ]);
  const said = await cluster.run(["inventory", "--readers"]);
  assert.equal(said.code, 0);
  assert.match(
    said.stderr,
    /^bindings to roles that do not exist: RoleBinding\/team-a\/old to Role\/team-a\/deleted$/m,
  );
  assert.match(
    said.stdout,
    /^secretcast\/registry +User =jane +get,list +RoleBinding\/team-a\/jane /m,
  );
  const csv = await cluster.run(["inventory", "--readers", "-o", "csv"]);
  const rows = csv.stdout.split("\r\n");
  assert.equal(
    new Set(rows.slice(0, -1).map((row) => row.replaceAll(/"[^"]*"/g, "").split(",").length)).size,
    1,
  );
  assert.ok(
    rows.some((row) => row.includes(",User,,'=jane,get list,")),
    csv.stdout,
  );
  denied = "clusterrolebindings";
  const less = await cluster.run(["inventory", "--readers"]);
  assert.equal(less.code, 1);
  assert.match(
    less.stderr,
    /^secretcast: clusterrolebindings cannot be listed \(403 Forbidden\): further readers are not known$/m,
  );
});

test("a server without RBAC has no readers to show, and the exit code is 1", async (t) => {
  const cluster = await openCluster(t);
  const { code, stderr } = await cluster.run(["inventory", "--readers"]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /clusterroles cannot be listed \(404 Not Found: the API server serves no RBAC\)/,
  );
});

test("an answer with data in place of a table is refused, and not read", async (t) => {
  const cluster = await openCluster(t);
  cluster.sandbox.beforeRequest = ({ path }) =>
    path === "/api/v1/secrets"
      ? { status: 200, body: { kind: "SecretList", metadata: { resourceVersion: "1" }, items: [] } }
      : undefined;
  const { code, stderr } = await cluster.run(["inventory"]);
  assert.equal(code, 1);
  assert.match(stderr, /list secrets.*its kind is not SecretList/);
});

test("sources that may not be listed are named, and the exit code is 1", async (t) => {
  const cluster = await openCluster(t);
  cluster.sandbox.beforeRequest = ({ path, method }) => {
    if (!/^\/api\/v1\/(secrets|namespaces\/secretcast\/secrets)$/.test(path)) return undefined;
    const [status, body] = forbidden(method.toLowerCase(), "secrets");
    return { status, body };
  };
  const { code, stderr } = await cluster.run(["inventory", "-n", "team-a"]);
  assert.equal(code, 1);
  assert.match(stderr, /namespace secretcast cannot be read \(403 Forbidden\)/);
});

test("invalid input is one line that names the flag", async (t) => {
  const cluster = await openCluster(t);
  for (const [words, says] of [
    [
      ["--max-age", "soon"],
      /^secretcast: --max-age: "soon" is not a duration above 0: write it like 90d or 36h\n$/,
    ],
    [["--max-age", "0"], /^secretcast: --max-age: "0" /],
    [["--max-age", "-3d"], /^secretcast: --max-age/],
    [["--min-validity", "30d"], /^secretcast: --min-validity is for --certificates: /],
    [["--certificates", "--min-validity", "1w"], /^secretcast: --min-validity: "1w" /],
    [["-o", "xml"], /^secretcast: --output: "xml" is not one of wide, json, yaml, name, csv\n$/],
    [["registry"], /unexpected word "registry"/],
    [["--reader"], /--readers/],
  ] as const) {
    const { code, stdout, stderr } = await cluster.run(["inventory", ...words]);
    assert.deepEqual([code, stdout], [1, ""], words.join(" "));
    assert.match(stderr, says);
    assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
  }
  const plan = await cluster.run(["plan", "-o", "csv"]);
  assert.match(plan.stderr, /"csv" is not one of wide, json, yaml, name, markdown\n/);
});
