// What tests do to watches on the sandbox, and what watches do by themselves when they are quiet.
import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startSandbox } from "../server.ts";
import type { Sandbox } from "../server.ts";
import type { SandboxOptions } from "../options.ts";
import { eventually } from "@secretcast/kube/testing/eventually";
import { field, openHttp } from "../testing/http.ts";
import type { Http } from "../testing/http.ts";

const all = "/api/v1/secrets";

let sandbox: Sandbox;
let http: Http;

async function restart(options: SandboxOptions): Promise<void> {
  await http.close();
  await sandbox.stop();
  sandbox = await startSandbox(options);
  http = openHttp(sandbox);
}

beforeEach(async () => {
  sandbox = await startSandbox();
  http = openHttp(sandbox);
});
afterEach(async () => {
  await http.close();
  await sandbox.stop();
});

function make(...names: readonly string[]): void {
  sandbox.load(names.map((name) => ({ kind: "Secret", metadata: { name } })));
}

/** A watch that is open: its events so far, and how it ended. */
async function watch(query: string): Promise<{ seen: unknown[]; ended: Promise<string> }> {
  const seen: unknown[] = [];
  const before = sandbox.requests.length;
  const follow = async (): Promise<string> => {
    try {
      for await (const event of http.lines(`${all}?watch=1&${query}`)) seen.push(event);
      return "ended";
    } catch {
      return "cut";
    }
  };
  const ended = follow();
  await eventually("the watch to be open", () => sandbox.requests.length > before);
  return { seen, ended };
}

const typesOf = (events: readonly unknown[]): unknown[] =>
  events.map((event) => field(event, "type"));

test("killWatches cuts every connection, and the server goes on", async () => {
  const { ended } = await watch("timeoutSeconds=60");
  assert.equal(sandbox.killWatches(), 1);
  assert.equal(await ended, "cut");
  assert.equal((await http.send("GET", all)).status, 200);
  assert.equal(sandbox.killWatches(), 0);
});

test("expireWatches ends every watch with a 410 inside the stream", async () => {
  const { seen, ended } = await watch("timeoutSeconds=60&resourceVersion=1");
  sandbox.expireWatches();
  assert.equal(await ended, "ended");
  assert.deepEqual(typesOf(seen), ["ERROR"]);
  assert.equal(field(seen[0], "object", "code"), 410);
  assert.equal(field(seen[0], "object", "reason"), "Expired");
});

test("muteWatches leaves connections open and silent beyond their time", async () => {
  const { seen, ended } = await watch("timeoutSeconds=1&resourceVersion=1");
  make("before");
  await eventually("the first event", () => seen.length === 1);
  sandbox.muteWatches();
  make("after");
  assert.equal(await Promise.race([ended, delay(1300, "open")]), "open");
  assert.deepEqual(typesOf(seen), ["ADDED"]);
});

test("a quiet watch has bookmarks, each at the version of the whole server", async () => {
  await restart({ quietBookmarkMs: 50 });
  make("a");
  const { seen } = await watch("allowWatchBookmarks=true&timeoutSeconds=60&resourceVersion=1");
  sandbox.load([{ kind: "Namespace", metadata: { name: "elsewhere" } }]);
  const bookmark = await eventually("a bookmark", () => seen[1]);
  assert.deepEqual(typesOf(seen.slice(0, 2)), ["ADDED", "BOOKMARK"]);
  const present = await http.send("GET", all);
  assert.equal(
    field(bookmark, "object", "metadata", "resourceVersion"),
    field(present.body, "metadata", "resourceVersion"),
  );
});

test("a watch says where it is shortly before its time is up", async () => {
  const { seen, ended } = await watch(
    "allowWatchBookmarks=true&timeoutSeconds=3&resourceVersion=1",
  );
  await ended;
  assert.deepEqual(typesOf(seen), ["BOOKMARK"]);
});

test("history is bounded: an older watch is Expired, one within it is served", async () => {
  await restart({ historyLimit: 8 });
  make(...Array.from({ length: 40 }, (_, at) => `s${at}`));
  const present = await http.send("GET", all);
  const version = Number(field(present.body, "metadata", "resourceVersion"));
  const old = await watch(`resourceVersion=${version - 30}&timeoutSeconds=1`);
  await old.ended;
  assert.deepEqual(typesOf(old.seen), ["ERROR"]);
  const recent = await watch(`resourceVersion=${version - 3}&timeoutSeconds=1`);
  await recent.ended;
  assert.deepEqual(typesOf(recent.seen), ["ADDED", "ADDED", "ADDED"]);
});

test("a namespace stays Terminating for as long as it was told to", async () => {
  const due: (() => void)[] = [];
  await restart({ schedule: (fn) => (due.push(fn), () => undefined) });
  sandbox.load([{ kind: "Namespace", metadata: { name: "going" } }]);
  sandbox.load([{ kind: "Secret", metadata: { name: "a", namespace: "going" } }]);
  await http.send("DELETE", "/api/v1/namespaces/going");
  const going = await http.send("GET", "/api/v1/namespaces/going");
  assert.equal(field(going.body, "status", "phase"), "Terminating");
  assert.equal((await http.send("GET", "/api/v1/namespaces/going/secrets/a")).status, 200);
  for (const end of due) end();
  for (const path of ["", "/secrets/a"])
    assert.equal((await http.send("GET", `/api/v1/namespaces/going${path}`)).status, 404);
});
