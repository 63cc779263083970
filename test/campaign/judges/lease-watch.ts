// Who holds the controller's Lease: it may pass to another only when its holder was killed.
import { setTimeout as delay } from "node:timers/promises";
import { field, type Http } from "../../support/api-server/http.ts";
import type { Violations } from "./violations.ts";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/secretcast/leases/secretcast";
const EVERY_MS = 500;

export class LeaseWatch {
  readonly #admin: Http;
  readonly #violations: Violations;
  readonly #stop: AbortSignal;
  readonly #watching: Promise<void>;
  #holder: string | undefined;
  #killed = true;

  constructor(admin: Http, violations: Violations, stop: AbortSignal) {
    this.#admin = admin;
    this.#violations = violations;
    this.#stop = stop;
    this.#watching = this.#watch();
  }

  /** Its holder was killed: the next one is none that took it. */
  killed(): void {
    this.#killed = true;
  }

  ended(): Promise<void> {
    return this.#watching;
  }

  async #watch(): Promise<void> {
    while (!this.#stop.aborted) {
      const answer = await this.#admin.send("GET", LEASE).catch(() => undefined);
      const holder = field(answer?.body, "spec", "holderIdentity");
      if (typeof holder === "string" && holder !== this.#holder) {
        if (!this.#killed && holder !== "")
          this.#violations.add("the Lease was lost", `now held by ${holder}`);
        if (holder !== "") this.#killed = false;
        this.#holder = holder;
      }
      await delay(EVERY_MS);
    }
  }
}
