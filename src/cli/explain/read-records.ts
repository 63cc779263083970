// Reads what a cluster has recorded of an object, with the user's own rights: metadata without data, and Events. What
// may not be read is reported, one line each.
import { annotationKey } from "../../controller/annotations/vocabulary.ts";
import { KINDS, type ObjectKind } from "../../controller/model/kinds.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import {
  CONFIG_MAPS,
  EVENTS,
  METADATA,
  NAMESPACES,
  type Resource,
} from "../../../packages/kube/rest/resource.ts";
import { fieldsIn } from "../../inspect/requests/fields.ts";
import { getObject } from "../../inspect/requests/get.ts";
import { listAll } from "../../../packages/kube/cache/list.ts";
import { orRefusal } from "../../inspect/requests/refusal.ts";
import { parseRef, refText, type Ref } from "../../text/names.ts";
import {
  markText,
  recordOfEvent,
  recordsOf,
  recordsSince,
  type Recorded,
} from "../explanation/records.ts";

export type Records = {
  /** Oldest first. */
  readonly records: readonly Recorded[];
  /** What the marks of the object say, if it is a copy. */
  readonly mark: string | undefined;
  /** What could not be read. */
  readonly unknown: readonly string[];
};

export type RecordsOf = {
  readonly kind: ObjectKind;
  readonly subject: Ref;
  /** Its source, if it has another one. */
  readonly sources: readonly Ref[];
  /** A copy of it that was asked for. */
  readonly copies: readonly Ref[];
  readonly fromMs: number;
};

/** Cluster-scoped objects have their Events here. */
const CLUSTER_EVENTS = "default";
const MOST_EVENTS = 1000;

export async function readRecords(
  client: ApiClient,
  { kind, subject, sources, copies, fromMs }: RecordsOf,
  signal: AbortSignal,
): Promise<Records> {
  const reading = new Reading(client, signal);
  const { resource } = KINDS[kind];
  const own = await reading.object(resource, subject);
  for (const place of [...copies, ...sources]) {
    const copy = await reading.object(resource, place);
    await reading.list(copy);
  }
  await reading.list(own);
  const places = [subject, ...copies];
  for (const name of new Set(places.map(({ namespace }) => namespace)))
    await reading.object(NAMESPACES, { namespace: "", name });
  return {
    records: recordsSince(reading.records, fromMs, Date.parse),
    mark: markText(own),
    unknown: reading.unknown,
  };
}

/**
 * What the controller's Lease has recorded last of copies of an object, or of one, that are gone with their source: a
 * line, or why it is not known.
 */
export async function recordOnLease(
  client: ApiClient,
  lease: Ref,
  { namespace, name }: Ref,
  signal: AbortSignal,
): Promise<string | undefined> {
  const reading = new Reading(client, signal);
  await reading.events("Lease", lease, `Lease ${refText(lease)}`);
  const isOf = ({ record }: Recorded): boolean => {
    const [, namespaces = ""] = /\(([^)]*)\)/.exec(record) ?? [];
    const isCopy = record.includes(`/${name} `) && namespaces.split(", ").includes(namespace);
    return isCopy || record.includes(`source ${namespace}/${name} `);
  };
  const last = recordsSince(reading.records.filter(isOf), 0, Date.parse).at(-1);
  return last ? `${last.object}, ${last.at}: ${last.record}` : reading.unknown[0];
}

class Reading {
  readonly records: Recorded[] = [];
  readonly unknown: string[] = [];
  readonly #client: ApiClient;
  readonly #signal: AbortSignal;
  readonly #seen = new Set<string>();

  constructor(client: ApiClient, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Its metadata and Events. Answers with the metadata. `entry`: the only entry of it that matters. */
  async object(resource: Resource, place: Ref, entry?: string): Promise<unknown> {
    const { kind } = resource;
    const name = place.namespace === "" ? place.name : refText(place);
    const object = `${kind} ${name}`;
    if (this.#seen.has(object)) return undefined;
    this.#seen.add(object);
    const [metadata] = await Promise.all([
      this.#metadata(resource, place, object),
      this.events(kind, place, object),
    ]);
    this.records.push(
      ...recordsOf({ kind, name, metadata, ...(entry !== undefined && { entry }) }),
    );
    return metadata;
  }

  /** The source list whose entry made a copy. */
  async list(metadata: unknown): Promise<void> {
    const annotations = fieldsIn(fieldsIn(metadata)["annotations"]);
    const entry = annotations[annotationKey("entry")];
    const list = annotations[annotationKey("list")];
    const ref = typeof list === "string" ? parseRef(list) : undefined;
    if (ref && typeof entry === "string") await this.object(CONFIG_MAPS, ref, entry);
  }

  async #metadata(resource: Resource, place: Ref, object: string): Promise<unknown> {
    const accept = METADATA;
    const read = getObject(this.#client, resource, place, this.#signal, { accept });
    return fieldsIn(await this.#allowed(`${object} cannot be read`, read))["metadata"];
  }

  /** Its Events. */
  async events(kind: string, { namespace, name }: Ref, object: string): Promise<void> {
    const where = namespace === "" ? CLUSTER_EVENTS : namespace;
    let found: Recorded[] = [];
    await this.#allowed(
      `Events in ${where} cannot be listed`,
      listAll({
        client: this.#client,
        scope: {
          resource: EVENTS,
          namespace: where,
          fieldSelector: `regarding.kind=${kind},regarding.name=${name}`,
        },
        signal: this.#signal,
        onPage: (page) => {
          found.push(...page.flatMap((event) => recordOfEvent(event, object)));
          found = found.slice(-MOST_EVENTS);
        },
        onRestart: () => (found = []),
      }),
    );
    this.records.push(...found);
  }

  /** Undefined where it does not exist or may not be read. */
  async #allowed<T>(otherwise: string, answer: Promise<T>): Promise<T | undefined> {
    const found = await orRefusal(answer);
    if (!(found instanceof ApiError)) return found;
    const line = `${otherwise} (403 Forbidden): what is recorded there is not known`;
    if (found.kind === "forbidden" && !this.unknown.includes(line)) this.unknown.push(line);
    return undefined;
  }
}
