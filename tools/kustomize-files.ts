// The kustomize base and the objects of its components, written from the chart as Helm renders it for a release
// called secretcast. `npm run chart:docs` writes them where there is a Helm, and a test of the cluster suite
// compares. The namespace, the kustomizations with their patches and namespace-rights/ are no objects of the chart.
import { join } from "node:path";
import { ROOT, run } from "./release/files.ts";

/** The choice that the chart demands, and every value that makes an object more. pullSecrets asks for a version. */
const VALUES = [
  "allSecrets",
  "guardrail",
  "tenantGuard",
  "networkPolicy.enabled",
  "leasePriority",
  "readerRoles",
  "earlyCheck",
  "earlyCheckDeny",
  "pullSecrets",
];
const NEWEST = "1.37.0";

/** The objects of a template by their kind, the end of their name, or both, and where each is written. */
const FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  serviceaccount: { ServiceAccount: "serviceaccount.yaml" },
  clusterrole: { ClusterRole: "clusterrole.yaml" },
  clusterrolebinding: { ClusterRoleBinding: "clusterrolebinding.yaml" },
  role: { Role: "role.yaml" },
  rolebinding: { RoleBinding: "rolebinding.yaml" },
  deployment: { Deployment: "deployment.yaml" },
  poddisruptionbudget: { PodDisruptionBudget: "poddisruptionbudget.yaml" },
  guardrail: {
    ...policy("guardrail", "Validating"),
    "ValidatingAdmissionPolicy -create": "components/guardrail/policy-create.yaml",
    "ValidatingAdmissionPolicyBinding -create": "components/guardrail/binding-create.yaml",
  },
  tenantguard: policy("tenant-guard", "Validating"),
  earlycheck: {
    ...policy("early-check", "Validating"),
    "-early-check-deny": "components/early-check-deny/binding.yaml",
  },
  flowschema: { FlowSchema: "components/lease-priority/flowschema.yaml" },
  networkpolicy: { NetworkPolicy: "components/network-policy/networkpolicy.yaml" },
  pullsecrets: {
    ...policy("pull-secrets", "Mutating"),
    ConfigMap: "components/pull-secrets/parameter.yaml",
  },
  readerroles: {
    "-on-call": "components/reader-roles/on-call.yaml",
    "-tenant": "components/reader-roles/tenant.yaml",
  },
};

function policy(component: string, kind: string): Readonly<Record<string, string>> {
  return {
    [`${kind}AdmissionPolicy`]: `components/${component}/policy.yaml`,
    [`${kind}AdmissionPolicyBinding`]: `components/${component}/binding.yaml`,
  };
}

/** The files as they should be, by their path in manifests/. */
export function kustomizeFiles(env: NodeJS.ProcessEnv): ReadonlyMap<string, string> {
  const made = rendered(env)
    .split(/^---\n/m)
    .flatMap((text) => fileOf(text));
  const wanted = Object.values(FILES).flatMap((files) => Object.values(files));
  const missing = wanted.filter((file) => !made.some(([path]) => path === file));
  if (missing.length > 0) throw new Error(`the chart makes no ${missing.join(", no ")}`);
  const texts = formatted(made.map(([, text]) => text));
  return new Map(made.map(([path], at) => [path, texts[at] ?? ""]));
}

function rendered(env: NodeJS.ProcessEnv): string {
  const given = VALUES.flatMap((value) => ["--set", `${value}=true`]);
  const of = ["secretcast", "manifests/chart", "--namespace=secretcast", "--kube-version", NEWEST];
  return run("helm", ["template", ...of, ...given], { env });
}

function fileOf(text: string): readonly (readonly [path: string, text: string])[] {
  const [, template = ""] = /^# Source: secretcast\/templates\/(\w+)\.yaml\n/.exec(text) ?? [];
  const files = FILES[template];
  if (files === undefined) return [];
  const [, kind = ""] = /^kind: (\w+)$/m.exec(text) ?? [];
  const [, name = ""] = /^ {2}name: (\S+)$/m.exec(text) ?? [];
  const found = Object.entries(files).find(([key]) => {
    const [end = "", own = kind] = key.split(" ").toReversed();
    return end.startsWith("-") && own === kind && name.endsWith(end);
  });
  const path = found?.[1] ?? files[kind];
  if (path === undefined) throw new Error(`templates/${template}.yaml makes a ${kind} ${name}`);
  return [[path, asBase(path, text)]];
}

/** Without what a release says of itself. An overlay sets the image by its name. */
function asBase(path: string, text: string): string {
  const version = /\/policy(?:-\w+)?\.yaml$/.test(path) ? "" : "|app\\.kubernetes\\.io/version";
  const ofRelease = `app\\.kubernetes\\.io/(?:instance|managed-by)|helm\\.sh/chart${version}`;
  const plain = text
    .replace(/^# Source: .*\n/, "")
    .replaceAll(new RegExp(`^ *(?:${ofRelease}): .*\n`, "gm"), "")
    .replaceAll(/^( *image: )"[^"]*"$/gm, "$1secretcast");
  const scoped =
    path === "clusterrole.yaml" ? plain.replace(/^ {2}labels:\n.*\n/m, `$&${SCOPE}`) : plain;
  return `# npm run chart:docs writes this file from the chart.\n${scoped}`;
}

const SCOPE = `    # The component config-maps adds rights only to a role with this label, and listed-namespaces removes it. So
    # the order of the two does not matter.
    secretcast.io/scope: all-namespaces
`;

/** As `npm run format` writes them. */
function formatted(texts: readonly string[]): readonly string[] {
  const words = ["--stdin-filepath=manifests/all.yaml"];
  return run(join(ROOT, "node_modules/.bin/oxfmt"), words, { input: texts.join("\n---\n") })
    .split(/^---\n/m)
    .map((text) => `${text.trim()}\n`);
}
