// Judges what the API server's audit log says of the controller: that it asked for nothing outside its
// rights, and did not ask the same place again and again.
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { ACCOUNT } from "../../support/api-server/account.ts";
import { field } from "../../support/api-server/http.ts";
import type { Violations } from "./violations.ts";

const RIGHTS = new Set([
  ...["get", "list", "watch", "create", "patch", "delete"].map((verb) => `${verb} secrets`),
  ...["get", "list", "watch"].map((verb) => `${verb} namespaces`),
  ...["create", "patch"].map((verb) => `${verb} events`),
  ...["create", "get", "update"].map((verb) => `${verb} leases`),
  // The source list, and no other ConfigMap.
  ...["get", "list", "watch"].map((verb) => `${verb} configmaps secretcast/secretcast-sources`),
]);
const WRITES = new Set(["create", "patch", "delete"]);
const WINDOW_MS = 10_000;
/** Requests for one Secret within the window: a back-off that begins at one second allows far fewer. */
const MOST_REPEATS = 25;

export class AuditJudge {
  readonly #file: string;
  readonly #violations: Violations;
  readonly #recent = new Map<string, number[]>();
  #offset: number;
  /** Answered requests of the controller, by "VERB RESOURCE CODE". */
  readonly requests = new Map<string, number>();
  /** Requests that the API server answered by writing a Secret. */
  writes = 0;
  /** The most that one place saw within the window. */
  mostRepeats = 0;

  constructor(file: string, violations: Violations) {
    this.#file = file;
    // What came before was asked with the account, not by the controller.
    this.#offset = statSync(file).size;
    this.#violations = violations;
  }

  /** Judges what was logged since the last round. */
  round(): void {
    for (const line of this.#read().split("\n")) {
      if (!line.includes(ACCOUNT)) continue;
      const entry: unknown = JSON.parse(line);
      if (field(entry, "user", "username") === ACCOUNT) this.#take(entry);
    }
  }

  #take(entry: unknown): void {
    const verb = String(field(entry, "verb"));
    const resource = field(entry, "objectRef", "resource");
    const isEnd = field(entry, "stage") === "ResponseComplete";
    // A watch is told of when it begins as well.
    if (!isEnd || typeof resource !== "string") return;
    const code = Number(field(entry, "responseStatus", "code"));
    count(this.requests, `${verb} ${resource} ${code}`);
    const namespace = String(field(entry, "objectRef", "namespace"));
    const place = `${namespace}/${String(field(entry, "objectRef", "name"))}`;
    const asked = `${verb} ${resource}`;
    if (!RIGHTS.has(asked) && !RIGHTS.has(`${asked} ${place}`))
      this.#violations.add(
        "a request outside the controller's rights",
        `${verb} ${resource} ${place}`,
      );
    if (resource !== "secrets" || verb === "list" || verb === "watch") return;
    const dry = String(field(entry, "requestURI")).includes("dryRun=");
    if (WRITES.has(verb) && code < 300 && !dry) this.writes++;
    this.#repeated(place, Date.parse(String(field(entry, "requestReceivedTimestamp"))));
  }

  #repeated(place: string, atMs: number): void {
    const times = this.#recent.get(place) ?? [];
    const recent = [...times.filter((time) => time > atMs - WINDOW_MS), atMs];
    this.#recent.set(place, recent);
    this.mostRepeats = Math.max(this.mostRepeats, recent.length);
    if (recent.length <= MOST_REPEATS) return;
    this.#violations.add(
      "one place asked again and again",
      `${place}: ${recent.length} requests within ${WINDOW_MS / 1000} s`,
    );
    this.#recent.delete(place);
  }

  /** Whole lines since the last time. */
  #read(): string {
    const open = openSync(this.#file, "r");
    try {
      const bytes = Buffer.alloc(fstatSync(open).size - this.#offset);
      readSync(open, bytes, 0, bytes.length, this.#offset);
      const end = bytes.lastIndexOf("\n") + 1;
      this.#offset += end;
      return bytes.toString("utf8", 0, end);
    } finally {
      closeSync(open);
    }
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
