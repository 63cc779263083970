// A control plane that `npm run test:cluster` started, for a test file that shares it with others. They
// run on it one after the other, and each leaves no namespace of its own behind.
import { readFileSync } from "node:fs";
import type { ClusterAccess, ControlPlane, Setup } from "./control-plane.ts";
import { startControlPlane } from "./control-plane.ts";
import { field, openHttp } from "./http.ts";
import type { Http } from "./http.ts";

export type SharedCluster = ClusterAccess & {
  /** Path of a kubeconfig of the controller's own account. */
  readonly controllerKubeconfig: string;
};

export function sharedCluster(): SharedCluster {
  return JSON.parse(environment("CLUSTER_ACCESS"));
}

/** Paths of the audit logs of all shared control planes: what every file did that ran before. */
export function auditLogs(): readonly string[] {
  return JSON.parse(environment("CLUSTER_AUDIT_LOGS"));
}

/** A control plane for this file alone, for tests that kill or compact it; the caller stops it. */
export function ownCluster(setup: Setup = {}): Promise<ControlPlane> {
  return startControlPlane(assetsFolder(), setup);
}

/** The folder with the control plane's programs. */
export function assetsFolder(): string {
  return environment("CLUSTER_ASSETS");
}

/** The administrator's connection, or that of another `token`. */
export function openCluster(access: ClusterAccess, token: string = access.token): Http {
  return openHttp({ url: access.url, token, ca: readFileSync(access.caFile, "utf8") });
}

/** Makes etcd forget every revision but the present one. */
export async function compact(access: ClusterAccess): Promise<void> {
  const etcd = openHttp({ url: access.etcdUrl });
  try {
    const body = { key: "AA==", limit: "1" };
    const now = await etcd.send("POST", "/v3/kv/range", { body });
    const revision = field(now.body, "header", "revision");
    const done = await etcd.send("POST", "/v3/kv/compaction", {
      body: { revision, physical: true },
    });
    if (done.status !== 200)
      throw new Error(`etcd did not compact to revision "${String(revision)}": ${done.status}`);
  } finally {
    await etcd.close();
  }
}

function environment(name: string): string {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(`${name} is not set: run these tests by "npm run test:cluster -- FILE"`);
  return value;
}
