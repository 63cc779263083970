// The command lines and files of the control plane in control-plane.ts, and why each flag is there.
// Nothing here starts anything.
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { kubeConfigFor, kubeConfigText } from "../../../packages/kube/testing/kubeconfig-text.ts";

export type Layout = {
  readonly folder: string;
  readonly etcdPort: number;
  readonly etcdPeerPort: number;
  readonly apiserverPort: number;
  /** The administrator's bearer token. */
  readonly token: string;
  /** The controller manager's. */
  readonly controllerManagerToken: string;
};

/** What differs from the usual control plane. */
export type Setup = {
  /** What etcd may hold; its own default is 2 GiB. */
  readonly etcdQuotaBytes?: number;
  /** Path of a file for the plugins of admission. */
  readonly admissionConfig?: string;
};

export const apiserverUrl = (layout: Layout): string => `https://127.0.0.1:${layout.apiserverPort}`;
export const etcdUrl = (layout: Layout): string => `http://127.0.0.1:${layout.etcdPort}`;
/** The API server makes its own certificate here when it first starts; clients trust this file. */
export const caFile = (layout: Layout): string => join(layout.folder, "certs/apiserver.crt");
export const kubeconfigFile = (layout: Layout): string => join(layout.folder, "admin.kubeconfig");
const controllerManagerKubeconfig = (layout: Layout): string =>
  join(layout.folder, "controller-manager.kubeconfig");
export const auditLogFile = (layout: Layout): string => join(layout.folder, "audit.log");

export function etcdArgs(layout: Layout, { etcdQuotaBytes }: Setup): readonly string[] {
  const peer = `http://127.0.0.1:${layout.etcdPeerPort}`;
  return [
    `--data-dir=${join(layout.folder, "etcd")}`,
    `--listen-client-urls=${etcdUrl(layout)}`,
    `--advertise-client-urls=${etcdUrl(layout)}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    "--unsafe-no-fsync",
    "--log-level=warn",
    ...(etcdQuotaBytes === undefined ? [] : [`--quota-backend-bytes=${etcdQuotaBytes}`]),
  ];
}

export function apiserverArgs(layout: Layout, { admissionConfig }: Setup): readonly string[] {
  const { folder } = layout;
  return [
    `--etcd-servers=${etcdUrl(layout)}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${layout.apiserverPort}`,
    `--cert-dir=${join(folder, "certs")}`,
    // Nothing here reaches a Service, and a loopback address is no valid endpoint of one.
    "--endpoint-reconciler-type=none",
    "--service-cluster-ip-range=10.0.0.0/24",
    `--token-auth-file=${join(folder, "tokens.csv")}`,
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${join(folder, "sa.pub")}`,
    `--service-account-signing-key-file=${join(folder, "sa.key")}`,
    `--audit-policy-file=${join(folder, "audit.yaml")}`,
    `--audit-log-path=${auditLogFile(layout)}`,
    "--audit-log-maxsize=1000",
    "--shutdown-delay-duration=0s",
    "--profiling=false",
    ...(admissionConfig === undefined
      ? []
      : [`--admission-control-config-file=${admissionConfig}`]),
  ];
}

export function controllerManagerArgs(layout: Layout): readonly string[] {
  const { folder } = layout;
  return [
    `--kubeconfig=${controllerManagerKubeconfig(layout)}`,
    // Each controller under an account of its own, as clusters run them: policies meet the names that
    // they will meet there.
    "--use-service-account-credentials",
    "--leader-elect=false",
    "--secure-port=0",
    `--root-ca-file=${caFile(layout)}`,
    `--service-account-private-key-file=${join(folder, "sa.key")}`,
    // What a namespace needs, what the examples look at, and the rules of the ClusterRole admin.
    "--controllers=namespace-controller,garbage-collector-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,deployment-controller,replicaset-controller,validatingadmissionpolicy-status-controller,clusterrole-aggregation-controller",
    // Hundreds of namespaces come and go in these tests; the default of 20 requests/s would be the test.
    "--kube-api-qps=500",
    "--kube-api-burst=1000",
    "--concurrent-namespace-syncs=20",
    "--concurrent-gc-syncs=4",
  ];
}

// The administrator is not in it, and the cluster's own controllers are with the last step of a
// namespace's end alone: of interest is what runs with the rights of the manifests.
const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    userGroups: ["system:serviceaccounts:kube-system"]
    resources: [{ group: "", resources: [namespaces/finalize] }]
  - level: None
    userGroups: ["system:serviceaccounts:kube-system"]
  - level: Metadata
    userGroups: ["system:serviceaccounts"]
  - level: None
`;

export function writeFiles(layout: Layout): void {
  const { folder, token, controllerManagerToken } = layout;
  const write = (name: string, text: string): void =>
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  const keys = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  write("sa.key", keys.privateKey);
  write("sa.pub", keys.publicKey);
  const manager = "system:kube-controller-manager";
  write(
    "tokens.csv",
    `${token},admin,admin,"system:masters"\n${controllerManagerToken},${manager},${manager}\n`,
  );
  write("audit.yaml", AUDIT_POLICY);
  const url = apiserverUrl(layout);
  for (const [file, bearer] of [
    [kubeconfigFile(layout), token],
    [controllerManagerKubeconfig(layout), controllerManagerToken],
  ] as const) {
    const config = kubeConfigFor(url, { token: bearer }, { caFile: caFile(layout) });
    writeFileSync(file, kubeConfigText(config), { mode: 0o600 });
  }
}
