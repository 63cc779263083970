// The people of a script: each step becomes requests as a user would make them, and what the API server
// refuses them is left at that. Every value of every Secret begins with MARKER, so that one that gets
// out is known wherever it shows.
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import {
  CONFIG_MAPS,
  NAMESPACES as NAMESPACE_RESOURCE,
  resourcePath,
  SECRETS,
  type Resource,
} from "../../../packages/kube/rest/resource.ts";
import { NAMESPACES, TENANT, type Step } from "../../support/planner/history.ts";
import type { Place, UserStep } from "../scripts/script.ts";
import type { Raw, Texts } from "../model/raw.ts";
import { isOurs } from "../model/standing.ts";

/** On a real server that of the account's rights. */
export const OWN_NAMESPACE = "secretcast";
const LIST = { namespace: OWN_NAMESPACE, name: "secretcast-sources" };
export const LIST_PLACE = `${LIST.namespace}/${LIST.name}`;
export const LIST_SLOT = `ConfigMap ${LIST_PLACE}`;
/** Of a second release. */
export const SECOND_NAMESPACE = "tools";
export const MARKER = "planted-value-";
// As text, and as base64, of which a value begins with it.
const TOLD = [MARKER, btoa(MARKER).slice(0, -4)];
export const tellsValue = (text: string): boolean =>
  TOLD.some((reported) => text.includes(reported));
const P = "secretcast.io/";
/** Annotations of ours, by their words. */
export const prefixed = <T>(words: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(words).map(([word, value]) => [P + word, value]));
const MANAGED = { "app.kubernetes.io/managed-by": "secretcast" };
const LABELS = {
  app: "x",
  "example.com/team": "y",
  owner: "helm",
  "app.kubernetes.io/part-of": "z",
};
const NOTES = { "example.com/note": "n", "argocd.argoproj.io/sync-wave": "1", plain: "p" };

type Body = Readonly<Record<string, unknown>>;

export class Actors {
  readonly #client: ApiClient;
  /** Whose objects the present step is about. */
  #resource: Resource = SECRETS;
  #values = 0;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  async begin(): Promise<void> {
    for (const namespace of [...NAMESPACES, OWN_NAMESPACE])
      await this.#namespace(namespace, {}, "gold");
  }

  /** Everything that waits for somebody's finalizer may go. */
  async letGo(held: readonly Raw[]): Promise<void> {
    for (const { kind, metadata } of held) {
      this.#resource = resourceOf(kind);
      await this.#patch(placeOf(metadata), { metadata: { finalizers: null } });
    }
  }

  async take(step: UserStep): Promise<void> {
    this.#resource = resourceOf(step.of);
    switch (step.kind) {
      case "source":
        return this.#source(step);
      case "stranger":
      case "pull":
        return this.#put(step, {
          metadata: { annotations: prefixed(step.words) },
          ...this.#typed("Opaque"),
          data: { own: this.#value(step) },
        });
      case "forge":
        return this.#forge(step);
      case "forge many":
        for (const name of numbered(step.count, (no) => `forged-${no}`))
          await this.#forge({ name, source: step.source, uid: "uid-1", words: {} });
        return undefined;
      case "namespace":
        return step.gone
          ? this.#deleteAt(resourcePath(NAMESPACE_RESOURCE, undefined, step.namespace))
          : this.#namespace(step.namespace, step.words, step.tier);
      case "list":
        // One that could be a pulling ConfigMap is not read.
        return this.#writeList(
          OWN_NAMESPACE,
          step.entries,
          step.strange ? { [`${P}from`]: "shared/one" } : {},
        );
      case "lengthen": {
        const data = numbered(step.entries, (no) => {
          return [`more-${no}`, JSON.stringify({ secret: `nowhere/of-${no}`, to: "nowhere" })];
        });
        const path = resourcePath(CONFIG_MAPS, LIST.namespace, LIST.name);
        return this.#merge(path, { data: { ...Object.fromEntries(data), ...step.besides } });
      }
      case "next version":
        return this.#nextVersion(step.marks);
      case "delete":
        return this.#delete(step);
      case "edit":
        return this.#patch(step, { data: { password: this.#value(step) } });
      case "rotate":
        return this.#patch(step, {
          data: { password: this.#value(step), more: this.#value(step) },
        });
      case "strip":
        return this.#patch(step, { metadata: { annotations: { [`${P}placed-at`]: null } } });
      case "freeze":
        return this.#patch(step, { immutable: true });
      case "doom":
        await this.#patch(step, { metadata: { finalizers: ["example.com/hold"] } });
        return this.#delete(step);
      case "let go":
        return this.#patch(step, { metadata: { finalizers: null } });
      case "say":
        return this.#patch(step, { metadata: { annotations: { [P + step.word]: step.value } } });
      case "say much": {
        const glob = step.entries === "globs" ? "*" : "";
        // As long as the name of a namespace may be.
        const more = numbered(step.more, (no) => `nowhere-${no}-${"x".repeat(50)}${glob}`);
        const annotations = { [P + step.word]: [step.first, ...more].join(",") };
        return this.#patch(step, { metadata: { annotations } });
      }
      case "fill": {
        const value = this.#value(step, step.bytes);
        const data = Object.fromEntries(numbered(step.entries, (no) => [`filled-${no}`, value]));
        return this.#patch(step, { data });
      }
      case "label":
        return this.#patch(step, { metadata: { labels: { [step.key]: step.value } } });
      case "paste":
        return this.#copy(step, step.to);
      case "again":
        return this.#copy(step, step.namespace);
    }
  }

  /** The namespace and the source list of a second release; null: it has none. */
  async installSecond(entries: Texts | null): Promise<void> {
    await this.#namespace(SECOND_NAMESPACE, {}, "none");
    await this.#writeList(SECOND_NAMESPACE, entries, {});
  }

  /** Changes an annotation that is not ours, as a tool does that leaves a time stamp. */
  async touch(place: Place, of: string | undefined): Promise<void> {
    this.#resource = resourceOf(of);
    const annotations = { "example.com/touched": String(++this.#values) };
    await this.#patch(place, { metadata: { annotations } });
  }

  async #source(step: Extract<Step, { kind: "source" }>): Promise<void> {
    await this.#put(step, {
      metadata: { annotations: { ...prefixed(step.words), ...NOTES }, labels: LABELS },
      ...this.#typed(step.type),
      data: {
        user: this.#value(step),
        password: this.#value(step),
        ...(step.type === "kubernetes.io/tls" && {
          "tls.crt": this.#value(step),
          "tls.key": this.#value(step),
        }),
      },
      ...(this.#resource === CONFIG_MAPS && { binaryData: { blob: btoa(this.#value(step)) } }),
      ...(step.immutable && { immutable: true }),
    });
  }

  async #forge(step: Omit<Extract<Step, { kind: "forge" }>, "kind">): Promise<void> {
    const [namespace = "", name = ""] = step.source.split("/");
    const real = await this.#get({ namespace, name });
    const marks = {
      source: step.source,
      // Sometimes the true one: whoever may read it can write it.
      "source-uid": step.uid === "uid-1" ? (real?.metadata.uid ?? "none") : step.uid,
      "placed-at": `${TENANT}/${step.name}`,
      "source-version": "1",
      ...step.words,
    };
    const place = { namespace: TENANT, name: step.name };
    await this.#put(place, {
      metadata: { annotations: prefixed(marks), labels: MANAGED },
      ...this.#typed("Opaque"),
      data: { own: this.#value(place) },
    });
  }

  async #writeList(namespace: string, entries: Texts | null, annotations: Texts): Promise<void> {
    const path = resourcePath(CONFIG_MAPS, namespace, LIST.name);
    if (!entries) return this.#deleteAt(path);
    const body = { metadata: { name: LIST.name, annotations }, data: entries };
    const collection = resourcePath(CONFIG_MAPS, namespace);
    if (await this.#try({ method: "POST", path: collection, body })) return;
    await this.#try({ method: "PUT", path, body });
  }

  /** What it does besides with its copies is what this version does. */
  async #nextVersion(marks: boolean): Promise<void> {
    for (const resource of [SECRETS, CONFIG_MAPS]) {
      const all = await this.#client.request<{ readonly items: readonly Raw[] }>({
        method: "GET",
        path: resourcePath(resource),
        what: "what the next version sees",
      });
      this.#resource = resource;
      const annotations = { [`${P}mark-of-the-next-version`]: marks ? "x" : null };
      for (const { metadata } of all.items.filter(isOurs))
        await this.#patch(placeOf(metadata), { metadata: { annotations } });
    }
  }

  async #namespace(name: string, words: Texts, tier: string): Promise<void> {
    const metadata = { name, annotations: prefixed(words), labels: { tier } };
    const path = resourcePath(NAMESPACE_RESOURCE);
    if (await this.#try({ method: "POST", path, body: { metadata } })) return;
    const present = await this.#try({ method: "GET", path: `${path}/${name}` });
    const gone = Object.keys(present?.metadata.annotations ?? {}).map(
      (key) => [key, null] as const,
    );
    const annotations = { ...Object.fromEntries(gone), ...metadata.annotations };
    await this.#merge(`${path}/${name}`, { metadata: { annotations, labels: { tier } } });
  }

  async #copy(from: Place, namespace: string): Promise<void> {
    const present = await this.#get(from);
    if (!present) return;
    const { labels, annotations } = present.metadata;
    const { type, data, binaryData, immutable } = present;
    const same = { type, data, binaryData, ...(immutable === true && { immutable }) };
    await this.#put({ namespace, name: from.name }, { ...same, metadata: { labels, annotations } });
  }

  /** As `kubectl replace --force` where the API takes no update. */
  async #put(place: Place, given: Body & { readonly metadata: Body }): Promise<void> {
    const { namespace, name } = place;
    const body = { ...given, metadata: { ...given.metadata, namespace, name } };
    const path = resourcePath(this.#resource, namespace);
    if (await this.#try({ method: "POST", path, body })) return;
    if (await this.#try({ method: "PUT", path: this.#pathOf(place), body })) return;
    await this.#delete(place);
    await this.#try({ method: "POST", path, body });
  }

  #get(place: Place): Promise<Raw | undefined> {
    return this.#try({ method: "GET", path: this.#pathOf(place) });
  }

  #delete(place: Place): Promise<void> {
    return this.#deleteAt(this.#pathOf(place));
  }

  async #deleteAt(path: string): Promise<void> {
    await this.#try({ method: "DELETE", path });
  }

  #patch(place: Place, body: Body): Promise<void> {
    return this.#merge(this.#pathOf(place), body);
  }

  async #merge(path: string, body: Body): Promise<void> {
    const contentType = "application/merge-patch+json";
    await this.#try({ method: "PATCH", path, body, contentType });
  }

  async #try(request: Omit<ApiRequest, "what">): Promise<Raw | undefined> {
    try {
      return await this.#client.request<Raw>({ ...request, what: "a user's request" });
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  }

  #pathOf({ namespace, name }: Place): string {
    return resourcePath(this.#resource, namespace, name);
  }

  /** `bytes`: at least so many. */
  #value({ namespace, name }: Place, bytes = 0): string {
    const value = `${MARKER}${++this.#values} of ${namespace}/${name}`.padEnd(bytes, ".");
    return this.#resource === SECRETS ? btoa(value) : value;
  }

  #typed(type: string): { readonly type?: string } {
    return this.#resource === SECRETS ? { type } : {};
  }
}

const numbered = <T>(count: number, make: (no: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, no) => make(no));
const resourceOf = (kind: string | undefined): Resource =>
  kind === "ConfigMap" ? CONFIG_MAPS : SECRETS;
const placeOf = ({ namespace = "", name }: Raw["metadata"]): Place => ({ namespace, name });
