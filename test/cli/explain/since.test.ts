// `explain --since` for a reader with few rights, and invalid input. test/integration/explain-since.test.ts has the rest.
import assert from "node:assert/strict";
import { test } from "node:test";
import { forbidden } from "../../support/cli/checked-server.ts";
import { sandboxCluster } from "../../support/cli/sandbox-cluster.ts";

test("unreadable objects and Events are named, and the exit code is 1", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  sandbox.beforeRequest = ({ path, method }) => {
    if (!/namespaces\/secretcast\/(secrets\/|events)/.test(path)) return undefined;
    const [status, body] = forbidden(method.toLowerCase(), path);
    return { status, body };
  };
  const { code, stderr, stdout } = await run([
    "explain",
    "registry",
    "-n",
    "secretcast",
    "--since",
    "2h",
  ]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^secretcast: Secret secretcast\/registry cannot be read \(403 Forbidden\): what is recorded there is not known$/m,
  );
  assert.match(stderr, /^secretcast: Events in secretcast cannot be listed \(403 Forbidden\): /m);
  assert.match(stdout, /^\S+ +Namespace secretcast +created$/m, "the rest is shown");
});

test("an Event of another program is shown without control characters and in bounds", async (t) => {
  const { run, sandbox } = await sandboxCluster(t);
  sandbox.load([
    {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e", namespace: "secretcast" },
      involvedObject: {
        kind: "Secret",
        name: "registry",
        namespace: "secretcast",
        apiVersion: "v1",
      },
      reason: "Rotated",
      message: `by \u001b[31mvault${"x".repeat(900)}`,
      type: "Normal",
      lastTimestamp: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
      firstTimestamp: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
      source: { component: "vault-agent" },
      reportingComponent: "",
    },
  ]);
  const { code, stdout } = await run(["explain", "registry", "-n", "secretcast", "--since", "1d"]);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /Secret secretcast\/registry +vault-agent +Event Rotated: by \\u001b\[31mvaultx/,
  );
});

test("an invalid --since is one line", async (t) => {
  const { run } = await sandboxCluster(t);
  for (const since of ["yesterday", "0", "-1h", "1w"]) {
    const { code, stdout, stderr } = await run([
      "explain",
      "registry",
      "-n",
      "secretcast",
      `--since=${since}`,
    ]);
    assert.deepEqual([code, stdout], [1, ""], since);
    assert.match(
      stderr,
      /^secretcast: --since: "[^"]+" is not a duration above 0: write it like 90d or 36h\n$/,
    );
  }
});
