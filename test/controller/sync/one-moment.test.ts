// A write carries the rule and the value of one moment: a new value is never written by an older rule, and
// no request of an action follows an event that changed what the action was decided by.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { secretPath } from "../../support/controller/memory-api.ts";
import { isWrite, Rig, type Started } from "../../support/controller/fake-clock-controller.ts";

const P = "secretcast.io/";
const SOURCE = "shared/registry";
const LIST = "/api/v1/namespaces/secretcast/configmaps/secretcast-sources";
const NEW = "the-new-value";

type Texts = Readonly<Record<string, string | null>>;

function words(texts: Texts): Texts {
  return Object.fromEntries(
    Object.entries(texts).map(([word, value]) => [
      word.startsWith("+") ? word.slice(1) : P + word,
      value,
    ]),
  );
}

function later(rig: Rig, ms: number): Promise<void> {
  return new Promise((resolve) => rig.clock.setTimeout(() => resolve(), ms));
}

const holds = ({ body }: ApiRequest, value: string): boolean => {
  const text = JSON.stringify(body ?? "");
  return text.includes(value) || text.includes(btoa(value));
};

type Narrowing = {
  readonly before: Texts;
  readonly narrowed: Texts;
  /** Where the new value may be. */
  readonly allowed: (path: string) => boolean;
  /** Of the data afterwards, where it is not they that must not be copied. */
  readonly value?: string;
};

const nowhere = (): boolean => false;
const inTeam1 = (path: string): boolean => path.includes("/namespaces/team-1/");
const TO = { to: "team-*" };

const NARROWINGS: Readonly<Record<string, Narrowing>> = {
  to: { before: TO, narrowed: { to: "team-1" }, allowed: inTeam1 },
  "to-selector": { before: TO, narrowed: { "to-selector": "tier=gold" }, allowed: inTeam1 },
  match: {
    before: { to: "team-*", "to-selector": "tier=gold", match: "any" },
    narrowed: { match: "all" },
    allowed: inTeam1,
  },
  name: { before: TO, narrowed: { name: "other" }, allowed: (path) => path.endsWith("/other") },
  keys: { before: TO, narrowed: { keys: "!password" }, allowed: nowhere },
  "copy-annotations": {
    before: { ...TO, "copy-annotations": "note" },
    narrowed: { "copy-annotations": "other", "+note": NEW },
    allowed: nowhere,
    value: "fresh",
  },
  paused: { before: TO, narrowed: { paused: "true" }, allowed: nowhere },
  "no to": { before: TO, narrowed: { to: null }, allowed: nowhere },
  "a mistyped annotation": { before: TO, narrowed: { "to-selecter": "x" }, allowed: nowhere },
};

const TEAMS = Array.from({ length: 100 }, (_, n) => `team-${n}`);

function setUp(rig: Rig, annotations: Texts): void {
  rig.teams(...TEAMS);
  rig.api.namespace("team-1", { labels: { tier: "gold" } });
  rig.api.secret(SOURCE, { annotations: words(annotations) }, { password: "0", other: "0" });
}

/** Writes of NEW to where it is not allowed. */
function watchLeaks(rig: Rig, allowed: (path: string) => boolean) {
  const leaks: string[] = [];
  const start = (given = {}): Started =>
    rig.start({
      given,
      before: async (request) => {
        if (!isWrite(request)) return;
        const { method, path } = request;
        const name = method === "POST" ? `${path}/${nameOf(request)}` : path;
        if (holds(request, NEW) && !allowed(name)) leaks.push(`${method} ${name}`);
        await later(rig, 30);
      },
    });
  return { leaks, start };
}

function nameOf({ body }: ApiRequest): string {
  const { metadata } = body as { readonly metadata: { readonly name: string } };
  return metadata.name;
}

async function changeOften(rig: Rig, times = 4): Promise<void> {
  for (let n = 1; n <= times; n++) {
    rig.api.secret(SOURCE, {}, { password: `${n}`, other: `${n}` });
    await rig.clock.advance(200);
  }
}

for (const [what, { before, narrowed, allowed, value }] of Object.entries(NARROWINGS))
  for (const order of ["in one update", "and the value a moment later"])
    test(`a source that is narrowed by ${what} ${order} leaks no new value`, async () => {
      const rig = new Rig();
      setUp(rig, before);
      const { leaks, start } = watchLeaks(rig, allowed);
      start({ concurrency: "2" });
      await rig.clock.advance(4000);
      await changeOften(rig);
      // What else the copies hold may be new.
      const rotated = { password: value ?? NEW, other: value ?? NEW };
      if (what === "keys") rotated.other = "1";
      if (order === "in one update")
        rig.api.secret(SOURCE, { annotations: words(narrowed) }, rotated);
      else {
        rig.api.secret(SOURCE, { annotations: words(narrowed) });
        await rig.clock.advance(5);
        rig.api.secret(SOURCE, {}, rotated);
      }
      await rig.clock.advance(9000);
      assert.deepEqual(leaks, []);
    });

test("a namespace that may no longer pull gets no new value", async () => {
  for (const given of [{}, { "data-cache": "0" }]) {
    const rig = new Rig();
    setUp(rig, { allow: "team-*", to: null });
    for (const team of TEAMS)
      rig.api.secret(`${team}/mine`, { annotations: { [`${P}from`]: SOURCE } });
    const { leaks, start } = watchLeaks(rig, inTeam1);
    const started = start({ ...given, concurrency: "2" });
    await rig.clock.advance(4000);
    await changeOften(rig);
    rig.api.secret(SOURCE, { annotations: words({ allow: "team-1" }) }, { password: NEW });
    await rig.clock.advance(5000);
    assert.deepEqual(leaks, []);
    assert.equal(holds({ body: rig.api.get("team-1/mine") } as ApiRequest, NEW), true);
    await started.stop();
  }
});

test("an entry of the source list that is narrowed leaks no new value", async () => {
  const rig = new Rig();
  setUp(rig, { to: null });
  const entry = (to: string): object => ({ data: { one: `secret: ${SOURCE}\nto: "${to}"\n` } });
  rig.api.namespace("secretcast");
  rig.api.put(LIST, entry("team-*"));
  const { leaks, start } = watchLeaks(rig, inTeam1);
  start({ concurrency: "2" });
  await rig.clock.advance(4000);
  assert.ok(rig.api.get("team-9/registry"));
  await changeOften(rig);
  rig.api.put(LIST, entry("team-1"));
  await rig.clock.advance(5);
  rig.api.secret(SOURCE, {}, { password: NEW });
  await rig.clock.advance(9000);
  assert.deepEqual(leaks, []);
  assert.equal(holds({ body: rig.api.get("team-1/registry") } as ApiRequest, NEW), true);
});

test("a source that grows during its fan-out waits for a plan with its size", async () => {
  const rig = new Rig();
  setUp(rig, TO);
  const large = "x".repeat(4000);
  const { start } = watchLeaks(rig, () => true);
  start({ concurrency: "1", "fanout-limit": "200000" });
  await rig.clock.advance(100);
  rig.api.secret(SOURCE, {}, { password: large });
  await rig.clock.advance(20_000);
  const sizes = TEAMS.map((team) => JSON.stringify(rig.api.get(`${team}/registry`) ?? "").length);
  assert.ok(sizes.filter((size) => size > 4000).length < 50, "most are held");
});

/** A request to a Secret of team-0, as "DELETE" or "dry POST". */
function named({ method, query }: ApiRequest): string {
  return query?.["dryRun"] === undefined ? method : `dry ${method}`;
}

const SLOW_MS = 6000;
const PLACE = "team-0/registry";

type Slow = {
  readonly setUp: (rig: Rig) => void;
  /** What makes the action due. */
  readonly begin: (rig: Rig) => void;
  /** Its first request, in whose time the cluster state changes. */
  readonly first: string;
  readonly given?: Readonly<Record<string, string>>;
};

const pull = (rig: Rig): void => rig.api.secret(PLACE, { annotations: { [`${P}from`]: SOURCE } });
const retype = (rig: Rig): void => {
  rig.api.put(secretPath(SOURCE), { type: "example.com/other", data: { password: btoa(NEW) } });
};
const rotate = (rig: Rig): void =>
  void rig.api.put(secretPath(SOURCE), { data: { password: btoa(NEW) } });

const ACTIONS: Readonly<Record<string, Slow>> = {
  replace: { setUp: () => {}, begin: retype, first: "dry POST" },
  pull: {
    setUp: (rig) => {
      rig.api.secret(SOURCE, { annotations: words({ to: null, allow: "team-*" }) });
      pull(rig);
    },
    begin: rotate,
    first: "GET",
  },
  "update without its data at hand": {
    setUp: () => {},
    begin: rotate,
    first: "GET",
    given: { "data-cache": "0" },
  },
  adopt: {
    setUp: (rig) => rig.api.secret(PLACE, {}, { password: "own" }),
    begin: (rig) => rig.api.secret(PLACE, { annotations: { [`${P}adopt`]: SOURCE } }),
    first: "GET",
    given: { "data-cache": "0" },
  },
  create: {
    setUp: (rig) => rig.api.secret(PLACE, {}, { password: "own" }),
    begin: (rig) => rig.api.removeSecret(PLACE),
    first: "GET",
    given: { "data-cache": "0" },
  },
};

const narrow =
  (change: Texts) =>
  (rig: Rig): void =>
    void rig.api.put(secretPath(SOURCE), { metadata: { annotations: words(change) } });
const WITHDRAWALS: Readonly<Record<string, (rig: Rig) => void>> = {
  "the source names it no more": narrow({ to: "team-1", allow: "team-1" }),
  "the source is paused": narrow({ paused: "true" }),
  "the source is refused": narrow({ "to-selecter": "x" }),
  "the source is gone": (rig) => rig.api.removeSecret(SOURCE),
  "the namespace declines": (rig) =>
    rig.api.namespace("team-0", { annotations: { [`${P}accept`]: "false" } }),
  "the namespace is being deleted": (rig) =>
    rig.api.namespace("team-0", { deletionTimestamp: "2026-01-01T00:00:00Z" }),
  "the list makes another source of it": (rig) => {
    rig.api.put(LIST, { data: { one: `secret: ${SOURCE}\nto: team-1\nallow: team-1\n` } });
  },
};

/** What was sent in `ms` after `change`, which came 300 ms after the first request of `slow` was sent. */
async function sentAfter(slow: Slow, change: (rig: Rig) => void, ms: number, first = slow.first) {
  const rig = new Rig("team-0", "team-1");
  rig.api.namespace("secretcast");
  rig.api.put(LIST, { data: { other: "secret: shared/other\nto: team-1\n" } });
  slow.setUp(rig);
  const sent: string[] = [];
  let watching = false;
  const started = await rig.run(5000, {
    given: slow.given ?? {},
    before: async (request) => {
      const { path } = request;
      if (!watching || !/\/namespaces\/(?:team-0|shared)\/secrets/.test(path)) return;
      if (path.includes("/shared/") && slow.first !== "GET") return;
      const name = named(request);
      sent.push(name);
      if (name === first) await later(rig, SLOW_MS);
    },
  });
  watching = true;
  slow.begin(rig);
  for (let waited = 0; sent.at(-1) !== first && waited < 5000; waited += 10)
    await rig.clock.advance(10);
  assert.equal(sent.at(-1), first, `sent: ${sent.join(", ")}`);
  await rig.clock.advance(300);
  const before = sent.length;
  change(rig);
  await rig.clock.advance(ms);
  const after = sent.slice(before).filter((name) => name !== "GET" && !name.startsWith("dry"));
  await started.stop();
  return { after, rig };
}

for (const [what, slow] of Object.entries(ACTIONS))
  for (const [how, change] of Object.entries(WITHDRAWALS)) {
    // `accept` says nothing of what a namespace pulls.
    if (what === "pull" && how === "the namespace declines") continue;
    test(`${what}: nothing is written once ${how}`, async () => {
      const { after } = await sentAfter(slow, change, 9000);
      assert.deepEqual(after, []);
    });
  }

for (const [what, slow] of Object.entries(ACTIONS))
  test(`${what}: changes that decide nothing do not stop it`, async () => {
    const { rig, after } = await sentAfter(
      slow,
      ({ api }) => {
        const metadata = { annotations: { note: "touched" }, labels: { note: "touched" } };
        api.put(secretPath(SOURCE), { metadata });
        api.namespace("team-0", { annotations: { note: "x" }, labels: { note: "x" } });
        api.put(LIST, { data: { another: "secret: shared/another\nto: team-1\n" } });
      },
      30_000,
    );
    const source = rig.api.get(SOURCE);
    assert.ok(source);
    assert.deepEqual(rig.api.get(PLACE)?.["data"], source["data"]);
    assert.equal(new Set(after).size, after.length, "by no request more than it takes");
  });

const REPLACE: Slow = { setUp: () => {}, begin: retype, first: "dry POST" };

test("a copy that is unwanted after the delete of its replace is not made", async () => {
  for (const how of [
    "the source names it no more",
    "the namespace declines",
    "the source is gone",
  ]) {
    const change = WITHDRAWALS[how] ?? assert.fail();
    const { after, rig } = await sentAfter(REPLACE, change, 15_000, "DELETE");
    assert.deepEqual(after.includes("POST"), false, how);
    assert.equal(rig.api.get(PLACE), undefined, how);
  }
});

test("a copy that is wanted after the delete of its replace is made", async () => {
  const changes = {
    nothing: () => {},
    touched: narrow({ "+note": "x" }),
    widened: narrow({ to: "team-*,other" }),
    rotated: (rig: Rig) => void rig.api.put(secretPath(SOURCE), { data: { password: "bmV3ZXI=" } }),
  };
  for (const [how, change] of Object.entries(changes)) {
    const { after, rig } = await sentAfter(REPLACE, change, 15_000, "DELETE");
    assert.ok(after.includes("POST"), how);
    assert.equal(rig.api.get(PLACE)?.["type"], "example.com/other", how);
  }
});

test("replace: what it waits for may change all the time, and it is made", async () => {
  const { rig } = await sentAfter(REPLACE, () => {}, 0);
  rig.start();
  for (let round = 0; round < 100; round++) {
    narrow({ "+note": `${round}` })(rig);
    rig.api.namespace("team-0", { labels: { note: `${round}` } });
    await rig.clock.advance(300);
  }
  assert.equal(rig.api.get(PLACE)?.["type"], "example.com/other");
});
