// `secretcast run`: from flags to exit code.
import {
  emptyListVariable,
  everyNamespacePublishes,
  readConfig,
  UsageError,
  type Config,
  type FlagValues,
} from "../controller/settings/config.ts";
import { ALWAYS_READ } from "../controller/annotations/vocabulary.ts";
import { clockLines } from "../controller/report/failure-lines.ts";
import { tlsFault } from "../../packages/kube/connections/tls-faults.ts";
import { ApiError } from "../../packages/kube/rest/api-error.ts";
import type { ApiClient } from "../../packages/kube/rest/api-client.ts";
import { createClient, type ClientOptions } from "../../packages/kube/rest/client.ts";
import { systemClock, type Clock, type Timer } from "../../packages/kube/time/clock.ts";
import { loadKubeConfig, type KubeConfig } from "../../packages/kube/kubeconfig/kubeconfig.ts";
import { Reachability } from "../../packages/kube/rest/reachability.ts";
import { createLog, LogOutput, type Log } from "../controller/report/log.ts";
import type { ReceiptOutput } from "../receipts/receipt-output.ts";
import { StatusFeed } from "../page/status-feed.ts";
import { createMetrics } from "../controller/report/metrics.ts";
import type { RunEnd } from "../controller/sync/controller.ts";
import type { SyncHooks } from "../controller/report/sync-log.ts";
import { readPlannerSettings } from "../controller/settings/planner-settings.ts";
import { buildController } from "./build.ts";
import { liveHolder } from "../../packages/kube/leaderelection/live-holder.ts";
import type { Program } from "./program-context.ts";
import { openReceipts, TO_STDOUT } from "./receipts.ts";
import { serveAll } from "./probes.ts";
import { createLeaseClient } from "../../packages/kube/leaderelection/lease-lock.ts";

// The contract with the kubelet: the manifests give a pod 40 s, and the controller ends within 30.
const GRACE_MS = 30_000;
const REACH_TIMEOUT_MS = 10_000;
/** The grace of a pod and the end of a controller leave this much and more. */
export const LAST_RECEIPTS_MS = 2000;

export async function run(given: FlagValues, program: Program): Promise<number> {
  const { env, clusterNamespace, stdout, stderr } = program;
  const config = readConfig(given, { env, clusterNamespace, terminal: stdout.isTTY === true });
  const { inCluster, kubeconfig, context } = config;
  const kubeConfig = loadKubeConfig({ inCluster, kubeconfig, context });
  // Receipts have stdout for themselves.
  const output = new LogOutput(config.receipts === TO_STDOUT ? stderr : stdout);
  const log = createLog(config, output);
  const hint = emptyListVariable(given, env);
  if (hint !== undefined) log.warn({ sourceList: config.sourceList }, hint);
  const lostLogLines = (): number => output.lost;
  const receipts = await openReceipts(config, stdout, log);
  try {
    const ended = await runController(config, kubeConfig, program, log, { lostLogLines, receipts });
    return ended === "stopped" || ended === "converged" ? 0 : 1;
  } finally {
    await receipts?.close(LAST_RECEIPTS_MS);
  }
}

/** Runs the controller until the program's signal aborts, or with `--once` until nothing is due. */
export async function runController(
  config: Config,
  kubeConfig: KubeConfig,
  { signal, version }: Pick<Program, "signal" | "version">,
  log: Log,
  observer: SyncHooks & {
    readonly onServing?: (statusUrl: string) => void;
    readonly lostLogLines?: () => number;
    readonly receipts?: ReceiptOutput | undefined;
  } = {},
): Promise<RunEnd> {
  const settings = readPlannerSettings(config);
  const { receipts, lostLogLines: lines } = observer;
  const lost = { lines, receipts: receipts && (() => receipts.lost) };
  const metrics = createMetrics(config.leaseName, { version, lost });
  const reachability = new Reachability(systemClock);
  const connect = (
    own: Pick<ClientOptions, "connections" | "neverPauses" | "onClockOffset">,
  ): ApiClient =>
    createClient(kubeConfig, {
      clock: systemClock,
      // The part before the slash becomes the field manager, by which the tenant guard identifies our writes.
      userAgent: `secretcast/${version}`,
      reachability,
      keepKeyPrefixes: ALWAYS_READ,
      ...own,
      onAnswer: (method, code) => metrics.requests.inc({ method, code }),
    });
  const client = connect({
    connections: config.concurrency,
    onClockOffset: clockLines(log),
  });
  // Leases have a connection of their own: a renewal must never queue behind a fan-out.
  const leaseApi = connect({ connections: 1, neverPauses: true });
  try {
    log.info({ version, server: client.server, ...settingsOf(config) }, "starting secretcast");
    warnOfEveryNamespace(config, log);
    if (!config.inCluster) await checkSurroundings(config, client, leaseApi, signal, log);
    const statusFeed = new StatusFeed(systemClock, version);
    const controller = buildController(config, settings, {
      client,
      leaseApi,
      log,
      metrics,
      observer,
      receipts,
      clock: systemClock,
      cpuMs: threadCpuMs,
      statusFeed,
    });
    const served = config.once
      ? undefined
      : await serveAll(config, controller, metrics, statusFeed, log);
    if (served) observer.onServing?.(served.statusUrl);
    try {
      return await withinGrace(controller.run(signal), signal, systemClock, log);
    } finally {
      await served?.close();
    }
  } finally {
    await Promise.all([client.close(), leaseApi.close()]);
  }
}

// Without this rule such a list would count as one of names, and every namespace would take copies.
function warnOfEveryNamespace({ sourceNamespaces, namespacePolicy }: Config, log: Log): void {
  if (sourceNamespaces.includes("*") || !everyNamespacePublishes(sourceNamespaces)) return;
  log.warn(
    { sourceNamespaces, namespacePolicy },
    "namespaces of every name may publish, so --source-namespaces counts as *: unless --namespace-policy says otherwise, a namespace takes only what its accept names",
  );
}

/** Outside a cluster a user is watching: report at once what would only be retried inside. */
async function checkSurroundings(
  config: Config,
  client: ApiClient,
  leaseApi: ApiClient,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  await client
    .request({
      method: "GET",
      path: "/version",
      what: "reach the API server",
      signal,
      timeoutMs: REACH_TIMEOUT_MS,
    })
    .catch((error: unknown) => {
      if (signal.aborted) return;
      const reason = error instanceof ApiError ? error.reason : "unexpected error";
      const fault = tlsFault(reason);
      const why = fault === undefined ? "" : `: ${fault}`;
      throw new UsageError(`cannot reach the API server ${client.server}: ${reason}${why}`);
    });
  if (config.leaderElect || config.dryRun) return;
  const { leaseNamespace, leaseName } = config;
  const holder = await liveHolder({
    client: createLeaseClient(leaseApi, leaseNamespace, leaseName),
    clock: systemClock,
    signal,
    onFound: (found, forMs) =>
      log.info(
        { holder: found, seconds: forMs / 1000 },
        "found a Lease, looking whether its holder lives",
      ),
  });
  if (holder === undefined) return;
  const lease = `${leaseNamespace}/${leaseName}`;
  throw new UsageError(
    `another secretcast is running: ${holder} holds the Lease ${lease}; stop it first, or use --leader-elect to wait for it`,
  );
}

/** Resolves as `running`, or rejects if it has not ended in time after `signal`. */
export async function withinGrace<T>(
  running: Promise<T>,
  signal: AbortSignal,
  clock: Clock,
  log: Log,
): Promise<T> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    const arm = (): void => {
      log.info({}, "shutting down");
      const error = new Error(`shutdown took longer than ${GRACE_MS / 1000} s, giving up`);
      timer = clock.setTimeout(() => reject(error), GRACE_MS);
    };
    if (signal.aborted) arm();
    else signal.addEventListener("abort", arm, { once: true });
    void running.finally(() => signal.removeEventListener("abort", arm)).catch(() => undefined);
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    timer?.cancel();
  }
}

/** The settings that decide which copies exist and when they change, so that a log is self-explanatory. */
function settingsOf(config: Config) {
  return {
    sourceNamespaces: config.sourceNamespaces,
    sourceList: config.sourceList ?? "off",
    configMaps: config.kinds.includes("ConfigMap"),
    namespaces: config.namespaces ?? "all",
    excludeNamespaces: config.excludeNamespaces,
    otherSourceNamespaces: config.otherSourceNamespaces,
    includeSystemNamespaces: config.includeSystemNamespaces,
    namespacePolicy: config.namespacePolicy,
    onlyNames: config.onlyNames ?? "all",
    copyableKeys: config.copyableKeys ?? [],
    resyncMs: config.resyncMs,
    concurrency: config.concurrency,
    deleteGraceMs: config.deleteGraceMs,
    deleteHoldMs: config.deleteHoldMs,
    fanoutLimitBytes: config.fanoutLimitBytes,
    dataCacheBytes: config.dataCacheBytes,
    leaderElect: config.leaderElect,
    lease: `${config.leaseNamespace}/${config.leaseName}`,
    receipts: config.receipts ?? "none",
    maxValueAgeMs: config.maxValueAgeMs,
    dryRun: config.dryRun,
    once: config.once,
  };
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
