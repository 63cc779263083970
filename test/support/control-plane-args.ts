// The command lines and files of the control plane in control-plane.ts, and why each flag is there.
// Nothing here starts anything.
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { kubeConfigFor, kubeConfigText } from "./kubeconfig.ts";

export type Layout = {
  readonly folder: string;
  readonly etcdPort: number;
  readonly etcdPeerPort: number;
  readonly apiserverPort: number;
  /** The administrator's bearer token. */
  readonly token: string;
};

/** For more than a test's worth of objects. */
export type Size = {
  /** What etcd may hold; its own default is 2 GiB. */
  readonly etcdQuotaBytes?: number;
};

export const apiserverUrl = (layout: Layout): string => `https://127.0.0.1:${layout.apiserverPort}`;
export const etcdUrl = (layout: Layout): string => `http://127.0.0.1:${layout.etcdPort}`;
/** The API server makes its own certificate here when it first starts; clients trust this file. */
export const caFile = (layout: Layout): string => join(layout.folder, "certs/apiserver.crt");
export const kubeconfigFile = (layout: Layout): string => join(layout.folder, "admin.kubeconfig");
export const auditLogFile = (layout: Layout): string => join(layout.folder, "audit.log");

export function etcdArgs(layout: Layout, { etcdQuotaBytes }: Size): readonly string[] {
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

export function apiserverArgs(layout: Layout): readonly string[] {
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
  ];
}

export function controllerManagerArgs(layout: Layout): readonly string[] {
  const { folder } = layout;
  return [
    `--kubeconfig=${kubeconfigFile(layout)}`,
    "--leader-elect=false",
    "--secure-port=0",
    `--root-ca-file=${caFile(layout)}`,
    `--service-account-private-key-file=${join(folder, "sa.key")}`,
    // What a namespace needs to come and go, and what the examples look at.
    "--controllers=namespace-controller,garbage-collector-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,deployment-controller,replicaset-controller",
    // Hundreds of namespaces come and go in these tests; the default of 20 requests/s would be the test.
    "--kube-api-qps=500",
    "--kube-api-burst=1000",
    "--concurrent-namespace-syncs=20",
    "--concurrent-gc-syncs=4",
  ];
}

// The administrator and the controller manager are not in it: only what runs under RBAC is of interest.
const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    userGroups: ["system:serviceaccounts"]
  - level: None
`;

export function writeFiles(layout: Layout): void {
  const { folder, token } = layout;
  const write = (name: string, text: string): void =>
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  const keys = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  write("sa.key", keys.privateKey);
  write("sa.pub", keys.publicKey);
  write("tokens.csv", `${token},admin,admin,"system:masters"\n`);
  write("audit.yaml", AUDIT_POLICY);
  write(
    "admin.kubeconfig",
    kubeConfigText(kubeConfigFor(apiserverUrl(layout), { token }, { caFile: caFile(layout) })),
  );
}
