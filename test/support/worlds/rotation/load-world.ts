// Puts a world on a real API server: the sources are copied, rotated and copied again by the program itself,
// then times, Pods and bindings are written by hand. There is no kubelet, so a Pod's status stays as it is
// written. It takes a minute, and leaves nothing behind except on the server, which should be a file's own.
import assert from "node:assert/strict";
import { field, type Http } from "../../../../packages/sandbox/testing/http.ts";
import { eventually } from "../../../../packages/kube/testing/eventually.ts";
import { specOf, statusOf, timeText } from "./pod-uses.ts";
import type { Binding } from "./readers.ts";
import {
  FROZEN,
  namespaceName,
  OWN_ENTRY,
  OWNED_EVERY,
  sourceNamespacesOf,
  type Owner,
  type RotationWorld,
  type WorldPod,
} from "./world-parts.ts";
import { each, podsIn, secretsIn, WorldServer } from "./world-server.ts";

export type LoadOptions = {
  /** An administrator's. */
  readonly http: Http;
  /** Runs `secretcast run --once` with these flags; whatever its exit code is. */
  readonly copy: (flags: readonly string[]) => Promise<unknown>;
};

/** Answers with the Pods as they are called on the server. */
export async function loadWorld(
  world: RotationWorld,
  { http, copy }: LoadOptions,
): Promise<readonly WorldPod[]> {
  const server = new Loader(http);
  const flags = [`--source-namespaces=${sourceNamespacesOf(world)}`, "--no-leader-elect"];
  await server.namespaces(world);
  await server.secrets(world);
  await copy(flags);
  await server.rotate(world);
  await copy(flags);
  await server.setTimes(world);
  await server.bindings(world.bindings);
  return server.pods(world);
}

class Loader {
  readonly #server: WorldServer;

  constructor(http: Http) {
    this.#server = new WorldServer(http);
  }

  async namespaces({ prefix, namespaces, sources }: RotationWorld): Promise<void> {
    const own = new Set(sources.map(({ namespace }) => namespace));
    await each([...own, ...namespaces], async (name) => {
      const n = namespaces.indexOf(name);
      const labels = n >= 0 && n < 160 ? { [`${prefix}-pull`]: "yes" } : {};
      await this.#server.post("/api/v1/namespaces", { metadata: { name, labels } });
      // The controller manager makes them too, whichever is first.
      await this.#server.post(`/api/v1/namespaces/${name}/serviceaccounts`, {
        metadata: { name: "default" },
      });
    });
  }

  async secrets({ prefix, sources, places, unmanaged }: RotationWorld): Promise<void> {
    for (const { namespace, name, type, annotations, data } of sources)
      await this.#server.post(secretsIn(namespace), {
        metadata: { name, annotations },
        type,
        stringData: data,
      });
    const pulling = places.filter(({ role }) => role === "pulling");
    await each(pulling, ({ namespace, name, source }) =>
      this.#server.post(secretsIn(namespace), {
        metadata: { name, annotations: { "secretcast.io/from": source } },
        ...(namespace === namespaceName(prefix, OWN_ENTRY) && {
          stringData: { value: "own" },
        }),
      }),
    );
    await each(unmanaged, (place) => {
      const [namespace = "", name = ""] = place.split("/");
      return this.#server.post(secretsIn(namespace), {
        metadata: { name },
        stringData: { value: "another" },
      });
    });
  }

  async rotate({ prefix, sources }: RotationWorld): Promise<void> {
    const frozen = `/api/v1/namespaces/${namespaceName(prefix, FROZEN)}`;
    await this.#server.merge(frozen, {
      metadata: { annotations: { "secretcast.io/accept": "not/a/glob" } },
    });
    for (const { namespace, name } of sources)
      await this.#server.merge(`${secretsIn(namespace)}/${name}`, { stringData: { value: "new" } });
  }

  /**
   * As if the API server had recorded these times. It takes them from a patch that changes something else as
   * well: an annotation, by another manager, which makes no value younger.
   */
  async setTimes({ places }: RotationWorld): Promise<void> {
    const held = places.filter(({ role, state }) => role !== "copy" || state !== "conflict");
    await each(held, async ({ namespace, name, since }) => {
      const path = `${secretsIn(namespace)}/${name}`;
      const { body } = await this.#server.http.send("GET", path);
      const before = field(body, "metadata", "managedFields");
      assert.ok(Array.isArray(before), `${path} is there`);
      const managedFields = before.map((entry: object) => ({ ...entry, time: timeText(since) }));
      const annotations = { "example.com/seen-by": "another controller" };
      await this.#server.merge(`${path}?fieldManager=another`, {
        metadata: { managedFields, annotations },
      });
    });
  }

  async bindings(bindings: readonly Binding[]): Promise<void> {
    const rbac = (namespace: string | undefined, plural: string): string =>
      namespace === undefined
        ? `/apis/rbac.authorization.k8s.io/v1/${plural}`
        : `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/${plural}`;
    await each(bindings, async ({ subjects, namespace, role: { kind, name, rules } }) => {
      const of = kind === "Role" ? namespace : undefined;
      if (rules)
        await this.#server.post(rbac(of, kind === "Role" ? "roles" : "clusterroles"), {
          metadata: { name },
          rules,
        });
      const plural = namespace === undefined ? "clusterrolebindings" : "rolebindings";
      await this.#server.post(rbac(namespace, plural), {
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name },
        subjects: subjects.map((subject) =>
          subject.kind === "ServiceAccount"
            ? subject
            : { ...subject, apiGroup: "rbac.authorization.k8s.io" },
        ),
      });
    });
  }

  async pods(world: RotationWorld): Promise<readonly WorldPod[]> {
    const owners = await this.#owners(world);
    const byHand = world.pods.filter(({ name }) => name !== undefined);
    await each(byHand, async (pod) => {
      const { namespace, name = "", owner, uses, timing } = pod;
      const ownerReferences = owner && [owners.get(`${namespace} ${owner.kind}`)];
      await this.#server.post(podsIn(namespace), {
        metadata: {
          name,
          labels: { made: "by-hand" },
          ...(ownerReferences && { ownerReferences }),
        },
        spec: specOf(uses),
      });
      const status = statusOf(timing, uses);
      if (status) await this.#server.status(namespace, name, status);
    });
    return [...byHand, ...(await this.#deployed(world.pods.filter(({ name }) => !name)))];
  }

  /** Those whose controllers do not run here, in some namespaces: references to them by namespace and kind. */
  async #owners({ namespaces }: RotationWorld): Promise<ReadonlyMap<string, unknown>> {
    const found = new Map<string, unknown>();
    const some = namespaces.filter((_, n) => n % OWNED_EVERY === 0);
    await each(some, async (namespace) => {
      const make = async (group: string, kind: string, name: string, body: object) => {
        const path = `/apis/${group}/namespaces/${namespace}/${kind.toLowerCase()}s`;
        const made = await this.#server.post(path, {
          ...body,
          metadata: { name, ...metadataOf(body) },
        });
        return referenceTo(group, kind, name, made);
      };
      const spec = workload("queue");
      found.set(
        `${namespace} StatefulSet`,
        await make("apps/v1", "StatefulSet", "queue", { spec: { ...spec, serviceName: "queue" } }),
      );
      found.set(
        `${namespace} DaemonSet`,
        await make("apps/v1", "DaemonSet", "agent", { spec: workload("agent") }),
      );
      const template = jobTemplate();
      found.set(
        `${namespace} Job`,
        await make("batch/v1", "Job", "import", { spec: { template } }),
      );
      const nightly = await make("batch/v1", "CronJob", "nightly", {
        spec: { schedule: "0 3 * * *", jobTemplate: { spec: { template } } },
      });
      const run = { metadata: { ownerReferences: [nightly] }, spec: { template } };
      found.set(`${namespace} CronJob`, await make("batch/v1", "Job", "nightly-1", run));
    });
    return found;
  }

  /** Pods of Deployments and ReplicaSets, which the server's own controllers make. */
  async #deployed(pods: readonly WorldPod[]): Promise<readonly WorldPod[]> {
    const groups = Map.groupBy(pods, ({ namespace, owner }) => `${namespace} ${owner?.kind}`);
    const named: WorldPod[] = [];
    await each([...groups.values()], async (wanted) => {
      const [first] = wanted;
      if (!first?.owner) return;
      const { namespace, owner, uses } = first;
      await this.#server.post(
        `/apis/apps/v1/namespaces/${namespace}/${owner.kind.toLowerCase()}s`,
        {
          metadata: { name: owner.name },
          spec: { replicas: wanted.length, ...workload(owner.name, specOf(uses)) },
        },
      );
      const names = await eventually(`${owner.kind} ${namespace}/${owner.name} has its Pods`, () =>
        this.#podNames(namespace, owner, wanted.length),
      );
      for (const [index, pod] of wanted.entries()) {
        const name = names[index] ?? "";
        named.push({ ...pod, name });
        const status = statusOf(pod.timing, pod.uses);
        if (status) await this.#server.status(namespace, name, status);
      }
    });
    return named;
  }

  async #podNames(namespace: string, { name }: Owner, count: number) {
    const { body } = await this.#server.http.send(
      "GET",
      `${podsIn(namespace)}?labelSelector=app=${name}`,
    );
    const items = field(body, "items");
    const names = Array.isArray(items)
      ? items.map((pod) => String(field(pod, "metadata", "name")))
      : [];
    return names.length === count ? names : false;
  }
}

function metadataOf(body: object): object {
  return "metadata" in body && typeof body.metadata === "object" ? (body.metadata ?? {}) : {};
}

function referenceTo(apiVersion: string, kind: string, name: string, made: unknown): unknown {
  return { apiVersion, kind, name, uid: field(made, "metadata", "uid"), controller: true };
}

function workload(app: string, spec: object = specOf([])): object {
  return {
    selector: { matchLabels: { app } },
    template: { metadata: { labels: { app } }, spec },
  };
}

function jobTemplate(): object {
  return { spec: { ...specOf([]), restartPolicy: "Never" } };
}
