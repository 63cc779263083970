import assert from "node:assert/strict";
import { test } from "node:test";
import {
  readConfig,
  UsageError,
  type FlagValues,
  type Environment,
} from "../../../src/controller/settings/config.ts";
import {
  configKey,
  environmentName,
  FLAGS,
  PLANNING_FLAGS,
} from "../../../src/controller/settings/flags.ts";
import { readPlannerSettings } from "../../../src/controller/settings/planner-settings.ts";

const outside: Environment = { env: {}, clusterNamespace: undefined, terminal: false };
const inside: Environment = { env: {}, clusterNamespace: "platform", terminal: false };

test("outside a cluster the defaults are those of the table", () => {
  assert.deepEqual(readConfig({}, outside), {
    kubeconfig: undefined,
    context: undefined,
    inCluster: false,
    ownNamespace: "secretcast",
    sourceNamespaces: ["secretcast"],
    kinds: ["Secret"],
    namespaces: undefined,
    excludeNamespaces: [],
    otherSourceNamespaces: [],
    includeSystemNamespaces: false,
    namespacePolicy: "opt-out",
    resyncMs: 600_000,
    concurrency: 32,
    deleteGraceMs: 10_000,
    deleteHoldMs: 1_800_000,
    fanoutLimitBytes: 268_435_456,
    onlyNames: undefined,
    receipts: undefined,
    copyableKeys: undefined,
    sourceList: "secretcast-sources",
    dataCacheBytes: 67_108_864,
    maxValueAgeMs: 0,
    dryRun: false,
    once: false,
    leaderElect: false,
    leaseNamespace: "secretcast",
    leaseName: "secretcast",
    httpAddress: { host: "0.0.0.0", port: 8080 },
    statusAddress: { host: "127.0.0.1", port: 8081 },
    logLevel: "info",
    logFormat: "json",
  });
});

test("the controller's own namespace is source namespace and holds the Lease by default", () => {
  const config = readConfig({}, inside);
  assert.deepEqual(config.sourceNamespaces, ["platform"]);
  assert.equal(config.leaseNamespace, "platform");
  assert.equal(config.leaderElect, true);
  assert.equal(config.inCluster, true);
});

test("a kubeconfig given in a cluster means that kubeconfig", () => {
  assert.equal(readConfig({ kubeconfig: "/tmp/x" }, inside).inCluster, false);
});

test("* among the source namespaces turns the default policy to opt-in", () => {
  assert.equal(readConfig({ "source-namespaces": "a,*" }, outside).namespacePolicy, "opt-in");
  const both: FlagValues = { "source-namespaces": "*", "namespace-policy": "opt-out" };
  assert.equal(readConfig(both, outside).namespacePolicy, "opt-out");
});

test("a list that lets every namespace publish counts as * and implies opt-in", () => {
  for (const list of ["*", "**", "?*", "*,!kube-system", "!x", "a,**", "! x,!y"]) {
    const config = readConfig({ "source-namespaces": list }, outside);
    assert.equal(config.namespacePolicy, "opt-in", list);
    assert.ok(!readPlannerSettings(config).namedSources?.matches("tenant"), list);
  }
  for (const list of ["team-*", "a,!x", "*-*", "?"]) {
    const config = readConfig({ "source-namespaces": list }, outside);
    assert.equal(config.namespacePolicy, "opt-out", list);
  }
  const both = readConfig({ "source-namespaces": "platform-*,**,!platform-x" }, outside);
  const { namedSources } = readPlannerSettings(both);
  const names = ["platform-a", "platform-x", "tenant"].filter((name) =>
    namedSources?.matches(name),
  );
  assert.deepEqual(names, ["platform-a"]);
});

test("the command line wins over the environment, the environment over the default", () => {
  const around = { ...outside, env: { SECRETCAST_RESYNC: "1h", SECRETCAST_DRY_RUN: "true" } };
  assert.equal(readConfig({}, around).resyncMs, 3_600_000);
  assert.equal(readConfig({ resync: "2h" }, around).resyncMs, 7_200_000);
  assert.equal(readConfig({}, around).dryRun, true);
  assert.equal(readConfig({ "dry-run": false }, around).dryRun, false);
});

test("variables that the kubelet makes for a Service called secretcast are not settings", () => {
  const env = {
    SECRETCAST_PORT: "tcp://10.0.0.1:80",
    SECRETCAST_SERVICE_HOST: "10.0.0.1",
    SECRETCAST_PORT_8080_TCP_ADDR: "10.0.0.1",
  };
  assert.deepEqual(readConfig({}, { ...outside, env }), readConfig({}, outside));
});

test("a wrong value is one line with the flag or variable and the remedy", () => {
  const wrong: readonly (readonly [FlagValues, RegExp])[] = [
    [{ resync: "soon" }, /^--resync: "soon" is not a duration/],
    [{ concurrency: "0" }, /^--concurrency: "0" is not a whole number of at least 1$/],
    [{ "fanout-limit": "big" }, /^--fanout-limit: "big" is not a size/],
    [{ "http-address": "8080" }, /^--http-address: "8080" is not an address/],
    [{ "http-address": ":99999" }, /^--http-address/],
    [{ "namespace-policy": "maybe" }, /"maybe" is not one of opt-out, opt-in$/],
    [{ "log-level": "loud" }, /^--log-level: "loud" is not one of/],
    [{ "source-namespaces": "a,,b" }, /^--source-namespaces: "a,,b" has an empty entry/],
    [{ "dry-run": "yes" }, /^--dry-run: "yes" is neither true nor false$/],
    [{ "lease-name": "A_B" }, /^--lease-name: "A_B" is wrong: expected a name of at most 253 /],
    [
      { "lease-namespace": "kube.ops" },
      /^--lease-namespace: "kube\.ops" is wrong: expected the name/,
    ],
  ];
  for (const [given, message] of wrong)
    assert.throws(
      () => readConfig(given, outside),
      (error: unknown) => {
        assert.ok(error instanceof UsageError);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /\n/);
        return true;
      },
    );
  const env = { SECRETCAST_DELETE_GRACE: "10" };
  assert.throws(
    () => readConfig({}, { ...outside, env }),
    /^UsageError: SECRETCAST_DELETE_GRACE: "10"/,
  );
});

test("--only-names takes literal names; anything else ends in one line that names it", () => {
  const names = (text: string) => readConfig({ "only-names": text }, outside).onlyNames;
  assert.deepEqual(names("registry, ca.crt"), ["registry", "ca.crt"]);
  const many = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`).join();
  assert.equal(names(many(50))?.length, 50);
  const wrong: readonly (readonly [FlagValues, RegExp])[] = [
    [{ "only-names": "" }, /^--only-names: "" has an empty name: separate names by single commas$/],
    [{ "only-names": "a,,b" }, /^--only-names: "a,,b" has an empty name/],
    [
      { "only-names": "reg*" },
      /^--only-names: "reg\*" is wrong: expected the name of an object, no glob/,
    ],
    [{ "only-names": "!a" }, /"!a" is wrong/],
    [{ "only-names": "Registry" }, /"Registry" is wrong/],
    [{ "only-names": "team/registry" }, /"team\/registry" is wrong/],
    [{ "only-names": "a".repeat(254) }, /is wrong: expected the name of an object/],
    [{ "only-names": many(51) }, /^--only-names: 51 names are too many: expected at most 50$/],
    [{ "only-names": "a,b,a" }, /^--only-names: "a" is given twice$/],
    [{ "only-names": "sh.helm.release.v1.x" }, /"sh\.helm\.release\.v1\.x" is never copied/],
    [
      { "only-names": "a,secretcast-sources", "config-maps": true },
      /^--only-names: "secretcast-sources" is reserved: a ConfigMap of that name configures secretcast/,
    ],
    [
      { "only-names": "mine", "config-maps": true, "source-list": "mine" },
      /"mine" is reserved: a ConfigMap/,
    ],
    [
      { "only-names": "secretcast-pull-secrets", "config-maps": true },
      /"secretcast-pull-secrets" is reserved/,
    ],
  ];
  for (const [given, message] of wrong)
    assert.throws(
      () => readConfig(given, outside),
      (error: unknown) =>
        error instanceof UsageError && message.test(error.message) && !error.message.includes("\n"),
      JSON.stringify(given),
    );
  const env = { SECRETCAST_ONLY_NAMES: "a b" };
  assert.throws(() => readConfig({}, { ...outside, env }), /^UsageError: SECRETCAST_ONLY_NAMES: /);
  // A Secret of the list's name is an ordinary Secret.
  assert.deepEqual(names("secretcast-sources"), ["secretcast-sources"]);
});

test("an address may be IPv6 or leave the host out", () => {
  const at = (text: string) => readConfig({ "http-address": text }, outside).httpAddress;
  assert.deepEqual(at("[::1]:9090"), { host: "::1", port: 9090 });
  assert.deepEqual(at(":9090"), { host: "0.0.0.0", port: 9090 });
  assert.deepEqual(at("127.0.0.1:0"), { host: "127.0.0.1", port: 0 });
});

test("every flag has its own environment name", () => {
  const names = FLAGS.map(({ name }) => environmentName(name));
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.every((name) => /^SECRETCAST_[A-Z_]+$/.test(name)));
});

test("--copyable-keys takes globs of keys and refuses a faulty one by name", () => {
  for (const [given, message] of [
    [
      "argocd.argoproj.io/secret type",
      /^--copyable-keys: "argocd.argoproj.io\/secret type" is wrong: expected a glob over label or annotation keys/,
    ],
    ["a/b/c", /"a\/b\/c" is wrong: expected a glob over label/],
    [
      "owner,secretcast.io/to",
      /"secretcast.io\/to" is wrong: expected keys that may be copied: secretcast.io\/\*, kubectl/,
    ],
    ["kubectl.kubernetes.io/*", /"kubectl.kubernetes.io\/\*" is wrong/],
    ["app.kubernetes.io/managed-by", /"app.kubernetes.io\/managed-by" is wrong/],
    ["!owner", /"!owner" is wrong: expected a glob without "!" as well/],
    ["x".repeat(400), /^--copyable-keys: "x{80}\.\.\." is wrong: expected at most 317 characters/],
    [
      `*${"a?".repeat(100)}*/*${"b?".repeat(50)}*`,
      /is wrong: expected globs that take at most \d+ steps a name/,
    ],
  ] as const)
    assert.throws(
      () => readPlannerSettings(readConfig({ "copyable-keys": given }, outside)),
      (error: unknown) => {
        assert.ok(error instanceof UsageError);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /\n/);
        return true;
      },
    );
  assert.throws(() => readConfig({ "copyable-keys": "a,,b" }, outside), /has an empty entry/);
  assert.equal(readPlannerSettings(readConfig({}, outside)).copyableKeys, undefined);
});

test("listed namespaces are names: a glob could not be watched", () => {
  const config = readConfig({ namespaces: "team-a,team-*" }, outside);
  assert.throws(
    () => readPlannerSettings(config),
    new UsageError(
      '--namespaces: "team-*" is wrong: expected the name of a namespace, no glob: each is watched for itself',
    ),
  );
});

test("listed namespaces alone receive, and those of the sources are read too", () => {
  const given = { namespaces: "team-a", "source-namespaces": "shared,src-*" };
  const { scope } = readPlannerSettings(readConfig(given, outside));
  assert.deepEqual([...(scope?.targets ?? [])], ["team-a"]);
  assert.deepEqual([...(scope?.watched ?? [])], ["team-a", "shared"]);
  assert.equal(readPlannerSettings(readConfig({}, outside)).scope, undefined);
});

test("--receipts is stdout or a file; what would be a mistake is refused", () => {
  const around = { env: {}, clusterNamespace: undefined, terminal: false };
  const read = (receipts: string) => readConfig({ receipts }, around).receipts;
  assert.equal(read("constructor"), "constructor", "a file of any name");
  assert.deepEqual(["none", "stdout", "/var/log/receipts.jsonl", "/dev/stderr"].map(read), [
    undefined,
    "stdout",
    "/var/log/receipts.jsonl",
    "/dev/stderr",
  ]);
  for (const wrong of ["", "stderr", "-", "a\0b"])
    assert.throws(() => read(wrong), /^UsageError: --receipts: ".*" is wrong: /);
});

test("every flag from which the planner's settings follow is one that a plan asks for", () => {
  const read = new Set<string | symbol>();
  const noted = new Proxy(readConfig({}, outside), {
    get: (config, key): unknown => {
      read.add(key);
      return Reflect.get(config, key);
    },
  });
  readPlannerSettings(noted);
  const planning = FLAGS.filter(({ name }) => PLANNING_FLAGS.includes(name)).map(configKey);
  // It follows from --lease-namespace.
  read.delete("ownNamespace");
  assert.deepEqual(read, new Set(planning.filter((key) => read.has(key))));
});
