// A sandbox with teams, a source and a Secret in the way, as the commands that look at a cluster find it;
// its kubeconfig is a file.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { startSandbox, type Sandbox } from "../../../packages/sandbox/server.ts";
import type { JsonObject } from "../../../packages/sandbox/storage/object.ts";
import { microTime } from "../../../packages/kube/leaderelection/lease-record.ts";
import { isRecord } from "../../../packages/kube/json.ts";
import { commandLine, type Said, type Surroundings } from "../programs/command-line.ts";

export type SandboxCluster = {
  readonly sandbox: Sandbox;
  readonly kubeconfig: string;
  /** One command line against it. */
  readonly run: (args: readonly string[], around?: Surroundings) => Promise<Said>;
};

function namespace(name: string, annotations: Texts = {}, labels: Texts = {}): JsonObject {
  return { kind: "Namespace", metadata: { name, annotations, labels } };
}

type Texts = Readonly<Record<string, string>>;

/** Its values are "hunter2", which nothing may print. */
function secret(place: string, annotations: Texts = {}): JsonObject {
  const [namespace = "", name = ""] = place.split("/");
  const data = { password: Buffer.from("hunter2").toString("base64") };
  return { kind: "Secret", metadata: { namespace, name, annotations }, data };
}

const EXAMPLE: readonly JsonObject[] = [
  ...["secretcast", "team-a", "team-b", "shop"].map((name) => namespace(name)),
  namespace("team-c", { "secretcast.io/accept": "false" }),
  secret("secretcast/registry", { "secretcast.io/to": "team-*" }),
  secret("secretcast/typo", { "secretcast.io/to": "*", "secretcast.io/to-selecter": "x" }),
  secret("team-b/registry"),
];

/** A Secret with the marks of a copy. Its value is "hunter2". */
export function markedCopy(place: string, source: string): JsonObject {
  const { kind, metadata, data } = secret(place, {
    "secretcast.io/source": source,
    "secretcast.io/source-uid": "5f1e6a2c-0000-4000-8000-000000000001",
    "secretcast.io/source-version": "1",
    "secretcast.io/placed-at": place,
  });
  const labels = { "app.kubernetes.io/managed-by": "secretcast" };
  return { kind, metadata: { ...(isRecord(metadata) ? metadata : {}), labels }, data };
}

/** That a replica has just renewed, and that lasts longer than any test. */
export function liveLease(namespace = "secretcast"): JsonObject {
  const renewTime = microTime(Date.now());
  const spec = { holderIdentity: "replica_1", leaseDurationSeconds: 3600, renewTime };
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace, name: "secretcast" },
    spec,
  };
}

/** With a live Lease where the controller's namespace is among the objects. */
export function withLeader(objects: readonly JsonObject[]): readonly JsonObject[] {
  return objects.some(isHome) ? [...objects, liveLease()] : objects;
}

function isHome({ kind, metadata }: JsonObject): boolean {
  return kind === "Namespace" && isRecord(metadata) && metadata["name"] === "secretcast";
}

/** With a controller that leads where its namespace is among the objects, unless `leads` is false. */
export async function sandboxCluster(
  t: TestContext,
  objects: readonly JsonObject[] = EXAMPLE,
  { leads = true } = {},
): Promise<SandboxCluster> {
  const sandbox = await startSandbox();
  sandbox.load(leads ? withLeader(objects) : objects);
  const folder = mkdtempSync(join(tmpdir(), "secretcast-commands-"));
  const kubeconfig = join(folder, "config");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  t.after(async () => {
    await sandbox.stop();
    rmSync(folder, { recursive: true });
  });
  const run: SandboxCluster["run"] = (args, around = {}) =>
    commandLine(args, { ...around, env: { KUBECONFIG: kubeconfig, ...around.env } });
  return { sandbox, kubeconfig, run };
}
