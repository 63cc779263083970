// Whether a controller keeps the cluster current at this moment. A replica proves it by its Lease. Without leader
// election, a ready pod of the Deployment does.
// Promises: what cannot be read is `unknown` and never `live`. It takes at most LOOK_MS longer than its requests.
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { LEASES } from "../../../packages/kube/rest/resource.ts";
import { sleep, systemClock, type Clock } from "../../../packages/kube/time/clock.ts";
import { stringOf } from "../../controller/model/unstructured.ts";
import { printable } from "../../text/printable.ts";
import { refText, type Ref } from "../../text/names.ts";
import { apiSeconds, apiTime } from "../requests/api-time.ts";
import { fieldsIn } from "../requests/fields.ts";
import { getObject } from "../requests/get.ts";
import { orRefusal } from "../requests/refusal.ts";
import { APP_LABEL, type Installed, type InstalledController } from "./installed-controller.ts";

export type LiveLeader = {
  readonly kind: "live" | "none" | "unknown";
  /** What was found, for a user. It may contain names that others chose. */
  readonly says: string;
  readonly advice?: string | undefined;
};

/** For the terminal. Empty where a controller is live. */
export function leaderLines({ kind, says, advice }: LiveLeader): readonly string[] {
  if (kind === "live") return [];
  return [printable(advice === undefined ? says : `${says}; ${advice}`)];
}

export type LeaderQuestion = {
  readonly client: ApiClient;
  readonly installed: Installed;
  readonly lease: Ref;
  /** Whether the replicas elect a leader. Undefined: as the Deployment says. */
  readonly elects?: boolean;
  readonly clock?: Clock;
  /** By the API server's clock, in milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly signal: AbortSignal;
};

/**
 * A Lease whose times look old is watched for so long, because they come from the holder's clock. A leader renews it
 * every two seconds.
 */
const LOOK_MS = 5000;
const LOOK_EVERY_MS = 1000;
/** The duration of a Lease that names none. */
const USUAL_S = 15;
const USUAL_NAME = "secretcast";

export async function readLiveLeader(question: LeaderQuestion): Promise<LiveLeader> {
  const { client, installed, lease, elects, signal } = question;
  const controller = controllerOf(installed);
  if (controller && isOn(controller.flags["dry-run"]))
    return writesNothing(`Deployment ${controller.namespace}/${controller.name}`);
  if (!(elects ?? !isOff(controller?.flags["leader-elect"]))) return byReadyPods(controller);
  const seen = await orRefusal(readLease(client, lease, signal));
  const isKnown = installed.kind === "none" || controller?.unread.length === 0;
  return seen instanceof ApiError ? withoutLease(seen, lease, isKnown) : byLease(question, seen);
}

/** What runs with --dry-run keeps nothing current. `which`: what says so. */
export function writesNothing(which: string): LiveLeader {
  return {
    kind: "none",
    says: `no controller keeps the copies current: ${which} runs with --dry-run, and writes nothing`,
    advice: "run it without --dry-run",
  };
}

/** The Lease of a controller. `home`: its namespace where no Deployment says it. */
export function leaseOf(installed: Installed, home: string): Ref {
  const controller = controllerOf(installed);
  return {
    namespace: String(controller?.flags["lease-namespace"] ?? controller?.namespace ?? home),
    name: String(controller?.flags["lease-name"] ?? USUAL_NAME),
  };
}

function controllerOf(installed: Installed): InstalledController | undefined {
  return installed.kind === "found" ? installed.controller : undefined;
}

function isOn(value: unknown): boolean {
  return value === true || value === "true";
}

function isOff(value: unknown): boolean {
  return value === false || value === "false";
}

function byReadyPods(controller: InstalledController | undefined): LiveLeader {
  if (!controller) return { kind: "none", says: "no controller is installed" };
  const { namespace, name, readyReplicas } = controller;
  const which = `Deployment ${namespace}/${name}`;
  if (readyReplicas > 0) return { kind: "live", says: `${which} has a ready pod` };
  return {
    kind: "none",
    says: `no controller runs: ${which} has no ready pod`,
    advice: lookAtPods(namespace),
  };
}

/** `isKnown`: the Deployment says which Lease it is, or there is no Deployment. */
function withoutLease({ kind }: ApiError, place: Ref, isKnown: boolean): LiveLeader {
  const unknown = "whether a replica leads is not known";
  const { namespace, name } = place;
  if (kind === "forbidden")
    return {
      kind: "unknown",
      says: `${unknown}: you may not get lease ${name} in ${namespace}`,
    };
  const absent = `there is no Lease ${refText(place)}`;
  if (!isKnown)
    return { kind: "unknown", says: `${unknown}: ${absent}`, advice: "pass --lease-namespace" };
  return { kind: "none", says: `no replica leads: ${absent}`, advice: lookAtPods(namespace) };
}

async function byLease(question: LeaderQuestion, first: SeenLease): Promise<LiveLeader> {
  const which = `Lease ${refText(question.lease)}`;
  const { holder, renewed, lasts } = first;
  const since = renewed === undefined ? "" : ` since ${apiTime(renewed)}`;
  const none = (why: string): LiveLeader => ({
    kind: "none",
    says: `no replica leads${since}: ${why}`,
    advice: lookAtPods(question.lease.namespace),
  });
  if (holder === "") return none(`the last one released the ${which}`);
  const ageMs = Math.abs(question.nowMs() - (renewed ?? 0) * 1000);
  const isLive = ageMs <= lasts * 1000 || (await isRenewed(question, first));
  return isLive
    ? { kind: "live", says: `${holder} leads, by the ${which}` }
    : none(`${holder} no longer renews the ${which}`);
}

async function isRenewed(
  { client, lease, clock = systemClock, signal }: LeaderQuestion,
  { version }: SeenLease,
): Promise<boolean> {
  const deadline = clock.monotonic() + LOOK_MS;
  while (clock.monotonic() < deadline) {
    await sleep(clock, LOOK_EVERY_MS, signal);
    signal.throwIfAborted();
    const next = await orRefusal(readLease(client, lease, signal));
    if (next instanceof ApiError) return false;
    if (next.version !== version) return next.holder !== "";
  }
  return false;
}

type SeenLease = {
  readonly holder: string;
  /** Seconds since the epoch, by the holder's clock. */
  readonly renewed: number | undefined;
  readonly lasts: number;
  readonly version: string;
};

/** Rejects with an ApiError. */
export async function readLease(
  client: ApiClient,
  place: Ref,
  signal: AbortSignal,
): Promise<SeenLease> {
  const lease = fieldsIn(await getObject(client, LEASES, place, signal, { what: "get the lease" }));
  const spec = fieldsIn(lease["spec"]);
  const lasts = spec["leaseDurationSeconds"];
  return {
    holder: stringOf(spec["holderIdentity"]),
    renewed: apiSeconds(spec["renewTime"]),
    lasts: typeof lasts === "number" && lasts > 0 ? lasts : USUAL_S,
    version: stringOf(fieldsIn(lease["metadata"])["resourceVersion"]),
  };
}

function lookAtPods(namespace: string): string {
  return `start the controller, or see why its pods are not ready: kubectl get pods -n ${namespace} -l ${APP_LABEL}`;
}
