// A move from External Secrets where owner references are real: the garbage collector deletes what a deleted
// rule owns, and never a copy that was adopted. One control plane for this file alone, because definitions of
// resources are the whole cluster's.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ok } from "../../packages/sandbox/testing/facts/place.ts";
import { openCluster, ownCluster } from "../support/api-server/cluster.ts";
import type { ControlPlane } from "../support/api-server/control-plane.ts";
import { field, type Http } from "../../packages/sandbox/testing/http.ts";
import { commandLine } from "../support/programs/command-line.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const GROUP = "external-secrets.io";
const KINDS = [
  ["ClusterExternalSecret", "Cluster"],
  ["ExternalSecret", "Namespaced"],
  ["ClusterSecretStore", "Cluster"],
  ["SecretStore", "Namespaced"],
] as const;
const DATA = { token: Buffer.from("made up").toString("base64") };
const EDITED = { token: Buffer.from("edited").toString("base64") };
const SPEC = {
  secretStoreRef: { kind: "ClusterSecretStore", name: "vault" },
  dataFrom: [{ extract: { key: "registry" } }],
};
/** For a machine with much else to do; alone it takes seconds. */
const PATIENCE_MS = 120_000;

let cluster: ControlPlane;
let http: Http;
before(async () => {
  cluster = await ownCluster();
  http = openCluster(cluster);
  await Promise.all(KINDS.map(([kind, scope]) => define(kind, scope)));
});
after(async () => {
  await http.close();
  await cluster.stop();
});

async function define(kind: string, scope: string): Promise<void> {
  const plural = `${kind.toLowerCase()}s`;
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: anything } } };
  const body = {
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  ok(await http.send("POST", path, { body }), 201);
  await eventually(
    `${plural} are served`,
    async () => {
      const found = await http.send("GET", `/apis/${GROUP}/v1/${plural}`);
      assert.equal(found.status, 200);
      return true;
    },
    PATIENCE_MS,
  );
}

const secrets = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`;
const externals = (namespace: string): string =>
  `/apis/${GROUP}/v1/namespaces/${namespace}/externalsecrets`;

async function create(path: string, body: object): Promise<string> {
  const made = await http.send("POST", path, { body });
  ok(made, 201);
  return String(field(made.body, "metadata", "uid"));
}

function owner(kind: string, name: string, uid: string): object {
  return { apiVersion: `${GROUP}/v1`, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** As External Secrets leaves a namespace: an ExternalSecret of the rule, and the Secret that it owns. */
async function serve(namespace: string, rule: string, data: object): Promise<void> {
  await create("/api/v1/namespaces", {
    metadata: { name: namespace, labels: { team: namespace } },
  });
  const apiVersion = `${GROUP}/v1`;
  const made = {
    name: "registry",
    ownerReferences: [owner("ClusterExternalSecret", "registry", rule)],
  };
  const uid = await create(externals(namespace), {
    apiVersion,
    kind: "ExternalSecret",
    metadata: made,
    spec: SPEC,
  });
  await create(secrets(namespace), {
    metadata: {
      name: "registry",
      labels: { "reconcile.external-secrets.io/managed": "true" },
      annotations: { "reconcile.external-secrets.io/data-hash": "made-up" },
      ownerReferences: [owner("ExternalSecret", "registry", uid)],
    },
    data,
  });
}

test(
  "the garbage collector never deletes an adopted copy with its rule",
  { timeout: 2 * PATIENCE_MS },
  async () => {
    const apiVersion = `${GROUP}/v1`;
    await create("/api/v1/namespaces", { metadata: { name: "vault" } });
    await create(secrets("vault"), { metadata: { name: "registry" }, data: DATA });
    await create(`/apis/${GROUP}/v1/clustersecretstores`, {
      apiVersion,
      kind: "ClusterSecretStore",
      metadata: { name: "vault" },
      spec: { provider: { kubernetes: { remoteNamespace: "vault" } } },
    });
    const rule = await create(`/apis/${GROUP}/v1/clusterexternalsecrets`, {
      apiVersion,
      kind: "ClusterExternalSecret",
      metadata: { name: "registry" },
      spec: {
        externalSecretSpec: SPEC,
        namespaceSelectors: [{ matchExpressions: [{ key: "team", operator: "Exists" }] }],
      },
    });
    await serve("team-a", rule, DATA);
    await serve("team-b", rule, EDITED);
    const migrate = (...words: readonly string[]) =>
      commandLine([
        "migrate",
        "--from",
        "external-secrets",
        "--kubeconfig",
        cluster.kubeconfig,
        ...words,
      ]);

    const moved = await migrate("--write", "--yes");
    assert.match(moved.stderr, /written: 1 sources, 0 namespaces, 1 copies adopted\n/);
    const adopted = await http.send("GET", `${secrets("team-a")}/registry`);
    assert.equal(field(adopted.body, "metadata", "ownerReferences"), undefined);
    const left = await http.send("GET", `${secrets("team-b")}/registry`);
    assert.notEqual(field(left.body, "metadata", "ownerReferences"), undefined);
    const cleaned = await migrate("--cleanup");
    assert.match(cleaned.stdout, /1 Secrets are owned by an ExternalSecret .*: team-b\/registry;/);

    ok(await http.send("DELETE", `/apis/${GROUP}/v1/clusterexternalsecrets/registry`), 200);
    await eventually(
      "the garbage collector deletes what the rule still owns",
      async () => {
        const found = await http.send("GET", `${secrets("team-b")}/registry`);
        assert.equal(found.status, 404);
        return true;
      },
      PATIENCE_MS,
    );
    const external = await http.send("GET", `${externals("team-a")}/registry`);
    assert.equal(external.status, 404, "the ExternalSecret of the copy is deleted as well");
    const kept = await http.send("GET", `${secrets("team-a")}/registry`);
    assert.equal(kept.status, 200);
    assert.equal(field(kept.body, "metadata", "uid"), field(adopted.body, "metadata", "uid"));
    assert.deepEqual(field(kept.body, "data"), DATA);
    const last = await migrate("--cleanup", "--write", "--yes");
    assert.equal(last.code, 0, last.stderr);
    assert.match(last.stderr, /verified: 0 objects bear traces still\n$/);
    const clean = await http.send("GET", `${secrets("team-a")}/registry`);
    assert.deepEqual(field(clean.body, "metadata", "labels"), {
      "app.kubernetes.io/managed-by": "secretcast",
    });
  },
);
