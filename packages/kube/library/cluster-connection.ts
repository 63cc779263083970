// Creates clients of one API server from a kubeconfig or the service account of a Pod.
// Promises: no request is sent until a caller makes one. All clients share what one of them learns about the
// server's absence. The Lease has its own connection, so a renewal never waits behind other requests.
import { createClient } from "../rest/client.ts";
import type { ApiClient } from "../rest/api-client.ts";
import { createEventClient } from "../events/event-writer.ts";
import type { EventClient } from "../events/event-writer.ts";
import { createLeaseClient } from "../leaderelection/lease-lock.ts";
import type { LeaseClient } from "../leaderelection/elector-options.ts";
import { loadKubeConfig } from "../kubeconfig/kubeconfig.ts";
import { Reachability } from "../rest/reachability.ts";
import { systemClock } from "../time/clock.ts";
import type { Clock } from "../time/clock.ts";

/** Options of {@link connectCluster}. */
export type ConnectOptions = {
  /** Client name for the server's logs: "icecream-controller/1.2.0". */
  readonly userAgent: string;
  /** A kubeconfig file. KUBECONFIG and the service account are then ignored. */
  readonly kubeconfig?: string | undefined;
  /** A context of the kubeconfig. The current context when absent. */
  readonly context?: string | undefined;
  /** Environment variables. Those of the process when absent. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Maximum connections for requests. 32 when absent. Watches use as many as they need. */
  readonly connections?: number;
  /** Clock for every wait. The system's when absent. Tests pass a clock that they step. */
  readonly clock?: Clock;
};

/** A connection to one API server with one identity. */
export type ClusterConnection = {
  /** For informers and for your own requests. */
  readonly client: ApiClient;
  /** The clock given, to pass on. */
  readonly clock: Clock;
  /** Whether the server answers, according to all clients of this connection. */
  readonly reachability: Reachability;
  /** The namespace of the context. Undefined if it names none, or with a service account. */
  readonly namespace: string | undefined;
  /** For an EventRecorder. */
  readonly events: EventClient;
  /** For a LeaderElector: one Lease, over its own connection. */
  lease(namespace: string, name: string): LeaseClient;
  /** Closes every connection and aborts its requests. Close informers, queue and recorder first. */
  close(): Promise<void>;
};

/**
 * Chooses the configuration as kubectl and client-go do: the given file, else KUBECONFIG, else the service
 * account if it exists, else ~/.kube/config.
 *
 * @throws KubeConfigError of one line that names the file or context and contains no value of it.
 */
export function connectCluster(options: ConnectOptions): ClusterConnection {
  const { userAgent, connections, clock = systemClock } = options;
  const config = loadKubeConfig(choose(options));
  const reachability = new Reachability(clock);
  const shared = { clock, userAgent, reachability };
  const client = createClient(config, { ...shared, connections });
  const leases: ApiClient[] = [];
  return {
    client,
    clock,
    reachability,
    namespace: config.namespace,
    events: createEventClient(client),
    lease(namespace, name) {
      const own = createClient(config, { ...shared, connections: 1, neverPauses: true });
      leases.push(own);
      return createLeaseClient(own, namespace, name);
    },
    async close() {
      await Promise.all([client, ...leases].map((each) => each.close()));
    },
  };
}

function choose({ kubeconfig, context, env = process.env }: ConnectOptions) {
  const named = kubeconfig !== undefined || context !== undefined || Boolean(env["KUBECONFIG"]);
  const inCluster = !named && Boolean(env["KUBERNETES_SERVICE_HOST"]);
  return { kubeconfig, context, env, inCluster };
}
