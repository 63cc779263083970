// From the first version of the chart to this one, on a real API server, with copies in place: the chart
// as it was is installed, the Secrets are as the first version's program left them, the upgrade goes
// through, and the new program, run as the new Deployment says with the release's own account, writes
// nothing at all.
//
// first-release/ holds that chart as it was, what users had annotated, and copies.json: the copies and
// the pulling Secret that the program of that day made of it on an API server, with UID and VERSION in
// place of what an API server makes up.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadAllYaml, type V1Deployment } from "@kubernetes/client-node";
import { auditEventsOf } from "../support/api-server/audit-log.ts";
import { tryKubectl } from "../support/api-server/kubectl.ts";
import { ownCluster, openCluster } from "../support/api-server/cluster.ts";
import { ok } from "../../packages/sandbox/testing/facts/place.ts";
import { field, type Http } from "../../packages/sandbox/testing/http.ts";
import { serviceAccountKubeconfig } from "../support/api-server/service-account.ts";
import { Helm, helmMissing, readable } from "../support/programs/helm.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FIRST = `${ROOT}test/cluster/first-release`;
const HOME = "secretcast";
type Copy = {
  readonly metadata: {
    readonly namespace: string;
    readonly annotations: Readonly<Record<string, string>>;
  };
};
const COPIES: readonly Copy[] = JSON.parse(readFileSync(`${FIRST}/copies.json`, "utf8"));

let cluster: Awaited<ReturnType<typeof ownCluster>>;
let helm: Helm;
let http: Http;
before(async () => {
  cluster = await ownCluster();
  helm = new Helm(cluster.kubeconfig);
  http = openCluster(cluster);
});
after(async () => {
  helm.close();
  await http.close();
  await cluster.stop();
});

const secretPath = (namespace = "", name = ""): string =>
  `/api/v1/namespaces/${namespace}/secrets/${name}`;

/** Makes what users had, and what the first version's program had made of it. */
async function asTheFirstVersionLeftIt(): Promise<void> {
  for (const { kind, ...object } of loadAllYaml(readFileSync(`${FIRST}/sources.yaml`, "utf8"))) {
    const path =
      kind === "Namespace"
        ? "/api/v1/namespaces"
        : `/api/v1/namespaces/${object.metadata?.namespace}/secrets`;
    ok(await http.send("POST", path, { body: object }), 201);
  }
  for (const { metadata, ...object } of COPIES) {
    const { annotations, namespace } = metadata;
    const source =
      annotations["secretcast.io/source"] ?? annotations["secretcast.io/from"] ?? assert.fail();
    const found = await http.send("GET", secretPath(...source.split("/")));
    const filled = {
      ...annotations,
      "secretcast.io/source-uid": field(found.body, "metadata", "uid"),
      "secretcast.io/source-version": field(found.body, "metadata", "resourceVersion"),
    };
    const body = { ...object, metadata: { ...metadata, annotations: filled } };
    const path = `/api/v1/namespaces/${namespace}/secrets?fieldManager=secretcast`;
    ok(await http.send("POST", path, { body }), 201);
  }
}

/** Every Secret but Helm's own, by its place and version. */
async function versions(): Promise<ReadonlyMap<string, string>> {
  const { body } = await http.send("GET", "/api/v1/secrets");
  const items = field(body, "items");
  assert.ok(Array.isArray(items));
  const ours = items.filter((item) => field(item, "type") !== "helm.sh/release.v1");
  return new Map(
    ours.map((item) => {
      const [namespace, name, version] = ["namespace", "name", "resourceVersion"].map((key) =>
        String(field(item, "metadata", key)),
      );
      return [`${namespace}/${name}`, version ?? ""];
    }),
  );
}

/** The writes that the release's account asked for, of whatever kind, but for its Lease. */
function writes(): readonly string[] {
  const account = `system:serviceaccount:${HOME}:secretcast`;
  return auditEventsOf(account, cluster.auditLog)
    .map(
      (event) => `${String(field(event, "verb"))} ${String(field(event, "objectRef", "resource"))}`,
    )
    .filter((right) => !/^(get|list|watch) | leases$/.test(right));
}

async function runOnceAsDeployed(): Promise<string> {
  const path = `/apis/apps/v1/namespaces/${HOME}/deployments/secretcast`;
  const { body } = await http.send("GET", path);
  const { spec }: V1Deployment = body as V1Deployment;
  const [container] = spec?.template.spec?.containers ?? [];
  const name = spec?.template.spec?.serviceAccountName ?? "";
  const kubeconfig = await serviceAccountKubeconfig(cluster, { namespace: HOME, name });
  const own = ["--once", "--kubeconfig", kubeconfig, "--source-namespaces", HOME];
  const ports = ["--http-address", "127.0.0.1:0", "--status-address", "127.0.0.1:0"];
  const elected = ["--lease-namespace", HOME];
  const words = [...(container?.args ?? []), ...own, ...ports, ...elected];
  const program = [`${ROOT}bin/secretcast.js`, ...words];
  const { status, stdout, stderr } = spawnSync(process.execPath, program, { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  return stdout;
}

test(
  "helm upgrade from the first chart version writes no existing copy",
  { skip: helmMissing() ?? false },
  async () => {
    const place = ["--namespace", HOME];
    helm.run("install", "secretcast", `${FIRST}/chart`, "--create-namespace", ...place);
    await asTheFirstVersionLeftIt();
    const before = await versions();
    assert.equal(before.size, 10);

    const chart = `${ROOT}manifests/chart`;
    helm.run("upgrade", "secretcast", chart, ...place, ...readable("--reset-then-reuse-values"));
    const said = await runOnceAsDeployed();
    assert.match(said, /"secrets":10,.*"msg":"caches filled"/, "it has seen them all");
    assert.deepEqual(await versions(), before);
    assert.deepEqual(writes(), []);

    helm.run("upgrade", "secretcast", chart, ...place, ...EVERYTHING);
    await runOnceAsDeployed();
    assert.deepEqual(await versions(), before, "with the guards on as well");
    assert.deepEqual(writes(), []);

    helm.run("rollback", "secretcast", "1", ...place);
    assert.deepEqual(await versions(), before, "and back to where it came from");
  },
);

const EVERYTHING = readable(
  "--set",
  "guardrail=true,tenantGuard=true,earlyCheck=true,configMaps=true",
);

test(
  "a renamed value of the first version is refused by its old name",
  { skip: helmMissing() ?? false },
  () => {
    helm.run("install", "named", `${FIRST}/chart`, "-n", "named", "--create-namespace");
    for (const [old, value] of Object.entries({ replicas: 3, topologySpread: false })) {
      const given = ["--set", `${old}=${value}`];
      const again = ["upgrade", "named", `${ROOT}manifests/chart`, "-n", "named", ...given];
      const { code, stderr } = helm.try(...again);
      assert.equal(code, 1);
      assert.ok(stderr.includes(`additional properties '${old}' not allowed`), stderr);
    }
  },
);

test(
  "a change of a source after the upgrade reaches each of those copies",
  { skip: helmMissing() ?? false },
  async () => {
    helm.run("upgrade", "secretcast", `${ROOT}manifests/chart`, "--namespace", HOME, ...EVERYTHING);
    const body = { stringData: { token: "second" } };
    const merge = { contentType: "application/merge-patch+json" } as const;
    ok(await http.send("PATCH", secretPath(HOME, "plain"), { body, ...merge }), 200);
    await runOnceAsDeployed();
    for (const namespace of ["team-a", "team-b"]) {
      const copy = await http.send("GET", secretPath(namespace, "plain"));
      assert.equal(field(copy.body, "data", "token"), btoa("second"), namespace);
    }
    const ofSecrets = writes().filter((right) => !right.endsWith(" events"));
    assert.deepEqual(ofSecrets, ["patch secrets", "patch secrets"]);
  },
);

test(
  "the notes of an upgrade name the entries that it removes from the list",
  { skip: helmMissing() ?? false },
  () => {
    const chart = `${ROOT}manifests/chart`;
    const upgrade = (...words: readonly string[]): string =>
      helm.run(
        "upgrade",
        "notes",
        chart,
        "--install",
        "--namespace",
        "notes",
        ...readable(...words),
      );
    const entry = (key: string): readonly string[] => [
      "--set",
      `sources.${key}.secret=a/${key},sources.${key}.to=team-*`,
    ];
    const taken =
      /ENTRIES ARE TAKEN OUT OF THE SOURCE LIST notes\/notes-secretcast-sources: (.*)\./;
    const first = upgrade(
      "--create-namespace",
      ...entry("one"),
      ...entry("two"),
      ...entry("three"),
    );
    assert.doesNotMatch(first, taken);
    assert.doesNotMatch(upgrade("--reset-then-reuse-values"), taken);
    const narrowed = upgrade(...entry("one"), "--set", "flags.delete-hold=2h");
    assert.equal(taken.exec(narrowed)?.[1], "three, two");
    assert.match(narrowed, /Their copies are deleted after --delete-hold \(2h\)/);
    assert.match(narrowed, /helm upgrade notes CHART --namespace notes -f values\.yaml/);
    // Only without any value does Helm take those of the release before.
    const other = ["--set", "image.tag=x"];
    const lost = upgrade(...other);
    assert.equal(taken.exec(lost)?.[1], "one");
    assert.match(
      lost,
      /The list is empty now: the copies of these entries are neither updated nor/,
    );
    assert.doesNotMatch(upgrade(...other), taken, "nothing is taken away any more");
  },
);

test(
  "an upgrade without the values fails before it gives the controller more rights",
  { skip: helmMissing() ?? false },
  () => {
    const chart = `${ROOT}manifests/chart`;
    const place = ["--namespace", "narrow"];
    const choice =
      /choose which Secrets .* --set 'onlyNames=\{NAME,NAME\}' .* --set allSecrets=true/;
    const refused = (...words: readonly string[]): string => {
      const { code, stderr } = helm.try(...words);
      assert.equal(code, 1);
      return stderr;
    };
    const create = ["install", "narrow", chart, "--create-namespace", ...place];
    assert.match(refused(...create), choice);
    const both = ["--set", "onlyNames={registry},allSecrets=true"];
    assert.match(refused(...create, ...both), /onlyNames and allSecrets exclude each other/);
    helm.run(...create, "--set", "onlyNames={registry,db},tenantGuard=true");
    assert.match(refused("upgrade", "narrow", chart, ...place, "--set", "image.tag=x"), choice);
    const role = ["get", "clusterrole", "narrow-secretcast", "-o", "jsonpath={.rules}"];
    assert.match(
      tryKubectl(cluster.kubeconfig, role).stdout,
      /"resourceNames":\["registry","db"\]/,
    );
  },
);

test(
  "the notes of an upgrade say first which names and guards it takes away",
  { skip: helmMissing() ?? false },
  () => {
    const upgrade = (...words: readonly string[]): string => {
      const of = ["upgrade", "narrow", `${ROOT}manifests/chart`, "--namespace", "narrow"];
      const said = helm.run(...of, ...words);
      return said.slice(said.indexOf("NOTES:"));
    };
    const mistake =
      /If that is a mistake, .*\n\n {2}helm upgrade narrow CHART --namespace narrow -f/;
    assert.doesNotMatch(upgrade("--reset-then-reuse-values"), /TAKEN|REMOVED|mistake/);
    const fewer = upgrade("--set", "onlyNames={registry}");
    assert.match(fewer, /^NAMES ARE TAKEN OFF onlyNames: db\. Copies of these names stay/m);
    assert.match(fewer, /^THE TENANT GUARD IS REMOVED: others may edit/m);
    assert.doesNotMatch(fewer, /THE GUARDRAIL IS REMOVED/);
    assert.match(fewer, mistake);
    const all = upgrade("--set", "allSecrets=true");
    assert.match(
      all,
      /^ONLY-NAMES IS TAKEN AWAY: the controller could read Secrets named registry/m,
    );
    assert.match(all, /^THE GUARDRAIL IS REMOVED: the API server no longer holds/m);
    assert.match(all, mistake);
    assert.ok(all.indexOf("ONLY-NAMES") < all.indexOf("1. See that it runs"));
    assert.doesNotMatch(upgrade("--set", "allSecrets=true"), /TAKEN|REMOVED|mistake/);
  },
);
