// Kyverno keeps running for its other policies. When a move and its clean-up are refused, and that the
// printed commands make them possible.
import assert from "node:assert/strict";
import { test } from "node:test";
import { listBody } from "../support/api-server/list-body.ts";
import { applied } from "../support/worlds/kubectl-lines.ts";
import { openMigrateStage, type MigrateStage } from "../support/worlds/migrate-stage.ts";

/** A Pod of Kyverno is in each list of Pods. */
function running({ proxy }: MigrateStage): void {
  const others = proxy.rule;
  const metadata = { name: "kyverno-1", namespace: "kyverno", uid: "u", resourceVersion: "1" };
  const spec = { containers: [{ image: "reg.kyverno.io/kyverno/background-controller:v1.19.1" }] };
  const body = listBody("v1", "Pod", [{ metadata, spec }]);
  proxy.rule = (request) =>
    request.path.endsWith("/pods") ? { kind: "answer", status: 200, body } : others(request);
}

const INCLUDING = "--include-system-namespaces";
/** Sources whose rules match namespaces that have no copy. */
const GAIN = "--gain=platform/only-new,platform/pair-two,platform/registry-pull,platform/gp-token";
const EVERY = [INCLUDING, GAIN, "--write", "--yes"] as const;

test("a synchronizing rule of Kyverno stops the move until the printed commands ran", async (t) => {
  const opened = await openMigrateStage(t, "kyverno");
  const { stage, migrate } = opened;
  running(opened);
  const before = await stage.versions();
  const contents = await stage.contents();
  const refused = await migrate(...EVERY);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /secretcast: Pod kyverno\/kyverno-1 runs kyverno, whose rules would undo the move or delete copies/,
  );
  assert.match(
    refused.stderr,
    /first: ClusterPolicy token-a\/token: set synchronize: false and orphan/,
  );
  assert.deepEqual(await stage.versions(), before, "nothing is written");

  stage.customs = applied(stage.customs, refused.stderr);
  const moved = await migrate(...EVERY);
  assert.equal(moved.code, 2, "what cannot be expressed is named");
  assert.match(moved.stderr, /written: 22 sources, 0 namespaces, 70 copies adopted\n/);
  assert.match(moved.stderr, /, 70 copies are ours with the data that they had, /);
  const again = await migrate(...EVERY);
  assert.match(again.stderr, /written: 0 sources, 0 namespaces, 0 copies adopted\n/);

  const early = await migrate("--cleanup", ...EVERY);
  assert.equal(early.code, 1);
  assert.match(early.stderr, /whose rules would undo the clean-up/);
  assert.match(early.stderr, /first: kubectl delete clusterpolicy.kyverno.io token-a\n/);

  stage.customs = applied(stage.customs, early.stderr);
  assert.match((await migrate("--cleanup", INCLUDING)).stdout, /^clean up Secret [^\n]+\n/);
  const cleaned = await migrate("--cleanup", ...EVERY);
  assert.equal(cleaned.code, 0, cleaned.stdout + cleaned.stderr);
  assert.match(cleaned.stderr, /verified: 0 objects bear traces still\n/);
  assert.deepEqual(await stage.contents(), contents, "no copy is lost, and no data changed");
  const labelsAt = async (namespace: string, name: string): Promise<readonly string[]> =>
    Object.keys((await stage.scene.api.secret(namespace, name))?.metadata.labels ?? {}).toSorted();
  const own = ["app.kubernetes.io/managed-by", "team"];
  assert.deepEqual(await labelsAt("team-a", "registry-pull"), own);
  const ofSource = await labelsAt("platform", "registry-pull");
  assert.ok(!ofSource.some((key) => key.includes("kyverno")));
  const map = await stage.maps.secret("team-a", "ca-bundle");
  assert.deepEqual(map?.metadata.labels, { "app.kubernetes.io/managed-by": "secretcast" });
  const left = await labelsAt("team-a", "starter");
  assert.ok(
    left.some((key) => key.includes("kyverno")),
    "not ours",
  );
});

test("a rule that synchronizes again, or a pending request, stops a possible move", async (t) => {
  const opened = await openMigrateStage(t, "kyverno");
  const { stage, migrate } = opened;
  running(opened);
  const before = await stage.versions();
  const armed = stage.customs;
  const disarmed = applied(armed, (await migrate(...EVERY)).stderr);
  const pending = {
    apiVersion: "kyverno.io/v2",
    kind: "UpdateRequest",
    metadata: { namespace: "kyverno", name: "ur-1", uid: "u", resourceVersion: "1" },
    spec: { requestType: "generate", policy: "token-a" },
    status: { state: "Pending" },
  };
  stage.customs = [...disarmed, pending];
  const waiting = await migrate(...EVERY);
  assert.equal(waiting.code, 1);
  assert.match(
    waiting.stderr,
    /first: UpdateRequest kyverno\/ur-1 of token-a is pending: wait until it is done/,
  );
  stage.customs = disarmed.map((one, at) => {
    const old = armed[at];
    return old && JSON.stringify(old).includes('"name":"token-b"') ? old : one;
  });
  const rearmed = await migrate(...EVERY);
  assert.equal(rearmed.code, 1);
  assert.match(rearmed.stderr, /first: ClusterPolicy token-b\/token: set synchronize: false/);
  assert.deepEqual(await stage.versions(), before);
});

test("the clean-up asks for the deletion of moved rules with Kyverno scaled to zero", async (t) => {
  const { stage, migrate } = await openMigrateStage(t, "kyverno");
  const nothing = await migrate("--cleanup", INCLUDING);
  assert.doesNotMatch(nothing.stdout, /kubectl/, "nothing is ours yet, so no rule may be deleted");
  assert.match((await migrate(...EVERY)).stderr, /70 copies adopted/);
  const moved = await stage.versions();
  const early = await migrate("--cleanup", ...EVERY);
  assert.equal(early.code, 1);
  assert.match(early.stderr, /rules of kyverno that moved still exist and would undo the clean-up/);
  assert.deepEqual(await stage.versions(), moved);
  stage.customs = applied(stage.customs, early.stdout);
  assert.equal((await migrate("--cleanup", ...EVERY)).code, 0);
});

test("webhooks that Kyverno left are named with their effect by its version", async (t) => {
  const { proxy, migrate } = await openMigrateStage(t, "kyverno");
  const others = proxy.rule;
  const metadata = { uid: "u", resourceVersion: "1" };
  const name = "kyverno-resource-validating-webhook-cfg";
  const labels = { "webhook.kyverno.io/managed-by": "kyverno" };
  const containers = [{ name: "kyverno", image: "reg.kyverno.io/kyverno/kyverno:v1.17.2" }];
  const deployment = {
    metadata: { ...metadata, namespace: "kyverno", name: "kyverno-admission-controller" },
    spec: { template: { spec: { containers } } },
  };
  const kind = "ValidatingWebhookConfiguration";
  const hooks = listBody("admissionregistration.k8s.io/v1", kind, [
    { metadata: { ...metadata, name, labels } },
  ]);
  const deployments = listBody("apps/v1", "Deployment", [deployment]);
  proxy.rule = (request) => {
    const ofHooks = request.path.endsWith("/validatingwebhookconfigurations") ? hooks : undefined;
    const body = request.path.endsWith("/deployments") ? deployments : ofHooks;
    return body ? { kind: "answer", status: 200, body } : others(request);
  };
  const { stdout } = await migrate(INCLUDING);
  assert.match(stdout, /Kyverno 1\.17\.2 keeps the copies of a deleted rule, and then updates no/);
  assert.ok(stdout.includes(`(${kind} ${name})`));
});

/** A controller with these flags is installed. */
function installed({ proxy }: MigrateStage, ...args: readonly string[]): void {
  const others = proxy.rule;
  const metadata = { namespace: "secretcast", name: "secretcast", uid: "u", resourceVersion: "1" };
  const containers = [{ name: "secretcast", args: ["run", ...args] }];
  const deployment = { metadata, spec: { template: { spec: { containers } } } };
  const body = listBody("apps/v1", "Deployment", [deployment]);
  proxy.rule = (request) =>
    request.path.endsWith("/deployments") ? { kind: "answer", status: 200, body } : others(request);
}

test("a controller without ConfigMaps gets the command to read them before the move", async (t) => {
  const opened = await openMigrateStage(t, "kyverno");
  const { stage, migrate } = opened;
  const before = await stage.versions();
  const shown = await migrate(INCLUDING);
  assert.match(shown.stdout, /\n--config-maps\n/);
  installed(opened, "--source-namespaces=platform");
  for (const step of [EVERY, ["--cleanup", ...EVERY]]) {
    const refused = await migrate(...step);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /the controller secretcast\/secretcast runs without --config-maps, so that no copy of a ConfigMap would follow its source: give it that flag/,
    );
  }
  assert.deepEqual(await stage.versions(), before, "nothing is written");

  installed(opened, "--source-namespaces=platform", "--config-maps");
  const contents = await stage.contents();
  const moved = await migrate(...EVERY);
  assert.match(moved.stderr, /written: 22 sources, 0 namespaces, 70 copies adopted\n/);
  assert.deepEqual(await stage.contents(), contents, "no copy is lost, and no data changed");
  const marksOf = async (name: string): Promise<string | undefined> =>
    (await stage.maps.secret("team-a", name))?.metadata.annotations?.["secretcast.io/source"];
  assert.equal(await marksOf("ca-bundle"), "platform/ca-bundle");
  assert.equal(await marksOf("cache-1"), undefined);
});
