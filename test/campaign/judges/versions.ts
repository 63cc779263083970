// What every version of every Secret was to the controller: its own copy, a pulling Secret, an offer, or
// a stranger. From a watch of metadata alone, by rules that are read off the README, not off the code.
import { setTimeout as delay } from "node:timers/promises";
import { field, type Http } from "../../support/api-server/http.ts";

/** frozen: a copy with a mark that this version of the controller does not know. */
export type Standing = "ours" | "frozen" | "pulling" | "offered" | "stranger";

const PREFIX = "secretcast.io/";
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const WATCH = "/api/v1/secrets?watch=true&allowWatchBookmarks=true";
const MOST_VERSIONS = 50_000;
const KNOWN = new Set(
  (
    "to to-selector match name keys copy-labels copy-annotations on-delete paused allow " +
    "allow-selector from accept adopt source source-uid placed-at source-version copied-keys " +
    "pulled-keys entry list"
  ).split(" "),
);

export function standingOf(metadata: unknown): Standing {
  const found = field(metadata, "annotations");
  const annotations = typeof found === "object" && found !== null ? found : {};
  const word = (name: string): unknown => field(annotations, `${PREFIX}${name}`);
  if (word("from") !== undefined) return "pulling";
  const place = `${String(field(metadata, "namespace"))}/${String(field(metadata, "name"))}`;
  const marked =
    field(metadata, "labels", "app.kubernetes.io/managed-by") === "secretcast" &&
    /^[^/\s]+\/[^/\s]+$/.test(String(word("source"))) &&
    typeof word("source-uid") === "string" &&
    word("source-uid") !== "" &&
    word("placed-at") === place;
  if (marked) {
    const marks = Object.keys(annotations).filter((key) => key.startsWith(PREFIX));
    return marks.every((key) => KNOWN.has(key.slice(PREFIX.length))) ? "ours" : "frozen";
  }
  return word("adopt") === undefined ? "stranger" : "offered";
}

/** What a version is known by, wherever it is spoken of. */
function versionKey(uid: unknown, resourceVersion: unknown): string {
  return `${String(uid)} ${String(resourceVersion)}`;
}

export class Versions {
  readonly #admin: Http;
  readonly #stop: AbortSignal;
  readonly #standings = new Map<string, Standing>();
  readonly #watching: Promise<void>;
  #resourceVersion: string | undefined;

  constructor(admin: Http, stop: AbortSignal) {
    this.#admin = admin;
    this.#stop = stop;
    this.#watching = this.#watch();
  }

  /** Undefined while the watch has not told of that version, or when it was too long ago. */
  standing(uid: unknown, resourceVersion: unknown): Standing | undefined {
    return this.#standings.get(versionKey(uid, resourceVersion));
  }

  ended(): Promise<void> {
    return this.#watching;
  }

  async #watch(): Promise<void> {
    while (!this.#stop.aborted) {
      try {
        const from = this.#resourceVersion ? `&resourceVersion=${this.#resourceVersion}` : "";
        for await (const event of this.#admin.lines(`${WATCH}${from}`, this.#stop, METADATA))
          this.#take(event);
      } catch {
        // An API server that is not there is one of the faults.
      }
      await delay(50);
    }
  }

  #take(event: unknown): void {
    const type = field(event, "type");
    // History is gone: from what is there.
    if (type === "ERROR") this.#resourceVersion = undefined;
    const metadata = field(event, "object", "metadata");
    const version = field(metadata, "resourceVersion");
    if (type === "ERROR" || typeof version !== "string") return;
    this.#resourceVersion = version;
    if (type === "BOOKMARK") return;
    this.#standings.set(versionKey(field(metadata, "uid"), version), standingOf(metadata));
    const [oldest] = this.#standings.keys();
    if (this.#standings.size > MOST_VERSIONS && oldest !== undefined)
      this.#standings.delete(oldest);
  }
}
