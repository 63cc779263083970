// The rights that the manifests give the controller, judged by the API server's own audit log: none was
// missing in all the tests that ran before this file, and none is there that is not used.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { ACCOUNT, controllerToken } from "../support/api-server/account.ts";
import { auditEventsOf, isForbidden } from "../support/api-server/audit-log.ts";
import { auditLogs, sharedCluster } from "../support/api-server/cluster.ts";
import { startFaultProxy, type Fault } from "../../packages/kube/testing/fault-proxy.ts";
import { kubectlAt } from "../support/api-server/kubectl.ts";
import { spawnController } from "../support/programs/controller-process.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import { kubeConfigFile, kubeConfigFor } from "../../packages/kube/testing/kubeconfig-text.ts";
import { openMaps } from "../support/scenes/both-kinds.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";

/** What the user agent of every command ends with. */
const COMMAND_LINE = "(command line)";

/**
 * What the controller asked for so far, of any of the shared control planes. Tests also type commands
 * with its account. A command looks further than the controller and goes on where it may not.
 */
function requests(): readonly unknown[] {
  return auditLogs()
    .flatMap((file) => auditEventsOf(ACCOUNT, file))
    .filter((event) => !String(field(event, "userAgent")).endsWith(COMMAND_LINE));
}

/** `verb resource.group` of a request for a resource. */
function rightOf(event: unknown): string | undefined {
  const resource = field(event, "objectRef", "resource");
  if (typeof resource !== "string") return undefined;
  const group = field(event, "objectRef", "apiGroup");
  return `${String(field(event, "verb"))} ${resource}.${typeof group === "string" ? group : ""}`;
}

function granted(kind: "clusterrole" | "role"): readonly string[] {
  const { kubeconfig } = sharedCluster();
  const given = ["-n", "secretcast", "get", kind, "secretcast", "-o", "json"];
  const { rules }: { rules: readonly Record<"apiGroups" | "resources" | "verbs", string[]>[] } =
    JSON.parse(kubectlAt(kubeconfig, given));
  return rules.flatMap(({ apiGroups, resources, verbs }) =>
    verbs.flatMap((verb) =>
      resources.flatMap((resource) => apiGroups.map((group) => `${verb} ${resource}.${group}`)),
    ),
  );
}

/** A day in the life of a controller: it leads, copies, updates, deletes, asks and tells. */
async function liveThroughEverything(t: TestContext, isOfMaps: boolean): Promise<void> {
  const scene = await (isOfMaps ? openMaps(t, openScene) : openScene(t));
  const { api, source } = scene;
  const [a, b] = [await scene.namespace("a"), await scene.namespace("b")];
  const controller = spawnController(t, scene.kubeconfig, {
    "source-namespaces": source,
    "delete-grace": "100ms",
    "delete-hold": "0",
    "leader-elect": "true",
    "lease-namespace": "secretcast",
    "config-maps": String(isOfMaps),
  });
  const to = { "secretcast.io/to": scene.name("*") };
  await api.createSecret(source, "s", { annotations: to, data: { k: "1" } });
  for (const k of ["1", "2", "1"]) {
    await api.setData(source, "s", { k });
    await scene.holds(a, "s", { k });
    // The same news again is a patch of the Event that told it first.
    const reported = (): boolean =>
      requests().some((event) => rightOf(event)?.includes("events.") === true);
    await eventually("an Event", reported);
  }
  await api.annotate(source, "s", { "secretcast.io/to": b });
  await scene.absent(a, "s");
  await api.patchNamespace(b, { annotations: { "secretcast.io/accept": "false" } });
  await scene.absent(b, "s");
  await api.patchNamespace(b, { annotations: { "secretcast.io/accept": "true" } });
  await scene.holds(b, "s", { k: "1" });
  await api.deleteSecret(source, "s");
  await scene.absent(b, "s");
  if (!isOfMaps) await liveByTheList(scene, a);
  assert.equal(await controller.stop(), 0);
}

/** An entry of the list ends once the list itself was asked. */
async function liveByTheList(scene: Scene, a: string): Promise<void> {
  const { api } = scene;
  const vault = await scene.namespace("vault");
  await api.createSecret(vault, "listed", { data: { k: "1" } });
  const list = ["secretcast", "secretcast-sources"] as const;
  await api.putConfigMap(...list, { listed: `secret: ${vault}/listed\nto: ${a}` });
  await scene.holds(a, "listed", { k: "1" });
  // Without any entry it would count as deleted.
  await api.putConfigMap(...list, { unrelated: `secret: ${vault}/unrelated\nto: nobody` });
  await scene.absent(a, "listed");
  await api.putConfigMap(...list, undefined);
}

/** As a server before 1.32 answers, or one with WatchList off. */
const NO_STREAMED_LISTS: Fault = {
  kind: "answer",
  status: 422,
  body: {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    message: 'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: disabled',
    reason: "Invalid",
    code: 422,
  },
};

/** On a server without streaming lists the caches are filled by lists. */
async function liveOnAnOldServer(t: TestContext): Promise<void> {
  const cluster = sharedCluster();
  const headers = { authorization: `Bearer ${controllerToken(cluster)}` };
  const ca = readFileSync(cluster.caFile, "utf8");
  const old = await startFaultProxy(t, { url: cluster.url, headers, ca });
  old.rule = ({ kind }) => (kind === "stream" ? NO_STREAMED_LISTS : undefined);
  const kubeconfig = kubeConfigFile(t, kubeConfigFor(old.url));
  const once = { once: "true", "source-namespaces": "none-of-them" };
  assert.equal(await spawnController(t, kubeconfig, once).ended, 0);
}

test("every right that is granted is used", async (t) => {
  await liveThroughEverything(t, false);
  await liveThroughEverything(t, true);
  await liveOnAnOldServer(t);
  const used = new Set(requests().map(rightOf));
  const unused = [...granted("clusterrole"), ...granted("role")].filter(
    (right) => !used.has(right),
  );
  assert.deepEqual(unused, []);
});

test("no right was missing, in this file and all before it", () => {
  const refused = requests().filter(isForbidden);
  const words = refused.map(
    (event) => `${rightOf(event) ?? ""} ${String(field(event, "requestURI"))}`,
  );
  assert.deepEqual([...new Set(words)], []);
  assert.ok(requests().length > 20, "the account was at work");
});
