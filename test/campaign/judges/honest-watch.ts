// The Secrets of one honest namespace as they come and go, by digest. Each such namespace has a watch
// of its own, so that what the tenant writes does not delay the watcher.
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { field, type Http } from "../../support/api-server/http.ts";

export type Seen = {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Of the data; never printed. */
  readonly digest: string;
};

const INITIAL_END = "k8s.io/initial-events-end";
const QUERY =
  "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

/** `data` with values in base64. */
export function digestOf(data: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}

export class HonestWatch {
  readonly #admin: Http;
  readonly #namespace: string;
  readonly #onChange: (name: string) => void;
  readonly #stop = new AbortController();
  readonly #watching: Promise<void>;
  #secrets = new Map<string, Seen>();

  /** `onChange` is told of a name when what is there may be another. */
  constructor(admin: Http, namespace: string, onChange: (name: string) => void) {
    this.#admin = admin;
    this.#namespace = namespace;
    this.#onChange = onChange;
    this.#watching = this.#watch();
  }

  at(name: string): Seen | undefined {
    return this.#secrets.get(name);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#round(signal);
      } catch {
        // An API server that is not there is one of the faults.
      }
      await delay(20);
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    // What is there comes first, and takes the place of what was known when it is complete.
    let incoming: Map<string, Seen> | undefined = new Map();
    const path = `/api/v1/namespaces/${this.#namespace}/secrets?${QUERY}`;
    for await (const event of this.#admin.lines(path, signal)) {
      const metadata = field(event, "object", "metadata");
      const type = field(event, "type");
      if (type === "ERROR") return;
      if (type === "BOOKMARK") {
        if (incoming === undefined || field(metadata, "annotations", INITIAL_END) !== "true")
          continue;
        const names = new Set([...this.#secrets.keys(), ...incoming.keys()]);
        this.#secrets = incoming;
        incoming = undefined;
        for (const name of names) this.#onChange(name);
        continue;
      }
      const name = String(field(metadata, "name"));
      const secrets = incoming ?? this.#secrets;
      if (type === "DELETED") secrets.delete(name);
      else secrets.set(name, seen(event));
      if (incoming === undefined) this.#onChange(name);
    }
  }
}

function seen(event: unknown): Seen {
  const metadata = field(event, "object", "metadata");
  const data = field(event, "object", "data");
  return {
    uid: String(field(metadata, "uid")),
    resourceVersion: String(field(metadata, "resourceVersion")),
    digest: digestOf(typeof data === "object" && data !== null ? { ...data } : {}),
  };
}
