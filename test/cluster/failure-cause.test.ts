// The causes of failures in the words of the real API server: each kind provoked, through our own client.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient } from "../../packages/kube/rest/client.ts";
import type { ApiClient } from "../../packages/kube/rest/api-client.ts";
import { causeText } from "../../packages/kube/rest/failure-cause.ts";
import { systemClock } from "../../packages/kube/time/clock.ts";
import { openCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { failure } from "../../packages/kube/testing/failure.ts";
import { field, type Http } from "../../packages/sandbox/testing/http.ts";
import { kubeConfigFor } from "../../packages/kube/testing/kubeconfig-text.ts";
import { SICK, Webhook } from "../support/api-server/webhook.ts";

const NAMESPACE = "causes";
const NAMESPACES = "/api/v1/namespaces";
const HERE = `${NAMESPACES}/${NAMESPACE}`;
const SECRETS = `${HERE}/secrets`;
const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const MERGE = "application/merge-patch+json";
const VALUE = "aHVudGVyMg==";

let admin: Http;
const clients: ApiClient[] = [];

function clientOf(token: string): ApiClient {
  const { url, caFile } = sharedCluster();
  const config = kubeConfigFor(url, { token }, { caFile });
  const client = createClient(config, { clock: systemClock, userAgent: "causes" });
  clients.push(client);
  return client;
}

before(async () => {
  admin = openCluster(sharedCluster());
  await make(NAMESPACES, { metadata: { name: NAMESPACE, labels: SICK } });
});
after(async () => {
  await admin.send("DELETE", HERE);
  const gone = async (): Promise<boolean> => (await admin.send("GET", HERE)).status === 404;
  await eventually("the namespace is gone", gone);
  await Promise.all([admin.close(), ...clients.map((client) => client.close())]);
});

async function make(path: string, body: object): Promise<void> {
  const answer = await admin.send("POST", path, { body });
  assert.equal(answer.status, 201, String(field(answer.body, "message")));
}

const secret = (name: string, more: object = {}) => ({
  metadata: { name },
  data: { key: VALUE },
  ...more,
});

type Asked = Partial<Parameters<ApiClient["request"]>[0]>;

/** The cause that our client finds in the refusal of a request: of a create of a Secret, if no other. */
async function cause(asked: Asked = {}, client = clientOf(sharedCluster().token)): Promise<string> {
  const request = { method: "POST", path: SECRETS, body: secret("x"), what: "try" } as const;
  const error = await failure(client.request({ ...request, ...asked }));
  assert.doesNotMatch(`${error.message} ${causeText(error.why)}`, /hunter2|aHVudGVyMg/);
  return `${error.why.cause}: ${causeText(error.why, NAMESPACE)}`;
}

async function becomes(wanted: string, asked: Asked): Promise<void> {
  const dry = { ...asked, query: { dryRun: "All" } };
  const client = clientOf(sharedCluster().token);
  await eventually(wanted, async () => {
    try {
      await client.request({ method: "POST", path: SECRETS, body: secret("x"), what: "", ...dry });
      return false;
    } catch {
      return (await cause(asked, client)) === wanted;
    }
  });
}

for (const [name, validation] of Object.entries({
  "quotes-the-object": { expression: "false", messageExpression: "string(object.data['key'])" },
  "gives-a-reason": { expression: "false", message: "no", reason: "Forbidden" },
  "cannot-be-judged": { expression: "object.data['none'] == ''" },
}))
  test(`a policy that ${name} is reported by its name and its binding's`, async () => {
    const rules = [
      {
        apiGroups: [""],
        apiVersions: ["v1"],
        operations: ["CREATE"],
        resources: ["secrets"],
        resourceNames: [name],
      },
    ];
    const spec = { matchConstraints: { resourceRules: rules }, validations: [validation] };
    const metadata = { name };
    const matchResources = {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": NAMESPACE } },
    };
    const binding = { policyName: name, validationActions: ["Deny"], matchResources };
    await make(`${ADMISSION}/validatingadmissionpolicies`, { metadata, spec });
    const bound = { metadata: { name: `${name}-here` }, spec: binding };
    await make(`${ADMISSION}/validatingadmissionpolicybindings`, bound);
    await becomes(`policy: policy ${name} with binding ${name}-here refused it`, {
      body: secret(name),
    });
    await admin.send("DELETE", `${ADMISSION}/validatingadmissionpolicybindings/${name}-here`);
    await admin.send("DELETE", `${ADMISSION}/validatingadmissionpolicies/${name}`);
  });

test("a full quota is reported by its name", async () => {
  const hard = { secrets: "0" };
  const quotas = `${HERE}/resourcequotas`;
  await make(quotas, { metadata: { name: "full" }, spec: { hard } });
  // No controller counts quotas here, and admission goes by what was counted.
  const counted = { status: { hard, used: hard } };
  await admin.send("PATCH", `${quotas}/full/status`, { body: counted, contentType: MERGE });
  await becomes("quota: quota full would be exceeded", {});
  await admin.send("DELETE", `${quotas}/full`);
  await eventually("there is room again", async () => {
    const { status } = await admin.send("POST", `${SECRETS}?dryRun=All`, { body: secret("x") });
    return status === 201;
  });
});

test("a missing right is reported by verb, resource and another namespace", async () => {
  await eventually("there is an account", async () => {
    const { status } = await admin.send("GET", `${HERE}/serviceaccounts/default`);
    return status === 200;
  });
  const body = { spec: { expirationSeconds: 7200 } };
  const answer = await admin.send("POST", `${HERE}/serviceaccounts/default/token`, { body });
  const poor = clientOf(String(field(answer.body, "status", "token")));
  const right = "missingRight: no right to";
  assert.equal(await cause({}, poor), `${right} create secrets`);
  const one = { path: `${SECRETS}/x`, body: undefined };
  assert.equal(await cause({ ...one, method: "DELETE" }, poor), `${right} delete secrets`);
  const patch = { ...one, method: "PATCH", body: {}, contentType: MERGE } as const;
  assert.equal(await cause(patch, poor), `${right} patch secrets`);
  const other = { ...one, method: "GET", path: `${NAMESPACES}/kube-system/secrets/x` } as const;
  assert.equal(await cause(other, poor), `${right} get secrets in namespace kube-system`);
  const whole = { ...one, method: "GET", path: NAMESPACES } as const;
  assert.equal(await cause(whole, poor), `${right} list namespaces`);
});

test("a limit range is reported by its bound, resource and kind", async () => {
  const limits = [{ type: "Container", max: { cpu: "1" }, min: { memory: "1Gi" } }];
  await make(`${HERE}/limitranges`, { metadata: { name: "bounds" }, spec: { limits } });
  const pod = (cpu: string, memory: string) => {
    const resources = { limits: { cpu, memory }, requests: { cpu, memory } };
    const spec = { containers: [{ name: "c", image: "x", resources }] };
    return { path: `${HERE}/pods`, body: { metadata: { name: "x" }, spec } };
  };
  await becomes("limitRange: limit range: maximum cpu of a Container", pod("2", "2Gi"));
  const both = await cause(pod("2", "1Mi"));
  assert.match(both, /^limitRange: limit range: (?:minimum memory|maximum cpu) of a Container$/);
});

test("a late finalizer, an immutable field and a size have reports of their own", async () => {
  const finalizers = ["example.com/first"];
  await make(SECRETS, { metadata: { name: "final", finalizers } });
  await admin.send("DELETE", `${SECRETS}/final`);
  const patch = (name: string, body: object) =>
    ({ method: "PATCH", path: `${SECRETS}/${name}`, contentType: MERGE, body }) as const;
  const more = { metadata: { finalizers: [...finalizers, "example.com/second"] } };
  assert.equal(await cause(patch("final", more)), "finalizer: its finalizers are refused");
  const none = { metadata: { finalizers: null } };
  await admin.send("PATCH", `${SECRETS}/final`, { body: none, contentType: MERGE });

  await make(SECRETS, secret("firm", { immutable: true }));
  const changed = await cause(patch("firm", { data: { key: "eA==" } }));
  assert.equal(changed, "invalid: invalid: data FieldValueForbidden");
  const labels = { metadata: { name: "x", labels: { x: "hunter2 and more" } } };
  assert.equal(
    await cause({ body: labels }),
    "invalid: invalid: metadata.labels FieldValueInvalid",
  );
  const type = "kubernetes.io/dockerconfigjson";
  const docker = secret("x", { type, data: { ".dockerconfigjson": VALUE } });
  assert.equal(
    await cause({ body: docker }),
    "invalid: invalid: data[.dockerconfigjson] FieldValueInvalid",
  );

  const bytes = (count: number) => secret("x", { data: { key: "A".repeat(count) } });
  assert.equal(await cause({ body: bytes(1_600_000) }), "invalid: invalid: data FieldValueTooLong");
  assert.equal(await cause({ body: bytes(4_000_000) }), "tooLarge: the request is too large");
});

test("a webhook that refuses and one that gives no answer are reported by their name", async () => {
  const webhook = await Webhook.start();
  const configurations = `${ADMISSION}/validatingwebhookconfigurations`;
  const found: string[] = [];
  const ask = async (name: string): Promise<void> => void found.push(`${name}: ${await cause()}`);
  try {
    const body = webhook.configuration("causes", 1);
    webhook.fault = "refuses";
    await make(configurations, body);
    await becomes("webhook: webhook causes.example.com refused it", {});
    webhook.fault = "denies with 429";
    await ask("429");
    webhook.fault = "quotes the object";
    await ask("quotes");
    webhook.fault = "answers 500";
    await ask("500");
    webhook.fault = "hangs";
    await ask("hangs");
  } finally {
    await webhook.stop();
    await ask("down");
    await admin.send("DELETE", `${configurations}/causes`);
  }
  const refused = "webhook: webhook causes.example.com refused it";
  const silent = "webhookUnreachable: webhook causes.example.com gave no answer";
  assert.deepEqual(found, [
    `429: ${refused}`,
    `quotes: ${refused}`,
    `500: ${silent}`,
    `hangs: ${silent}`,
    `down: ${silent}`,
  ]);
});

test("an unknown user, a timeout and a missing object have causes of their own", async () => {
  assert.equal(await cause({}, clientOf("nobody")), "credentials: authentication failed");
  assert.equal(await cause({ query: { timeout: "1ns" } }), "deadline: no answer in time");
  assert.equal(await cause({ timeoutMs: 0 }), "deadline: no answer in time");
  const config = kubeConfigFor("http://127.0.0.1:1", {});
  const nowhere = createClient(config, { clock: systemClock, userAgent: "causes" });
  clients.push(nowhere);
  assert.equal(await cause({}, nowhere), "connection: no connection to the API server");
});

test("a refusal in words that are not known is withheld, with its code alone", async () => {
  const body = { metadata: { name: "x" }, data: { key: "hunter2, not base64" } };
  assert.equal(await cause({ body }), "withheld: reason withheld (400 BadRequest)");
});
