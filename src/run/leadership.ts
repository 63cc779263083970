// The Lease: which replica writes.
import { LEASE_TIMES, type Config } from "../controller/settings/config.ts";
import { failureLines } from "../controller/report/failure-lines.ts";
import { LeaderElector, newIdentity } from "../../packages/kube/leaderelection/leader-elector.ts";
import { createLeaseClient } from "../../packages/kube/leaderelection/lease-lock.ts";
import { ApiError } from "../../packages/kube/rest/api-error.ts";
import type { Dependencies } from "./dependencies.ts";

export type Leadership = {
  /** Unique to this process. The holder's name on the Lease. */
  readonly identity: string;
  /** Undefined if this process writes without a Lease, or writes nothing. */
  readonly elector: LeaderElector | undefined;
};

/** `relist`: called if the API server was restored from a backup. */
export function createLeadership(
  config: Config,
  parts: Dependencies,
  relist: () => void,
): Leadership {
  const identity = newIdentity();
  const elects = config.leaderElect && !config.dryRun;
  return {
    identity,
    elector: elects ? createElector(config, parts, identity, relist) : undefined,
  };
}

function createElector(
  config: Config,
  { leaseApi, clock, log }: Dependencies,
  identity: string,
  relist: () => void,
): LeaderElector {
  const lines = failureLines(log, clock, "lease not taken, renewed or released");
  const { failed, worked } = lines.of(config.leaseName);
  return new LeaderElector({
    client: createLeaseClient(leaseApi, config.leaseNamespace, config.leaseName),
    clock,
    identity,
    namespace: config.leaseNamespace,
    name: config.leaseName,
    ...LEASE_TIMES,
    reachability: leaseApi.reachability,
    onVersionWentBack: () => {
      log.warn({}, "the API server's versions have gone back: everything is listed anew");
      relist();
    },
    onError: (error) => failed(withAdvice(error, config)),
    onAnswer: worked,
  });
}

// Nothing is written without the Lease, so the line says what to do.
function withAdvice(error: unknown, { leaseNamespace, leaseName }: Config): unknown {
  if (!(error instanceof ApiError) || error.why.cause !== "missingRight") return error;
  return new Error(
    `${error.message}; in ${leaseNamespace} grant create on leases, and get and update on the Lease ${leaseName}, or run a single replica with --no-leader-elect`,
  );
}
