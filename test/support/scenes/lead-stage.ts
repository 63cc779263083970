// What replicas that share a Lease lead over: sources in several namespaces' worth of copies, unmanaged objects in
// the way and moving in, and users who change all of it while leaders come and go. On a real API server.
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { FlagValues } from "../../../src/controller/settings/config.ts";
import type { ClusterAccess } from "../api-server/control-plane.ts";
import type { Ending } from "../../../packages/kube/testing/fault-proxy.ts";
import { field, type Http } from "../../../packages/sandbox/testing/http.ts";
import { judgeLead, type LeadJudgement } from "../api-server/lead-judge.ts";
import { spawnController, type Spawning } from "../programs/controller-process.ts";
import { WiredReplica } from "../programs/wired-replica.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";

export type LeadStageOptions = {
  readonly t: Ending;
  readonly access: ClusterAccess;
  readonly http: Http;
  /** A kubeconfig of the controller's account. */
  readonly kubeconfig: string;
  /** Begins every name; the Lease's too. */
  readonly name: string;
  /** Each replica has the next address of 127.0.SUBNET.0. */
  readonly subnet: number;
  readonly places: number;
  readonly sources: number;
  readonly spawning?: Spawning;
};

export type LeaseSeen = { readonly holder: string; readonly transitions: number };

const CORE = "/api/v1/namespaces";
const MERGE = "application/merge-patch+json";
/** Between two changes of the load. */
const CHANGE_EVERY_MS = 500;
const NAMESPACE_EVERY = 8;

/** The account may elect by Leases of these names as well. */
export async function allowLeases(http: Http, names: readonly string[]): Promise<void> {
  const metadata = { name: "secretcast-more-leases", namespace: "secretcast" };
  const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/secretcast";
  const rule = {
    apiGroups: ["coordination.k8s.io"],
    resources: ["leases"],
    resourceNames: names,
    verbs: ["get", "update"],
  };
  await done(http, "POST", `${rbac}/roles`, { metadata, rules: [rule] });
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: metadata.name };
  const subjects = [{ kind: "ServiceAccount", name: "secretcast", namespace: "secretcast" }];
  await done(http, "POST", `${rbac}/rolebindings`, { metadata, roleRef, subjects });
}

export class LeadStage {
  readonly name: string;
  readonly #options: LeadStageOptions;
  readonly #namespaces = new Set<string>();
  readonly #values = new Map<string, string>();
  readonly #unmanagedObjects = new Map<string, string>();
  #replicas = 0;
  #changes = 0;

  constructor(options: LeadStageOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get sourceNamespace(): string {
    return `source-of-${this.name}`;
  }

  /** Namespaces, sources, and unmanaged objects: one at a place that a source wants, one where nobody wants any. */
  async prepare(): Promise<void> {
    const { places, sources } = this.#options;
    await this.#namespace(this.sourceNamespace);
    for (let at = 0; at < places; at++) await this.enter(`${this.name}-${at}`);
    await this.unmanaged(`${this.name}-0`, "s-0");
    await this.unmanaged(`${this.name}-1`, "of-somebody");
    for (let at = 0; at < sources; at++) {
      const name = `s-${at}`;
      const annotations = { "secretcast.io/to": `${this.name}-*` };
      const body = { metadata: { name, annotations }, stringData: { k: "first" } };
      await this.#send("POST", `${CORE}/${this.sourceNamespace}/secrets`, body);
      this.#values.set(name, "first");
    }
  }

  /** A namespace that the sources want. */
  async enter(name: string): Promise<void> {
    await this.#namespace(name);
    this.#namespaces.add(name);
  }

  async leave(name: string): Promise<void> {
    this.#namespaces.delete(name);
    await this.#send("DELETE", `${CORE}/${name}`);
  }

  /** Somebody's own Secret, which nobody else may write to from here on. */
  async unmanaged(namespace: string, name: string): Promise<void> {
    const body = { metadata: { name }, stringData: { own: "1" } };
    const made = await this.#send("POST", `${CORE}/${namespace}/secrets`, body);
    this.#unmanagedObjects.set(`${namespace}/${name}`, identityOf(made));
  }

  /** The copy there goes, and somebody's own Secret takes its place before it is made again. */
  async moveIn(namespace: string, name: string): Promise<void> {
    await eventually(`an unmanaged object moves in at ${namespace}/${name}`, async () => {
      await this.#options.http.send("DELETE", `${CORE}/${namespace}/secrets/${name}`);
      return this.unmanaged(namespace, name).then(() => true);
    });
  }

  startReplica(): Promise<WiredReplica> {
    const { t, access, kubeconfig, subnet, spawning } = this.#options;
    const from = `127.0.${subnet}.${++this.#replicas}`;
    const own = { access, kubeconfig, from, flags: this.#flags() };
    return WiredReplica.start(t, { ...own, ...(spawning && { spawning }) });
  }

  #flags(): FlagValues {
    return {
      "source-namespaces": this.sourceNamespace,
      "leader-elect": "true",
      "lease-namespace": "secretcast",
      "lease-name": this.name,
      "delete-grace": "1s",
      "delete-hold": "0",
    };
  }

  /** Changes a source; resolves with its new value. */
  async rotate(name: string): Promise<string> {
    const value = `v${++this.#changes}`;
    await this.#send("PATCH", `${CORE}/${this.sourceNamespace}/secrets/${name}`, {
      stringData: { k: value },
    });
    this.#values.set(name, value);
    return value;
  }

  /** Users who change sources and namespaces until they are told to end. */
  startLoad(): { readonly end: () => Promise<void> } {
    const stop = new AbortController();
    const run = async (): Promise<void> => {
      // The first is the test's own to change.
      const names = [...this.#values.keys()].slice(1);
      const born: string[] = [];
      for (let at = 0; !stop.signal.aborted; at++) {
        await this.rotate(names[at % names.length] ?? "");
        if (at % NAMESPACE_EVERY === NAMESPACE_EVERY - 1) {
          const [oldest] = born.length > 2 ? born.splice(0, 1) : [];
          if (oldest !== undefined) await this.leave(oldest);
          born.push(`${this.name}-new-${at}`);
          await this.enter(`${this.name}-new-${at}`);
        }
        await delay(CHANGE_EVERY_MS);
      }
    };
    const running = run();
    // Told by end(), which may come much later.
    running.catch(() => undefined);
    return {
      end: () => {
        stop.abort();
        return running;
      },
    };
  }

  /** Every copy is as its source is now, and no unmanaged object was written to. */
  async allRight(timeoutMs = 60_000): Promise<void> {
    await eventually(
      `every copy of ${this.name} is right`,
      async () => {
        for (const namespace of this.#namespaces)
          for (const [name, value] of this.#values)
            if (!this.#unmanagedObjects.has(`${namespace}/${name}`))
              assert.equal(await this.value(namespace, name), value, `${namespace}/${name}`);
        return true;
      },
      timeoutMs,
    );
    for (const [place, identity] of this.#unmanagedObjects) {
      const [namespace = "", name = ""] = place.split("/");
      const found = await this.#send("GET", `${CORE}/${namespace}/secrets/${name}`);
      assert.equal(identityOf(found), identity, `${place} is untouched`);
    }
  }

  /** What the copy there holds. */
  async value(namespace: string, name: string): Promise<string> {
    const answer = await this.#options.http.send("GET", `${CORE}/${namespace}/secrets/${name}`);
    const data = field(answer.body, "data", "k");
    return typeof data === "string" ? Buffer.from(data, "base64").toString() : "none";
  }

  async lease(): Promise<LeaseSeen> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/secretcast/leases/${this.name}`;
    const { body } = await this.#options.http.send("GET", path);
    return {
      holder: String(field(body, "spec", "holderIdentity")),
      transitions: Number(field(body, "spec", "leaseTransitions")),
    };
  }

  judge(): LeadJudgement {
    return judgeLead(this.#options.access.auditLog, this.name);
  }

  /** One more controller, from scratch, when no other runs: it writes nothing. */
  async nothingIsLeft(): Promise<void> {
    const { t, kubeconfig, spawning } = this.#options;
    const before = await this.#versions();
    const fresh = spawnController(
      t,
      kubeconfig,
      {
        ...this.#flags(),
        "leader-elect": "false",
        "delete-grace": "0",
        once: "true",
      },
      spawning,
    );
    await fresh.ended;
    assert.deepEqual(await this.#versions(), before, "a further pass writes nothing");
  }

  async #versions(): Promise<ReadonlyMap<string, string>> {
    const { body } = await this.#options.http.send("GET", "/api/v1/secrets");
    const items = field(body, "items");
    const own = (Array.isArray(items) ? items : []).filter((item: unknown) =>
      this.#namespaces.has(String(field(item, "metadata", "namespace"))),
    );
    return new Map(
      own.map((item: unknown) => {
        const of = (word: string): string => String(field(item, "metadata", word));
        return [`${of("namespace")}/${of("name")}`, of("resourceVersion")];
      }),
    );
  }

  async #namespace(name: string): Promise<void> {
    await this.#send("POST", CORE, { metadata: { name } });
  }

  #send(
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: object,
  ): Promise<unknown> {
    return done(this.#options.http, method, path, body);
  }
}

async function done(
  http: Http,
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: object,
): Promise<unknown> {
  const contentType = method === "PATCH" ? { contentType: MERGE } : {};
  const answer = await http.send(method, path, { body, ...contentType });
  if (answer.status < 300) return answer.body;
  throw new Error(`${method} ${path}: ${answer.status} ${String(field(answer.body, "message"))}`);
}

function identityOf(object: unknown): string {
  const of = (word: string): string => String(field(object, "metadata", word));
  return `${of("uid")} ${of("resourceVersion")}`;
}
