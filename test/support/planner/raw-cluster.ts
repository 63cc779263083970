// Secrets and Namespaces as plain objects of the API, builders for what users write, and just enough
// of an API server to carry out the planner's requests: POST, merge PATCH and DELETE with
// preconditions, immutable types and data. It throws where the real server would refuse.
import type { ObjectRequest } from "../../../src/controller/writes/object-requests.ts";
import type { Json } from "../../../packages/sandbox/storage/object.ts";
import { jsonPatch } from "../../../packages/sandbox/verbs/patch-formats.ts";
import { mergePatch } from "./merge-patch.ts";
import { refText } from "../../../src/text/names.ts";
import type { ObjectKind } from "../../../src/controller/model/kinds.ts";

export type Texts = Readonly<Record<string, string>>;

export type RawMeta = {
  namespace?: string;
  name: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  deletionTimestamp?: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
};
export type RawSecret = {
  metadata: RawMeta & { namespace: string };
  type?: string;
  data: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
};
export type RawNamespace = { metadata: RawMeta; status: { phase: string } };

/** What a test says of a Secret; `at`: seconds of age order, larger is younger. */
export type Given = {
  readonly type?: string;
  readonly data?: Texts;
  /** Of a ConfigMap. */
  readonly binaryData?: Texts;
  readonly immutable?: boolean;
  readonly labels?: Texts;
  readonly at?: number;
};

/** `{ to: "*" }` to `{ "secretcast.io/to": "*" }`; keys with "/" stay. */
export function prefixed(words: Texts): Record<string, string> {
  return Object.fromEntries(
    Object.entries(words).map(([word, value]) => [
      word.includes("/") ? word : `secretcast.io/${word}`,
      value,
    ]),
  );
}

export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function timestamp(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString().replace(".000Z", "Z");
}

export class RawCluster {
  /** Of the objects that are in `secrets`. */
  readonly kind: ObjectKind;
  readonly namespaces = new Map<string, RawNamespace>();
  readonly secrets = new Map<string, RawSecret>();
  /** Every write that was applied, as "METHOD NAMESPACE/NAME". */
  readonly writes: string[] = [];
  #version = 100;
  #uid = 0;

  constructor(kind: ObjectKind = "Secret") {
    this.kind = kind;
  }

  namespace(name: string, annotations: Texts = {}, labels: Texts = {}, at = 0): RawNamespace {
    const metadata = {
      ...this.#meta(name, at),
      labels: { ...labels },
      annotations: prefixed(annotations),
    };
    const namespace = { metadata, status: { phase: "Active" } };
    this.namespaces.set(name, namespace);
    return namespace;
  }

  withNamespaces(...names: readonly string[]): this {
    for (const name of names) this.namespace(name);
    return this;
  }

  /** Writes a Secret, as a user would; an existing one keeps its UID. */
  secret(place: string, annotations: Texts = {}, given: Given = {}): RawSecret {
    const [namespace = "", name = ""] = place.split("/");
    const before = this.secrets.get(place);
    const metadata = {
      ...this.#meta(name, given.at ?? 0),
      namespace,
      ...(before ? { uid: before.metadata.uid } : {}),
      labels: { ...given.labels },
      annotations: prefixed(annotations),
    };
    const written = (data: Texts, encoded: boolean) =>
      Object.fromEntries(
        Object.entries(data).map(([key, text]) => [key, encoded ? base64(text) : text]),
      );
    const typed = this.kind === "Secret";
    return this.#put({
      metadata,
      ...(typed ? { type: given.type ?? "Opaque" } : {}),
      data: written(given.data ?? { key: "value" }, typed),
      ...(given.binaryData ? { binaryData: written(given.binaryData, true) } : {}),
      ...(given.immutable === undefined ? {} : { immutable: given.immutable }),
    });
  }

  /** Changes an existing Secret in place, as kubectl edit would. */
  edit(place: string, change: (secret: RawSecret) => void): RawSecret {
    const secret = structuredClone(this.get(place));
    change(secret);
    secret.metadata.resourceVersion = String(++this.#version);
    return this.#put(secret);
  }

  /** Annotations of ours; what is undefined is taken off. */
  annotate(place: string, words: Readonly<Record<string, string | undefined>>): RawSecret {
    return this.edit(place, ({ metadata }) => {
      for (const [word, value] of Object.entries(words))
        if (value === undefined) delete metadata.annotations[`secretcast.io/${word}`];
        else metadata.annotations[`secretcast.io/${word}`] = value;
    });
  }

  get(place: string): RawSecret {
    const secret = this.secrets.get(place);
    if (!secret) throw new Error(`test: no Secret ${place}`);
    return secret;
  }

  delete(place: string): void {
    this.secrets.delete(place);
  }

  #put(secret: RawSecret): RawSecret {
    this.secrets.set(refText(secret.metadata), secret);
    return secret;
  }

  #meta(name: string, at: number): RawMeta {
    return {
      name,
      uid: `uid-${++this.#uid}`,
      resourceVersion: String(++this.#version),
      creationTimestamp: timestamp(at),
      labels: {},
      annotations: {},
    };
  }

  request(request: ObjectRequest): void {
    const place = refText(request);
    this.writes.push(`${request.method} ${place}`);
    // Over the wire and back: what a body cannot say is lost here as it would be there.
    const body: unknown = JSON.parse(JSON.stringify(request.body));
    if (request.method === "POST") this.#post(place, body);
    else if (request.method === "DELETE") this.#remove(place, body);
    else this.#patch(place, request.contentType, body);
  }

  #post(place: string, body: unknown): void {
    if (this.secrets.has(place)) throw new Error(`secrets ${place} already exists`);
    const given = body as RawSecret;
    if (this.namespaces.get(given.metadata.namespace)?.status.phase !== "Active") {
      throw new Error(`namespace ${given.metadata.namespace} takes nothing new`);
    }
    this.#put({ ...given, metadata: { ...this.#meta(given.metadata.name, 0), ...given.metadata } });
  }

  #remove(place: string, body: unknown): void {
    const present = this.get(place);
    const { preconditions } = body as { preconditions: { uid: string; resourceVersion: string } };
    this.#check(present, preconditions);
    this.secrets.delete(place);
  }

  #patch(place: string, contentType: ObjectRequest["contentType"], body: unknown): void {
    const present = this.get(place);
    const patched =
      contentType === "application/json-patch+json"
        ? jsonPatch(present, body as Json)
        : mergePatch(present, body);
    // Over the wire: what is undefined is not there.
    const next: RawSecret = JSON.parse(JSON.stringify(patched));
    this.#check(present, next.metadata);
    if (next.type !== present.type) throw new Error(`${place}: type: field is immutable`);
    const both = Object.keys(next.data ?? {}).find(
      (key) => next.binaryData && key in next.binaryData,
    );
    if (both !== undefined) throw new Error(`${place}: ${both} is in data and in binaryData`);
    const sameData = entriesText(next) === entriesText(present);
    if (present.immutable && !(next.immutable && sameData)) {
      throw new Error(`${place}: field is immutable when \`immutable\` is set`);
    }
    next.metadata.resourceVersion = String(++this.#version);
    this.#put(next);
  }

  #check(present: RawSecret, wanted: { uid: string; resourceVersion: string }): void {
    const { uid, resourceVersion } = present.metadata;
    if (wanted.uid !== uid || wanted.resourceVersion !== resourceVersion) {
      throw new Error(`${refText(present.metadata)}: precondition failed`);
    }
  }
}

function sorted(data: Texts): [string, string][] {
  return Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function entriesText({ data, binaryData = {} }: RawSecret): string {
  return JSON.stringify([sorted(data ?? {}), sorted(binaryData)]);
}
