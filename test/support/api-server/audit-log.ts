// What the API server's audit log has of service accounts: an event for each answered request.
import { readFileSync } from "node:fs";
import { field } from "../../../packages/sandbox/testing/http.ts";

/** The events of one user whose line has the text `like`, in the order of the answers. */
export function auditEventsOf(user: string, auditLog: string, like = ""): readonly unknown[] {
  return readFileSync(auditLog, "utf8")
    .split("\n")
    .filter((line) => line.includes(user) && line.includes(like))
    .map((line): unknown => JSON.parse(line))
    .filter((event) => field(event, "user", "username") === user);
}

/** Whether RBAC refused it. */
export function isForbidden(event: unknown): boolean {
  return field(event, "annotations", "authorization.k8s.io/decision") === "forbid";
}
