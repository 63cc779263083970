// A sandbox to be checked, and answers in its place where a test says so.
import type { TestContext } from "node:test";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { createClient } from "../../../packages/kube/rest/client.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { startSandbox, type Sandbox } from "../../../packages/sandbox/server.ts";
import type { Json } from "../../../packages/sandbox/storage/object.ts";
import { kubeConfigFor } from "../../../packages/kube/testing/kubeconfig-text.ts";

type Answer = readonly [status: number, body: Json];
export type Answers = (method: string, path: string) => Answer | undefined;

export async function checkedServer(
  t: TestContext,
  answers: Answers = () => undefined,
): Promise<{ readonly sandbox: Sandbox; readonly client: ApiClient }> {
  const sandbox = await startSandbox();
  sandbox.beforeRequest = ({ method, path }) => {
    const [status, body] = answers(method, path) ?? [];
    return status === undefined ? undefined : { status, body: body ?? "" };
  };
  const options = { clock: systemClock, userAgent: "tests" };
  const client = createClient(kubeConfigFor(sandbox.url), options);
  t.after(async () => {
    await client.close();
    await sandbox.stop();
  });
  return { sandbox, client };
}

/** As the API server words it. */
export function forbidden(verb: string, resource: string): Answer {
  const message = `${resource} is forbidden: User "me" cannot ${verb} resource "${resource}" in API group "" at the cluster scope`;
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", code: 403 };
  return [403, { ...status, reason: "Forbidden", message }];
}
