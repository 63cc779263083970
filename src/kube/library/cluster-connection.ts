// From a kubeconfig, or the service account of a Pod, to clients of one API server.
// Promises: no request is sent before it is asked for; what one client learns of the server's absence
// the others know; the Lease has a connection of its own, so a renewal never waits behind other work.
import { createClient } from "../rest/client.ts";
import type { ApiClient } from "../rest/api-client.ts";
import { createEventClient } from "../events/event-writer.ts";
import type { EventClient } from "../events/event-writer.ts";
import { createLeaseClient } from "../leaderelection/lease-lock.ts";
import type { LeaseClient } from "../leaderelection/lease-lock.ts";
import { loadKubeConfig } from "../kubeconfig/kubeconfig.ts";
import { Reachability } from "../rest/reachability.ts";
import { systemClock } from "../time/clock.ts";
import type { Clock } from "../time/clock.ts";

/** What {@link connectCluster} is reported. */
export type ConnectOptions = {
  /** Who asks, for the server's logs: "icecream-controller/1.2.0". */
  readonly userAgent: string;
  /** A kubeconfig file; then neither KUBECONFIG nor the service account is looked at. */
  readonly kubeconfig?: string | undefined;
  /** A context of the kubeconfig; its current one when absent. */
  readonly context?: string | undefined;
  /** Environment variables; those of the process when absent. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Connections for requests at most; 32 when absent. Watches have as many as they need. */
  readonly connections?: number;
  /** Of everything that waits; the system's when absent. Tests step one of their own. */
  readonly clock?: Clock;
};

/** One API server, and whom we are to it. */
export type ClusterConnection = {
  /** For informers and for requests of your own. */
  readonly client: ApiClient;
  /** The clock given, to hand on. */
  readonly clock: Clock;
  /** Whether the server answers, as all clients of this connection find. */
  readonly reachability: Reachability;
  /** The namespace of the context, or undefined: it names none, or a service account is used. */
  readonly namespace: string | undefined;
  /** For an EventRecorder. */
  readonly events: EventClient;
  /** For a LeaderElector: one Lease, over a connection of its own. */
  lease(namespace: string, name: string): LeaseClient;
  /** Ends every connection, and what runs on it. Close informers, queue and recorder before. */
  close(): Promise<void>;
};

/**
 * As kubectl and client-go choose: the file that was named, else KUBECONFIG, else the service account
 * where there is one, else ~/.kube/config.
 *
 * @throws KubeConfigError of one line that says which file or context is wrong, and no value of it.
 */
export function connectCluster(options: ConnectOptions): ClusterConnection {
  const { userAgent, connections, clock = systemClock } = options;
  const config = loadKubeConfig(choose(options));
  const reachability = new Reachability(clock);
  const shared = { clock, userAgent, reachability };
  const client = createClient(config, {
    ...shared,
    ...(connections !== undefined && { connections }),
  });
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
