// The few requests that integration tests make as a user would, over the client under test. What a
// test holds in its hands is the raw object of the API, Secrets' data decoded. A "Secret" here is an
// object of the scene's kind.
import { setTimeout } from "node:timers/promises";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import {
  CONFIG_MAPS,
  type KubeObject,
  NAMESPACES,
  resourcePath,
  type Resource,
} from "../../../packages/kube/rest/resource.ts";
import { KINDS, type ObjectKind } from "../../../src/controller/model/kinds.ts";

export type Metadata = {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
};
export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
};
export type RawSecret = {
  readonly metadata: Metadata;
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
};
export type NewSecret = {
  readonly type?: string;
  readonly immutable?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  /** Plain text values. */
  readonly data?: Readonly<Record<string, string>>;
};
type Merge = Readonly<Record<string, unknown>>;

export class Api {
  readonly client: ApiClient;
  /** Of the objects that the scene's sources and copies are. */
  readonly kind: ObjectKind;
  /** Every value that was written into one, in base64. */
  readonly values = new Set<string>();

  constructor(client: ApiClient, kind: ObjectKind = "Secret") {
    this.client = client;
    this.kind = kind;
  }

  get resource(): Resource {
    return KINDS[this.kind].resource;
  }

  get #typed(): boolean {
    return KINDS[this.kind].types !== undefined;
  }

  /** As the API server has these plain values. */
  encode(data: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return this.#typed ? encode(data) : data;
  }

  /** Creates the namespace; one of that name on its way out is waited for. */
  async createNamespace(
    name: string,
    metadata: Pick<Metadata, "labels" | "annotations"> = {},
  ): Promise<KubeObject> {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { ...metadata, name } };
    const path = resourcePath(NAMESPACES);
    // On the real server a namespace takes Secrets as soon as admission has seen it: at once.
    const what = `create namespace ${name}`;
    return this.client.request<KubeObject>({ method: "POST", path, body, what });
  }

  async patchNamespace(name: string, metadata: Merge): Promise<void> {
    await this.#merge(NAMESPACES, undefined, name, { metadata });
  }

  async deleteNamespace(name: string): Promise<void> {
    await this.#delete(NAMESPACES, undefined, name);
  }

  async hasNamespace(name: string): Promise<boolean> {
    return (await this.#get(NAMESPACES, undefined, name)) !== undefined;
  }

  async namespaceGone(name: string, timeoutMs = 60_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (await this.#get(NAMESPACES, undefined, name)) {
      if (performance.now() > deadline) throw new Error(`namespace ${name} is still there`);
      await setTimeout(50);
    }
  }

  async createSecret(namespace: string, name: string, secret: NewSecret = {}): Promise<RawSecret> {
    const { type, immutable, data, ...metadata } = secret;
    for (const value of Object.values(encode(data ?? {}))) this.values.add(value);
    const body = {
      apiVersion: "v1",
      kind: this.kind,
      metadata: { ...metadata, name, namespace },
      ...(type !== undefined && this.#typed && { type }),
      ...(immutable !== undefined && { immutable }),
      ...(data && { data: this.encode(data) }),
    };
    const path = resourcePath(this.resource, namespace);
    return this.client.request({ method: "POST", path, body, what: `create ${namespace}/${name}` });
  }

  /** The object with its values decoded, or undefined. */
  async secret(namespace: string, name: string): Promise<RawSecret | undefined> {
    const found = await this.#get<RawSecret>(this.resource, namespace, name);
    if (!found?.data || !this.#typed) return found;
    return { ...found, data: decode(found.data) };
  }

  async secrets(namespace?: string): Promise<readonly RawSecret[]> {
    const path = resourcePath(this.resource, namespace);
    const list = await this.client.request<{ items: readonly RawSecret[] }>({
      method: "GET",
      path,
      what: `list ${this.resource.plural}`,
    });
    // What the cluster itself puts into every namespace, when it gets to it, is none of a scene's.
    const { everywhere } = KINDS[this.kind];
    return list.items.filter(({ metadata }) => !everywhere.includes(metadata.name));
  }

  /** Makes the ConfigMap, or replaces its data; `data`: undefined deletes it. */
  async putConfigMap(
    namespace: string,
    name: string,
    data: Readonly<Record<string, string>> | undefined,
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const there = await this.#get(CONFIG_MAPS, namespace, name);
    if (!data) {
      if (there) await this.#delete(CONFIG_MAPS, namespace, name);
      return;
    }
    const body = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, namespace, annotations },
      data,
    };
    const what = `put ${namespace}/${name}`;
    const path = resourcePath(CONFIG_MAPS, namespace, there ? name : undefined);
    await this.client.request({ method: there ? "PUT" : "POST", path, body, what });
  }

  async patchSecret(namespace: string, name: string, change: Merge): Promise<RawSecret> {
    return this.#merge(this.resource, namespace, name, change);
  }

  /** Sets data keys (plain text), or removes those given as null. */
  async setData(
    namespace: string,
    name: string,
    data: Readonly<Record<string, string | null>>,
  ): Promise<RawSecret> {
    const entries = Object.entries(data).map(([key, value]) => [
      key,
      value === null ? null : this.#typed ? toBase64(value) : value,
    ]);
    for (const value of Object.values(data)) if (value !== null) this.values.add(toBase64(value));
    return this.patchSecret(namespace, name, { data: Object.fromEntries(entries) });
  }

  async annotate(
    namespace: string,
    name: string,
    annotations: Readonly<Record<string, string | null>>,
  ): Promise<RawSecret> {
    return this.patchSecret(namespace, name, { metadata: { annotations } });
  }

  async deleteSecret(namespace: string, name: string): Promise<void> {
    await this.#delete(this.resource, namespace, name);
  }

  /** Every object's resourceVersion by namespace/name: equal maps mean that nothing was written. */
  async versions(
    of: (secret: RawSecret) => boolean = () => true,
  ): Promise<ReadonlyMap<string, string>> {
    const all = await this.secrets();
    return new Map(
      all
        .filter(of)
        .map(({ metadata }) => [
          `${metadata.namespace ?? ""}/${metadata.name}`,
          metadata.resourceVersion ?? "",
        ]),
    );
  }

  async #get<T>(resource: Resource, namespace: string | undefined, name: string) {
    try {
      const path = resourcePath(resource, namespace, name);
      return await this.client.request<T>({ method: "GET", path, what: `get ${name}` });
    } catch (error) {
      if (error instanceof ApiError && error.kind === "notFound") return undefined;
      throw error;
    }
  }

  async #merge<T>(
    resource: Resource,
    namespace: string | undefined,
    name: string,
    body: Merge,
  ): Promise<T> {
    return this.client.request({
      method: "PATCH",
      path: resourcePath(resource, namespace, name),
      body,
      contentType: "application/merge-patch+json",
      what: `patch ${name}`,
    });
  }

  async #delete(resource: Resource, namespace: string | undefined, name: string): Promise<void> {
    const path = resourcePath(resource, namespace, name);
    await this.client.request({ method: "DELETE", path, what: `delete ${name}` });
  }
}

function encode(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, toBase64(value)]));
}

function decode(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
  );
}

function toBase64(text: string): string {
  return Buffer.from(text).toString("base64");
}
