// What a plan shows that somebody should mend: a line when it begins, changes and ends. On a fake clock.
import assert from "node:assert/strict";
import { test } from "node:test";
import { refusal } from "../../support/controller/memory-api.ts";
import { Rig, type Line, type Started } from "../../support/controller/fake-clock-controller.ts";

const about = (started: Started, what: RegExp): readonly Line[] =>
  started.lines.filter(({ msg }) => what.test(msg));

test("Secrets that ask outside the source namespaces are one line with a count", async () => {
  const rig = new Rig("team-a", "team-b");
  for (let n = 0; n < 600; n++) rig.source(`team-a/spam-${n}`, {});
  const started = await rig.run(600_000);
  const lines = about(started, /outside the source namespaces/);
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.level, "warn");
  assert.equal(lines[0]?.["count"], 600);
  assert.deepEqual(
    lines[0]?.["secrets"],
    [599, 598, 597, 596, 595].map((n) => `team-a/spam-${n}`),
  );
  assert.equal(await started.metric("secretcast_ignored", { reason: "namespace" }), 600);
});

test("a Secret without effect is seen when it comes and when it goes", async () => {
  const rig = new Rig("team-a");
  const started = await rig.run(5000, { given: { resync: "0" } });
  assert.equal(await started.metric("secretcast_ignored", { reason: "namespace" }), 0);
  rig.source("team-a/mine", {});
  await rig.clock.advance(5000);
  assert.equal(await started.metric("secretcast_ignored", { reason: "namespace" }), 1);
  rig.api.removeSecret("team-a/mine");
  await rig.clock.advance(5000);
  assert.equal(await started.metric("secretcast_ignored", { reason: "namespace" }), 0);
  assert.deepEqual(
    about(started, /outside the source namespaces/).map(
      ({ level, msg }) => `${level} ${msg.split(":")[0]}`,
    ),
    ["warn ignored annotations", "info resolved"],
  );
});

test("what keeps changing is reported once a minute at most", async () => {
  const rig = new Rig("team-a");
  const started = rig.start({ given: { resync: "0" } });
  for (let n = 0; n < 120; n++) {
    rig.source(`team-a/spam-${n}`, {});
    await rig.clock.advance(1000);
  }
  const lines = about(started, /outside the source namespaces/);
  assert.ok(lines.length >= 1 && lines.length <= 3, String(lines.length));
});

test("6,000 faulty Secrets of one tenant hold back no Event of the platform's", async () => {
  const rig = new Rig("team-a", "tenant");
  const prefixed = (words: Readonly<Record<string, string>>) => ({
    annotations: Object.fromEntries(
      Object.entries(words).map(([word, value]) => [`secretcast.io/${word}`, value]),
    ),
  });
  for (let n = 0; n < 3000; n++) {
    rig.api.secret(`tenant/idle-${n}`, prefixed({ to: "*" }), {});
    rig.api.secret(`tenant/wrong-${n}`, prefixed({ from: "shared/none", too: "x" }), {});
  }
  const sentIn: string[] = [];
  await rig.run(60_000, {
    before: async ({ method, path }) => {
      const [, namespace] = /events\.k8s\.io.*namespaces\/([^/]+)/.exec(path) ?? [];
      if (method === "POST" && namespace !== undefined) sentIn.push(namespace);
    },
  });
  assert.ok(sentIn.length > 100, String(sentIn.length));
  assert.ok(
    sentIn.indexOf("shared") >= 0 && sentIn.indexOf("shared") < 5,
    sentIn.slice(0, 9).join(),
  );
});

test("a flag or a source without a namespace causes one warning until it is over", async () => {
  const rig = new Rig("team-a");
  rig.source("shared/typo", {}, "taem-*");
  const started = await rig.run(3_600_000, { given: { "source-namespaces": "platfrom,shared" } });
  const reported = (): readonly unknown[] =>
    about(started, /without targets|flags that match/).map(({ level, flags, sources }) => [
      level,
      flags ?? sources,
    ]);
  const begun = [
    ["warn", ["shared/typo"]],
    ["warn", ["--source-namespaces platfrom"]],
  ];
  assert.deepEqual(reported(), begun);
  assert.equal(await started.metric("secretcast_ignored", { reason: "flag" }), 1);
  rig.api.namespace("platfrom");
  rig.api.namespace("taem-1");
  await rig.clock.advance(5000);
  assert.deepEqual(reported().slice(2), [
    ["info", undefined],
    ["info", undefined],
  ]);
});

test("a tenant's thousands of pulling Secrets hide no failing write", async () => {
  const rig = new Rig("team-a", "team-b");
  let denied = false;
  const started = await rig.run(5000, {
    before: async (request) => {
      if (denied && request.method !== "GET" && request.path.includes("/team-b/"))
        throw refusal(request, "forbidden");
    },
  });
  const names = Array.from({ length: 2000 }, (_, n) => `team-a/pull-${n}`);
  for (const [n, place] of names.entries())
    rig.api.secret(place, { annotations: { "secretcast.io/from": `shared/none-${n}` } });
  await rig.clock.advance(5000);
  denied = true;
  rig.source("shared/registry", { password: "two" });
  await rig.clock.advance(15_000);
  const failed = about(started, /write failed/);
  assert.deepEqual(failed[0]?.["places"], ["team-b/registry"]);
  await rig.clock.advance(3_600_000);
  const reported = about(started, /^pulling Secret not filled/);
  assert.ok(reported.length > 20, String(reported.length));
  denied = false;
  for (const place of names) rig.api.removeSecret(place);
  await rig.clock.advance(30_000);
  const over = (): number => about(started, /^resolved: pulling Secret/).length;
  assert.ok(over() <= 20, String(over()));
  await rig.clock.advance(3_600_000);
  assert.ok(over() > 20, String(over()));
});

test("a tenant's forged copies of invented sources hide no conflict of others", async () => {
  const rig = new Rig("a-tenant", "b-tenant", "team-a");
  for (let n = 0; n < 1500; n++)
    for (const tenant of ["a-tenant", "b-tenant"]) {
      const place = `${tenant}/forged-${n}`;
      const marks = { source: `made-up-${n}/x`, "source-uid": "u", "placed-at": place };
      rig.api.secret(place, {
        labels: { "app.kubernetes.io/managed-by": "secretcast" },
        annotations: Object.fromEntries(
          Object.entries(marks).map(([mark, value]) => [`secretcast.io/${mark}`, value]),
        ),
      });
    }
  const started = await rig.run(10_000);
  const reported = about(started, /^copies frozen/);
  assert.ok(reported.length > 20 && reported.length <= 100, String(reported.length));
  rig.api.secret("team-a/taken", {});
  rig.source("shared/taken", { password: "one" });
  await rig.clock.advance(10_000);
  const conflict = about(started, /^in conflict with unmanaged/);
  assert.deepEqual(conflict[0]?.["places"], ["team-a/taken"]);
});
