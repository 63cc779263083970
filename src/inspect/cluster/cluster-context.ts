// The first steps of every command that judges a cluster: connect, find the settings, read the cluster
// once.
import type { ClusterState } from "../../controller/model/cluster.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { UsageError, type FlagValues } from "../../controller/settings/config.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import type { Connection } from "../kubectl/connection.ts";
import type { KubectlFlags } from "../kubectl/kubectl-flags.ts";
import type { Program } from "../../run/program-context.ts";
import { findController, type Installed } from "./installed-controller.ts";
import { readNamesNotRead, type NamesNotRead } from "./names-not-read.ts";
import { leaseOf, readLiveLeader, type LiveLeader } from "./live-leader.ts";
import {
  controllerHome,
  readPlanningSettings,
  type PlanningSettings,
} from "./planning-settings.ts";
import { readCluster, type ReadCluster, type ReadOptions } from "./read-cluster.ts";
import type { Ref } from "../../text/names.ts";
import { say } from "../kubectl/say.ts";

export type ClusterContext = {
  readonly connection: Connection;
  /** Which cluster it is, as a line. */
  readonly where: string;
  readonly installed: Installed;
  readonly planning: PlanningSettings;
  readonly flags: KubectlFlags;
  readonly program: Program;
  /** The time by the API server's clock, in milliseconds since the epoch. */
  readonly nowMs: () => number;
  /** The controller's, whose Events say what became of sources that no longer exist. */
  readonly lease: Ref;
  /** Whether a controller keeps the cluster current now. */
  readonly readLeader: () => Promise<LiveLeader>;
  /** What --only-names leaves out, in the namespace of -n or everywhere. */
  readonly readNotRead: () => Promise<NamesNotRead>;
};

/** `own`: the flags of `run` that the command was given. Runs `work` and closes what it opened. */
export async function withClusterContext<T>(
  flags: KubectlFlags,
  own: FlagValues,
  program: Program,
  work: (context: ClusterContext) => Promise<T>,
): Promise<T> {
  // Wrong values are reported before anything is asked.
  readPlanningSettings(own, program, { kind: "unasked" });
  // The HTTP client takes longer to load than everything else, and a plan of files needs no server.
  const { connect, serverLine } = await import("../kubectl/connection.ts");
  let aheadMs = 0;
  const connection = connect(flags, program, (offsetMs) => (aheadMs = offsetMs));
  const nowMs = (): number => Date.now() - aheadMs;
  try {
    const home = controllerHome(own, program, connection.namespace);
    const installed = await findController(connection.client, home, program.signal);
    const planning = readPlanningSettings(own, program, installed);
    const where = serverLine(connection);
    const { client } = connection;
    const { signal } = program;
    const lease = leaseOf(installed, home.lease);
    const readLeader = (): Promise<LiveLeader> =>
      readLiveLeader({ client, installed, lease, nowMs, signal });
    const { settings, config } = planning;
    const { namespace } = flags;
    const readNotRead = (): Promise<NamesNotRead> =>
      readNamesNotRead({ client, settings, kinds: config.kinds, namespace, signal });
    const found = { connection, where, installed, planning, flags, program };
    return await work({ ...found, nowMs, lease, readLeader, readNotRead });
  } finally {
    await connection.client.close();
  }
}

/** Reads the cluster of a connection. `withShapes` adds what a diff needs. */
export async function readForPlanning(
  { connection, planning, flags, program }: ClusterContext,
  options: {
    readonly withShapes?: boolean;
    /**
     * Namespaces to read separately when the user may not list the whole cluster. The default is the
     * namespace of -n.
     */
    readonly fallback?: readonly string[];
    /** Reads with this client instead of the connection's. */
    readonly client?: ApiClient;
    readonly onObject?: ReadOptions["onObject"];
  } = {},
): Promise<ReadCluster> {
  const { settings, config, unclear } = planning;
  const { withShapes = false, fallback = flags.namespace === undefined ? [] : [flags.namespace] } =
    options;
  const read = await readCluster({
    client: options.client ?? connection.client,
    onObject: options.onObject,
    settings,
    config,
    fallback,
    flags,
    withShapes,
    program,
  });
  if (unclear === undefined) return read;
  const rights = { ...read.rights, settings: unclear };
  return { ...read, rights, unknown: [unclear, ...read.unknown] };
}

/** Prints what is unknown. Returns false when something is. */
export function printUnknown(
  { unknown }: Pick<ReadCluster, "unknown">,
  { stderr }: Pick<Program, "stderr">,
): boolean {
  for (const line of unknown) say(stderr, `secretcast: ${line}`);
  return unknown.length === 0;
}

/** The state of a kind. Throws a UsageError where that kind takes no part. */
export function stateOfKind(
  { clusterStates }: Pick<ReadCluster, "clusterStates">,
  kind: ObjectKind,
): ClusterState {
  const clusterState = clusterStates.find((each) => each.kind === kind);
  if (clusterState) return clusterState;
  throw new UsageError(
    `${kind}s take no part without --config-maps: neither this command nor the controller that was found has that flag of \`run\``,
  );
}

/** The error for two flags that contradict each other. */
export function contradiction(one: string, other: string, why: string): UsageError {
  return new UsageError(`${one} and ${other} contradict each other: ${why}`);
}
