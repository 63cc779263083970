// A client of one server on loopback, which is closed when the test ends.
import type { TestContext } from "node:test";
import type { ApiClient } from "../rest/api-client.ts";
import { createClient, type ClientOptions } from "../rest/client.ts";
import type { KubeConfig } from "../kubeconfig/kubeconfig.ts";
import { systemClock } from "../time/clock.ts";
import { kubeConfigFor } from "./kubeconfig-text.ts";

/** `server`: its URL, or a kubeconfig for it. */
export function clientFor(
  t: TestContext,
  server: string | KubeConfig,
  options: Partial<ClientOptions> = {},
): ApiClient {
  const config = typeof server === "string" ? kubeConfigFor(server) : server;
  const client = createClient(config, { clock: systemClock, userAgent: "test", ...options });
  t.after(() => client.close());
  return client;
}
