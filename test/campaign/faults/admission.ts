// A validating webhook for the controller's writes in the tenant's namespaces, on a real server that
// hangs, answers late, fails, overloads or denies, as it is told.
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { ACCOUNT } from "../../support/api-server/account.ts";
import { ONE } from "../../support/api-server/certificates.ts";
import { field, type Http } from "../../support/api-server/http.ts";
import { good } from "../../support/api-server/pressure.ts";
import { TENANT_NAMESPACES } from "../actors/tenant.ts";

/** What it does to a request. deny: as the API server itself would word a Conflict. */
export type Mood = "hangs" | "allows late" | "answers 500" | "denies with 429" | "denies with 409";

const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const NAME = "hostile.example.com";
const TIMEOUT_S = 10;
/** So late that what was decided may have changed meanwhile. */
const LATE_MS = 3000;

export const TENANT_SELECTOR = {
  matchExpressions: [
    { key: "kubernetes.io/metadata.name", operator: "In", values: TENANT_NAMESPACES },
  ],
};
export const BY_THE_CONTROLLER = {
  name: "by-the-controller",
  expression: `request.userInfo.username == '${ACCOUNT}'`,
};
export const SECRET_WRITES = {
  apiGroups: [""],
  apiVersions: ["v1"],
  operations: ["CREATE", "UPDATE", "DELETE"],
  resources: ["secrets"],
};

export class Admission {
  readonly #admin: Http;
  readonly #server: Server;
  #mood: Mood = "hangs";
  asked = 0;

  constructor(admin: Http) {
    this.#admin = admin;
    this.#server = createServer({ cert: ONE.cert, key: ONE.key }, (request, response) => {
      void this.#answer(request, response).catch(() => response.destroy());
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async begin(mood: Mood): Promise<void> {
    this.#mood = mood;
    const { port } = this.#server.address() as AddressInfo;
    const clientConfig = {
      url: `https://127.0.0.1:${port}/`,
      caBundle: Buffer.from(ONE.cert).toString("base64"),
    };
    const webhook = {
      name: NAME,
      clientConfig,
      rules: [SECRET_WRITES],
      namespaceSelector: TENANT_SELECTOR,
      matchConditions: [BY_THE_CONTROLLER],
      failurePolicy: "Fail",
      sideEffects: "None",
      timeoutSeconds: TIMEOUT_S,
      admissionReviewVersions: ["v1"],
    };
    const body = { metadata: { name: NAME }, webhooks: [webhook] };
    await good(this.#admin.send("POST", CONFIGURATIONS, { body }));
  }

  async end(): Promise<void> {
    await good(this.#admin.send("DELETE", `${CONFIGURATIONS}/${NAME}`));
    // Requests that hang here are let go.
    this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    this.asked++;
    if (this.#mood === "hangs") return;
    if (this.#mood === "answers 500") {
      response.writeHead(500).end("{}");
      return;
    }
    const review: unknown = JSON.parse(text);
    const allowed = this.#mood === "allows late";
    if (allowed) await delay(LATE_MS);
    const name = String(field(review, "request", "name"));
    const status =
      this.#mood === "denies with 429"
        ? { code: 429, reason: "TooManyRequests", message: "slow down" }
        : { code: 409, reason: "AlreadyExists", message: `secrets "${name}" already exists` };
    const uid = field(review, "request", "uid");
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        apiVersion: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        response: allowed ? { uid, allowed } : { uid, allowed, status },
      }),
    );
  }
}
