// Who is informed of plans and outcomes: the log and, through Events, the owners of sources and copies.
import { hostname } from "node:os";
import type { Config } from "../controller/settings/config.ts";
import type { PlannerSettings } from "../controller/model/cluster.ts";
import { apiVersionOf } from "../text/names.ts";
import { KINDS } from "../controller/model/kinds.ts";
import type { EventIdentity, SourceEvent } from "../controller/report/event-states.ts";
import { failureLines } from "../controller/report/failure-lines.ts";
import { Reporter } from "../controller/report/reporter.ts";
import type { Log } from "../controller/report/log.ts";
import type { PlannerMemory } from "../controller/state/planner-memory.ts";
import type { Caches } from "../controller/sync/caches.ts";
import type { EventDetails } from "../../packages/kube/events/event-record.ts";
import { EventRecorder } from "../../packages/kube/events/event-recorder.ts";
import { createEventClient } from "../../packages/kube/events/event-writer.ts";
import {
  EventsDeniedError,
  permittedEvents,
  type EventAccess,
} from "../../packages/kube/events/permitted-events.ts";
import type { LeaderElector } from "../../packages/kube/leaderelection/leader-elector.ts";
import { ApiError } from "../../packages/kube/rest/api-error.ts";
import { FAILURE_CAUSES } from "../../packages/kube/rest/failure-cause.ts";
import { LEASES, NAMESPACES } from "../../packages/kube/rest/resource.ts";
import type { Dependencies } from "./dependencies.ts";

export type Reporters = {
  /** Undefined for a dry run, which sends none. */
  readonly events: EventRecorder | undefined;
  readonly reporter: Reporter;
};

export type ReportedState = {
  readonly caches: Pick<Caches, "kinds">;
  readonly memory: PlannerMemory;
  readonly elector: LeaderElector | undefined;
};

export function createReporters(
  { dryRun, ownNamespace }: Pick<Config, "dryRun" | "ownNamespace">,
  settings: PlannerSettings,
  parts: Dependencies,
  { caches: { kinds }, memory, elector }: ReportedState,
): Reporters {
  const { log, clock } = parts;
  const events = dryRun
    ? undefined
    : createEvents(parts, ownNamespace, (details) => reporter.lost(details));
  const reporter = new Reporter({
    log,
    clock,
    memory,
    // Where every namespace may publish, tenants need not learn the names of other namespaces.
    mayName: (namespace) => settings.namedSources?.matches(namespace) === true,
    uidOf: (kind, place) => kinds.find((each) => each.kind === kind)?.written.get(place)?.uid,
    send: (event) => events?.record(eventOf(event)),
    lease: () => elector?.lease,
  });
  return { events, reporter };
}

function createEvents(
  { client, clock, log }: Dependencies,
  ownNamespace: string,
  onLost: (event: EventIdentity) => void,
): EventRecorder {
  const message = "event not sent";
  const lines = failureLines(log, clock, message);
  const lost = {
    refused: lines.of("refused", { reason: "refused" }),
    unreachable: lines.of("unreachable", { reason: "unreachable" }),
    overloaded: lines.of("overloaded", { reason: FAILURE_CAUSES.throttled }),
  };
  return new EventRecorder({
    client: permittedEvents(createEventClient(client), clock, eventAccessLines(log)),
    reachability: client.reachability,
    clock,
    // With its namespace: of two installations it is known which of them says so. A host's name may be longer.
    reporter: { controller: "secretcast", instance: `${ownNamespace}/${hostname()}`.slice(0, 128) },
    onDrop: (reason, error, details) => {
      // The API server refuses a refused Event again, unless the fault is its own.
      if (details && (reason !== "refused" || isUnavailable(error)))
        onLost({ ...details, uid: details.regarding.uid ?? "" });
      // Events dropped by our own limit are dropped on purpose.
      if (error instanceof ApiError && error.kind === "throttled") lost.overloaded.failed(error);
      else if (error instanceof EventsDeniedError) log.debug({ reason: "denied" }, message);
      else if (reason === "refused" || reason === "unreachable") lost[reason].failed(error);
      else log.debug({ reason }, message);
    },
  });
}

/** Most namespaces that are named in log lines. A missing ClusterRole would name them all. */
const MOST_NAMED = 5;

function eventAccessLines(log: Log): EventAccess {
  const named = new Set<string>();
  return {
    onDenied: (namespace) => {
      if (named.size >= MOST_NAMED) return;
      named.add(namespace);
      log.warn(
        { namespace },
        "no right to write Events in this namespace, so it gets none: grant create and patch on events.events.k8s.io",
      );
    },
    onAllowed: (namespace) => {
      if (named.delete(namespace)) log.info({ namespace }, "Events are written in this namespace");
    },
  };
}

const OTHER_KINDS = { Lease: { resource: LEASES }, Namespace: { resource: NAMESPACES } };

function eventOf({ kind, on, uid, type, reason, note }: SourceEvent): EventDetails {
  const place = kind === "Namespace" ? { name: on.name } : on;
  const { resource } = { ...KINDS, ...OTHER_KINDS }[kind];
  const regarding = { apiVersion: apiVersionOf(resource), kind, ...place, uid };
  return { regarding, type, reason, action: "Copy", note };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.kind === "unavailable";
}
