// What a move believes of workloads: the settings of the old tool, and which controller keeps copies current.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listBody } from "../support/api-server/list-body.ts";
import { openMigrateStage, type MigrateStage } from "../support/worlds/migrate-stage.ts";

type Workload = {
  readonly place: string;
  readonly image: string;
  readonly args: readonly string[];
};

function deployment({ place, image, args }: Workload): object {
  const [namespace, name] = place.split("/");
  const metadata = { namespace, name, uid: place, resourceVersion: "1" };
  const containers = [{ name: "main", image, args }];
  return { metadata, spec: { replicas: 0, template: { spec: { containers } } } };
}

/** The Deployments of the cluster, of which those of secretcast have its label. */
function serve({ proxy }: MigrateStage, workloads: readonly Workload[]): void {
  const others = proxy.rule;
  proxy.rule = (request) => {
    if (!request.path.endsWith("/deployments")) return others(request);
    const isAsked = ({ image }: Workload): boolean =>
      request.query.has("labelSelector") === image.includes("secretcast");
    const items = workloads.filter(isAsked).map(deployment);
    return { kind: "answer", status: 200, body: listBody("apps/v1", "Deployment", items) };
  };
}

const REPLICATOR = "quay.io/mittwald/kubernetes-replicator:v2.12.2";
const THEIRS = { place: "evil/replicator", image: REPLICATOR, args: ["-allow-all"] };

test("differing settings of two workloads stop a write before it begins", async (t) => {
  const opened = await openMigrateStage(t, "replicator");
  const before = await opened.stage.versions();
  serve(opened, [{ place: "kube-system/replicator", image: REPLICATOR, args: [] }, THEIRS]);
  const { code, stderr } = await opened.migrate("--write", "--yes");
  assert.equal(code, 1);
  assert.match(
    stderr,
    /Deployment kube-system\/replicator and Deployment evil\/replicator run with different settings; give --old-args/,
  );
  assert.deepEqual(await opened.stage.versions(), before);
});

test("a workload alone does not allow more copies without --old-args", async (t) => {
  const opened = await openMigrateStage(t, "replicator");
  const before = await opened.stage.versions();
  serve(opened, [THEIRS]);
  const { code, stderr } = await opened.migrate("--write", "--yes");
  assert.equal(code, 1);
  assert.match(
    stderr,
    /settings of replicator: allow-all=true, from Deployment evil\/replicator\n/,
  );
  assert.match(
    stderr,
    /Deployment evil\/replicator sets allow-all, .* confirm that with --old-args/,
  );
  assert.deepEqual(await opened.stage.versions(), before);
});

function controller(...args: readonly string[]): Workload {
  return { place: "secretcast/secretcast", image: "secretcast", args: ["run", ...args] };
}

test("nothing is written while the controller does not read the names that move", async (t) => {
  const opened = await openMigrateStage(t, "tgik");
  const before = await opened.stage.versions();
  const flags = ["--source-namespaces=secretsync", "--namespace-policy=opt-in"];
  serve(opened, [controller(...flags, "--only-names=registry,db")]);
  const shown = await opened.migrate();
  const [, union = assert.fail(shown.stdout)] = /\n--only-names=(\S+)\n/.exec(shown.stdout) ?? [];
  assert.match(union, /^registry,db,/);
  const { code, stderr } = await opened.migrate("--write", "--yes");
  assert.equal(code, 1);
  assert.ok(stderr.includes(`it needs --only-names=${union}: give it that flag first`), stderr);
  assert.deepEqual(await opened.stage.versions(), before);
  serve(opened, [controller(...flags, `--only-names=${union}`)]);
  const made = await opened.migrate("--write", "--yes");
  assert.equal(made.code, 0, made.stderr);
});

test("copies of a name that is not read are named with the value to add", async (t) => {
  const opened = await openMigrateStage(t, "tgik");
  const flags = ["--source-namespaces=secretsync", "--namespace-policy=opt-in"];
  serve(opened, [controller(...flags)]);
  const made = await opened.migrate("--write", "--yes");
  assert.equal(made.code, 0, made.stderr);
  serve(opened, [controller(...flags, "--only-names=unrelated")]);
  const { code, stderr } = await opened.migrate();
  assert.equal(code, 2, stderr);
  assert.match(
    stderr,
    /not complete:\n +15 copies of names that are not read: edge-tls, .*--only-names unrelated,edge-tls,/,
  );
});

test("a controller that does not publish from the sources' namespace keeps nothing current", async (t) => {
  const opened = await openMigrateStage(t, "tgik");
  serve(opened, [controller("--source-namespaces=platform", "--namespace-policy=opt-in")]);
  const { code, stderr } = await opened.migrate("--write", "--yes");
  assert.equal(code, 2);
  assert.match(stderr, /15 copies adopted/);
  assert.match(
    stderr,
    /the controller secretcast\/secretcast does not publish from secretsync yet, so that it keeps no copy/,
  );
});
