// Commands that judge a cluster say which one: the context and the server, on stderr.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { serverLine } from "../../../src/inspect/kubectl/connection.ts";
import { createClient } from "../../../packages/kube/rest/client.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { sandboxCluster } from "../../support/cli/sandbox-cluster.ts";

const COMMANDS = [
  ["plan"],
  ["status"],
  ["explain", "registry", "-n", "secretcast"],
  ["check"],
  ["migrate", "--from", "kubed"],
];

test("plan, status, explain, check and migrate name the context that was chosen and its server", async (t) => {
  const { run, kubeconfig, sandbox } = await sandboxCluster(t);
  const text = readFileSync(kubeconfig, "utf8");
  writeFileSync(
    kubeconfig,
    text.replace(
      "contexts:\n",
      "contexts:\n  - name: prod\n    context: { cluster: secretcast-sandbox }\n",
    ),
  );
  for (const words of COMMANDS) {
    const usual = await run(words);
    assert.ok(usual.stderr.includes(`context secretcast-sandbox, ${sandbox.url}\n`), usual.stderr);
    const chosen = await run([...words, "--context", "prod", "-o", "json"]);
    assert.ok(chosen.stderr.includes(`context prod, ${sandbox.url}\n`), chosen.stderr);
    assert.doesNotMatch(chosen.stdout, /context prod/);
  }
});

test("files are of no cluster", async (t) => {
  const { run } = await sandboxCluster(t);
  const { stderr } = await run(["plan", "-f", "-"], {
    stdin: "apiVersion: v1\nkind: Namespace\nmetadata: { name: a }\n",
  });
  assert.doesNotMatch(stderr, /context/);
});

test("no password of the address is reported, and no name steers the terminal", async (t) => {
  const kubeConfig = {
    context: "a\u001b[2Jb",
    cluster: { name: "c", server: "https://me:hunter2@api.example:6443/x" },
    user: { name: "u" },
  };
  const client = createClient(kubeConfig, { clock: systemClock, userAgent: "test" });
  t.after(() => client.close());
  const line = serverLine({ kubeConfig, client, namespace: "default" });
  assert.equal(line, "context a\\u001b[2Jb, https://api.example:6443/x");
  const { context: _, ...own } = kubeConfig;
  assert.match(
    serverLine({ kubeConfig: own, client, namespace: "default" }),
    /^in the cluster, https:/,
  );
});
