// --only-names: one list and one watch for each name and kind, and what the controller does when one of them
// is denied.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { readFilter } from "../../../src/page/filter.ts";
import { StatusFeed } from "../../../src/page/status-feed.ts";
import { Rig, type Started } from "../../support/controller/fake-clock-controller.ts";
import { refusal } from "../../support/controller/memory-api.ts";

const WARNING =
  "names cannot be read (403): their copies and those of their sources stay as they are";
const RESOLVED = "names can be read again";

/** A controller of these names, and which of them the API server denies. */
function start(rig: Rig, names: string, given = {}) {
  const denied = new Set<string>();
  const seen: ApiRequest[] = [];
  const before = async (request: ApiRequest): Promise<void> => {
    seen.push(request);
    const [, name = ""] =
      /^metadata\.name=([^,]+)/.exec(String(request.query?.["fieldSelector"])) ?? [];
    if (denied.has(name)) throw refusal(request, "forbidden");
  };
  const statusFeed = new StatusFeed(rig.clock, "test");
  const started = rig.start({ given: { "only-names": names, ...given }, before, statusFeed });
  const troubles = async () => (await statusFeed.read(readFilter(new URLSearchParams()))).troubles;
  return { started, denied, seen, troubles };
}

const isReading = ({ method, path }: ApiRequest): boolean =>
  method === "GET" && /\/(?:secrets|configmaps)$/.test(path);

const lines = ({ lines }: Started, text: string) => lines.filter(({ msg }) => msg === text);

test("each name and kind has one list and one watch with the kind's selector", async () => {
  const rig = new Rig("team-a", "team-b");
  rig.source("shared/other", { k: "v" });
  const { started, seen } = start(rig, "registry,ca", { "config-maps": true });
  await rig.clock.advance(10_000);
  const scopes = new Set(
    seen
      .filter(isReading)
      .map(({ path, query }) => `${path} ${String(query?.["fieldSelector"])}`)
      .filter((text) => !text.endsWith("=secretcast-sources")),
  );
  assert.deepEqual(
    [...scopes].toSorted(),
    [
      "/api/v1/configmaps metadata.name=ca",
      "/api/v1/configmaps metadata.name=registry",
      "/api/v1/secrets metadata.name=ca,type!=helm.sh/release.v1",
      "/api/v1/secrets metadata.name=registry,type!=helm.sh/release.v1",
    ].toSorted(),
  );
  assert.deepEqual(
    rig.api.writes.toSorted(),
    ["POST team-a", "POST team-b"],
    "only the listed name is copied",
  );
  assert.deepEqual(started.controller.ready(), []);
  // Two names of two kinds, Namespaces and the source list.
  assert.equal(rig.api.openWatches, 6);
  await started.stop();
  assert.equal(rig.api.openWatches, 0);
});

test("all names, some names and all again: no controller writes anything", async () => {
  const rig = new Rig("team-a");
  rig.source("shared/ca", { k: "v" });
  await rig.converge();
  for (const names of ["registry", "ca", "nothing"]) {
    const before = rig.api.writes.length;
    const { started } = start(rig, names, { "delete-grace": "0" });
    await rig.clock.advance(60_000);
    await started.stop();
    assert.deepEqual(rig.api.writes.slice(before), [], names);
    await rig.assertRight();
  }
});

test("one name with 403 freezes its places and delays no other name", async () => {
  const rig = new Rig("team-a");
  rig.source("shared/ca", { k: "1" });
  const { started, denied, troubles } = start(rig, "registry,ca");
  await rig.clock.advance(10_000);
  assert.deepEqual(await troubles(), []);
  denied.add("ca");
  rig.api.expireWatches();
  rig.source("shared/registry", { password: "two" });
  rig.source("shared/ca", { k: "2" });
  await rig.clock.advance(30_000);
  assert.deepEqual(
    rig.api.get("team-a/registry")?.["data"],
    rig.api.get("shared/registry")?.["data"],
  );
  assert.notDeepEqual(rig.api.get("team-a/ca")?.["data"], rig.api.get("shared/ca")?.["data"]);
  assert.deepEqual(started.controller.ready(), []);
  assert.equal(await started.metric("secretcast_unreadable_names"), 1);
  assert.equal(await started.metric("secretcast_copies", { state: "frozen" }), 1);
  assert.deepEqual(
    lines(started, WARNING).map(({ level, names, kind }) => ({ level, names, kind })),
    [{ level: "warn", names: ["ca"], kind: "Secret" }],
  );
  const shown =
    "objects named ca cannot be read (403): their copies and those of their sources stay as they are";
  assert.deepEqual(await troubles(), [shown]);
  denied.clear();
  await rig.clock.advance(90_000);
  assert.deepEqual(await troubles(), []);
  assert.deepEqual(rig.api.get("team-a/ca")?.["data"], rig.api.get("shared/ca")?.["data"]);
  assert.equal(await started.metric("secretcast_unreadable_names"), 0);
  assert.equal(lines(started, WARNING).length, 1);
  assert.equal(lines(started, RESOLVED).length, 1);
  await started.stop();
  await rig.assertRight();
});

test("a name that is denied from the start delays no other name", async () => {
  const rig = new Rig("team-a");
  const one = start(rig, "registry,ca");
  one.denied.add("ca");
  await rig.clock.advance(20_000);
  assert.deepEqual(one.started.controller.ready(), []);
  assert.deepEqual(rig.api.writes, ["POST team-a"]);
  await one.started.stop();
  const all = start(rig, "registry,ca");
  all.denied.add("ca").add("registry");
  await rig.clock.advance(60_000);
  assert.deepEqual(all.started.controller.ready(), ["secrets: cache not filled yet"]);
  all.denied.clear();
  await rig.clock.advance(60_000);
  assert.deepEqual(all.started.controller.ready(), []);
  await all.started.stop();
});

test("the gauge of disconnected watches has the name, unless it is denied", async () => {
  const rig = new Rig("team-a");
  const gauge = "secretcast_watch_disconnected_seconds";
  const away = { name: "" };
  const before = async (request: ApiRequest): Promise<void> => {
    if (String(request.query?.["fieldSelector"]).startsWith(`metadata.name=${away.name},`))
      throw refusal(request, "unavailable");
  };
  const given = { "only-names": "registry,ca,tls", namespaces: "shared,team-a" };
  const started = await rig.run(20_000, { given, before });
  const of = (name: string): Promise<number> =>
    started.metric(gauge, { resource: "secrets", name });
  assert.deepEqual([await of("registry"), await of("ca"), await of("tls")], [0, 0, 0]);
  away.name = "ca";
  rig.api.expireWatches();
  await rig.clock.advance(60_000);
  assert.equal(await of("registry"), 0);
  assert.ok((await of("ca")) > 30);
});

test("with --namespaces a name that is denied in one namespace freezes there alone", async () => {
  const rig = new Rig("team-a", "team-b");
  const refused = { on: true };
  const before = async (request: ApiRequest): Promise<void> => {
    const selector = String(request.query?.["fieldSelector"]);
    if (refused.on && request.path.includes("/team-b/secrets") && selector.includes("=registry,"))
      throw refusal(request, "forbidden");
  };
  const given = { "only-names": "registry,ca", namespaces: "team-a,team-b" };
  const started = await rig.run(30_000, { given, before });
  assert.deepEqual(rig.api.writes, ["POST team-a"]);
  assert.equal(await started.metric("secretcast_copies", { state: "frozen" }), 1);
  assert.equal(await started.metric("secretcast_unreadable_namespaces"), 0);
  refused.on = false;
  await rig.clock.advance(60_000);
  assert.deepEqual(rig.api.writes, ["POST team-a", "POST team-b"]);
});

test("--once with a denied name does not converge while its places are frozen", async () => {
  const rig = new Rig("team-a");
  rig.source("shared/ca", { k: "1" });
  await rig.converge();
  const { started, denied } = start(rig, "registry,ca", { once: true });
  denied.add("ca");
  await rig.clock.advance(60_000);
  assert.equal(await started.ended(), "converged");
  const other = start(rig, "registry,ca", { once: true });
  rig.source("shared/registry", { password: "two" }, "team-*,none");
  rig.api.put("/api/v1/namespaces/shared/secrets/registry", {
    metadata: { annotations: { "secretcast.io/name": "ca" } },
  });
  other.denied.add("ca");
  await rig.clock.advance(60_000);
  assert.equal(await other.started.ended(), "unconverged");
});

test("50 names of two kinds have filled caches and one watch each", async () => {
  const rig = new Rig("team-a");
  const names = Array.from({ length: 50 }, (_, at) => (at === 0 ? "registry" : `n${at}`));
  const { started, seen } = start(rig, names.join(), { "config-maps": true });
  await rig.clock.advance(10_000);
  assert.deepEqual(started.controller.ready(), []);
  assert.equal(rig.api.openWatches, 102);
  const before = seen.length;
  await rig.clock.advance(3_600_000);
  // At rest each watch is opened again after 5 to 10 minutes. This server sends no bookmarks, so a look at its
  // version comes before.
  const each = (seen.length - before) / 102;
  assert.ok(each > 6 && each <= 24, `${each} requests an hour for each watch`);
});

test("a source with an unlisted name has one Event with the value to add", async () => {
  const rig = new Rig("team-a", "team-b");
  const name = { annotations: { "secretcast.io/name": "pull-secret" } };
  rig.api.put("/api/v1/namespaces/shared/secrets/registry", { metadata: name });
  const { seen } = start(rig, "registry");
  for (let round = 0; round < 6; round++) {
    await rig.clock.advance(600_000);
    rig.api.namespace(`team-${round}`);
  }
  const notes = seen
    .filter(({ method, path }) => method === "POST" && path.endsWith("/events"))
    .map(({ body }) => (body as { readonly note?: string }).note ?? "");
  assert.equal(notes.length, 1);
  assert.match(notes[0] ?? "", /--only-names registry,pull-secret lets it take part/);
  assert.deepEqual(rig.api.writes, []);
});
