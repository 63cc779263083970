// The people of a script: each step becomes requests as a user would make them, and what the API server
// refuses them is left at that. Every value of every Secret begins with MARKER, so that one that gets
// out is known wherever it shows.
import type { ApiClient, ApiRequest } from "../../../src/kube/rest/api-client.ts";
import { ApiError } from "../../../src/kube/rest/api-error.ts";
import {
  CONFIG_MAPS,
  NAMESPACES as NAMESPACE_RESOURCE,
  resourcePath,
  SECRETS,
  type Resource,
} from "../../../src/kube/rest/resource.ts";
import { NAMESPACES, TENANT, type Step } from "../../support/planner/history.ts";
import type { UserStep } from "../scripts/script.ts";
import type { Raw, Texts } from "../model/raw.ts";
import { isOurs } from "../model/standing.ts";

export const OWN_NAMESPACE = "controller";
export const SOURCE_LIST = "secretcast-sources";
/** Of a second release. */
export const SECOND_NAMESPACE = "tools";
export const MARKER = "planted-value-";
// As text, and as base64, of which a value begins with it.
const TOLD = [MARKER, btoa(MARKER).slice(0, -4)];
export const tellsValue = (text: string): boolean => TOLD.some((told) => text.includes(told));
const P = "secretcast.io/";
const prefixed = (words: Texts): Record<string, string> =>
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
  readonly #ownNamespace: string;
  /** Whose objects the present step is about. */
  #resource: Resource = SECRETS;
  #values = 0;

  constructor(client: ApiClient, ownNamespace: string = OWN_NAMESPACE) {
    this.#client = client;
    this.#ownNamespace = ownNamespace;
  }

  async begin(): Promise<void> {
    for (const namespace of [...NAMESPACES, this.#ownNamespace])
      await this.#namespace(namespace, {}, "gold");
  }

  /** Everything that waits for somebody's finalizer may go. */
  async letGo(held: readonly Raw[]): Promise<void> {
    for (const { kind, metadata } of held) {
      this.#resource = resourceOf(kind);
      await this.#patch(metadata.namespace ?? "", metadata.name, {
        metadata: { finalizers: null },
      });
    }
  }

  async take(step: UserStep): Promise<void> {
    this.#resource = resourceOf(step.of);
    switch (step.kind) {
      case "source":
        return this.#source(step);
      case "stranger":
      case "pull":
        return this.#put(step.namespace, step.name, {
          metadata: { annotations: prefixed(step.words) },
          ...this.#typed("Opaque"),
          data: { own: this.#value(step) },
        });
      case "forge":
        return this.#forge(step);
      case "namespace":
        return this.#admin(step);
      case "list":
        return this.#list(step);
      case "lengthen":
        return this.#lengthen(step.entries, step.besides);
      case "forge many":
        return this.#forgeMany(step);
      case "next version":
        return this.#nextVersion(step.marks);
      case "delete":
      case "edit":
      case "rotate":
      case "strip":
      case "freeze":
      case "doom":
      case "let go":
      case "say":
      case "say much":
      case "fill":
      case "label":
      case "paste":
      case "again":
        return this.#change(step);
    }
  }

  async #source(step: Extract<Step, { kind: "source" }>): Promise<void> {
    await this.#put(step.namespace, step.name, {
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

  async #forge(step: Extract<Step, { kind: "forge" }>): Promise<void> {
    const [namespace = "", name = ""] = step.source.split("/");
    const real = await this.#get(namespace, name);
    const marks = {
      source: step.source,
      // Sometimes the true one: whoever may read it can write it.
      "source-uid": step.uid === "uid-1" ? (real?.metadata.uid ?? "none") : step.uid,
      "placed-at": `${TENANT}/${step.name}`,
      "source-version": "1",
      ...step.words,
    };
    await this.#put(TENANT, step.name, {
      metadata: { annotations: prefixed(marks), labels: MANAGED },
      ...this.#typed("Opaque"),
      data: { own: this.#value({ namespace: TENANT, name: step.name }) },
    });
  }

  async #forgeMany({ source, count }: Extract<UserStep, { kind: "forge many" }>): Promise<void> {
    for (const name of numbered(count, (no) => `forged-${no}`))
      await this.#forge({ kind: "forge", name, source, uid: "uid-1", words: {} });
  }

  /** The namespace and the source list of a second release; null: it has none. */
  async installSecond(entries: Texts | null): Promise<void> {
    await this.#namespace(SECOND_NAMESPACE, {}, "none");
    await this.#writeList(SECOND_NAMESPACE, entries, {});
  }

  /** Changes an annotation that is not ours, as a tool does that leaves a time stamp. */
  async touch(namespace: string, name: string, of: string | undefined): Promise<void> {
    this.#resource = resourceOf(of);
    const annotations = { "example.com/touched": String(++this.#values) };
    await this.#patch(namespace, name, { metadata: { annotations } });
  }

  async #admin(step: Extract<Step, { kind: "namespace" }>): Promise<void> {
    if (step.gone)
      await this.#try({
        method: "DELETE",
        path: resourcePath(NAMESPACE_RESOURCE, undefined, step.namespace),
      });
    else await this.#namespace(step.namespace, step.words, step.tier);
  }

  async #list({ entries, strange }: Extract<UserStep, { kind: "list" }>): Promise<void> {
    // One that could be a pulling ConfigMap is not read.
    await this.#writeList(
      this.#ownNamespace,
      entries,
      strange ? { [`${P}from`]: "shared/one" } : {},
    );
  }

  async #writeList(namespace: string, entries: Texts | null, annotations: Texts): Promise<void> {
    const path = resourcePath(CONFIG_MAPS, namespace, SOURCE_LIST);
    if (!entries) {
      await this.#try({ method: "DELETE", path });
      return;
    }
    const body = { metadata: { name: SOURCE_LIST, annotations }, data: entries };
    const collection = resourcePath(CONFIG_MAPS, namespace);
    if (await this.#try({ method: "POST", path: collection, body })) return;
    await this.#try({ method: "PUT", path, body });
  }

  async #lengthen(entries: number, besides: Readonly<Record<string, string>> = {}): Promise<void> {
    const path = resourcePath(CONFIG_MAPS, this.#ownNamespace, SOURCE_LIST);
    const data = numbered(entries, (no) => {
      return [`more-${no}`, JSON.stringify({ secret: `nowhere/of-${no}`, to: "nowhere" })];
    });
    await this.#send("PATCH", path, { data: { ...Object.fromEntries(data), ...besides } });
  }

  /** What it does besides with its copies is what this version does. */
  async #nextVersion(marks: boolean): Promise<void> {
    for (const resource of [SECRETS, CONFIG_MAPS]) {
      this.#resource = resource;
      const all = await this.#client.request<{ readonly items: readonly Raw[] }>({
        method: "GET",
        path: resourcePath(resource),
        what: "what the next version sees",
      });
      const annotations = { [`${P}mark-of-the-next-version`]: marks ? "x" : null };
      for (const { metadata } of all.items.filter(isOurs))
        await this.#patch(metadata.namespace ?? "", metadata.name, { metadata: { annotations } });
    }
  }

  async #namespace(name: string, words: Texts, tier: string): Promise<void> {
    const metadata = { name, annotations: prefixed(words), labels: { tier } };
    const path = resourcePath(NAMESPACE_RESOURCE);
    const made = await this.#try({ method: "POST", path, body: { metadata } });
    if (made) return;
    const present = await this.#try({ method: "GET", path: `${path}/${name}` });
    const gone = Object.keys(present?.metadata.annotations ?? {}).map(
      (key) => [key, null] as const,
    );
    const annotations = { ...Object.fromEntries(gone), ...metadata.annotations };
    await this.#send("PATCH", `${path}/${name}`, { metadata: { annotations, labels: { tier } } });
  }

  async #change(
    step: Exclude<
      UserStep,
      {
        kind:
          | "source"
          | "stranger"
          | "pull"
          | "forge"
          | "namespace"
          | "list"
          | "lengthen"
          | "forge many"
          | "next version";
      }
    >,
  ): Promise<void> {
    const { namespace, name } = step;
    switch (step.kind) {
      case "delete":
        return this.#delete(namespace, name);
      case "edit":
        return this.#patch(namespace, name, { data: { password: this.#value(step) } });
      case "rotate":
        return this.#patch(namespace, name, {
          data: { password: this.#value(step), more: this.#value(step) },
        });
      case "strip":
        return this.#patch(namespace, name, {
          metadata: { annotations: { [`${P}placed-at`]: null } },
        });
      case "freeze":
        return this.#patch(namespace, name, { immutable: true });
      case "doom":
        await this.#patch(namespace, name, { metadata: { finalizers: ["example.com/hold"] } });
        return this.#delete(namespace, name);
      case "let go":
        return this.#patch(namespace, name, { metadata: { finalizers: null } });
      case "say":
        return this.#patch(namespace, name, {
          metadata: { annotations: { [P + step.word]: step.value } },
        });
      case "say much": {
        const glob = step.entries === "globs" ? "*" : "";
        // As long as the name of a namespace may be.
        const more = numbered(step.more, (no) => `nowhere-${no}-${"x".repeat(50)}${glob}`);
        const annotations = { [P + step.word]: [step.first, ...more].join(",") };
        return this.#patch(namespace, name, { metadata: { annotations } });
      }
      case "fill": {
        const value = this.#value(step, step.bytes);
        const data = Object.fromEntries(numbered(step.entries, (no) => [`filled-${no}`, value]));
        return this.#patch(namespace, name, { data });
      }
      case "label":
        return this.#patch(namespace, name, { metadata: { labels: { [step.key]: step.value } } });
      case "paste":
      case "again":
        return this.#copy(step, step.kind === "paste" ? step.to : namespace);
    }
  }

  async #copy(
    { namespace, name }: { readonly namespace: string; readonly name: string },
    to: string,
  ): Promise<void> {
    const present = await this.#get(namespace, name);
    if (!present) return;
    const { labels, annotations } = present.metadata;
    const { type, data, binaryData, immutable } = present;
    const same = { type, data, binaryData, ...(immutable === true && { immutable }) };
    await this.#put(to, name, { ...same, metadata: { labels, annotations } });
  }

  /** As `kubectl replace --force` where the API takes no update. */
  async #put(
    namespace: string,
    name: string,
    given: Body & { readonly metadata: Body },
  ): Promise<void> {
    const body = { ...given, metadata: { ...given.metadata, namespace, name } };
    const collection = resourcePath(this.#resource, namespace);
    if (await this.#try({ method: "POST", path: collection, body })) return;
    if (await this.#try({ method: "PUT", path: `${collection}/${name}`, body })) return;
    await this.#delete(namespace, name);
    await this.#try({ method: "POST", path: collection, body });
  }

  #get(namespace: string, name: string): Promise<Raw | undefined> {
    return this.#try({ method: "GET", path: resourcePath(this.#resource, namespace, name) });
  }

  async #delete(namespace: string, name: string): Promise<void> {
    await this.#try({ method: "DELETE", path: resourcePath(this.#resource, namespace, name) });
  }

  async #patch(namespace: string, name: string, body: Body): Promise<void> {
    await this.#send("PATCH", resourcePath(this.#resource, namespace, name), body);
  }

  async #send(method: "PATCH", path: string, body: Body): Promise<void> {
    await this.#try({ method, path, body, contentType: "application/merge-patch+json" });
  }

  async #try(request: Omit<ApiRequest, "what">): Promise<Raw | undefined> {
    try {
      return await this.#client.request<Raw>({ ...request, what: "a user's request" });
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  }

  /** `bytes`: at least so many. */
  #value(
    { namespace, name }: { readonly namespace: string; readonly name: string },
    bytes = 0,
  ): string {
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
