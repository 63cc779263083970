// A validating webhook over Secrets on loopback, which does to the namespaces labelled `webhook: sick`
// what a test asks: it hangs, refuses, fails or asks for patience.
import { once } from "node:events";
import { createServer } from "node:https";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { ONE } from "../../../packages/kube/testing/certificates.ts";

export const WEBHOOK_FAULTS = [
  "none",
  "hangs",
  "refuses",
  "answers 500",
  "denies with 429",
  "quotes the object",
] as const;
/** A denial with 409 is worded as the API server itself words a conflict. */
export type WebhookFault = (typeof WEBHOOK_FAULTS)[number] | "denies with 409" | "allows late";

export const SICK = { webhook: "sick" } as const;

/** So late that what was decided may have changed meanwhile. */
const LATE_MS = 3000;
export const SECRET_WRITES = {
  apiGroups: [""],
  apiVersions: ["v1"],
  operations: ["CREATE", "UPDATE", "DELETE"],
  resources: ["secrets"],
};

type Reviewed = {
  readonly uid: string;
  readonly name: string;
  readonly object?: { readonly data?: object };
};

export class Webhook {
  fault: WebhookFault = "none";
  /** How often it was. */
  asked = 0;
  readonly #server;

  private constructor() {
    this.#server = createServer({ cert: ONE.cert, key: ONE.key }, (request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (chunk) => (text += String(chunk)));
      request.on("end", () => void this.#review(text, response));
    });
  }

  static async start(): Promise<Webhook> {
    const webhook = new Webhook();
    webhook.#server.listen(0, "127.0.0.1");
    await once(webhook.#server, "listening");
    return webhook;
  }

  /** What makes an API server ask it, of all such writes or of some; 30 s is the longest that may be. */
  configuration(
    name: string,
    timeoutSeconds = 30,
    matchConditions: readonly object[] = [],
  ): object {
    const { port } = this.#server.address() as AddressInfo;
    const caBundle = Buffer.from(ONE.cert).toString("base64");
    return {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name },
      webhooks: [
        {
          name: `${name}.example.com`,
          clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle },
          rules: [SECRET_WRITES],
          namespaceSelector: { matchLabels: SICK },
          matchConditions,
          failurePolicy: "Fail",
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          timeoutSeconds,
        },
      ],
    };
  }

  /** Requests that hang here fail. */
  letGo(): void {
    this.#server.closeAllConnections();
  }

  async stop(): Promise<void> {
    this.letGo();
    this.#server.close();
    await once(this.#server, "close");
  }

  #refusal({ name, object }: Reviewed): object {
    if (this.fault === "denies with 429") return { code: 429, reason: "TooManyRequests" };
    if (this.fault === "denies with 409")
      return { code: 409, reason: "AlreadyExists", message: `secrets "${name}" already exists` };
    if (this.fault !== "quotes the object") return {};
    const value = String(Object.values(object?.data ?? {})[0]);
    const causes = [{ reason: value, field: `data[${value}]`, message: value }];
    return { code: 409, reason: value, message: value, details: { name: value, causes } };
  }

  async #review(text: string, response: ServerResponse): Promise<void> {
    this.asked++;
    if (this.fault === "hangs") return;
    if (this.fault === "answers 500") {
      response.writeHead(500).end();
      return;
    }
    const { request } = JSON.parse(text) as { readonly request: Reviewed };
    const status = this.#refusal(request);
    const allowed = this.fault === "none" || this.fault === "allows late";
    if (this.fault === "allows late") await delay(LATE_MS);
    const answer = { uid: request.uid, allowed, ...(allowed ? {} : { status }) };
    const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: answer };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(review));
  }
}
