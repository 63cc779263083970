// client-node's KubeConfig as the oracle of our reader: for the fields that both know, both find the same server,
// TLS settings, credentials and namespace. Where kubectl and client-node differ, kubectl decides
// (test/cluster/kubeconfig.test.ts), and such files are not generated here.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { KubeConfig } from "@kubernetes/client-node";
import * as fc from "fast-check";
import { dump } from "js-yaml";
import { loadKubeConfig } from "./kubeconfig.ts";
import { folderOf } from "../testing/folder.ts";

const runs = Number(process.env["SECRETCAST_TEST_RUNS"] ?? "200");

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });
const name = fc.constantFrom(
  "dev",
  "prod",
  "arn:aws:eks:eu:1:cluster/x",
  "gke_a_b",
  "user@host",
  "0",
);
const base64 = fc.base64String({ minLength: 4, maxLength: 40 });
/** Characters that YAML could take for something else. */
const text = fc.stringMatching(/^[aZ09:#{}'"\- !&*|>%@`]{1,20}$/);

/** Without the pairs that kubectl refuses. */
function consistent(fields: Readonly<Record<string, unknown>>): object {
  const isBasic = fields["token"] === undefined;
  const hasPair = fields["client-key-data"] !== undefined;
  return {
    ...fields,
    ...(!isBasic && { username: undefined, password: undefined }),
    ...(!hasPair && { "client-certificate-data": undefined }),
  };
}

const cluster = fc
  .record({
    server: fc.constantFrom(
      "https://10.0.0.1:6443",
      "https://[::1]:6443",
      "http://127.0.0.1:8001/k8s/c-1",
    ),
    "certificate-authority-data": optional(base64),
    "insecure-skip-tls-verify": optional(fc.boolean()),
    "tls-server-name": optional(fc.constantFrom("kubernetes", "api.example.com")),
  })
  .map((fields) =>
    fields["insecure-skip-tls-verify"] === true
      ? { ...fields, "certificate-authority-data": undefined }
      : fields,
  );
const user = fc
  .record({
    token: optional(fc.constantFrom("abc.def", "0", "true", "1e3")),
    username: optional(text),
    password: optional(text),
    "client-certificate-data": optional(base64),
    "client-key-data": optional(base64),
  })
  .map(consistent);
const context = fc.record({
  cluster: name,
  user: name,
  namespace: optional(fc.constantFrom("team-a", "0")),
});
const uniquely = <T>(what: string, value: fc.Arbitrary<T>) =>
  fc
    .uniqueArray(fc.tuple(name, value), {
      selector: ([first]) => first,
      minLength: 6,
      maxLength: 6,
    })
    .map((all) => all.map(([first, second]) => ({ name: first, [what]: second })));
const kubeconfigs = fc.record({
  apiVersion: fc.constant("v1"),
  kind: fc.constant("Config"),
  clusters: uniquely("cluster", cluster),
  users: uniquely("user", user),
  contexts: uniquely("context", context),
  "current-context": name,
});

test("a kubeconfig names the same server, credentials and namespace for client-node and for us", (t) => {
  const folder = folderOf(t);
  const file = join(folder, "config");
  fc.assert(
    fc.property(kubeconfigs, fc.boolean(), (config, asJson) => {
      const plain: unknown = JSON.parse(JSON.stringify(config));
      const written = asJson ? JSON.stringify(plain) : dump(plain);
      writeFileSync(file, written);
      const oracle = new KubeConfig();
      oracle.loadFromString(written);
      const ours = loadKubeConfig({ kubeconfig: file, env: {} });
      const [theirCluster, theirUser] = [oracle.getCurrentCluster(), oracle.getCurrentUser()];
      assert.equal(ours.context, oracle.getCurrentContext());
      assert.deepEqual(
        [ours.cluster.server, ours.cluster.caData, ours.cluster.tlsServerName],
        [theirCluster?.server, theirCluster?.caData, theirCluster?.tlsServerName],
      );
      assert.equal(ours.cluster.skipTLSVerify ?? false, theirCluster?.skipTLSVerify ?? false);
      for (const field of ["token", "username", "password", "certData", "keyData"] as const)
        assert.equal(ours.user[field], theirUser?.[field], field);
      assert.equal(ours.namespace, oracle.getContextObject(oracle.getCurrentContext())?.namespace);
    }),
    { numRuns: runs },
  );
});
