// Reads what a cluster has recorded of an object, with the user's own rights: metadata without data, and Events. What
// may not be read is reported, one line each.
import { annotationKey } from "../../controller/annotations/vocabulary.ts";
import { KINDS, type ObjectKind } from "../../controller/model/kinds.ts";
import { stringOf } from "../../controller/model/unstructured.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import {
  CONFIG_MAPS,
  EVENTS,
  METADATA,
  NAMESPACES,
  type Resource,
} from "../../../packages/kube/rest/resource.ts";
import { fieldsIn, type AnswerFields } from "../../inspect/requests/fields.ts";
import { getObject } from "../../inspect/requests/get.ts";
import { listAll } from "../../../packages/kube/cache/list.ts";
import { orRefusal } from "../../inspect/requests/refusal.ts";
import { parseRef, refText, type Ref } from "../../text/names.ts";
import { markText, recordOfEvent, recordsOf, type Recorded, type Records } from "./records.ts";

/** Cluster-scoped objects have their Events here. */
const CLUSTER_EVENTS = "default";
const MOST_EVENTS = 1000;

/** Of `subject`, and of the one place that it is asked about with its source. */
export async function readRecords(
  client: ApiClient,
  kind: ObjectKind,
  subject: Ref,
  { place, source }: { readonly place: Ref; readonly source: Ref },
  fromMs: number,
  signal: AbortSignal,
): Promise<Records> {
  const reading = new Reading(client, signal);
  const { resource } = KINDS[kind];
  const own = await reading.object(resource, subject);
  const others = [await reading.object(resource, place), await reading.object(resource, source)];
  for (const metadata of [...others, own]) await reading.list(metadata);
  for (const { namespace: name } of [subject, place])
    await reading.object(NAMESPACES, { namespace: "", name });
  return { fromMs, records: reading.since(fromMs), mark: markText(own), unknown: reading.unknown };
}

/**
 * What the controller's Lease has recorded last of copies of an object, or of one, that no longer exist, like their
 * source: a line, or why it is not known.
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
  const last = reading.since(0).findLast(isOf);
  return last ? `${last.object}, ${last.at}: ${last.record}` : reading.unknown[0];
}

class Reading {
  readonly unknown: string[] = [];
  readonly #records: Recorded[] = [];
  readonly #client: ApiClient;
  readonly #signal: AbortSignal;
  readonly #seen = new Set<string>();

  constructor(client: ApiClient, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /** Oldest first. Times differ in their digits, so they are not compared as texts. */
  since(fromMs: number): readonly Recorded[] {
    return this.#records
      .filter(({ at }) => Date.parse(at) >= fromMs)
      .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  }

  /** Its metadata and Events, once. Answers with the metadata. `entry`: the only entry of it that matters. */
  async object(resource: Resource, place: Ref, entry?: string): Promise<AnswerFields> {
    const name = place.namespace === "" ? place.name : refText(place);
    const object = `${resource.kind} ${name}`;
    if (this.#seen.has(object)) return {};
    this.#seen.add(object);
    const accept = METADATA;
    const read = getObject(this.#client, resource, place, this.#signal, { accept });
    const [answer] = await Promise.all([
      this.#allowed(`${object} cannot be read`, read),
      this.events(resource.kind, place, object),
    ]);
    const metadata = fieldsIn(fieldsIn(answer)["metadata"]);
    this.#records.push(...recordsOf(object, metadata, entry));
    return metadata;
  }

  /** The source list whose entry made a copy. */
  async list({ annotations }: AnswerFields): Promise<void> {
    const marks = fieldsIn(annotations);
    const entry = stringOf(marks[annotationKey("entry")]);
    const list = parseRef(stringOf(marks[annotationKey("list")]));
    if (list && entry !== "") await this.object(CONFIG_MAPS, list, entry);
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
    this.#records.push(...found);
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
