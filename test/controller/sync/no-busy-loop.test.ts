// Nothing that the API says or a tenant writes makes the controller run without a pause. On a fake
// clock, so that minutes can be looked at.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiErrorKind } from "../../../packages/kube/rest/api-error.ts";
import type { ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { seeded } from "../../../packages/kube/testing/random.ts";
import { refusal, secretPath } from "../../support/controller/memory-api.ts";
import {
  faults,
  Rig,
  type Started,
  refuse,
} from "../../support/controller/fake-clock-controller.ts";

// On a clock on which a plan takes no time: a sixth of a core, at two milliseconds a sync.
const PASSES_A_SECOND = 84;
const BURST = 84;

/** The most of these times that lie within `windowMs`. */
function most(times: readonly number[], windowMs: number): number {
  let from = 0;
  let found = 0;
  for (const [to, time] of times.entries()) {
    while ((times[from] ?? 0) <= time - windowMs) from++;
    found = Math.max(found, to - from + 1);
  }
  return found;
}

function assertPassesBounded({ syncs }: Started): void {
  const times = syncs.map(({ at }) => at);
  for (const seconds of [1, 10, 60]) {
    const found = most(times, seconds * 1000);
    const bound = seconds * PASSES_A_SECOND + BURST;
    assert.ok(found <= bound, `${found} syncs in ${seconds} s`);
  }
}

/** Requests for single Secrets, by where they go; a POST's name is not in its path. */
function requests(rig: Rig): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const { method, path, at } of rig.api.seen) {
    if (!path.includes("/secrets") || path === "/api/v1/secrets") continue;
    const key = `${method} ${path}`;
    places.set(key, [...(places.get(key) ?? []), at]);
  }
  return places;
}

function assertRequestsBounded(rig: Rig, windowMs: number, bound: number): void {
  for (const [what, times] of requests(rig)) {
    const found = most(times, windowMs);
    assert.ok(found <= bound, `${found} times ${what} in ${windowMs / 1000} s`);
  }
}

const isRead = ({ method, path }: ApiRequest): boolean =>
  method === "GET" && /\/namespaces\/[^/]+\/secrets\/[^/]+$/.test(path);

/** A Secret that the watch leaves out, as it does Helm's, where a copy should be. */
function hiddenStranger(rig: Rig, place: string): void {
  const before = rig.api.unlisted;
  rig.api.unlisted = (object) =>
    before(object) || `${object.metadata.namespace}/${object.metadata.name}` === place;
  rig.api.secret(place, {}, { mine: "x" });
}

test("a failed live read is retried within 30 s and reported once", async () => {
  const rig = new Rig("team-a");
  const started = await rig.run(5000, { given: { resync: "0" } });
  const unread = faults(isRead, refuse("forbidden"));
  await started.stop();
  hiddenStranger(rig, "team-b/registry");
  rig.api.namespace("team-b");
  const from = rig.clock.monotonic();
  unread.on = true;
  const again = await rig.run(600_000, { given: { resync: "0" }, before: unread.before });
  const looks = rig.api.seen.filter(
    ({ method, path, at }) => at >= from && isRead({ method, path, what: "" }),
  );
  assert.ok(looks.length >= 20 && looks.length <= 30, `${looks.length} looks in ten minutes`);
  const waits = looks.slice(1).map(({ at }, n) => at - (looks[n]?.at ?? 0));
  assert.ok(Math.max(...waits) <= 31_000, `waited ${Math.max(...waits)} ms`);
  assertPassesBounded(again);
  assert.ok(again.syncs.length < 80, `${again.syncs.length} syncs`);
  const said = again.lines.filter(({ reason }) =>
    /cannot be read: reason withheld/.test(String(reason)),
  );
  assert.equal(said.length, 1, "a look that fails again says nothing");
  assert.equal(
    await again.metric("secretcast_write_failures_total", { cause: "withheld" }),
    looks.length,
  );
  assert.equal(again.syncs.at(-1)?.plan.states.conflict, 1);
  unread.on = false;
  rig.api.removeSecret("team-b/registry");
  await rig.clock.advance(31_000);
  assert.deepEqual(rig.api.get("team-b/registry")?.["data"], { password: btoa("one") });
});

test("a forged copy of a source missing in the cache is read ever less often", async () => {
  const rig = new Rig("team-a");
  hiddenStranger(rig, "shared/helm");
  const { uid } = rig.api.get("shared/helm")?.metadata ?? {};
  rig.api.secret("team-a/forged", {
    labels: { "app.kubernetes.io/managed-by": "secretcast" },
    annotations: {
      "secretcast.io/source": "shared/helm",
      "secretcast.io/source-uid": uid,
      "secretcast.io/placed-at": "team-a/forged",
    },
  });
  const started = await rig.run(600_000, { given: { "delete-grace": "0", resync: "0" } });
  const asked = rig.api.seen.filter(({ path }) => path === secretPath("shared/helm"));
  assert.ok(asked.length > 5 && asked.length < 30, `asked ${asked.length} times`);
  assert.ok(started.syncs.length < 100, `${started.syncs.length} syncs`);
  assert.ok(rig.api.get("team-a/forged"));
});

test("a source that changes constantly and is refused costs one try a second", async () => {
  const rig = new Rig("team-a");
  const started = rig.start({
    before: async (request) => {
      if (request.method === "POST" && request.path.includes("/team-a/"))
        throw refusal(request, "forbidden");
    },
  });
  for (let step = 0; step < 600; step++) {
    rig.source("shared/registry", { password: `${step}` });
    await rig.clock.advance(20);
  }
  assertRequestsBounded(rig, 10_000, 11);
  assertPassesBounded(started);
  assert.equal(started.lines.filter(({ msg }) => msg.startsWith("write failed")).length, 1);
});

test("a source that is refused in ever new words fills no log", async () => {
  const rig = new Rig("team-a");
  const started = rig.start();
  for (let step = 0; step < 1000; step++) {
    const annotations = { "secretcast.io/to": step % 2 ? "*" : `not a glob ${step}` };
    rig.api.secret("shared/flip", { annotations }, { k: "v" });
    await rig.clock.advance(60);
  }
  const said = started.lines.filter(({ msg }) => msg === "source refused");
  assert.ok(said.length >= 1 && said.length <= 11, `${said.length} lines a minute`);
  assertPassesBounded(started);
});

const ANSWERS: readonly ApiErrorKind[] = [
  "notFound",
  "alreadyExists",
  "conflict",
  "forbidden",
  "unauthorized",
  "invalid",
  "badRequest",
  "gone",
  "timeout",
  "terminating",
  "unavailable",
  "malformed",
];

/** A cluster state in which every kind of action is due, and one that the watch does not tell all of. */
function everythingDue(rig: Rig): void {
  rig.teams("team-a", "team-b", "team-c");
  rig.api.secret(
    "shared/pulled",
    { annotations: { "secretcast.io/allow": "team-*" } },
    { token: "t" },
  );
  rig.api.secret("team-a/pulling", { annotations: { "secretcast.io/from": "shared/pulled" } });
  rig.api.secret("team-b/registry", {
    annotations: { "secretcast.io/adopt": "shared/registry" },
  });
  hiddenStranger(rig, "team-c/registry");
  hiddenStranger(rig, "shared/helm");
  for (const [place, source, uid] of [
    ["team-a/old", "shared/gone", "uid-of-gone"],
    ["team-a/forged", "shared/helm", rig.api.get("shared/helm")?.metadata.uid],
  ] as const)
    rig.api.secret(place, {
      labels: { "app.kubernetes.io/managed-by": "secretcast" },
      annotations: {
        "secretcast.io/source": source,
        "secretcast.io/source-uid": uid,
        "secretcast.io/placed-at": place,
      },
    });
}

for (const kind of ANSWERS)
  test(`where every request for a Secret is answered ${kind}, each is repeated with a back-off`, async () => {
    const rig = new Rig();
    everythingDue(rig);
    const sick = faults(
      (request) => /\/namespaces\/[^/]+\/secrets/.test(request.path),
      refuse(kind),
      true,
    );
    const started = await rig.run(600_000, {
      given: { "delete-grace": "0", resync: "0" },
      before: sick.before,
    });
    assertPassesBounded(started);
    // A 409 or 404 says that the cluster state has moved: again after five seconds at most.
    assertRequestsBounded(rig, 60_000, 24);
  });

test("whatever is answered and written at random, syncs and requests are bounded", async () => {
  const rig = new Rig();
  const random = seeded(12);
  everythingDue(rig);
  const started = rig.start({
    given: { "delete-grace": "0" },
    before: async (request) => {
      if (!/\/namespaces\/[^/]+\/secrets/.test(request.path) || random() < 0.4) return;
      const kind = ANSWERS[Math.floor(random() * ANSWERS.length)] ?? "unavailable";
      throw refusal(request, kind);
    },
  });
  const tenant: readonly (() => void)[] = [
    () => rig.source("shared/registry", { password: String(random()) }),
    () => rig.source("shared/registry", { password: "x" }, random() < 0.5 ? "team-a" : "team-*"),
    () => rig.api.removeSecret("team-a/registry"),
    () => rig.api.secret("team-a/registry", {}, { password: String(random()) }),
    () => rig.api.secret("team-a/pulling", {}, { token: String(random()) }),
    () => rig.api.put("/api/v1/namespaces/team-a", { metadata: { labels: { n: `${random()}` } } }),
    () => rig.api.secret("team-a/forged", { annotations: { note: String(random()) } }),
    () => rig.api.removeSecret("shared/registry"),
  ];
  for (let step = 0; step < 3000; step++) {
    tenant[Math.floor(random() * tenant.length)]?.();
    await rig.clock.advance(random() * 50);
  }
  await rig.clock.advance(60_000);
  assertPassesBounded(started);
  assertRequestsBounded(rig, 10_000, 40);
});
