// The component early-check on a real API server: it says what the controller would say, of whatever
// value, and of nothing that a request does not change.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { after, before, type TestContext } from "node:test";
import { nameToAdd } from "../../src/controller/annotations/name-scope.ts";
import { tryKubectl } from "../support/api-server/kubectl.ts";
import { openCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { installEarlyCheck, spokenBy } from "../support/api-server/early-check.ts";
import { ok } from "../../packages/sandbox/testing/facts/place.ts";
import { field, type Answer, type Http } from "../../packages/sandbox/testing/http.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import { eventNotes } from "../support/scenes/told.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const page = readFileSync(new URL("../../docs/reference.md", import.meta.url), "utf8");
const CHECK = "early-check-of-the-test";
const [SOURCE, OTHER] = ["secretcast", "default"];

let http: Http;
let remove: (() => Promise<void>) | undefined;
before(async () => {
  http = openCluster(sharedCluster());
  remove = await installEarlyCheck(http, { name: CHECK, sourceNamespaces: [SOURCE] });
});
after(async () => {
  await remove?.();
  await http.close();
});

type Metadata = Readonly<Record<string, unknown>>;
type Change = { readonly metadata?: Metadata; readonly data?: Readonly<Record<string, string>> };
const MERGE = { contentType: "application/merge-patch+json" } as const;

function words(texts: Readonly<Record<string, string | null>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(texts).map(([word, text]) => [`secretcast.io/${word}`, text]),
  );
}

const secretPath = (name: string): string => `/api/v1/namespaces/${SOURCE}/secrets/${name}`;

/** A Secret of the source namespace, and a change of it; what each was told. */
async function faulty(t: TestContext, name: string, texts: Readonly<Record<string, string>>) {
  const metadata = { name, annotations: words(texts), finalizers: ["example.com/hold"] };
  const body = { metadata, data: { a: "eA==" } };
  const made = await http.send("POST", `/api/v1/namespaces/${SOURCE}/secrets`, { body });
  ok(made, 201);
  // Where its cache is late, the API server judges what it has there, finds it old and judges again: with
  // the version in the request only what is current is judged.
  const patch = async (change: Change): Promise<readonly string[]> => {
    const current = ok(await http.send("GET", secretPath(name)), 200);
    const resourceVersion = field(current, "metadata", "resourceVersion");
    const body = { ...change, metadata: { ...change.metadata, resourceVersion } };
    const answer = await http.send("PATCH", secretPath(name), { body, ...MERGE });
    ok(answer, 200);
    return spokenBy(CHECK, answer);
  };
  const change = (metadata: Metadata): Promise<readonly string[]> => patch({ metadata });
  t.after(async () => {
    await http.send("PATCH", secretPath(name), {
      body: { metadata: { finalizers: null } },
      ...MERGE,
    });
    await http.send("DELETE", secretPath(name));
  });
  return { reported: spokenBy(CHECK, made), change, patch };
}

const FORM =
  'expected a namespace glob: lower-case letters, digits, "-", "*" and "?", or one of these after "!"';

test("only what a request changes is judged: an old fault keeps nobody from anything else", async (t) => {
  const {
    reported: first,
    change,
    patch,
  } = await faulty(t, "old-fault", { to: "Team_A", keys: "a" });
  assert.deepEqual(first, [`invalid secretcast.io/to: "Team_A": ${FORM}`]);
  assert.deepEqual(await change({ labels: { team: "x" } }), []);
  assert.deepEqual(await change({ annotations: { other: "x" } }), []);
  assert.deepEqual(await patch({ data: { b: "eA==" } }), []);
  assert.deepEqual(await change({ annotations: words({ keys: "b" }) }), []);
  assert.deepEqual(await change({ annotations: words({ keys: "b c" }) }), [
    'invalid secretcast.io/keys: "b c": expected a glob over data keys, NEW=OLD, or "!" and a glob: letters, digits, "-", "_", ".", "*", "?"',
  ]);
  assert.deepEqual(await change({ annotations: words({ to: "Team_B" }) }), [
    `invalid secretcast.io/to: "Team_B": ${FORM}`,
  ]);
  assert.deepEqual(await change({ annotations: words({ keys: null }) }), []);
  const going = await http.send("DELETE", secretPath("old-fault"));
  assert.deepEqual(spokenBy(CHECK, going), []);
  assert.notEqual(field(ok(going, 200), "metadata", "deletionTimestamp"), undefined);
  assert.deepEqual(await change({ finalizers: null }), []);
  assert.equal((await http.send("GET", secretPath("old-fault"))).status, 404);
});

test("a word that makes another one wrong is reported when either changes", async (t) => {
  const pair = { to: "a", "to-selector": "b", match: "any" };
  const { reported: first, change } = await faulty(t, "pairs", pair);
  assert.deepEqual(first, []);
  const unpaired =
    'invalid secretcast.io/match: "any": expected to and to-selector, or allow and allow-selector with it, or no match';
  assert.deepEqual(await change({ annotations: words({ to: null }) }), [unpaired]);
  assert.deepEqual(await change({ annotations: words({ to: "!a" }) }), [
    'invalid secretcast.io/to: "!a": expected a glob without "!" as well, or secretcast.io/match off',
  ]);
  assert.deepEqual(await change({ annotations: words({ match: null, to: "a" }) }), []);
  assert.deepEqual(await change({ annotations: words({ from: "x/y" }) }), [
    'invalid secretcast.io/to: "a": expected no such annotation, or no secretcast.io/from: a pulling Secret is no source',
  ]);
});

test("a namespace's accept is judged, and no update of its status or its finalizers", async (t) => {
  const name = "early-check-namespace";
  const path = `/api/v1/namespaces/${name}`;
  t.after(() => http.send("DELETE", path));
  const body = { metadata: { name, annotations: words({ accept: "yes" }) } };
  const made = await http.send("POST", "/api/v1/namespaces", { body });
  const fault =
    'copies in this namespace are frozen: invalid secretcast.io/accept: "yes": expected "true", "false" or globs over sources, NAMESPACE/NAME with "*" and "?"';
  assert.deepEqual(spokenBy(CHECK, made), [fault]);
  for (const [target, change] of [
    [path, { metadata: { labels: { a: "b" } } }],
    [`${path}/status`, { metadata: { annotations: words({ accept: "no" }) } }],
    [path, { metadata: { annotations: words({ accept: "false" }) } }],
    [path, { metadata: { annotations: words({ accept: null }) } }],
  ] as const) {
    const answer = await http.send("PATCH", target, { body: change, ...MERGE });
    ok(answer, 200);
    assert.deepEqual(spokenBy(CHECK, answer), [], JSON.stringify(change));
  }
});

test("where --source-namespaces has globs, nothing is said of where a source stands", async (t) => {
  const name = "early-check-anywhere";
  const off = await installEarlyCheck(http, { name, sourceNamespaces: ["*"] });
  t.after(off);
  const ask = async (texts: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    const body = { metadata: { name: "asked", annotations: words(texts) } };
    const path = `/api/v1/namespaces/${OTHER}/secrets?dryRun=All`;
    return spokenBy(name, await http.send("POST", path, { body }));
  };
  assert.deepEqual(await ask({ to: "a" }), []);
  assert.deepEqual(await ask({ to: "A" }), [`invalid secretcast.io/to: "A": ${FORM}`]);
  assert.deepEqual(await ask({ adopt: "A" }), [
    "secretcast.io/adopt has no effect as it is: it has to be NAMESPACE/NAME of a source",
  ]);
});

test("under --only-names an annotation on another name is answered with what to add", async (t) => {
  const name = "early-check-of-names";
  const long = ["a", "b", "c", "d"].map((letter) => letter.repeat(130));
  const many = Array.from({ length: 50 }, (_, at) => `n${at}`);
  const [registry, ofLong, ofMany] = [["registry", "ca"], long, many] as const;
  const onlyNames = registry;
  t.after(await installEarlyCheck(http, { name, sourceNamespaces: [SOURCE], onlyNames }));
  for (const [kind, names] of [["long", ofLong] as const, ["many", ofMany] as const]) {
    const options = { name: `${name}-${kind}`, sourceNamespaces: [SOURCE], onlyNames: names };
    t.after(await installEarlyCheck(http, options));
  }
  const ask = async (
    texts: Readonly<Record<string, string>>,
    { of = name, object = "db", home = SOURCE } = {},
  ): Promise<readonly string[]> => {
    const body = { metadata: { name: object, annotations: words(texts) } };
    const path = `/api/v1/namespaces/${home}/secrets?dryRun=All`;
    return spokenBy(of, await http.send("POST", path, { body }));
  };
  const said = (names: readonly string[]) => [
    `objects named db are not read (--only-names): ${nameToAdd(new Set(names), "db")}`,
  ];
  assert.deepEqual(await ask({ to: "team-*" }), said(registry));
  assert.deepEqual(await ask({ from: `${SOURCE}/registry` }, { home: OTHER }), said(registry));
  assert.deepEqual(await ask({ adopt: `${SOURCE}/registry` }, { home: OTHER }), said(registry));
  assert.deepEqual(await ask({ to: "team-*" }, { object: "ca" }), []);
  assert.deepEqual(await ask({ from: "elsewhere/db" }, { home: OTHER }), []);
  assert.deepEqual(await ask({ to: "team-*" }, { of: `${name}-long` }), said(ofLong));
  assert.deepEqual(await ask({ to: "team-*" }, { of: `${name}-many` }), said(ofMany));
});

/** A scene whose namespaces alone are judged, by a policy that denies. */
async function denied(t: TestContext): Promise<{ scene: Scene; team: string; name: string }> {
  const scene = await openScene(t);
  const team = await scene.namespace("team-a");
  const name = `early-check-${scene.prefix}`;
  const namespaces = [scene.source, team];
  const sourceNamespaces = [scene.source];
  const options = { name, sourceNamespaces, action: "Deny", namespaces } as const;
  t.after(await installEarlyCheck(http, options));
  return { scene, team, name };
}

test("under the binding that denies, the controller copies, fills, releases and removes as ever", async (t) => {
  const { scene, team, name } = await denied(t);
  const { api, source } = scene;
  const annotations = { "secretcast.io/to": "*", "secretcast.io/allow": team };
  const given = { "secretcast.io/copy-labels": "*", "secretcast.io/on-delete": "keep" };
  for (const one of ["kept", "gone"])
    await api.createSecret(source, one, {
      labels: { tier: "x" },
      annotations: { ...annotations, "secretcast.io/to": team, ...(one === "kept" ? given : {}) },
      data: { a: "b" },
    });
  await api.createSecret(team, "filled", {
    annotations: { "secretcast.io/from": `${source}/gone` },
    data: {},
  });
  const running = scene.start();
  await scene.holds(team, "kept", { a: "b" });
  await scene.holds(team, "gone", { a: "b" });
  await scene.holds(team, "filled", { a: "b" });
  // kubectl's edits of copies are nobody's to judge here: the controller puts its marks back.
  for (const change of [{ "secretcast.io/on-delete": "later" }, { "secretcast.io/to": "" }])
    await api.annotate(team, "kept", change);
  for (const one of ["kept", "gone"]) await api.deleteSecret(source, one);
  await scene.absent(team, "gone");
  await scene.holds(team, "filled", {});
  await eventually("the kept copy is its namespace's", async () => {
    const kept = await api.secret(team, "kept");
    return kept?.metadata.labels?.["app.kubernetes.io/managed-by"] === undefined;
  });
  const failed = running.outcomes.filter(({ kind }) => kind === "failed");
  assert.deepEqual(failed, []);
  await scene.finish();
  assert.deepEqual(spokenBy(name, await refusal(scene, "x", { to: "A" })), [
    `invalid secretcast.io/to: "A": ${FORM}`,
  ]);
});

function refusal(
  { source }: Scene,
  name: string,
  texts: Readonly<Record<string, string>>,
): Promise<Answer> {
  const body = { metadata: { name, annotations: words(texts) } };
  return http.send("POST", `/api/v1/namespaces/${source}/secrets`, { body });
}

test("what is refused at once is what the controller's Event says, word for word", async (t) => {
  const texts = { to: "Team_A", "to-selector": "env in (a", paused: "yes", "to-selecter": "x" };
  const { scene, name } = await denied(t);
  const answer = await refusal(scene, "wrong", texts);
  assert.equal(answer.status, 422);
  await http.send(
    "DELETE",
    `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/${name}`,
  );
  await eventually("it is off", async () => (await refusal(scene, "wrong", texts)).status === 201);
  scene.start();
  const notes = await eventually("the controller refuses it", async () => {
    const found = await eventNotes(scene, scene.source, "wrong", "Refused");
    return found.length > 0 && found;
  });
  assert.deepEqual(spokenBy(name, answer), notes);
});

for (const [at, [globs, silent]] of (
  [
    [["def?ult", "apps-*"], true],
    [["!apps-*"], true],
    [["*", "!default"], false],
    [["defaul", "efault"], false],
  ] as const
).entries())
  test(`with ${globs.join()} as source namespaces of others, nothing is refused there: ${silent}`, async (t) => {
    const name = `early-check-of-others-${at}`;
    const options = { name, sourceNamespaces: [SOURCE], action: "Deny" } as const;
    const given = { ...options, otherSourceNamespaces: globs, namespaces: [OTHER] };
    t.after(await installEarlyCheck(http, given));
    const metadata = { name: "of-others", annotations: words({ to: "team-a" }) };
    const path = `/api/v1/namespaces/${OTHER}/secrets?dryRun=All`;
    const answer = await http.send("POST", path, { body: { metadata } });
    assert.equal(answer.status, silent ? 201 : 422);
    assert.equal(spokenBy(name, answer).length, silent ? 0 : 1);
  });

test("what docs/reference.md shows of kubectl is what kubectl prints", async (t) => {
  const kubectl = (...words: readonly string[]): string => {
    const { stdout, stderr } = tryKubectl(sharedCluster().kubeconfig, words);
    const lines = (stderr + stdout).split("\n");
    return lines.filter((line) => !line.includes(CHECK)).join("\n");
  };
  const files = ["early-check/policy", "early-check/binding", "early-check-deny/binding"].map(
    (file) => fileURLToPath(new URL(`../../manifests/components/${file}.yaml`, import.meta.url)),
  );
  const [policy = "", warn = "", deny = ""] = files;
  t.after(() => {
    for (const file of files) kubectl("delete", "--ignore-not-found", "-f", file);
    kubectl("delete", "namespace", "team-a");
    kubectl("delete", "secret", "registry", "-n", SOURCE);
  });
  kubectl("create", "namespace", "team-a");
  for (const namespace of [SOURCE, "team-a"])
    kubectl("create", "secret", "generic", "registry", "-n", namespace);
  const blocks = page.slice(page.indexOf("### early-check"), page.indexOf("### listed-namespaces"));
  const shown = Array.from(blocks.matchAll(/```console\n(.*?)```/gs), ([, text = ""]) => text);
  const inForce = (binding: string): Promise<unknown> =>
    eventually(`${binding} is in force`, () => {
      const probe = ["annotate", "secret", "registry", "-n", SOURCE, "--dry-run=server"];
      return kubectl(...probe, "--overwrite", "secretcast.io/to=").includes(`'${binding}'`);
    });
  for (const [at, installed] of [[policy, warn], [deny]].entries()) {
    for (const file of installed) kubectl("apply", "-f", file);
    await inForce(at === 0 ? "secretcast-early-check" : "secretcast-early-check-deny");
    for (const [, line = "", output = ""] of (shown[at] ?? "").matchAll(
      /\$ kubectl (.*)\n([^$]*)/g,
    ))
      assert.equal(kubectl(...line.split(" ")), output, line);
  }
  assert.equal(shown.length, 2);
});
