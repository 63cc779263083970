// The component early-check on a real API server, under a name of the test's own, and what it says.
import { readFileSync } from "node:fs";
import { loadYaml } from "@kubernetes/client-node";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { ok } from "../../../packages/sandbox/testing/facts/place.ts";
import { field, type Answer, type Http } from "../../../packages/sandbox/testing/http.ts";

const POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
const FILE = new URL("../../../manifests/components/early-check/policy.yaml", import.meta.url);

export type EarlyCheckOptions = {
  readonly name: string;
  /** As --source-namespaces has them; "*": not known. */
  readonly sourceNamespaces: readonly string[];
  /** As --other-source-namespaces has them. */
  readonly otherSourceNamespaces?: readonly string[];
  /** As --only-names has them. */
  readonly onlyNames?: readonly string[];
  readonly action?: "Warn" | "Deny";
  /** Fail shows what could not be judged. */
  readonly failurePolicy?: "Ignore" | "Fail";
  /** Only there, so that nobody else's work is judged. */
  readonly namespaces?: readonly string[];
};

type Policy = {
  readonly spec: {
    readonly variables: readonly { readonly name: string; readonly expression: string }[];
  };
};

/** In force when it returns; the answer takes it off again. */
export async function installEarlyCheck(
  http: Http,
  options: EarlyCheckOptions,
): Promise<() => Promise<void>> {
  const { name, action = "Warn", failurePolicy = "Ignore", namespaces } = options;
  const { sourceNamespaces, otherSourceNamespaces = [], onlyNames = [] } = options;
  const policy: Policy = JSON.parse(JSON.stringify(loadYaml(readFileSync(FILE, "utf8"))));
  const given = new Map(Object.entries({ sourceNamespaces, otherSourceNamespaces, onlyNames }));
  const variables = policy.spec.variables.map((one) => {
    const values = given.get(one.name);
    return values ? { name: one.name, expression: JSON.stringify(values) } : one;
  });
  const spec = { ...policy.spec, variables, failurePolicy };
  const only = {
    namespaceSelector: {
      matchExpressions: [
        { key: "kubernetes.io/metadata.name", operator: "In", values: namespaces ?? [] },
      ],
    },
  };
  const binding = {
    policyName: name,
    validationActions: [action],
    ...(namespaces ? { matchResources: only } : {}),
  };
  ok(await http.send("POST", POLICIES, { body: { metadata: { name }, spec } }), 201);
  ok(await http.send("POST", BINDINGS, { body: { metadata: { name }, spec: binding } }), 201);
  const where = namespaces?.[0] ?? "secretcast";
  await eventually(`${name} is in force`, async () => {
    const metadata = { name: "probe", annotations: { "secretcast.io/adopt": "-" } };
    const path = `/api/v1/namespaces/${where}/secrets?dryRun=All`;
    return spokenBy(name, await http.send("POST", path, { body: { metadata } })).length > 0;
  });
  return async () => {
    await http.send("DELETE", `${BINDINGS}/${name}`);
    await http.send("DELETE", `${POLICIES}/${name}`);
  };
}

const WARNING = /299 - "((?:[^"\\]|\\.)*)"/g;

/** What the policy warned of, or why it refused. */
export function spokenBy(name: string, { status, headers, body }: Answer): readonly string[] {
  const policy = `ValidatingAdmissionPolicy '${name}' with binding '${name}'`;
  if (status >= 400) {
    const message = String(field(body, "message"));
    const at = message.indexOf(policy);
    if (at < 0) throw new Error(`refused, but not by ${name}: ${status}`);
    return [message.slice(at + policy.length).replace(" denied request: ", "")];
  }
  const lines = [headers["warning"] ?? []].flat().join(", ");
  const start = `Validation failed for ${policy}: `;
  return Array.from(
    // Headers are read as Latin-1, and were written as UTF-8.
    Buffer.from(lines, "latin1").toString().matchAll(WARNING),
    ([, text = ""]) => text.replaceAll(/\\(.)/g, "$1"),
  ).flatMap((text) => (text.startsWith(start) ? [text.slice(start.length)] : []));
}
