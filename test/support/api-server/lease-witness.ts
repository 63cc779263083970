// The controller's Lease on a real API server, seen from outside: its priority, who holds it and how
// old its renewTime becomes, and what of the controller's requests was refused.
import { setTimeout as delay } from "node:timers/promises";
import { ACCOUNT } from "./account.ts";
import { auditEventsOf } from "./audit-log.ts";
import { openCluster } from "./cluster.ts";
import type { ClusterAccess } from "./control-plane.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { field } from "../../../packages/sandbox/testing/http.ts";
import type { Http } from "../../../packages/sandbox/testing/http.ts";
import { kubectlAt } from "./kubectl.ts";
import { good } from "./pressure.ts";

const COMPONENT = "manifests/components/lease-priority/flowschema.yaml";
const SCHEMA = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/secretcast-lease";
const LEASE = "/apis/coordination.k8s.io/v1/namespaces/secretcast/leases/secretcast";
const LOOK_MS = 100;

/** Applies the component and waits until it is in force for `token`; answers with what takes it back. */
export async function prioritizeLease(
  access: ClusterAccess,
  admin: Http,
  token: string,
): Promise<() => void> {
  const kubectl = (verb: string): void =>
    void kubectlAt(access.kubeconfig, [verb, "-f", COMPONENT]);
  kubectl("apply");
  const uid = field((await good(admin.send("GET", SCHEMA))).body, "metadata", "uid");
  const controller = openCluster(access, token);
  await eventually("the Lease is told apart", async () => {
    const { headers } = await controller.send("GET", LEASE);
    return headers["x-kubernetes-pf-flowschema-uid"] === uid;
  });
  await controller.close();
  return () => kubectl("delete");
}

/** Answers 429 to the controller's account so far, by resource, as the audit log has them. */
export function refusals({ auditLog }: ClusterAccess): ReadonlyMap<string, number> {
  const refused = auditEventsOf(ACCOUNT, auditLog, '"code":429');
  const byResource = Map.groupBy(refused, (event) => String(field(event, "objectRef", "resource")));
  return new Map([...byResource].map(([resource, events]) => [resource, events.length]));
}

/** Looks at the Lease, as the administrator, until it is told to stop. */
export class LeaseWitness {
  readonly #admin: Http;
  readonly #holders = new Set<string>();
  readonly #renewals = new Set<string>();
  readonly #looking: Promise<void>;
  #stopped = false;
  #oldestMs = 0;

  constructor(admin: Http) {
    this.#admin = admin;
    this.#looking = this.#look();
  }

  get holders(): readonly string[] {
    return [...this.#holders];
  }

  /** Different renewTimes seen. */
  get renewals(): number {
    return this.#renewals.size;
  }

  /** The greatest age of the renewTime at any look, in ms. */
  get oldestMs(): number {
    return this.#oldestMs;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#looking;
  }

  async #look(): Promise<void> {
    while (!this.#stopped) {
      const { body } = await good(this.#admin.send("GET", LEASE));
      const renewTime = String(field(body, "spec", "renewTime"));
      this.#holders.add(String(field(body, "spec", "holderIdentity")));
      this.#renewals.add(renewTime);
      this.#oldestMs = Math.max(this.#oldestMs, Date.now() - Date.parse(renewTime));
      await delay(LOOK_MS);
    }
  }
}
