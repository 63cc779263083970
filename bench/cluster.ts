// A real API server for benchmarks: the control plane of the cluster tests, with the controller's own
// account on it. Undefined where etcd and kube-apiserver cannot be had.
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { controllerAccount } from "../test/support/api-server/account.ts";
import { openCluster } from "../test/support/api-server/cluster.ts";
import {
  startControlPlane,
  type ControlPlane,
  type Setup,
} from "../test/support/api-server/control-plane.ts";
import { field, type Http } from "../packages/sandbox/testing/http.ts";
import { clusterAssets } from "../tools/cluster-assets.ts";
import type { How } from "./scorecard.ts";

export const SETUP_CONCURRENCY = 16;
/** What a watch of metadata alone asks for. */
export const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

export type RealCluster = {
  readonly access: ControlPlane;
  /** The administrator. */
  readonly http: Http;
  /** Of the controller's account. */
  readonly kubeconfig: string;
  send(method: Dispatcher.HttpMethod, path: string, body?: unknown): Promise<unknown>;
  createNamespaces(names: readonly string[]): Promise<void>;
  /** A source `shared/NAME` with one entry. */
  publish(name: string, to: string, value?: string): Promise<void>;
  copies(): AsyncIterable<Copy>;
};

export type Copy = {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
};
type Page = {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly Copy[];
};
const COPIES = "/api/v1/secrets?labelSelector=app.kubernetes.io/managed-by%3Dsecretcast&limit=2000";

/** Starts the control plane; it is stopped when the benchmark has ended. */
export async function realCluster(how: How, size?: Setup): Promise<RealCluster | undefined> {
  const assets = clusterAssets(process.env, how.say);
  if (assets.kind === "failed") {
    how.say(`not measured: ${assets.message}`);
    return undefined;
  }
  process.env["PATH"] = `${assets.folder}:${process.env["PATH"] ?? ""}`;
  const access = await startControlPlane(assets.folder, size);
  how.after(() => access.stop());
  const kubeconfig = await controllerAccount(access);
  const http = openCluster(access);
  how.after(() => http.close());
  const send: RealCluster["send"] = async (method, path, body) => {
    const contentType =
      method === "PATCH" ? { contentType: "application/merge-patch+json" } : undefined;
    const answer = await http.send(method, path, { body, ...contentType });
    if (answer.status >= 300)
      throw new Error(
        `${method} ${path}: ${answer.status} ${String(field(answer.body, "reason"))}`,
      );
    return answer.body;
  };
  const createNamespaces = (names: readonly string[]): Promise<void> =>
    inParallel(names, SETUP_CONCURRENCY, async (name) => {
      await send("POST", "/api/v1/namespaces", { metadata: { name } });
    });
  await createNamespaces(["shared"]);
  const publish = async (name: string, to: string, value = "one"): Promise<void> => {
    const metadata = { name, annotations: { "secretcast.io/to": to } };
    await send("POST", "/api/v1/namespaces/shared/secrets", { metadata, stringData: { value } });
  };
  async function* copies(): AsyncIterable<Copy> {
    let next = "";
    do {
      const page = (await send("GET", `${COPIES}&continue=${encodeURIComponent(next)}`)) as Page;
      yield* page.items;
      next = page.metadata.continue ?? "";
    } while (next !== "");
  }
  return { access, http, kubeconfig, send, createNamespaces, publish, copies };
}

export const FLAGS = { "source-namespaces": "shared", "log-level": "info" } as const;
export const LEADER_FLAGS = {
  ...FLAGS,
  "leader-elect": "true",
  "lease-namespace": "secretcast",
} as const;
/** As the controller has it. */
export const RENEW_DEADLINE_S = 10;

export function numbered(base: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${base}-${at}`);
}

export async function inParallel<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** Until the last change of a fresh control plane has gone through all its watches. */
export const calm = (): Promise<void> => delay(500);

/** Of the process on this machine. */
export function apiServerPid({ access }: RealCluster): number {
  const port = `--secure-port=${new URL(access.url).port}`;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const words = commandOf(pid);
    if (words[0]?.endsWith("kube-apiserver") && words.includes(port)) return Number(pid);
  }
  throw new Error("the API server's process is not there");
}

function commandOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
