// The tenant: an account with every right on Secrets in two namespaces and nowhere else, which the API
// server enforces. What it sends may fail, and is counted by answer; it never stops the run.
import { setTimeout as delay } from "node:timers/promises";
import type { Dispatcher } from "undici";
import { openCluster } from "../../support/api-server/cluster.ts";
import type { ClusterAccess } from "../../support/api-server/control-plane.ts";
import { field, type Answer, type Http } from "../../../packages/sandbox/testing/http.ts";
import { good } from "../../support/api-server/pressure.ts";
import { SICK } from "../../support/api-server/webhook.ts";

export const TENANT_NAMESPACES = ["tenant-a", "tenant-b"] as const;
export type TenantNamespace = (typeof TENANT_NAMESPACES)[number];

export type SecretBody = {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string | null>>;
    readonly annotations?: Readonly<Record<string, string | null>>;
    readonly finalizers?: readonly string[] | null;
    readonly ownerReferences?: readonly Readonly<Record<string, string>>[];
  };
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string | null>>;
};

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const MERGE = "application/merge-patch+json";
const METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const HOURS_6_S = 21_600;
/** Its Secrets are all deleted when it has made this many, or written this much. */
const MOST_MADE = 300;
const BYTES_A_SECOND = 8 * 2 ** 20;
const MOST_BYTES = 120 * 2 ** 20;

/** Makes the account and its namespaces, which faults are for; `accept` is what these say to copies. */
export async function tenantToken(admin: Http, accept: string | undefined): Promise<string> {
  const create = (path: string, body: object) => good(admin.send("POST", path, { body }));
  const rules = [{ apiGroups: [""], resources: ["secrets"], verbs: ["*"] }];
  const annotations = accept === undefined ? {} : { "secretcast.io/accept": accept };
  for (const name of TENANT_NAMESPACES) {
    await create("/api/v1/namespaces", {
      metadata: { name, annotations, labels: { tier: "tenant", ...SICK } },
    });
    const metadata = { name: "tenant" };
    await create(`${RBAC}/namespaces/${name}/roles`, { metadata, rules });
    await create(`${RBAC}/namespaces/${name}/rolebindings`, {
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "tenant" },
      subjects: [{ kind: "ServiceAccount", name: "tenant", namespace: TENANT_NAMESPACES[0] }],
    });
  }
  const accounts = `/api/v1/namespaces/${TENANT_NAMESPACES[0]}/serviceaccounts`;
  await create(accounts, { metadata: { name: "tenant" } });
  const spec = { expirationSeconds: HOURS_6_S };
  const { body } = await create(`${accounts}/tenant/token`, { spec });
  return String(field(body, "status", "token"));
}

export type Attack = (tenant: Tenant) => Promise<void>;

export class Tenant {
  readonly #http: Http;
  readonly #stop: AbortSignal;
  #made = 0;
  #bytes = 0;
  #freeAt = 0;
  readonly chance: () => number;
  /** Which pair of attacks it is at, so that later ones do not meet the names of earlier ones. */
  turn = 0;
  /** Begins everything that it writes into data, so that it can be searched for. */
  readonly marker: string;
  /** By "VERB CODE". */
  readonly answers = new Map<string, number>();

  constructor(
    access: ClusterAccess,
    token: string,
    { chance, marker, stop }: { chance: () => number; marker: string; stop: AbortSignal },
  ) {
    this.#http = openCluster(access, token);
    this.#stop = stop;
    this.chance = chance;
    this.marker = marker;
  }

  /** A name that only this turn of the attack has. */
  name(base: string): string {
    return `${base}-${this.turn}`;
  }

  get stopped(): boolean {
    return this.#stop.aborted;
  }

  home(): TenantNamespace {
    return this.chance() < 0.5 ? "tenant-a" : "tenant-b";
  }

  /** Base64 of about so many bytes that begin with the marker. */
  value(bytes = 64): string {
    return Buffer.from(this.marker.padEnd(bytes, `${Math.floor(this.chance() * 1e9)} `)).toString(
      "base64",
    );
  }

  create(namespace: string, name: string, body: SecretBody = {}): Promise<Answer | undefined> {
    this.#made++;
    const metadata = { ...body.metadata, name };
    const data = body.data ?? { own: this.value() };
    return this.#send("POST", pathOf(namespace), { ...body, data, metadata });
  }

  change(namespace: string, name: string, body: SecretBody): Promise<Answer | undefined> {
    return this.#send("PATCH", pathOf(namespace, name), body);
  }

  remove(namespace: string, name: string): Promise<Answer | undefined> {
    return this.#send("DELETE", pathOf(namespace, name));
  }

  get(namespace: string, name: string): Promise<Answer | undefined> {
    return this.#send("GET", pathOf(namespace, name));
  }

  /** `count` times `work`, eight at once. */
  async many(count: number, work: (at: number) => Promise<unknown>): Promise<void> {
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < count && !this.stopped) await work(next++);
    };
    await Promise.all(Array.from({ length: Math.min(8, count) }, worker));
  }

  /** `work` so many times a second, for so long. */
  async loop(perSecond: number, seconds: number, work: (at: number) => Promise<unknown>) {
    for (let at = 0; at < perSecond * seconds && !this.stopped; at++)
      await Promise.all([work(at), delay(1000 / perSecond)]);
  }

  /** Everything goes, copies as well, when it has become much or `always`. */
  async wipe(always = false): Promise<void> {
    if (!always && this.#made < MOST_MADE && this.#bytes < MOST_BYTES) return;
    this.#made = 0;
    this.#bytes = 0;
    for (const namespace of TENANT_NAMESPACES) {
      const answer = await this.#http
        .send("GET", pathOf(namespace), { accept: METADATA })
        .catch(() => undefined);
      const items = field(answer?.body, "items");
      const held = (Array.isArray(items) ? items : []).filter(
        (item) => field(item, "metadata", "finalizers") !== undefined,
      );
      for (const item of held)
        await this.change(namespace, String(field(item, "metadata", "name")), {
          metadata: { finalizers: null },
        });
      await this.#send("DELETE", pathOf(namespace));
    }
  }

  close(): Promise<void> {
    return this.#http.close();
  }

  async #send(method: Dispatcher.HttpMethod, path: string, body?: object) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    await this.#share(text?.length ?? 0);
    const options = method === "PATCH" ? { body: text, contentType: MERGE } : { body: text };
    // A server that is not there is one of the faults.
    const answer = await this.#http.send(method, path, options).catch(() => undefined);
    const key = `${method} ${answer?.status ?? "without an answer"}`;
    this.answers.set(key, (this.answers.get(key) ?? 0) + 1);
    return answer;
  }

  /** Leaves the API server and the machine room for others: they are not what is attacked. */
  async #share(bytes: number): Promise<void> {
    this.#bytes += bytes;
    const now = performance.now();
    this.#freeAt = Math.max(now, this.#freeAt) + (bytes / BYTES_A_SECOND) * 1000;
    if (this.#freeAt - now > 1) await delay(this.#freeAt - now);
  }
}

function pathOf(namespace: string, name?: string): string {
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  return name === undefined ? secrets : `${secrets}/${name}`;
}
