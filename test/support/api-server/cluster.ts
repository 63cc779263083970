// A control plane that `npm run test:cluster` started, for a test file that shares it with others. They
// run on it one after the other, and each leaves no namespace of its own behind.
import { readFileSync } from "node:fs";
import type { ClusterAccess, ControlPlane, Setup } from "./control-plane.ts";
import { startControlPlane } from "./control-plane.ts";
import { field, openHttp } from "../../../packages/sandbox/testing/http.ts";
import type { Http } from "../../../packages/sandbox/testing/http.ts";

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
  await withEtcd(access, async (ask) => {
    const now = await ask("range", { key: "AA==", limit: "1" });
    await ask("compaction", { revision: field(now, "header", "revision"), physical: true });
  });
}

// etcd refuses more in one transaction.
const MOST_OPERATIONS = 128;

/**
 * Takes the namespaces and all that they hold out of etcd, for tests that are over. A DELETE costs a tenth of a
 * second of CPU for each namespace, since every kind of object is looked for there.
 */
export async function eraseNamespaces(
  access: ClusterAccess,
  names: ReadonlySet<string>,
): Promise<void> {
  await withEtcd(access, async (ask) => {
    const everything = { key: btoa("/registry/"), range_end: btoa("/registry0"), keys_only: true };
    const { kvs = [] } = (await ask("range", everything)) as KeysFound;
    const keys = kvs.map(({ key }) => atob(key));
    const of = (key: string): readonly string[] => key.split("/").slice(3);
    // First what they are, so that no controller puts back what it misses in them.
    const first = keys.filter((key) => key.startsWith("/registry/namespaces/"));
    const own = first.filter((key) => of(key).some((name) => names.has(name)));
    const inside = keys.filter((key) =>
      of(key)
        .slice(0, -1)
        .some((name) => names.has(name)),
    );
    const all = [...own, ...inside];
    for (let at = 0; at < all.length; at += MOST_OPERATIONS) {
      const some = all.slice(at, at + MOST_OPERATIONS);
      await ask("txn", {
        success: some.map((key) => ({ request_delete_range: { key: btoa(key) } })),
      });
    }
  });
}

type KeysFound = { readonly kvs?: readonly { readonly key: string }[] };

async function withEtcd(
  { etcdUrl }: ClusterAccess,
  work: (ask: (what: string, body: object) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const etcd = openHttp({ url: etcdUrl });
  try {
    await work(async (what, body) => {
      const answer = await etcd.send("POST", `/v3/kv/${what}`, { body });
      if (answer.status === 200) return answer.body;
      throw new Error(`etcd answers a ${what} with ${answer.status}`);
    });
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
