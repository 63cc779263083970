// Under --only-names, what has another name is left out by the controller. No command may call it current.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../packages/sandbox/storage/object.ts";
import { markedCopy, sandboxCluster } from "../support/cli/sandbox-cluster.ts";

function namespace(name: string): JsonObject {
  return { kind: "Namespace", metadata: { name } };
}

function secret(place: string, annotations: Readonly<Record<string, string>> = {}): JsonObject {
  const [home = "", name = ""] = place.split("/");
  const metadata = { namespace: home, name, annotations };
  return { kind: "Secret", metadata, data: { password: "aHVudGVyMg==" } };
}

const NAMESPACES = ["secretcast", "team-a", "team-b", "other"].map(namespace);
const COMMANDS = [["status"], ["plan"], ["inventory"], ["check"]];
const ONLY = "--only-names=registry,ca";

test("objects of names that are not read are counted, with exit code 2", async (t) => {
  const { run } = await sandboxCluster(t, [
    ...NAMESPACES,
    secret("secretcast/db", { "secretcast.io/to": "team-*" }),
    markedCopy("team-a/db", "secretcast/db"),
    markedCopy("team-b/db", "secretcast/db"),
    secret("team-b/mine", { "secretcast.io/from": "secretcast/db" }),
  ]);
  for (const words of COMMANDS) {
    const { code, stdout, stderr } = await run([...words, ONLY]);
    const said = stdout + stderr;
    assert.equal(code, 2, said);
    assert.match(said, /2 copies of names that are not read: db; 1 source of .*: db;/);
    assert.match(said, /1 pulling object of names that are not read: mine/);
    assert.match(said, /--only-names registry,ca,db,mine lets them take part/);
    assert.doesNotMatch(said, /all current|hunter2|aHVudGVyMg/);
  }
  for (const words of COMMANDS)
    assert.equal((await run([...words, ONLY, "--exit-code=false"])).code, 0);
  assert.equal((await run(["status", ONLY, "-n", "other"])).code, 0);
  assert.equal((await run(["status", ONLY, "-n", "team-b"])).code, 2);
});

test("objects that a tenant makes alone are printed without effect on the exit code", async (t) => {
  const { run } = await sandboxCluster(t, [
    ...NAMESPACES,
    markedCopy("team-a/forged", "secretcast/nothing"),
    secret("team-b/pulls", { "secretcast.io/from": "secretcast/nothing" }),
  ]);
  for (const words of COMMANDS) {
    const { code, stdout, stderr } = await run([...words, ONLY]);
    const said = stdout + stderr;
    assert.equal(code, 0, said);
    assert.match(said, /not read, in team-a alone and without a source: 1 copy called forged/);
    assert.match(said, /in team-b alone and without a source: 1 pulling object called pulls/);
  }
});

test("a misspelt annotation in a source namespace takes part as a source", async (t) => {
  const { run } = await sandboxCluster(t, [
    ...NAMESPACES,
    secret("secretcast/db", { "secretcast.io/two": "team-*" }),
  ]);
  const { code, stderr } = await run(["plan", ONLY]);
  assert.equal(code, 2, stderr);
  assert.match(stderr, /1 source of names that are not read: db/);
});

test("a value that is too long is not printed, and too many names are impossible", async (t) => {
  const copiesOf = (count: number, length: number): readonly JsonObject[] =>
    Array.from({ length: count }, (_, at) =>
      secret(`secretcast/${String(at).padEnd(length, "x")}`, { "secretcast.io/to": "team-*" }),
    );
  const long = await sandboxCluster(t, [...NAMESPACES, ...copiesOf(5, 200)]);
  const many = await sandboxCluster(t, [...NAMESPACES, ...copiesOf(49, 5)]);
  const { stderr } = await long.run(["plan", ONLY]);
  assert.match(stderr, /to add these names to --only-names lets them take part/);
  assert.doesNotMatch(stderr, /at most 50/);
  assert.match(
    (await many.run(["plan", ONLY])).stderr,
    /have 51 names, and at most 50 are possible/,
  );
});

test("objects of another installation do not count, and without --only-names nothing is asked", async (t) => {
  const { run, sandbox } = await sandboxCluster(t, [
    ...NAMESPACES,
    markedCopy("team-a/db", "other/db"),
    markedCopy("team-b/db", "other/db"),
  ]);
  const words = [ONLY, "--other-source-namespaces=other"];
  const { code, stderr } = await run(["status", ...words]);
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stderr, /not read/);
  const before = sandbox.requests.length;
  await run(["plan"]);
  const lists = sandbox.requests
    .slice(before)
    .filter(({ path }) => path.startsWith("/api/v1/secrets"));
  assert.equal(lists.length, 1);
});

test("Secrets of other names that may not be listed are unknown, with exit code 1", async (t) => {
  const { run, sandbox } = await sandboxCluster(t, NAMESPACES);
  sandbox.beforeRequest = ({ path, query }) => {
    const isByName = (query.get("fieldSelector") ?? "").includes("metadata.name=");
    if (path !== "/api/v1/secrets" || isByName) return undefined;
    const message = 'secrets is forbidden: User "u" cannot list resource "secrets"';
    return { status: 403, body: { kind: "Status", reason: "Forbidden", code: 403, message } };
  };
  for (const words of [["status"], ["plan"], ["inventory"]]) {
    const { code, stderr } = await run([...words, ONLY]);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /you may not list secrets in all namespaces: whether others are left out/);
  }
});
