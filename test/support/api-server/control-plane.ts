// A real Kubernetes control plane for tests: etcd, kube-apiserver (RBAC on, its own certificates) and
// kube-controller-manager (each controller under its own account) on private loopback ports and a
// private folder. There is no scheduler and no kubelet: Pods stay Pending until a test binds them.
// `stop` leaves nothing behind, and neither does the death of the test process. Nothing is fsynced:
// the data survives a SIGKILL of the API server or of etcd, not a power cut.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  apiserverArgs,
  apiserverUrl,
  auditLogFile,
  caFile,
  controllerManagerArgs,
  etcdArgs,
  etcdUrl,
  kubeconfigFile,
  writeFiles,
} from "./control-plane-args.ts";
import type { Layout, Setup } from "./control-plane-args.ts";
import { openHttp, type Http } from "../../../packages/sandbox/testing/http.ts";
import { Guardian, Program } from "./program.ts";

const READY_WITHIN_MS = 120_000;
const POLL_MS = 50;

/** How to reach it; plain data, so that a test process can be handed it. */
export type ClusterAccess = {
  readonly url: string;
  readonly etcdUrl: string;
  /** Bearer token of the administrator (group system:masters). */
  readonly token: string;
  /** Path of the PEM certificate to trust. */
  readonly caFile: string;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Path of the audit log: a JSON line for each answered request of a service account. */
  readonly auditLog: string;
};

export type { Setup } from "./control-plane-args.ts";

export type Restart = {
  readonly signal: NodeJS.Signals;
  readonly whileDown?: () => Promise<void>;
};

export type ControlPlane = ClusterAccess & {
  /** Ends the API server by `signal`, starts it again on the same data and waits until it is ready. */
  readonly restartApiServer: (how: Restart) => Promise<void>;
  /** The same with etcd, while the API server goes on. */
  readonly restartEtcd: (signal: NodeJS.Signals) => Promise<void>;
  /** Keeps a copy of what etcd holds now; the API server is away meanwhile. */
  readonly backUp: () => Promise<void>;
  /** Puts that copy in the place of what etcd holds: every version goes back. */
  readonly restore: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export async function startControlPlane(assets: string, setup: Setup = {}): Promise<ControlPlane> {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-cluster-"));
  const guardian = new Guardian(folder);
  const layout = await newLayout(folder);
  writeFiles(layout);
  const program = (name: string, args: readonly string[]): Program =>
    new Program(guardian, folder, join(assets, name), args);
  const etcd = program("etcd", etcdArgs(layout, setup));
  const apiserver = program("kube-apiserver", apiserverArgs(layout, setup));
  const controllerManager = program("kube-controller-manager", controllerManagerArgs(layout));
  const stop = async (): Promise<void> => {
    // The reverse order of start: who is still there would log that the other has gone.
    for (const running of [controllerManager, apiserver, etcd]) await running.stop("SIGKILL");
    await guardian.dismiss();
  };
  try {
    etcd.start();
    apiserver.start();
    await apiServerReady(layout, [etcd, apiserver]);
    controllerManager.start();
    await namespacesWork(layout, controllerManager);
  } catch (error) {
    await stop();
    throw error;
  }
  const restartApiServer = async (how: Restart): Promise<void> => {
    await apiserver.stop(how.signal);
    await how.whileDown?.();
    apiserver.start();
    await apiServerReady(layout, [etcd, apiserver]);
  };
  const restartEtcd = async (signal: NodeJS.Signals): Promise<void> => {
    await etcd.stop(signal);
    etcd.start();
    await apiServerReady(layout, [etcd, apiserver]);
  };
  const whileStopped = async (act: (data: string, backup: string) => void): Promise<void> => {
    // Asked by SIGTERM the API server would wait a minute for its watches to end.
    await apiserver.stop("SIGKILL");
    await etcd.stop("SIGTERM");
    act(join(layout.folder, "etcd"), join(layout.folder, "etcd-backup"));
    etcd.start();
    apiserver.start();
    await apiServerReady(layout, [etcd, apiserver]);
  };
  const backUp = (): Promise<void> =>
    whileStopped((data, backup) => cpSync(data, backup, { recursive: true }));
  const restore = (): Promise<void> =>
    whileStopped((data, backup) => {
      rmSync(data, { recursive: true });
      cpSync(backup, data, { recursive: true });
    });
  return { ...accessOf(layout), restartApiServer, restartEtcd, backUp, restore, stop };
}

function accessOf(layout: Layout): ClusterAccess {
  return {
    url: apiserverUrl(layout),
    etcdUrl: etcdUrl(layout),
    token: layout.token,
    caFile: caFile(layout),
    kubeconfig: kubeconfigFile(layout),
    auditLog: auditLogFile(layout),
  };
}

async function newLayout(folder: string): Promise<Layout> {
  const [etcdPort = 0, etcdPeerPort = 0, apiserverPort = 0] = await freePorts();
  const newToken = (): string => randomBytes(24).toString("hex");
  const [token, controllerManagerToken] = [newToken(), newToken()];
  return { folder, etcdPort, etcdPeerPort, apiserverPort, token, controllerManagerToken };
}

// All three are held open at once, so that they differ.
async function freePorts(): Promise<readonly number[]> {
  const servers = Array.from({ length: 3 }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}

/** The administrator's connection, as soon as the API server has its certificate. */
function openAdmin(layout: Layout): Http {
  const ca = readFileSync(caFile(layout), "utf8");
  return openHttp({ url: apiserverUrl(layout), token: layout.token, ca });
}

async function apiServerReady(layout: Layout, programs: readonly Program[]): Promise<void> {
  await until("kube-apiserver is ready", programs, async () => {
    const http = openAdmin(layout);
    try {
      return (await http.send("GET", "/readyz")).status === 200;
    } finally {
      await http.close();
    }
  });
}

// The controller manager has no port; that it works shows in the objects it gives each namespace.
async function namespacesWork(layout: Layout, program: Program): Promise<void> {
  const http = openAdmin(layout);
  try {
    await until("namespace default has its service account", [program], async () => {
      const path = "/api/v1/namespaces/default/serviceaccounts/default";
      return (await http.send("GET", path)).status === 200;
    });
  } finally {
    await http.close();
  }
}

async function until(
  what: string,
  programs: readonly Program[],
  holds: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    for (const program of programs) program.assertRunning();
    // Refused connections and a certificate that is not written yet are what waiting is for.
    if (await holds().catch(() => false)) return;
    if (performance.now() > deadline)
      throw new Error(`control plane: after ${READY_WITHIN_MS} ms it does not hold that ${what}`);
    await delay(POLL_MS);
  }
}
