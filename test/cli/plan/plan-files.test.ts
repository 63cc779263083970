// `plan -f`: what files would come to, without a cluster.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { load } from "js-yaml";
import { commandLine } from "../../support/programs/command-line.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

const TEAMS = `apiVersion: v1
kind: Namespace
metadata: { name: team-a }
---
apiVersion: v1
kind: Namespace
metadata: { name: team-b }
`;
const SOURCE = `apiVersion: v1
kind: Secret
metadata:
  name: registry
  namespace: secretcast
  labels: { app: web }
  annotations: { secretcast.io/to: "team-*", secretcast.io/copy-labels: app }
stringData: { password: hunter2 }
`;

async function fails(args: readonly string[], line: RegExp, stdin?: string): Promise<void> {
  const said = await commandLine(["plan", ...args], stdin === undefined ? {} : { stdin });
  assert.equal(said.code, 1, said.stdout + said.stderr);
  assert.match(said.stderr, line);
  assert.match(said.stderr, /^secretcast: [^\n]+\n$/, "one line");
  assert.doesNotMatch(said.stdout + said.stderr, /hunter2|\n\s+at /, "no value, no stack trace");
}

test("a folder of files is planned by key and label names, with exit code 2", async (t) => {
  const path = folderOf(t, { "a.yaml": TEAMS, "b.yml": SOURCE, "notes.txt": "no: [yaml" });
  const { code, stdout, stderr } = await commandLine(["plan", "-f", path]);
  assert.equal(
    stdout,
    `VERDICT   NAMESPACE   NAME       SOURCE                CHANGES
create    team-a      registry   secretcast/registry   +password +label:app
create    team-b      registry   secretcast/registry   +password +label:app
`,
  );
  assert.equal(code, 2);
  assert.match(stderr, /^read 2 Namespaces and 1 Secrets$/m);
  assert.match(stderr, /^2 to create$/m);
  assert.match(
    stderr,
    /^judged by --source-namespaces=secretcast --namespace-policy=opt-out, from the defaults$/m,
  );
  assert.doesNotMatch(stdout + stderr, /hunter2|aHVudGVyMg/);
});

test("--exit-code=false makes a 2 a 0; nothing to do is 0 by itself", async (t) => {
  const path = folderOf(t, { "a.yaml": TEAMS, "b.yaml": SOURCE });
  assert.equal((await commandLine(["plan", "-f", path, "--exit-code=false"])).code, 0);
  assert.equal((await commandLine(["plan", "-f", `${path}/a.yaml`])).code, 0);
});

test("stdin, several files, Lists, lists of one kind and JSON after JSON are read alike", async (t) => {
  const secret = { apiVersion: "v1", kind: "Secret" };
  const source = { ...secret, ...(load(SOURCE) as object) };
  const [a, b] = ["team-a", "team-b"].map((name) => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name },
  }));
  const forms = [
    `${TEAMS}---\n${SOURCE}`,
    `# Source: chart/templates/x.yaml\n---\n---\n${TEAMS}--- # more\n${SOURCE}...\n`,
    JSON.stringify({ apiVersion: "v1", kind: "List", items: [a, b, source] }),
    JSON.stringify({
      apiVersion: "v1",
      kind: "List",
      items: [
        { apiVersion: "v1", kind: "NamespaceList", items: [{ metadata: { name: "team-a" } }, b] },
        source,
      ],
    }),
    [a, b, source].map((each) => JSON.stringify(each, undefined, 2)).join("\n"),
    `\ufeff${TEAMS.replaceAll("\n", "\r\n")}---\r\n${SOURCE}`,
    `${TEAMS}---\n\ufeff${SOURCE}`,
    `${TEAMS}\ufeff---\n${SOURCE}`,
    [a, b, source].map((each) => `\ufeff${JSON.stringify(each)}\n`).join(""),
  ];
  const path = folderOf(t, {});
  for (const [index, stdin] of forms.entries()) {
    const said = await commandLine(["plan", "-f", "-", "-o", "name"], { stdin });
    assert.equal(
      said.stdout,
      "secret/registry -n team-a\nsecret/registry -n team-b\n",
      said.stderr,
    );
    const file = join(path, `form-${index}.yaml`);
    writeFileSync(file, stdin);
    assert.equal((await commandLine(["plan", "-f", file, "-o", "name"])).stdout, said.stdout);
  }
  writeFileSync(join(path, "teams.yaml"), TEAMS);
  const both = ["plan", "-f", join(path, "teams.yaml"), "-f", "-", "-o", "name"];
  assert.match((await commandLine(both, { stdin: SOURCE })).stdout, /team-b/);
});

test("objects that take no part are counted, and a Secret's namespace is assumed", async () => {
  const stdin = `${SOURCE}---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
---
apiVersion: v1
kind: Secret
metadata: { name: other, namespace: team-c }
---
apiVersion: external-secrets.io/v1
kind: Secret
metadata: { name: not-ours }
`;
  const { stdout, stderr } = await commandLine(["plan", "-f", "-", "-o", "name"], { stdin });
  assert.equal(stdout, "secret/registry -n team-c\n");
  assert.match(stderr, /passed over: 1 Deployment, 1 Secret$/m);
  assert.match(stderr, /taken for namespaces without labels: secretcast, team-c$/m);
});

test("-R is for nested folders, and -n for objects without a namespace", async (t) => {
  const bare = SOURCE.replace("  namespace: secretcast\n", "");
  const path = folderOf(t, { "a.yaml": TEAMS, "deep/b.yaml": bare });
  const plan = async (...more: string[]): Promise<string> =>
    (await commandLine(["plan", "-f", path, "-o", "name", ...more])).stdout;
  assert.equal(await plan("-n", "secretcast"), "");
  assert.equal(await plan("-R"), "");
  assert.match(await plan("-R", "-n", "secretcast"), /registry -n team-a/);
});

test("json and yaml are one List with the verdicts and names, and no value", async () => {
  const stdin = `${TEAMS}---\n${SOURCE}`;
  const yaml = await commandLine(["plan", "-f", "-", "-o", "yaml"], { stdin });
  const json = await commandLine(["plan", "-f", "-", "-o", "json"], { stdin });
  const list = JSON.parse(json.stdout);
  assert.deepEqual(load(yaml.stdout), list);
  assert.equal(list.apiVersion, "cli.secretcast.io/v1alpha1");
  assert.equal(list.kind, "PlanList");
  assert.deepEqual(list.items[0], {
    resource: "secrets",
    namespace: "team-a",
    name: "registry",
    source: "secretcast/registry",
    verdict: "create",
    code: "NoCopyYet",
    reason: "there is no copy yet",
    changes: { keys: { added: ["password"] }, labels: { added: ["app"] } },
  });
  assert.doesNotMatch(yaml.stdout + json.stdout, /hunter2|aHVudGVyMg/);
});

test("--expect compares the plan with the printed YAML and gives 0 or 2", async (t) => {
  const path = folderOf(t, { "in/a.yaml": TEAMS, "in/b.yaml": SOURCE });
  const plan = ["plan", "-f", `${path}/in`];
  const expected = join(path, "expected.yaml");
  writeFileSync(expected, (await commandLine([...plan, "-o", "yaml"])).stdout);
  const same = await commandLine([...plan, "--expect", expected]);
  assert.deepEqual([same.code, same.stdout], [0, ""]);
  writeFileSync(join(path, "in/a.yaml"), TEAMS.replace("team-b", "other"));
  const other = await commandLine([...plan, "--expect", expected, "--no-headers"]);
  assert.equal(other.code, 2);
  assert.match(other.stdout, /^create +skip +team-b +registry +secretcast\/registry/);
  assert.match(other.stderr, /^1 verdict other than expected$/m);
  assert.equal((await commandLine([...plan, "--expect", expected, "--exit-code=false"])).code, 0);
});

test("what may be expected also is that nothing is to be done: current and skip", async () => {
  const item = { resource: "secrets", namespace: "team-x", name: "registry", source: "a/b" };
  const list = {
    apiVersion: "cli.secretcast.io/v1alpha1",
    kind: "PlanList",
    items: [{ ...item, verdict: "skip" }],
  };
  const file = ["plan", "--expect", "-", "-f", "manifests/example", "--source-namespaces", "none"];
  const said = await commandLine(file, { stdin: JSON.stringify(list) });
  assert.equal(said.code, 0, said.stdout + said.stderr);
});

test("a copy of another installation's source is not current, as --expect has it", async (t) => {
  const item = { resource: "secrets", namespace: "team-a", name: "s", source: "apps/s" };
  const expected = {
    apiVersion: "cli.secretcast.io/v1alpha1",
    kind: "PlanList",
    items: [{ ...item, verdict: "current" }],
  };
  const copy = {
    kind: "Secret",
    apiVersion: "v1",
    metadata: {
      namespace: "team-a",
      name: "s",
      labels: { "app.kubernetes.io/managed-by": "secretcast" },
      annotations: {
        "secretcast.io/source": "apps/s",
        "secretcast.io/source-uid": "11111111-1111-1111-1111-111111111111",
        "secretcast.io/source-version": "1",
        "secretcast.io/placed-at": "team-a/s",
      },
    },
  };
  const path = folderOf(t, {
    "in/a.yaml": `${TEAMS}---\n${JSON.stringify(copy)}`,
    "expected.json": JSON.stringify(expected),
  });
  const plan = ["plan", "-f", `${path}/in`, "--expect", `${path}/expected.json`];
  const flags = ["--no-headers", "--source-namespaces", "none", "--other-source-namespaces=apps"];
  const said = await commandLine([...plan, ...flags]);
  assert.equal(said.code, 2, said.stderr);
  assert.match(said.stdout, /^current +frozen +team-a +s +apps\/s +its source belongs to another/);
});

test("-l leaves the rows of sources with these labels; -o wide adds the reasons", async () => {
  const second = SOURCE.replace("name: registry", "name: other").replace("app: web", "app: db");
  const stdin = `${TEAMS}---\n${SOURCE}---\n${second}`;
  const said = await commandLine(["plan", "-f", "-", "-l", "app in (db)", "-o", "wide"], { stdin });
  assert.match(said.stdout, /RESOURCE .* REASON\n/);
  assert.equal(said.stdout.match(/there is no copy yet/g)?.length, 2);
  assert.doesNotMatch(said.stdout, /registry/);
});

test("the flags of run decide here too", async () => {
  const stdin = `${TEAMS}---\n${SOURCE}`;
  const flags = ["--exclude-namespaces=team-a", "--namespace-policy=opt-out"];
  const said = await commandLine(["plan", "-f", "-", "-o", "name", ...flags], { stdin });
  assert.equal(said.stdout, "secret/registry -n team-b\n");
  assert.match(said.stderr, /--exclude-namespaces=team-a/);
  const env = { SECRETCAST_SOURCE_NAMESPACES: "other" };
  assert.equal((await commandLine(["plan", "-f", "-", "-o", "name"], { stdin, env })).stdout, "");
});

test("null is the empty value of an annotation or a label", async () => {
  const of = async (fields: string): Promise<string> => {
    const stdin = `${TEAMS}---\n${SOURCE.replace("annotations: {", `annotations: {${fields}, `)}`;
    return (await commandLine(["plan", "-f", "-", "-o", "wide"], { stdin })).stdout;
  };
  for (const name of ["to-selector", "name", "keys", "on-delete", "paused"])
    assert.match(
      await of(`secretcast.io/${name}: `),
      new RegExp(`^refused .*invalid secretcast\\.io/${name}: ""`, "m"),
    );
});

test("an empty input has nothing to do", async () => {
  assert.equal((await commandLine(["plan", "-f", "-"], { stdin: "" })).code, 0);
  assert.equal((await commandLine(["plan", "-f", "-"], { stdin: "# nothing\n---\n" })).code, 0);
});

test("an unreadable file is one line with file, line and column", async (t) => {
  const path = folderOf(t, {
    "broken.yaml": `${TEAMS}---\nkind: Secret\ndata: [\n  password: hunter2\n`,
    "broken.json": '{"kind": "Secret", "data": {"hunter2": }',
    "text.yaml": "hunter2\n",
    "kindless.yaml": "a: hunter2\n",
    "empty/notes.txt": "",
  });
  await fails(["-f", `${path}/broken.yaml`], /broken\.yaml:\d+:\d+: is not YAML/);
  await fails(["-f", `${path}/broken.json`], /broken\.json:1:\d+: is not YAML/);
  await fails(["-f", `${path}/text.yaml`], /text\.yaml:1: is no object of Kubernetes/);
  await fails(["-f", `${path}/kindless.yaml`], /kindless\.yaml:1: has no kind/);
  for (const odd of ["", "apiVersion: ''\n", "apiVersion: 1\n", "apiVersion:\n", "x: v1\n"])
    await fails(["-f", "-"], /stdin:9: has no apiVersion/, `${TEAMS}---\n${odd}kind: Secret\n`);
  await fails(["-f", `${path}/empty`], /empty: no file in it ends with \.yaml, \.yml, \.json; -R/);
  await fails(["-f", `${path}/nowhere.yaml`], /nowhere\.yaml: does not exist/);
  await fails(["-f", "-"], /nothing on stdin/);
});

test("what an API server would not take is one line with file and line", async () => {
  const secret = (body: string): string => `${TEAMS}---\napiVersion: v1\nkind: Secret\n${body}`;
  await fails(["-f", "-"], /stdin:9: metadata\.name is missing/, secret("metadata: {}\n"));
  await fails(["-f", "-"], /stdin:9: Secret has no metadata/, secret("type: x\n"));
  await fails(
    ["-f", "-"],
    /"Not A Name" is not the name of a Secret/,
    secret("metadata: {name: Not A Name}\n"),
  );
  const bare = "metadata: {name: a, annotations: {secretcast.io/paused: true}}\n";
  await fails(["-f", "-"], /secretcast\.io\/paused is no text; put it in quotes/, secret(bare));
  const named = (field: string): string => secret(`metadata: {name: a}\n${field}\n`);
  const immutable = /stdin:9: immutable of Secret default\/a is neither true nor false/;
  for (const odd of ["'true'", "1", "[true]", "truthy", "2024-01-01"])
    await fails(["-f", "-"], immutable, named(`immutable: ${odd}`));
  for (const odd of ["5", "yes", "[Opaque]", "{}", "1e3"])
    await fails(["-f", "-"], /stdin:9: type of .* is no text; put it in/, named(`type: ${odd}`));
  await fails(
    ["-f", "-"],
    /stdin:10: Secret secretcast\/registry is there twice; first at stdin:1/,
    `${SOURCE}---\n${SOURCE}`,
  );
});

test("annotations in the template of a Certificate are named as not planned", async () => {
  const certificate = (key: string): string => `---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {namespace: secretcast, name: wildcard}
spec: {secretTemplate: {annotations: {${key}: "team-*"}}}
`;
  const planned = (key: string) =>
    commandLine(["plan", "-f", "-"], { stdin: `${TEAMS}${certificate(key)}` });
  const ours = await planned("secretcast.io/to");
  assert.equal(ours.code, 0);
  assert.match(
    ours.stderr,
    /not planned: stdin:\d+: Certificate secretcast\/wildcard: the Secret that it creates gets annotations of secretcast from spec\.secretTemplate\.annotations/,
  );
  assert.doesNotMatch((await planned("example.com/to")).stderr, /not planned/);
});

test("a Namespace that files describe in two ways is an error", async () => {
  const same = await commandLine(["plan", "-f", "-"], { stdin: `${TEAMS}---\n${TEAMS}` });
  assert.equal(same.code, 0, same.stderr);
  const other = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, labels: {x: other}}\n";
  await fails(["-f", "-"], /Namespace team-a is there twice/, `${TEAMS}---\n${other}`);
});

test("flags that contradict each other, or are wrong, are one line that names them", async (t) => {
  const path = folderOf(t, {
    "a.yaml": TEAMS,
    "wrong.yaml": "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Pod}]\n",
  });
  const a = ["-f", `${path}/a.yaml`];
  await fails([...a, "--context", "prod"], /-f and --context contradict/);
  await fails([...a, "--as", "me"], /-f and --as contradict/);
  await fails(["-R"], /-R and a cluster contradict/);
  await fails([...a, "--as-group", "g"], /-f and --as-group contradict/);
  await fails([...a, "-o", "xml"], /--output: "xml" is not one of wide, json, yaml, name/);
  await fails([...a, "-l", "a=b,,"], /--selector: /);
  await fails([...a, "-n", "Not_One"], /--namespace: "Not_One"/);
  await fails([...a, "--request-timeout", "soon"], /--request-timeout: "soon" is not a duration/);
  await fails([...a, "--source-namespaces", "Team_A"], /--source-namespaces: "Team_A"/);
  await fails([...a, "--expect", `${path}/wrong.yaml`], /--expect .*wrong\.yaml:1 is no PlanList/);
  await fails([...a, "--resync", "1m"], /resync/);
});

const LIST = `apiVersion: v1
kind: ConfigMap
metadata: { name: secretcast-sources, namespace: secretcast }
data:
  certificate: |
    secret: certificates/wildcard
    to: team-*
  typo: |
    secret: certificates/other
    too: team-*
`;
const LISTED = `apiVersion: v1
kind: Secret
metadata: { name: wildcard, namespace: certificates }
data: { tls.crt: aHVudGVyMg== }
`;

test("the source list in the files makes its sources and reports faulty entries", async () => {
  const stdin = `${TEAMS}---\n${LISTED}---\n${LIST}`;
  const said = await commandLine(["plan", "-f", "-", "--no-headers"], { stdin });
  assert.match(
    said.stdout,
    /^create +secrets +team-a +wildcard +certificates\/wildcard +\+tls\.crt$/m,
  );
  assert.match(said.stdout, /^refused +configmaps +secretcast +secretcast-sources .*entry typo: /m);
  assert.doesNotMatch(said.stderr, /passed over/);
  const off = await commandLine(["plan", "-f", "-", "--source-list", "", "-o", "name"], { stdin });
  assert.equal(off.stdout, "");
  assert.match(off.stderr, /passed over: 1 ConfigMap/);
});

test("ConfigMaps take part with --config-maps alone, each kind by itself", async () => {
  const map = `apiVersion: v1
kind: ConfigMap
metadata: { name: registry, namespace: secretcast, annotations: { secretcast.io/to: team-a } }
data: { ca.crt: text }
binaryData: { store: aHVudGVyMg== }
`;
  const stdin = `${TEAMS}---\n${SOURCE}---\n${map}`;
  const without = await commandLine(["plan", "-f", "-"], { stdin });
  assert.doesNotMatch(without.stdout, /ca\.crt/);
  assert.match(without.stderr, /passed over: 1 ConfigMap/);
  const both = await commandLine(["plan", "-f", "-", "--config-maps", "--no-headers"], { stdin });
  assert.match(
    both.stdout,
    /^create +configmaps +team-a +registry +secretcast\/registry +\+ca\.crt \+store$/m,
  );
  assert.match(
    both.stdout,
    /^create +secrets +team-a +registry +secretcast\/registry +\+password/m,
  );
  assert.match(both.stderr, /^read 2 Namespaces and 1 Secrets and 1 ConfigMaps$/m);
  const names = await commandLine(["plan", "-f", "-", "--config-maps", "-o", "name"], { stdin });
  assert.match(names.stdout, /^configmap\/registry -n team-a$/m);
  const yaml = await commandLine(["plan", "-f", "-", "--config-maps", "-o", "yaml"], { stdin });
  assert.match(yaml.stdout, /resource: configmaps/);
});

test("a closed pipe is quiet: who reads no further has what it wants", async (t) => {
  const names = Array.from({ length: 3000 }, (_, at) => TEAMS.replaceAll("team-", `team-${at}`));
  const path = folderOf(t, { "a.yaml": names.join("---\n"), "b.yaml": SOURCE });
  const child = spawn(process.execPath, ["bin/secretcast.js", "plan", "-f", path], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdout.once("data", () => child.stdout.destroy());
  const [code] = (await once(child, "close")) as [number | null];
  // By its own verdict, or by the pipe that nobody reads.
  assert.ok(code === 2 || code === 0, String(code));
  assert.doesNotMatch(stderr, /EPIPE|Error|\n\s+at /);
});

const FULL = "/dev/full";
const skip = existsSync(FULL) ? false : `this system has no ${FULL}`;

test("a full disk fails every command with one line and exit code 1", { skip }, (t) => {
  const full = openSync(FULL, "w");
  t.after(() => closeSync(full));
  for (const args of [
    ["plan", "-f", "-", "-o", "json"],
    ["plan", "-f", "-", "--exit-code=false"],
    ["rights"],
    ["completion", "bash"],
    ["--help"],
    ["plan", "--version"],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, ["bin/secretcast.js", ...args], {
      input: `${TEAMS}---\n${SOURCE}`,
      stdio: ["pipe", full, "pipe"],
      encoding: "utf8",
    });
    assert.equal(status, 1, `${args.join(" ")}: ${stderr}`);
    assert.match(stderr, /^secretcast: stdout: ENOSPC$/m);
  }
});

test("files are planned without loading what talks HTTP", async (t) => {
  const path = folderOf(t, { "all.yaml": TEAMS + "---\n" + SOURCE });
  const modules = join(path, "modules");
  const loader = ["--import", "./test/support/programs/loaded-modules.ts"];
  const words = ["bin/secretcast.js", "plan", "-f", join(path, "all.yaml")];
  const child = spawn(process.execPath, [...loader, ...words], {
    env: { ...process.env, LOADED_MODULES: modules },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(child, "close")) as [number | null];
  assert.equal(code, 2);
  const loaded = readFileSync(modules, "utf8");
  assert.match(loaded, /\/plan\/print-plan\./);
  assert.doesNotMatch(loaded, /\/node_modules\/undici\//);
});

for (const [what, secret, said] of [
  ["base64 without padding", "data: {k: aGVsbG8}", /data\[k\]: is not base64/],
  ["a data key with a blank", 'data: {"a b": eA==}', /data\[a b\]: Invalid value/],
  ["a type without its entries", "type: kubernetes.io/tls", /data\[tls\.crt\]: Required value/],
] as const) {
  test(`a Secret with ${what} is refused as an API server refuses it`, async () => {
    const head = "apiVersion: v1\nkind: Secret\nmetadata: {namespace: secretcast, name: x}\n";
    await fails(["-f", "-"], said, `${TEAMS}---\n${head}${secret}\n`);
  });
}

test("labels and annotations beyond their limits are refused", async () => {
  const namespace = (metadata: string): string =>
    `apiVersion: v1\nkind: Namespace\nmetadata: {name: x, ${metadata}}\n`;
  const label = namespace(`labels: {a: ${"v".repeat(64)}}`);
  await fails(["-f", "-"], /Namespace x: metadata\.labels: .* no more than 63/, label);
  const annotations = namespace(`annotations: {a: ${"v".repeat(256 * 1024)}}`);
  await fails(["-f", "-"], /Namespace x: metadata\.annotations: Too long/, annotations);
});

test("each Namespace of files has the label that the API server gives it", async () => {
  const names = "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAME}\n";
  const source = `apiVersion: v1
kind: Secret
metadata:
  namespace: secretcast
  name: x
  annotations: {secretcast.io/to-selector: "kubernetes.io/metadata.name in (a,b)"}
data: {k: eA==}
`;
  const stdin = ["a", "b", "c"].map((name) => names.replace("NAME", name)).join("---\n");
  const { code, stdout } = await commandLine(["plan", "-f", "-"], {
    stdin: `${stdin}---\n${source}`,
  });
  assert.equal(code, 2);
  assert.deepEqual(
    [...stdout.matchAll(/^create +(\S+)/gm)].map(([, name]) => name),
    ["a", "b"],
  );
});

test("an ignored source in the files is named with its mistakes and exit code 2", async () => {
  const files = (annotations: object, namespace = "platform"): string =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "db", namespace, annotations },
      data: {},
    });
  const plan = (stdin: string, ...more: readonly string[]) =>
    commandLine(["plan", "-f", "-", ...more], { stdin });
  const outside = await plan(files({ "secretcast.io/to": "*", "secretcast.io/on-delet": "keep" }));
  assert.equal(outside.code, 2, outside.stderr);
  assert.match(
    outside.stderr,
    /^ignored: Secret platform\/db: secretcast\.io\/to has no effect here: .*; invalid secretcast\.io\/on-delet: /m,
  );
  assert.equal(outside.stderr.match(/platform\/db/g)?.length, 1, outside.stderr);
  const alone = await plan(files({ "secretcast.io/on-delet": "keep" }));
  assert.equal(alone.code, 2, alone.stderr);
  assert.match(
    alone.stderr,
    /^ignored: Secret platform\/db: .*; invalid secretcast\.io\/on-delet: /m,
  );
  const left = await plan(
    files({ "secretcast.io/to": "*" }, "secretcast"),
    "--only-names=registry",
  );
  assert.equal(left.code, 2, left.stderr);
  assert.match(
    left.stderr,
    /^1 source of names that are not read: db; .*--only-names registry,db/m,
  );
  assert.equal((await plan(files({}))).code, 0);
});
