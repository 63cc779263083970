// The proposal of --only-names: the names of the present plan, or why there is none.
import assert from "node:assert/strict";
import { test } from "node:test";
import { proposal } from "../../../src/cli/check/check-names.ts";
import { forbidden } from "../../support/cli/checked-server.ts";
import { sandboxCluster, type SandboxCluster } from "../../support/cli/sandbox-cluster.ts";

async function proposed({ run }: SandboxCluster, ...words: readonly string[]) {
  const { stdout } = await run(["check", "-o", "json", ...words]);
  const { items }: { items: readonly Readonly<Record<string, string>>[] } = JSON.parse(stdout);
  return items.find(({ check }) => check === "rights by name");
}

test("check proposes --only-names with the names that the plan needs, copies of another name too", async (t) => {
  const namespaces = ["secretcast", "team-a"].map((name) => ({
    kind: "Namespace",
    metadata: { name },
  }));
  const cluster = await sandboxCluster(t, namespaces);
  assert.equal((await proposed(cluster))?.["says"], "no object takes part yet");
  const to = { "secretcast.io/to": "team-*" };
  cluster.sandbox.load(
    [
      { namespace: "secretcast", name: "registry", annotations: to },
      {
        namespace: "secretcast",
        name: "ca",
        annotations: { ...to, "secretcast.io/name": "ca-bundle" },
      },
      { namespace: "team-a", name: "unrelated", annotations: {} },
    ].map((metadata) => ({ kind: "Secret", metadata, data: {} })),
  );
  const finding = await proposed(cluster);
  assert.equal(finding?.["says"], "3 names take part");
  assert.match(
    finding["advice"] ?? "",
    /`secretcast rights` prints with --only-names ca,ca-bundle,registry, and run with it$/,
  );
  assert.equal(await proposed(cluster, "--only-names", "registry"), undefined);
});

test("check proposes the names of current copies and pulling Secrets too", async (t) => {
  const namespaces = ["secretcast", "team-a"].map((name) => ({
    kind: "Namespace",
    metadata: { name },
  }));
  const cluster = await sandboxCluster(t, namespaces);
  const words = (given: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(given).map(([word, text]) => [`secretcast.io/${word}`, text]),
    );
  cluster.sandbox.load(
    [
      { namespace: "secretcast", name: "ca", annotations: words({ to: "team-*", name: "bundle" }) },
      { namespace: "secretcast", name: "database", annotations: words({ allow: "team-a" }) },
      { namespace: "team-a", name: "pulled", annotations: words({ from: "secretcast/database" }) },
    ].map((metadata) => ({
      kind: "Secret",
      metadata,
      data: metadata.name === "pulled" ? {} : { key: "eA==" },
    })),
  );
  const before = await proposed(cluster);
  assert.match(
    before?.["advice"] ?? "",
    /--only-names bundle,ca,database,pulled, and run with it$/,
  );
  const ports = ["--http-address=127.0.0.1:0", "--status-address=127.0.0.1:0"];
  const ran = await cluster.run(["run", "--once", "--kubeconfig", cluster.kubeconfig, ...ports]);
  assert.equal(ran.code, 0, ran.stderr);
  assert.deepEqual(await proposed(cluster), before);
});

test("where Secrets may not be listed, no names are proposed", async (t) => {
  const cluster = await sandboxCluster(t);
  cluster.sandbox.beforeRequest = ({ method, path }) => {
    const [status, body] = forbidden("list", "secrets");
    return method === "GET" && path === "/api/v1/secrets" ? { status, body } : undefined;
  };
  const finding = await proposed(cluster);
  assert.match(finding?.["says"] ?? "", /is not known: no right to list secrets/);
});

test("more than 50 names are counted, with why none is proposed", () => {
  const names = Array.from({ length: 51 }, (_, at) => `n${at}`);
  const { says, advice } = proposal(names);
  assert.equal(says, "51 names take part, and --only-names has at most 50");
  assert.doesNotMatch(advice ?? "", /--only-names n/);
  assert.match(proposal(names.slice(1)).advice ?? "", /--only-names n1,n2,/);
});
