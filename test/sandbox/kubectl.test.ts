// An unmodified kubectl works on the sandbox: each test is what a person would type, and what that
// person would see.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { startSandbox } from "../../packages/sandbox/server.ts";
import type { Sandbox } from "../../packages/sandbox/server.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { Kubectl, kubectlMissing } from "../support/api-server/kubectl.ts";

const missing = kubectlMissing();

/** A manifest of Secret "app" with one label and one value. */
function app(label: string, value: string): string {
  return `apiVersion: v1
kind: Secret
metadata:
  name: app
  labels: { tier: "${label}" }
stringData: { key: "${value}" }
`;
}

/** Cells of a printed table, without the column of ages. */
function cells(output: string): string[][] {
  const rows = output.trimEnd().split("\n");
  return rows.map((row) => row.split(/ {2,}|(?<=AGE) +/).filter((cell) => !/^\d+m?s$/.test(cell)));
}

describe("kubectl", { skip: missing ?? false }, () => {
  let sandbox: Sandbox;
  let kubectl: Kubectl;
  let namespace: string;
  let count = 0;

  before(async () => {
    sandbox = await startSandbox();
    kubectl = new Kubectl(sandbox.kubeconfig());
  });
  after(async () => {
    kubectl.close();
    await sandbox.stop();
  });
  beforeEach(() => {
    namespace = `team-${++count}`;
    sandbox.load([{ kind: "Namespace", metadata: { name: namespace } }]);
  });

  const run = (...args: string[]): Promise<string> => kubectl.run(["-n", namespace, ...args]);
  const apply = (manifest: string, ...args: string[]): Promise<string> =>
    kubectl.run(["-n", namespace, "apply", "-f", "-", ...args], { stdin: manifest });

  test("explain describes the fields of a kind, also nested ones", async () => {
    const secret = await run("explain", "secret");
    assert.match(secret, /^KIND: +Secret$/m);
    assert.match(secret, /^ +immutable\s+<boolean>$/m);
    const uid = await run("explain", "configmap.metadata.ownerReferences.uid");
    assert.match(uid, /^FIELD: +uid <string>$/m);
  });

  test("create makes namespaces and Secrets of each type, get shows them as tables", async () => {
    assert.equal(await run("create", "namespace", "made"), "namespace/made created\n");
    await run("create", "secret", "generic", "plain", "--from-literal=a=b");
    await run(
      "create",
      "secret",
      "docker-registry",
      "pull",
      "--docker-server=registry.example.com",
      "--docker-username=user",
      "--docker-password=word",
    );
    assert.deepEqual(cells(await run("get", "secrets")), [
      ["NAME", "TYPE", "DATA", "AGE"],
      ["plain", "Opaque", "1"],
      ["pull", "kubernetes.io/dockerconfigjson", "1"],
    ]);
    assert.deepEqual(cells(await run("get", "namespace", "made")), [
      ["NAME", "STATUS", "AGE"],
      ["made", "Active"],
    ]);
    const everywhere = await run("get", "secrets", "-A", "--field-selector=type=Opaque");
    assert.match(everywhere, new RegExp(`^${namespace} +plain +Opaque`, "m"));
    assert.equal(await run("get", "secret", "plain", "-o", "jsonpath={.data.a}"), "Yg==");
    assert.match(await run("get", "secret", "plain", "-o", "yaml"), /^ {2}a: Yg==$/m);
    assert.equal(await run("get", "secrets", "-o", "name"), "secret/plain\nsecret/pull\n");
  });

  test("create says what is wrong in the server's words", async () => {
    await run("create", "secret", "generic", "plain");
    const twice = await kubectl.try(["-n", namespace, "create", "secret", "generic", "plain"]);
    assert.equal(twice.code, 1);
    assert.match(twice.stderr, /secrets "plain" already exists/);
    const bad = await kubectl.try(["-n", namespace, "create", "secret", "generic", "Bad"]);
    assert.match(bad.stderr, /a lowercase RFC 1123 subdomain must consist of/);
    const nowhere = await kubectl.try(["-n", "none", "create", "secret", "generic", "plain"]);
    assert.match(nowhere.stderr, /namespaces "none" not found/);
  });

  test("apply creates, changes, finds nothing to change, and refuses unknown fields", async () => {
    assert.equal(await apply(app("one", "1")), "secret/app created\n");
    assert.equal(await apply(app("two", "2")), "secret/app configured\n");
    const labels = await run("get", "secret", "app", "-o", "jsonpath={.metadata.labels.tier}");
    assert.equal(labels, "two");
    assert.equal(await run("get", "secret", "app", "-o", "jsonpath={.data.key}"), "Mg==");
    const same = "apiVersion: v1\nkind: Secret\nmetadata: { name: same }\ndata: { k: dg== }\n";
    await apply(same);
    assert.equal(await apply(same), "secret/same unchanged\n");
    const args = ["-n", namespace, "apply", "-f", "-"];
    const refused = await kubectl.try(args, { stdin: app("one", "1").replace("Data", "Date") });
    assert.match(refused.stderr, /unknown field "stringDate"/);
  });

  test("apply --server-side keeps what another manager owns unless forced", async () => {
    const manifest = (value: string): string =>
      `apiVersion: v1\nkind: Secret\nmetadata: { name: ssa }\ndata: { k: ${value} }\n`;
    await apply(manifest("dg=="), "--server-side", "--field-manager=one");
    const args = ["-n", namespace, "apply", "-f", "-", "--server-side", "--field-manager=two"];
    const contested = await kubectl.try(args, { stdin: manifest("eA==") });
    assert.match(contested.stderr, /conflict with "one": .data.k/);
    await apply(manifest("eA=="), "--server-side", "--field-manager=two", "--force-conflicts");
    assert.equal(await run("get", "secret", "ssa", "-o", "jsonpath={.data.k}"), "eA==");
  });

  test("annotate, label, patch and edit change what they are told to", async () => {
    await apply(app("one", "1"));
    await run("annotate", "secret", "app", "note=hello");
    await run("label", "secret", "app", "tier=two", "--overwrite");
    await run("label", "secret", "app", "extra=yes");
    await run("label", "secret", "app", "extra-");
    await run("patch", "secret", "app", "-p", '{"data":{"more":"eA=="}}');
    const pruning = '[{"op":"remove","path":"/data/more"}]';
    await run("patch", "secret", "app", "--type=json", "-p", pruning);
    const env = { KUBE_EDITOR: "sed -i s/key:.MQ==/key:\\ Mw==/" };
    await kubectl.run(["-n", namespace, "edit", "secret", "app"], { env });
    const path = "jsonpath={.data} {.metadata.labels} {.metadata.annotations.note}";
    const seen = await run("get", "secret", "app", "-o", path);
    assert.equal(seen, '{"key":"Mw=="} {"tier":"two"} hello');
    assert.equal(await run("get", "secret", "-l", "tier in (one)", "-o", "name"), "");
    assert.equal(await run("get", "secret", "-l", "tier in (two)", "-o", "name"), "secret/app\n");
  });

  test("describe shows a Secret without its values, and the Events about it", async () => {
    await apply(app("one", "secret-value"));
    const about = { kind: "Secret", name: "app", namespace };
    const uid = await run("get", "secret", "app", "-o", "jsonpath={.metadata.uid}");
    sandbox.load([
      {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        metadata: { name: "app.1", namespace },
        eventTime: "2026-01-01T00:00:00.000000Z",
        reportingController: "example.com/tester",
        reportingInstance: "tester-0",
        action: "Copy",
        reason: "Copied",
        type: "Normal",
        note: "copied to 3 namespaces",
        regarding: { ...about, uid, apiVersion: "v1" },
      },
    ]);
    const described = await run("describe", "secret", "app");
    assert.match(described, /^key: {2}12 bytes$/m);
    assert.doesNotMatch(described, /secret-value|c2VjcmV0/);
    const events = await run("get", "events", "--field-selector=involvedObject.name=app");
    assert.match(events, /Normal +Copied +secret\/app +copied to 3 namespaces/);
    assert.match(await run("events", "--for", "secret/app"), /Copied/);
    assert.match(await run("describe", "namespace", namespace), /Status: +Active/);
  });

  test("get -w prints each change", async () => {
    const watch = kubectl.start(["-n", namespace, "get", "secrets", "-w"]);
    try {
      await run("create", "secret", "generic", "seen");
      await eventually("the new Secret in the output", () => /^seen .* 0 /m.test(watch.output()));
      await run("patch", "secret", "seen", "-p", '{"data":{"k":"eA=="}}');
      await eventually("its change in the output", () => /^seen .* 1 /m.test(watch.output()));
    } finally {
      await watch.stop();
    }
    assert.match(watch.output(), /^NAME +TYPE +DATA +AGE\n/);
  });

  test("delete and wait come back when the objects are gone", async () => {
    await run("create", "secret", "generic", "doomed");
    const waiting = run("wait", "--for=delete", "secret/doomed", "--timeout=20s");
    assert.match(await run("delete", "secret", "doomed"), /^secret "doomed" deleted/);
    await waiting;
    await run("create", "secret", "generic", "left");
    await run(
      "wait",
      "--for=jsonpath={.status.phase}=Active",
      `namespace/${namespace}`,
      "--timeout=20s",
    );
    await run("delete", "namespace", namespace);
    const gone = await kubectl.try(["get", "namespace", namespace]);
    assert.match(gone.stderr, /namespaces "team-\d+" not found/);
    assert.equal(await run("get", "secrets", "-o", "name"), "");
  });

  test("version, api-resources and api-versions tell what is there", async () => {
    assert.match(await run("version"), /^Server Version: v1\.37\./m);
    const names = await run("api-resources", "-o", "name");
    assert.deepEqual(names.trimEnd().split("\n").toSorted(), [
      "configmaps",
      "events",
      "events.events.k8s.io",
      "leases.coordination.k8s.io",
      "namespaces",
      "secrets",
      "serviceaccounts",
    ]);
    assert.match(await run("api-versions"), /^coordination.k8s.io\/v1$/m);
    assert.equal(await run("get", "--raw", "/readyz"), "ok");
  });
});
