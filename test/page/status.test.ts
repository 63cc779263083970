// What the status page is served from: the answers over HTTP, on plans of real clusters.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { test, type TestContext } from "node:test";
import { METRIC_STATES } from "../../src/controller/model/verdicts.ts";
import { systemClock } from "../../packages/kube/time/clock.ts";
import { StatusFeed } from "../../src/page/status-feed.ts";
import { serveStatus } from "../../src/page/status-server.ts";
import type { Status } from "../../src/page/status.ts";
import { globs } from "../support/planner/planner-cluster.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import {
  largeStage,
  SECRET_VALUE,
  smallStage,
  type StatusStage,
} from "../support/browser/status-stage.ts";

async function read({ url }: StatusStage, query = ""): Promise<Status> {
  return JSON.parse(await (await fetch(`${url}/api/status${query}`)).text());
}

test("the status counts places by state and names those that are not current", async (t) => {
  const stage = await smallStage(t);
  const { totals, groups, sources, unclear } = await read(stage);
  assert.deepEqual(totals, {
    namespaces: 7,
    sources: 4,
    refused: 1,
    deletesHeld: 0,
    states: { current: 9, pending: 0, conflict: 1, failed: 1, held: 0, paused: 0, frozen: 0 },
  });
  assert.deepEqual(
    groups.shown.map(({ source, verdict, places }) => [source, verdict, places]),
    [
      ["shared/smtp", "backoff", { total: 1, shown: ["monitoring/smtp"] }],
      ["shared/registry", "conflict", { total: 1, shown: ["team-b/registry"] }],
    ],
  );
  assert.match(groups.shown[0]?.reason ?? "", /403 Forbidden/);
  assert.deepEqual(
    sources.shown.map(({ source, state }) => `${source} ${state}`),
    [
      "shared/api-token refused",
      "shared/smtp failed",
      "shared/registry conflict",
      "shared/ca-bundle current",
    ],
  );
  assert.match(sources.shown[0]?.problems.join() ?? "", /secretcast\.io\/to-selecter/);
  assert.deepEqual(
    unclear.shown.map(({ namespace }) => namespace),
    ["team-legacy"],
  );
});

test("the status names the entry of each source, and entries without effect", async (t) => {
  const stage = await smallStage(t);
  const { cluster } = stage;
  cluster.list({
    smtp: "secret: team-a/unlisted\nto: monitoring",
    wrong: "secret: shared",
    later: "secret: team-a/later\nto: monitoring",
  });
  cluster.secret("team-a/unlisted", {}, { data: { key: SECRET_VALUE } });
  stage.settle();
  stage.settle();
  const { sources, list } = await read(stage);
  const line = sources.shown.find(({ source }) => source === "team-a/unlisted");
  assert.equal(line?.entry, "smtp");
  assert.equal(list.state, "read");
  assert.equal(list.entries, 3);
  assert.match(list.refused.shown.join(), /^invalid entry wrong: secret: "shared"/);
  assert.deepEqual(list.absent.shown, ["entry later: team-a/later is not there, or not read"]);
});

test("each row says since when it is so, with tries or differing copies", async (t) => {
  const stage = await smallStage(t);
  const { cluster } = stage;
  const start = await read(stage);
  assert.ok(start.firstPlanMs !== undefined);
  const [failed, conflict] = start.groups.shown;
  assert.deepEqual([failed?.since.orBefore, conflict?.since.orBefore], [true, true]);
  assert.ok(failed?.triedMs !== undefined && failed.dueMs !== undefined);
  assert.ok(failed.triedMs < failed.dueMs);
  cluster.now += 3_600_000;
  cluster.annotate("shared/registry", { alow: "*" });
  cluster.edit("team-a/registry", ({ data }) => (data["password"] = "b3RoZXI="));
  stage.look();
  const { groups, sources, unclear } = await read(stage);
  const frozen = groups.shown.find(({ state }) => state === "frozen");
  assert.deepEqual(frozen?.differing, { known: 1, unknown: 0 });
  assert.equal(frozen?.places.total, 2);
  assert.equal(frozen?.since.orBefore, false);
  assert.ok(Math.abs((frozen?.since.ms ?? 0) - Date.now()) < 60_000, "just now");
  assert.equal(groups.shown.find(({ state }) => state === "failed")?.differing, undefined);
  const refused = sources.shown.find(({ source }) => source === "shared/registry");
  assert.equal(refused?.since.orBefore, false);
  const fine = sources.shown.find(({ source }) => source === "shared/api-token");
  assert.equal(fine?.since.orBefore, true);
  assert.equal(unclear.shown[0]?.since.orBefore, true);
});

test("the page knows the metric states, in their order", async () => {
  const view = new URL("../../src/page/browser/view.js", import.meta.url).href;
  const { STATES } = (await import(view)) as { readonly STATES: readonly string[] };
  assert.deepEqual(STATES, METRIC_STATES);
  const style = readFileSync(new URL("../../src/page/browser/page.css", import.meta.url), "utf8");
  for (const state of STATES)
    for (const rule of [`[data-state="${state}"]::before {`, `.matrix td[data-state="${state}"] {`])
      assert.ok(style.includes(`\n${rule}\n`), rule);
});

test("the grid has a verdict for each place and nothing where no copy is wanted", async (t) => {
  const { grid } = await read(await smallStage(t));
  assert.deepEqual(
    grid?.sources.map(({ kind, source }) => `${kind} ${source}`),
    ["Secret shared/smtp", "Secret shared/registry", "Secret shared/ca-bundle"],
  );
  assert.deepEqual(
    grid?.lines.map(({ namespace, cells }) => [
      namespace,
      ...cells.map((cell) => cell?.verdict ?? ""),
    ]),
    [
      ["monitoring", "backoff", "", "current"],
      ["team-a", "current", "current", "current"],
      ["team-b", "current", "conflict", "current"],
      ["team-c", "current", "current", "current"],
    ],
  );
});

test("a filter keeps what matches in source, namespace and state, and the totals stay", async (t) => {
  const stage = await smallStage(t);
  const all = await read(stage);
  const one = await read(stage, "?source=smtp&namespace=MONI");
  assert.deepEqual(one.totals, all.totals);
  assert.deepEqual(
    one.sources.shown.map(({ source }) => source),
    ["shared/smtp"],
  );
  const cells = [{ verdict: "backoff", state: "failed" }];
  assert.deepEqual(one.grid?.lines, [{ namespace: "monitoring", cells }]);
  const conflicts = await read(stage, "?state=conflict");
  assert.deepEqual(
    conflicts.groups.shown.map(({ places }) => places.shown),
    [["team-b/registry"]],
  );
  assert.deepEqual(
    conflicts.grid?.lines.map(({ namespace }) => namespace),
    ["team-b"],
  );
  const refused = await read(stage, "?state=refused");
  assert.deepEqual(
    refused.sources.shown.map(({ source }) => source),
    ["shared/api-token"],
  );
});

test("a filter that is not understood is a 400 with the remedy", async (t) => {
  const { url } = await smallStage(t);
  const wrong = await fetch(`${url}/api/events?state=green`);
  assert.equal(wrong.status, 400);
  assert.match(await wrong.text(), /^state: "green" is not one of current, .*refused\n$/);
  const unknown = await fetch(`${url}/api/status?namespce=a`);
  assert.equal(unknown.status, 400);
  const text = '"namespce" is not one of source, namespace, in, state, kind, limit\n';
  assert.equal(await unknown.text(), text);
});

test("the answer stays small at 5,000 namespaces and says how much it leaves out", async (t) => {
  const stage = await largeStage(t, 5000);
  const text = await (await fetch(`${stage.url}/api/status`)).text();
  assert.ok(text.length < 100_000, `${text.length} characters`);
  const status: Status = JSON.parse(text);
  assert.equal(status.totals?.namespaces, 5001);
  assert.equal(status.totals.states.failed, 100);
  const [failed] = status.groups.shown;
  assert.deepEqual([failed?.places.total, failed?.places.shown.length], [100, 50]);
  assert.equal(status.grid?.lines.length, 60);
  assert.equal(status.grid.namespacesTotal, 5001);
  const narrowed = await read(stage, "?namespace=4321");
  assert.deepEqual(
    narrowed.grid?.lines.map(({ namespace }) => namespace),
    ["tenant-4321"],
  );
});

test("objects that pull stand behind all else, however many a tenant writes", async (t) => {
  const stage = await smallStage(t);
  for (let n = 0; n < 150; n++)
    stage.cluster.secret(`team-a/pull-${n}`, { from: `shared/none-${n}` });
  stage.cluster.secret("shared/ca-bundle", { to: "*", "to-selecter": "x" });
  stage.look();
  const { groups } = await read(stage);
  assert.deepEqual(
    groups.shown.slice(0, 4).map(({ source, verdict }) => `${source} ${verdict}`),
    [
      "shared/smtp backoff",
      "shared/registry conflict",
      "shared/ca-bundle frozen",
      "shared/none-0 conflict",
    ],
  );
  assert.equal(groups.total, 3 + 150);
});

test("no answer holds a Secret's value", async (t) => {
  const stage = await smallStage(t);
  const base64 = Buffer.from(SECRET_VALUE).toString("base64");
  for (const path of ["/", "/api/status"]) {
    const text = await (await fetch(`${stage.url}${path}`)).text();
    assert.ok(!text.includes(SECRET_VALUE) && !text.includes(base64), path);
  }
});

/** The events of a live connection, as they come. */
async function follow(t: TestContext, url: string): Promise<Status[]> {
  const stop = new AbortController();
  t.after(() => stop.abort());
  const response = await fetch(url, { signal: stop.signal });
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const seen: Status[] = [];
  const collect = async (): Promise<void> => {
    let text = "";
    for await (const part of response.body ?? []) {
      text += Buffer.from(part).toString();
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events)
        if (event.startsWith("event: status\n"))
          seen.push(JSON.parse(event.slice(event.indexOf("data: ") + 6)));
    }
  };
  collect().catch(() => undefined);
  return seen;
}

test("a live reader gets the status at once and after each change", async (t) => {
  const stage = await smallStage(t);
  stage.snapshot = { watches: [] };
  const all = await follow(t, `${stage.url}/api/events`);
  const other = await follow(t, `${stage.url}/api/events?source=ca-bundle`);
  await eventually("both have the first", () => all.length === 1 && other.length === 1);
  stage.cluster.delete("team-b/registry");
  stage.settle();
  await eventually("the conflict is over", () => all.at(-1)?.totals?.states.conflict === 0);
  await eventually("so is it for the other", () => other.at(-1)?.totals?.states.conflict === 0);
  assert.deepEqual(
    other.at(-1)?.sources.shown.map(({ source }) => source),
    ["shared/ca-bundle"],
  );
});

test("more than 32 live readers are turned away, and let in when others have left", async (t) => {
  const stage = await smallStage(t);
  const stop = new AbortController();
  const open = (signal: AbortSignal) => fetch(`${stage.url}/api/events`, { signal });
  await Promise.all(Array.from({ length: 32 }, () => open(stop.signal)));
  const last = new AbortController();
  t.after(() => last.abort());
  assert.equal((await open(last.signal)).status, 503);
  stop.abort();
  await eventually("there is room", async () => (await open(last.signal)).status === 200);
});

test("more than 16 answers in progress are too many", async (t) => {
  const stage = await smallStage(t);
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const { statusFeed } = stage;
  const answer = statusFeed.read.bind(statusFeed);
  statusFeed.read = async (filter) => {
    await finished;
    return answer(filter);
  };
  const ask = () => fetch(`${stage.url}/api/status`);
  const answers = Array.from({ length: 17 }, ask);
  const refused = await Promise.race(answers);
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "1"]);
  finish();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 16);
  await eventually("there is room", async () => (await ask()).status === 200);
});

test("before there is a plan, and on a stand-by, the status says who leads", async (t) => {
  const stage = await smallStage(t);
  stage.snapshot = {
    plan: undefined,
    leader: { state: "stand-by", holder: "other_1", command: undefined },
    troubles: ["secrets: cache not filled yet"],
  };
  const status = await read(stage);
  assert.deepEqual(
    [status.totals, status.leader.holder, status.troubles],
    [undefined, "other_1", ["secrets: cache not filled yet"]],
  );
});

/** The status code for a request with this Host header. */
function statusFor(port: number, host: string, path = "/api/status"): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on("error", reject);
    asked.end();
  });
}

test("only loopback names are answered on loopback, so no web page can rebind one", async (t) => {
  const port = Number(new URL((await smallStage(t)).url).port);
  for (const host of ["localhost", "127.0.0.1", "127.1.2.3", "[::1]", `localhost:${port}`])
    assert.equal(await statusFor(port, host), 200, host);
  for (const host of [
    "evil.example.com",
    "10.0.0.1",
    "localhost.example.com",
    "[fd00::1]",
    "localhost.",
  ])
    assert.equal(await statusFor(port, host), 421, `"${host}"`);
});

test("on an address for others every name is answered", async (t) => {
  const statusFeed = new StatusFeed(systemClock, "test");
  const server = await serveStatus({ host: "0.0.0.0", port: 0 }, statusFeed, systemClock);
  t.after(() => server.close());
  assert.equal(await statusFor(server.address.port, "status.example.com", "/"), 200);
});

test("nothing but the page's own script may run, and nobody may frame it", async (t) => {
  const { url } = await smallStage(t);
  const page = await fetch(url);
  const policy = page.headers.get("content-security-policy") ?? "";
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  for (const [, asset = ""] of (await page.text()).matchAll(/(?:src|href)="(\/[^"]*)"/g))
    assert.equal((await fetch(`${url}${asset}`)).status, 200, asset);
});

test("another path is a 404, another method a 405, and a bad URL harmless", async (t) => {
  const { url } = await smallStage(t);
  const port = Number(new URL(url).port);
  assert.equal((await fetch(`${url}/page.html`)).status, 404);
  assert.equal((await fetch(url, { method: "DELETE" })).status, 405);
  // Its answer ends, other than that of a GET.
  assert.equal((await fetch(`${url}/api/events`, { method: "HEAD" })).status, 200);
  assert.equal(await statusFor(port, "localhost", "//"), 404);
});

test("objects without effect are counted by reason, with some names and flags", async (t) => {
  const stage = await smallStage(t);
  stage.cluster.settings = {
    ...stage.cluster.settings,
    sourceNamespaces: globs("shared,platfrom"),
  };
  for (let n = 0; n < 9; n++) stage.cluster.secret(`team-a/mine-${n}`, { to: "*" });
  stage.cluster.secret("team-c/mine", { to: "*" });
  stage.look();
  const { ignored } = await read(stage);
  assert.deepEqual(
    ignored.reasons.map(({ reason, count }) => [reason, count]),
    [
      ["namespace", 10],
      ["accept", 1],
      ["flag", 1],
    ],
  );
  assert.deepEqual(ignored.flags, ["--source-namespaces platfrom"]);
  assert.equal(ignored.objects.total, 6);
  const one = await read(stage, "?namespace=team-c");
  assert.deepEqual(
    one.ignored.objects.shown.map(({ object }) => object),
    ["team-c/mine"],
  );
});
