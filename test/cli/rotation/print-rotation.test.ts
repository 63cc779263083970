// `secretcast rotation`: 0 only if the old value may be revoked, 2 with what prevents it, and never a value.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AFTERWARDS,
  answered,
  at,
  namespaceObject,
  rotated,
  rotationCluster,
  secretObject,
  withVariable,
  withVolume,
} from "../../support/cli/rotation-cluster.ts";

test("all copies are current and no Pod holds an older value: 0, safe to revoke", async (t) => {
  const cluster = await rotationCluster(t);
  await cluster.pod("team-a/new", withVariable("registry"), {
    phase: "Running",
    startTime: AFTERWARDS,
  });
  const { code, stdout, stderr } = await cluster.rotation();
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^NAMESPACE +NAME +ROLE +VALUE +SINCE +VERDICT +HELD BY +REASON$/m);
  assert.match(
    stdout,
    /^secretcast +registry +source +present +\d{4}-\S+Z +current +0 Pods +the source itself$/m,
  );
  assert.match(stdout, /^team-a +registry +copy +present +\d{4}-\S+Z +current +0 Pods +/m);
  assert.match(
    stderr,
    /^safe to revoke: 3 places have the present value, and no Pod holds an older one$/m,
  );
  assert.match(stderr, /^judged by /m);
});

test("a Pod that started before is listed with its owner and the restart command", async (t) => {
  const cluster = await rotationCluster(t);
  await cluster.pod("team-a/web", withVariable("registry"));
  const { code, stdout, stderr } = await cluster.rotation();
  assert.equal(code, 2);
  assert.match(
    stdout,
    /^team-a +web +none +\S+Z +registry by environment \(app\) +it started before the value was written, or within the sync period after it$/m,
  );
  assert.match(
    stdout,
    /^To restart them:\n {2}kubectl get pod web -n team-a -o yaml \| kubectl replace --force -f -$/m,
  );
  assert.match(stderr, /^do not revoke the old value yet: 1 Pod holds an older value$/m);
  assert.doesNotMatch(stderr, /safe to revoke/);
  assert.equal((await cluster.rotation("--exit-code=false")).code, 0);
  await cluster.patch("/api/v1/namespaces/team-a/pods/web/status", {
    status: { startTime: AFTERWARDS },
  });
  assert.equal((await cluster.rotation()).code, 0);
});

test("a Pod of the source's own namespace counts as well", async (t) => {
  const cluster = await rotationCluster(t);
  await cluster.pod("secretcast/web", withVariable("registry"));
  const answer = await rotated(cluster);
  assert.equal(answer.code, 2);
  assert.deepEqual(
    at(answer, "secretcast/registry").holders.map(({ pod }) => pod),
    ["web"],
  );
});

test("volumes count as refreshed after the sync period, and subPath mounts never", async (t) => {
  const cluster = await rotationCluster(t);
  await cluster.pod("team-a/files", withVolume("registry"));
  const early = await rotated(cluster, "--sync-period", "1h");
  assert.deepEqual(at(early, "team-a/registry").holders[0]?.holds, [
    {
      by: "volume",
      container: "app",
      code: "VolumeNotRefreshed",
      reason: "the sync period of the kubelet is not over",
    },
  ]);
  assert.equal(early.code, 2);
  assert.equal((await rotated(cluster, "--sync-period", "0")).code, 0);
  await cluster.pod("team-a/part", withVolume("registry", { subPath: "password" }));
  const late = await rotated(cluster, "--sync-period", "0");
  assert.deepEqual(late.blockers, [{ code: "PodsHold", count: 1 }]);
});

test("pull secrets are listed apart and prevent nothing", async (t) => {
  const cluster = await rotationCluster(t);
  const spec = { containers: [], imagePullSecrets: [{ name: "registry" }] };
  await cluster.pod("team-b/web", spec);
  const answer = await rotated(cluster);
  assert.equal(answer.code, 0, answer.stderr);
  assert.deepEqual(at(answer, "team-b/registry").pulls, ["web"]);
  const { stdout } = await cluster.rotation("-o", "wide");
  assert.match(stdout, /read it again at each pull:\nNAMESPACE.*\nteam-b +registry +1 +web$/m);
});

test("a newer Pod with the tenant's own Secret of the source's name does not count", async (t) => {
  const annotations = {
    "secretcast.io/to": "team-*",
    "secretcast.io/name": "db",
    "secretcast.io/keys": "password",
  };
  const cluster = await rotationCluster(t, [
    ...["secretcast", "team-a"].map((name) => namespaceObject(name)),
    secretObject("secretcast/registry", annotations, { password: "x", root: "y" }),
    secretObject("team-a/registry"),
  ]);
  await cluster.pod("team-a/other", withVariable("registry"), {
    phase: "Running",
    startTime: AFTERWARDS,
    containerStatuses: [{ name: "app", state: { running: { startedAt: AFTERWARDS } } }],
  });
  assert.equal((await rotated(cluster)).code, 0);
  await cluster.pod("team-a/web", withVariable("db"));
  const answer = await rotated(cluster);
  assert.deepEqual(
    at(answer, "team-a/db").holders.map(({ pod }) => pod),
    ["web"],
  );
});

test("ConfigMaps have their own uses", async (t) => {
  const cluster = await rotationCluster(t, [
    ...["secretcast", "team-a"].map((name) => namespaceObject(name)),
    {
      kind: "ConfigMap",
      metadata: {
        namespace: "secretcast",
        name: "ca",
        annotations: { "secretcast.io/to": "team-*" },
      },
      data: { "ca.crt": "x" },
    },
  ]);
  await cluster.copy("--config-maps");
  const words = ["rotation", "cm/ca", "-n", "secretcast", "--config-maps", "-o", "json"];
  assert.equal((await cluster.run(words)).code, 0);
  const containers = [{ name: "app", envFrom: [{ configMapRef: { name: "ca" } }] }];
  await cluster.pod("team-a/secret", {
    containers: [{ name: "app", envFrom: [{ secretRef: { name: "ca" } }] }],
  });
  assert.equal((await cluster.run(words)).code, 0);
  await cluster.pod("team-a/web", { containers });
  const answer = await answered(cluster.run(words));
  assert.deepEqual(
    at(answer, "team-a/ca").holders.map(({ pod }) => pod),
    ["web"],
  );
});

test("--wait ends as soon as it is safe, and --timeout ends it with 2", async (t) => {
  const cluster = await rotationCluster(t);
  await cluster.pod("team-a/web", withVariable("registry"));
  const late = await cluster.rotation("--wait", "--timeout", "100ms");
  assert.equal(late.code, 2);
  assert.match(late.stderr, /timed out after 100ms \(--timeout\)\n$/);
  assert.match(late.stdout, /^team-a +web /m);
  let reads = 0;
  cluster.sandbox.beforeRequest = ({ path }) => {
    if (path.startsWith("/api/v1/pods") && ++reads === 1)
      void cluster.http.send("DELETE", "/api/v1/namespaces/team-a/pods/web");
    return undefined;
  };
  const { code, stdout } = await cluster.rotation("--wait", "--timeout", "60s");
  assert.equal(code, 0);
  assert.equal(stdout.match(/^NAMESPACE/gm)?.length, 1, "only the last answer is printed");
});

test("Ctrl-C while it waits: 130, and no error line", async (t) => {
  const cluster = await rotationCluster(t);
  await cluster.pod("team-a/web", withVariable("registry"));
  const stop = new AbortController();
  cluster.sandbox.beforeRequest = ({ path }) => {
    if (path.startsWith("/api/v1/pods")) setImmediate(() => stop.abort());
    return undefined;
  };
  const words = ["rotation", "registry", "-n", "secretcast", "--wait", "--timeout", "60s"];
  const { code, stdout, stderr } = await cluster.run(words, { signal: stop.signal });
  assert.deepEqual([code, stdout, stderr], [130, "", ""]);
});

test("the list is a RotationList in JSON and YAML, and names in -o name", async (t) => {
  const cluster = await rotationCluster(t);
  const answer = await rotated(cluster);
  assert.deepEqual(
    [answer.apiVersion, answer.kind],
    ["cli.secretcast.io/v1alpha1", "RotationList"],
  );
  assert.match((await cluster.rotation("-o", "yaml")).stdout, /^kind: RotationList$/m);
  assert.match(
    (await cluster.rotation("-o", "name")).stdout,
    /^secret\/registry -n secretcast\nsecret\/registry -n team-a\n/,
  );
});

test("wrong input is one line with what would be right, and exit code 1", async (t) => {
  const cluster = await rotationCluster(t);
  await cluster.create("/api/v1/namespaces/team-a/secrets", secretObject("team-a/plain"));
  const cases: readonly (readonly [words: readonly string[], line: RegExp])[] = [
    [[], /Not enough non-option arguments/],
    [["Registry"], /"Registry" is not the name of a Secret/],
    [["pod/registry"], /"pod" is no kind that is copied/],
    [["cm/registry"], /ConfigMaps take no part without --config-maps/],
    [
      ["registry", "-n", "nowhere"],
      /there is no Secret registry in namespace nowhere \(-n chooses/,
    ],
    [
      ["registry", "--only-names", "other"],
      /objects named registry are not read \(--only-names\): --only-names other,registry lets/,
    ],
    [
      ["registry", "-n", "team-b", "--namespaces", "team-a"],
      /registry in namespace team-b: namespace team-b is not read \(--namespaces\)$/,
    ],
    [
      ["registry", "-n", "team-a"],
      /Secret registry in namespace team-a is not a source, its source is secretcast\/registry: secretcast rotation registry -n secretcast$/,
    ],
    [["plain", "-n", "team-a"], /is not a source: secretcast explain plain -n team-a says why$/],
    [["registry", "-l", "a=b"], /--selector is for lists/],
    [["registry", "--timeout", "5s"], /--timeout is for --wait/],
    [["registry", "--wait", "--timeout", "soon"], /--timeout: "soon" is not a duration/],
    [["registry", "--sync-period", "-5m"], /--sync-period/],
    [["registry", "--sync-period", "2"], /--sync-period: "2" is not a duration/],
    [["registry", "-o", "csv"], /--output: "csv" is not one of/],
  ];
  for (const [words, line] of cases) {
    const { code, stdout, stderr } = await cluster.run(["rotation", "-n", "secretcast", ...words]);
    assert.equal(code, 1, words.join(" "));
    assert.match(stderr, /^secretcast: [^\n]+\n$/, words.join(" "));
    assert.match(stderr.trimEnd(), line);
    assert.equal(stdout, "");
  }
});

test("equal places are one row, and Pods come first", async (t) => {
  const teams = Array.from({ length: 9 }, (_, n) => `team-${n}`);
  const cluster = await rotationCluster(t, [
    ...["secretcast", ...teams].map((name) => namespaceObject(name)),
    secretObject("secretcast/registry", { "secretcast.io/to": "team-*" }),
  ]);
  await cluster.pod("team-4/web", withVariable("registry"));
  const { stdout } = await cluster.rotation();
  assert.match(stdout, /^Pods that hold an older value:\n/);
  assert.match(stdout, /^team-0 and 7 more +registry +copy +present /m);
  assert.match(stdout, /^team-4 +registry +copy +present .* 1 Pod /m);
  assert.equal(stdout.match(/ registry +copy /g)?.length, 2);
  assert.equal((await rotated(cluster)).items.length, 10);
});
