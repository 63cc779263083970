// Who led when, and who wrote, as the API server's audit log has it: replicas of one account are told
// apart by the address at which the server saw them. A write by one of them after another has taken
// the Lease is a stray. Events are no such writes: they tell of what was done before.
import { ACCOUNT } from "./account.ts";
import { auditEventsOf } from "./audit-log.ts";
import { field } from "../../../packages/sandbox/testing/http.ts";

export type LeadJudgement = {
  /** Writes of somebody who did not hold the Lease any more, in plain words. */
  readonly strays: readonly string[];
  /** Who held it, one after the other. */
  readonly leaders: readonly string[];
  /** Of Secrets and ConfigMaps, carried out, by address. */
  readonly writes: ReadonlyMap<string, number>;
};

const WRITES = new Set(["create", "update", "patch", "delete"]);
const OBJECTS = new Set(["secrets", "configmaps"]);

/** Of the replicas that elect by the Lease of this name. */
export function judgeLead(auditLog: string, lease: string): LeadJudgement {
  const events = auditEventsOf(ACCOUNT, auditLog)
    .filter((event) => WRITES.has(String(field(event, "verb"))))
    .toSorted((a, b) => receivedAt(a) - receivedAt(b));
  const ours = events.filter((event) => isLease(event, lease));
  const replicas = new Set(ours.map(addressOf));
  const strays: string[] = [];
  const leaders: string[] = [];
  const writes = new Map<string, number>();
  for (const event of events) {
    const from = addressOf(event);
    if (!replicas.has(from)) continue;
    const done = isDone(event);
    if (isLease(event, lease)) {
      if (done && leaders.at(-1) !== from) leaders.push(from);
      continue;
    }
    if (!OBJECTS.has(String(field(event, "objectRef", "resource")))) continue;
    if (!done) continue;
    writes.set(from, (writes.get(from) ?? 0) + 1);
    if (leaders.at(-1) === from) continue;
    strays.push(`${String(field(event, "requestReceivedTimestamp"))} ${from} ${wordsOf(event)}`);
  }
  return { strays, leaders, writes };
}

/** What arrived of an address from then on and was carried out, Leases and Events aside. */
export function writesSince(auditLog: string, from: string, sinceMs: number): readonly string[] {
  return auditEventsOf(ACCOUNT, auditLog)
    .filter((event) => addressOf(event) === from && receivedAt(event) >= sinceMs)
    .filter((event) => OBJECTS.has(String(field(event, "objectRef", "resource"))))
    .filter((event) => WRITES.has(String(field(event, "verb"))) && isDone(event))
    .map(wordsOf);
}

function isLease(event: unknown, name: string): boolean {
  const [resource, named] = [
    field(event, "objectRef", "resource"),
    field(event, "objectRef", "name"),
  ];
  return resource === "leases" && named === name;
}

function addressOf(event: unknown): string {
  return String(field(event, "sourceIPs", 0));
}

function isDone(event: unknown): boolean {
  return Number(field(event, "responseStatus", "code")) < 300;
}

function receivedAt(event: unknown): number {
  return Date.parse(String(field(event, "requestReceivedTimestamp")));
}

function wordsOf(event: unknown): string {
  const of = (...path: readonly string[]): string => String(field(event, ...path));
  const place = `${of("objectRef", "namespace")}/${of("objectRef", "name")}`;
  return `${of("verb")} ${of("objectRef", "resource")} ${place} ${of("responseStatus", "code")}`;
}
