// `secretcast migrate` on a cluster, as a user types it: refused, shown, made, verified, cleaned up.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listBody } from "../support/api-server/list-body.ts";
import { refusal } from "../support/scenes/proxied.ts";
import { openMigrateStage } from "../support/worlds/migrate-stage.ts";
import { worldObjects } from "../support/worlds/world.ts";

/** The source of kubed's world that names the namespace of the stage. */
const GAIN = "--gain=central/regcred";

test("without --write nothing is written; with it somebody has to agree", async (t) => {
  const { stage, migrate } = await openMigrateStage(t, "tgik");
  const before = await stage.versions();
  const shown = await migrate();
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /15 to adopt, /);
  assert.match(shown.stdout, /--source-namespaces=secretsync\n--namespace-policy=opt-in\n/);
  const asked = await migrate("--write");
  assert.equal(asked.code, 1);
  assert.match(
    asked.stderr,
    /nobody can be asked here whether to write 4 sources and adopt 15 copies: --yes says so\n$/,
  );
  assert.deepEqual(await stage.versions(), before);
});

test("the move is made, verified and reported; run again it finds nothing to do", async (t) => {
  const { migrate } = await openMigrateStage(t, "tgik");
  const { code, stderr } = await migrate("--write", "--yes");
  assert.equal(code, 0, stderr);
  assert.match(stderr, /written: 4 sources, 5 namespaces, 15 copies adopted\n/);
  assert.match(
    stderr,
    /verified: 4 of 4 sources are as they are to be, 15 copies are ours with the data that they had, \d+ others were not touched\n/,
  );
  const again = await migrate("--write", "--yes");
  assert.match(again.stderr, /written: 0 sources, 0 namespaces, 0 copies adopted\n/);
  assert.equal(again.code, 0);
});

test("a move writes nothing while a Pod may run the old tool", async (t) => {
  const { stage, proxy, migrate } = await openMigrateStage(t, "kubed");
  const before = await stage.versions();
  const metadata = { name: "kubed-1", namespace: "kube-system", uid: "u", resourceVersion: "1" };
  const spec = { containers: [{ image: "appscode/kubed:v0.13.2" }] };
  const body = listBody("v1", "Pod", [{ metadata, spec }]);
  proxy.rule = ({ path }) =>
    path.endsWith("/pods") ? { kind: "answer", status: 200, body } : undefined;
  const refused = await migrate("--write", "--yes");
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /secretcast: Pod kube-system\/kubed-1 runs kubed, .* scale it to zero first/,
  );
  proxy.rule = ({ path }) => (path.endsWith("/pods") ? refusal(403, "Forbidden") : undefined);
  const unknown = await migrate("--write", "--yes");
  assert.equal(unknown.code, 1);
  assert.match(
    unknown.stderr,
    /Pods or CronJobs may not be listed: make sure that it does not, and set --although-running/,
  );
  assert.deepEqual(await stage.versions(), before);
  const reported = await migrate("--write", "--yes", "--although-running", GAIN);
  assert.match(reported.stderr, /20 copies adopted/);
});

test("unreadable namespaces are named, and the move of the rest is incomplete", async (t) => {
  const { proxy, migrate } = await openMigrateStage(t, "kubed");
  proxy.rule = ({ path, kind }) =>
    kind === "list" &&
    (path === "/api/v1/secrets" || path === "/api/v1/namespaces/api-prod/secrets")
      ? refusal(403, "Forbidden")
      : undefined;
  const { code, stdout, stderr } = await migrate();
  assert.equal(code, 2);
  assert.match(stderr, /not complete:\n {2}Secrets in api-prod: may not be listed\n/);
  assert.match(stdout, /17 to adopt/);
  const cleanup = await migrate("--cleanup");
  assert.equal(cleanup.code, 2, "traces may be where it cannot look");
  assert.match(cleanup.stderr, /not complete:\n {2}Secrets in api-prod: may not be listed\n/);
});

test("the clean-up removes the old tool's marks from our objects only", async (t) => {
  const { stage, migrate } = await openMigrateStage(t, "kubed");
  const { api } = stage.scene;
  const early = await migrate("--cleanup", "--write", "--yes");
  assert.match(early.stderr, /0 objects bear traces of kubed\n$/, "nothing is ours yet");
  await migrate("--write", "--yes", GAIN);
  const contents = await stage.contents();
  const moved = await stage.versions();
  const shown = await migrate("--cleanup");
  assert.match(shown.stdout, /clean up Secret api-prod\/regcred\n/);
  assert.deepEqual(await stage.versions(), moved, "shown only");
  const { code, stderr } = await migrate("--cleanup", "--write", "--yes");
  assert.equal(code, 0, stderr);
  assert.match(stderr, /verified: 0 objects bear traces still\n$/);
  assert.deepEqual(await stage.contents(), contents, "no data changed, no Secret went");
  const copy = (await api.secret("api-prod", "regcred"))?.metadata;
  // The labels and annotations of Argo CD were the source's, and made it prune the copies.
  assert.deepEqual(Object.keys(copy?.labels ?? {}).toSorted(), [
    "app.kubernetes.io/managed-by",
    "kind",
  ]);
  const annotations = Object.keys(copy?.annotations ?? {});
  assert.deepEqual(
    annotations.filter((key) => !key.startsWith("secretcast.io/")),
    [],
  );
  const source = (await api.secret("central", "regcred"))?.metadata;
  assert.ok("argocd.argoproj.io/tracking-id" in (source?.annotations ?? {}), "a source's own stay");
  assert.equal(
    Object.keys(source?.annotations ?? {}).some((key) => key.startsWith("kubed")),
    false,
  );
  const drifted = (await api.secret("api-prod", "rotating"))?.metadata;
  assert.ok(
    "kubed.appscode.com/origin" in (drifted?.annotations ?? {}),
    "what is not ours keeps its marks",
  );
});

test("a CronJob of the old tool counts as running until it is suspended", async (t) => {
  const { stage, proxy, migrate } = await openMigrateStage(t, "reflector");
  const before = await stage.versions();
  const containers = [{ name: "reflector", image: "docker.io/emberstack/kubernetes-reflector:9" }];
  const job = (suspend: boolean) =>
    listBody("batch/v1", "CronJob", [
      {
        metadata: { namespace: "kube-system", name: "reflector", uid: "u", resourceVersion: "1" },
        spec: { suspend, jobTemplate: { spec: { template: { spec: { containers } } } } },
      },
    ]);
  const others = proxy.rule;
  const serve = (suspend: boolean): void => {
    proxy.rule = (request) =>
      request.path.split("?")[0]?.endsWith("/cronjobs") === true
        ? { kind: "answer", status: 200, body: job(suspend) }
        : others?.(request);
  };
  serve(false);
  const refused = await migrate("--write", "--yes");
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /CronJob kube-system\/reflector runs reflector, .* suspend it first/,
  );
  assert.deepEqual(await stage.versions(), before);
  serve(true);
  const made = await migrate("--write", "--yes");
  assert.match(made.stderr, /copies adopted/);
});

test("a terminal is asked: y goes on, all else writes nothing", async (t) => {
  const { stage, migrate } = await openMigrateStage(t, "tgik");
  const before = await stage.versions();
  for (const stdin of ["n\n", "\n", "yeah\n"]) {
    const refused = await migrate({ stdin, terminal: true }, "--write");
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /write 4 sources and adopt 15 copies\? \[y\/N\] secretcast: nothing was written\n$/,
    );
  }
  assert.deepEqual(await stage.versions(), before);
  const agreed = await migrate({ stdin: "y\n", terminal: true }, "--write");
  assert.equal(agreed.code, 0, agreed.stderr);
  assert.match(agreed.stderr, /15 copies adopted/);
});

test("a controller that would copy into every namespace is told its flags first", async (t) => {
  const { stage, proxy, migrate } = await openMigrateStage(t, "tgik");
  const before = await stage.versions();
  const metadata = { namespace: "secretcast", name: "secretcast", uid: "u", resourceVersion: "1" };
  const containers = [{ name: "secretcast", args: ["run", "--source-namespaces=secretsync"] }];
  const items = [{ metadata, spec: { template: { spec: { containers } } } }];
  const body = listBody("apps/v1", "Deployment", items);
  proxy.rule = ({ path }) =>
    path.endsWith("/deployments") ? { kind: "answer", status: 200, body } : undefined;
  const { code, stderr } = await migrate("--write", "--yes");
  assert.equal(code, 1);
  assert.match(
    stderr,
    /the controller secretcast\/secretcast runs with --namespace-policy=opt-out and would copy into every namespace/,
  );
  assert.deepEqual(await stage.versions(), before);
});

test("what --adopt-drifted names and is no copy is reported, and the exit code with it", async (t) => {
  const { migrate } = await openMigrateStage(t, "kubed");
  const { code, stderr } = await migrate("--adopt-drifted", "web-prod/orphaned,no/where");
  assert.equal(code, 2);
  assert.match(
    stderr,
    /--adopt-drifted web-prod\/orphaned: no copy that a source of the move wants is there\n/,
  );
  assert.match(stderr, /--adopt-drifted no\/where: no copy/);
});

test("a source list of Helm is not written, and its entries are printed as values", async (t) => {
  const { stage, proxy, migrate } = await openMigrateStage(t, "kubed");
  const before = await stage.versions();
  const labels = { "app.kubernetes.io/managed-by": "Helm" };
  const metadata = {
    namespace: "secretcast",
    name: "secretcast-sources",
    uid: "u",
    resourceVersion: "1",
  };
  const items = [{ metadata: { ...metadata, labels }, data: {} }];
  const body = listBody("v1", "ConfigMap", items);
  proxy.rule = ({ path }) =>
    path === "/api/v1/configmaps" ? { kind: "answer", status: 200, body } : undefined;
  const shown = await migrate("--by-list", "-o", "json");
  type Sources = { readonly sources: readonly { readonly entry?: { readonly text: string } }[] };
  const list: Sources = JSON.parse(shown.stdout);
  assert.deepEqual(
    list.sources.flatMap(({ entry }) => (entry ? [entry.text] : [])),
    [
      'secret: central/nonprod\nto-selector: "env in (dev,qa)"\n',
      'secret: central/regcred\nto: "*"\ncopy-labels: "kind"\n',
      'secret: certs/wildcard\nto-selector: "env=prod"\n',
    ],
  );
  const { code, stderr } = await migrate("--by-list", "--write", "--yes");
  assert.equal(code, 1, stderr);
  assert.match(
    stderr,
    /secretcast: the source list is made by Helm, .* put the entries into its own values/,
  );
  assert.deepEqual(await stage.versions(), before);
});

test("a copy with other data is adopted by name and gets its source's data", async (t) => {
  const { stage, migrate } = await openMigrateStage(t, "kubed");
  const { scene } = stage;
  const drifted = ["--adopt-drifted", "api-prod/rotating"];
  const { code, stderr } = await migrate("--write", "--yes", GAIN, ...drifted);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /21 copies adopted/);
  const source = await scene.api.secret("central", "rotating");
  scene.start({ "source-namespaces": "central,certs" });
  await scene.holds("api-prod", "rotating", source?.data ?? {});
});

test("nothing is written beside External Secrets until its rules are harmless", async (t) => {
  const { stage, proxy, migrate } = await openMigrateStage(t, "external-secrets");
  const before = await stage.versions();
  const others = proxy.rule;
  const orphaned = (kind: string): readonly unknown[] =>
    worldObjects("external-secrets")
      .filter((one) => one.kind === kind)
      .map((one) => JSON.parse(JSON.stringify(one).replaceAll('"Owner"', '"Orphan"')));
  const serve = (disarmed: boolean): void => {
    proxy.rule = (request) => {
      const path = request.path.split("?")[0] ?? "";
      const kind = CUSTOM_KINDS.find((one) => path.endsWith(`/${one.toLowerCase()}s`));
      if (path.endsWith("/pods")) return { kind: "answer", status: 200, body: PODS };
      if (kind === undefined || !path.startsWith("/apis/")) return others?.(request);
      const items = disarmed
        ? orphaned(kind)
        : worldObjects("external-secrets").filter((one) => one.kind === kind);
      const body = listBody("external-secrets.io/v1", kind, items);
      return { kind: "answer", status: 200, body };
    };
  };
  serve(false);
  const refused = await migrate("--write", "--yes");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /external-secrets\/eso-1 runs external-secrets, whose rules would/);
  assert.match(
    refused.stderr,
    /ClusterExternalSecret plain: kubectl patch clusterexternalsecret plain .*"creationPolicy":"Orphan"/,
  );
  assert.match(refused.stderr, /ExternalSecret team-a\/plain: wait until it has the policy/);
  assert.doesNotMatch(refused.stderr, /ClusterExternalSecret (?:far|merged|template): kubectl/);
  assert.deepEqual(await stage.versions(), before, "nothing was written");
  serve(true);
  const made = await migrate("--write", "--yes", "--gain=vault/registry-pull");
  assert.match(made.stderr, / copies adopted\n/);
  assert.match(made.stderr, /verified: 13 of /);
  const early = await migrate("--cleanup", "--write", "--yes");
  assert.equal(early.code, 1);
  assert.match(
    early.stderr,
    /ClusterExternalSecret plain: kubectl delete clusterexternalsecret plain/,
  );
});

const CUSTOM_KINDS = [
  "ClusterExternalSecret",
  "ExternalSecret",
  "ClusterSecretStore",
  "SecretStore",
];
const PODS = listBody("v1", "Pod", [
  {
    metadata: { name: "eso-1", namespace: "external-secrets", uid: "u", resourceVersion: "1" },
    spec: { containers: [{ image: "ghcr.io/external-secrets/external-secrets:v2.9.0" }] },
  },
]);

test("while projection runs nothing is written, whatever its rules are", async (t) => {
  const { stage, proxy, migrate } = await openMigrateStage(t, "projection");
  const before = await stage.versions();
  const metadata = { name: "p-1", namespace: "projection", uid: "u", resourceVersion: "1" };
  const spec = { containers: [{ image: "ghcr.io/projection-operator/projection:v0.3.2" }] };
  const body = listBody("v1", "Pod", [{ metadata, spec }]);
  proxy.rule = ({ path }) =>
    path.endsWith("/pods") ? { kind: "answer", status: 200, body } : undefined;
  const refused = await migrate("--write", "--yes");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /Pod projection\/p-1 runs projection, .* scale it to zero first/);
  assert.deepEqual(await stage.versions(), before);
});
