// Each alert, provoked: a real controller on a fake clock lives through the state for hours, its metrics
// are scraped each minute as Prometheus would, and promtool judges the rules on just that. What else
// fires in the state is part of what is asserted, and before it nothing does.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadYaml } from "@kubernetes/client-node";
import type { FlagValues } from "../../src/controller/settings/config.ts";
import type { ApiRequest } from "../../src/kube/rest/api-client.ts";
import { refusal } from "../support/controller/memory-api.ts";
import { faults, isWrite, Rig, unavailable } from "../support/controller/fake-clock-controller.ts";
import {
  promtoolMissing,
  Scrapes,
  unlessFiring,
  type Firing,
} from "../support/documents/promtool.ts";
import { selectors } from "../support/documents/promql.ts";

const RULES = fileURLToPath(
  new URL("../../manifests/chart/monitoring/rules.yaml", import.meta.url),
);
const { groups } = loadYaml<{ groups: { rules: { alert: string; expr: string }[] }[] }>(
  readFileSync(RULES, "utf8"),
);
const rules = groups.flatMap((group) => group.rules);
const METRICS = rules.flatMap(({ expr }) => selectors(expr).map(({ series }) => series));
const options = { skip: promtoolMissing() ?? false };
const LIST = "/api/v1/namespaces/secretcast/configmaps/secretcast-sources";
const MINUTE = 60_000;
// Names that no rule knows.
const FLAGS: FlagValues = { "lease-name": "two-secretcast" };

/** An installation under Prometheus: pods come and go, time passes a minute at a time. */
class Watched {
  readonly rig = new Rig();
  readonly scrapes = new Scrapes(METRICS, this.rig.clock.now());
  readonly #pods = new Map<string, ReturnType<Rig["start"]>>();
  /** Done ahead of each minute. */
  each: () => void = () => undefined;

  pod(name: string, { given, ...rest }: Parameters<Rig["start"]>[0] = {}): void {
    this.#pods.set(name, this.rig.start({ given: { ...FLAGS, ...given }, ...rest }));
  }

  async gone(name: string): Promise<void> {
    await this.#pods.get(name)?.stop();
    this.#pods.delete(name);
  }

  async minutes(count: number): Promise<void> {
    for (let minute = 0; minute < count; minute++) {
      this.each();
      await this.rig.clock.advance(MINUTE);
      const targets = new Map<string, string>();
      for (const [name, pod] of this.#pods) {
        const labels = `job="monitoring/two",namespace="home",pod="${name}",instance="${name}:8080"`;
        targets.set(labels, await pod.scrape());
      }
      this.scrapes.minute(targets);
    }
  }

  async end(firing: Firing): Promise<void> {
    for (const name of this.#pods.keys()) await this.gone(name);
    assert.equal(unlessFiring(RULES, this.scrapes, firing), "");
  }
}

/** Ten minutes in which all is well; the state begins after them. */
async function healthy(given: FlagValues = {}): Promise<Watched> {
  const watched = new Watched();
  watched.rig.teams("team-a", "team-b", "team-c", "team-d");
  watched.pod("a", { given });
  await watched.minutes(10);
  return watched;
}

const forbidden = (request: ApiRequest): never => {
  throw refusal(request, "forbidden");
};

const provoked = new Set<string>();
type Case = {
  readonly name: string;
  readonly fires: readonly string[];
  /** Till this minute, if not the usual one. */
  readonly end?: number;
  readonly live: () => Promise<Watched>;
};
function fires({ name, fires: alerts, end = END, live }: Case): void {
  for (const alert of alerts) provoked.add(alert);
  test(`${alerts.join(", ") || "no alert"}: ${name}`, options, async () => {
    const watched = await live();
    await watched.end({ 9: [], [end]: alerts });
  });
}
// The longest that a rule waits is three hours.
const END = 280;
const HOURS = END - 10 + 1;

fires({
  name: "all is current, and nothing happens for hours",
  fires: [],
  live: async () => {
    const watched = await healthy();
    await watched.minutes(HOURS);
    return watched;
  },
});

fires({
  name: "sources change each minute, and their copies with them",
  fires: [],
  live: async () => {
    const watched = await healthy();
    let turn = 0;
    watched.each = () => watched.rig.source("shared/registry", { password: `${turn++}` });
    await watched.minutes(HOURS);
    return watched;
  },
});

fires({
  name: "a mistyped --source-namespaces stops everything",
  fires: ["SecretcastFrozen", "SecretcastIgnored"],
  live: async () => {
    const watched = await healthy();
    await watched.gone("a");
    watched.pod("b", { given: { "source-namespaces": "sahred" } });
    await watched.minutes(HOURS);
    return watched;
  },
});

fires({
  name: "an annotation is mistyped, and the copies that are there freeze",
  fires: ["SecretcastRefused", "SecretcastFrozen"],
  live: async () => {
    const watched = await healthy();
    watched.rig.api.secret("shared/registry", {
      annotations: { "secretcast.io/to-selecter": "x" },
    });
    await watched.minutes(HOURS);
    return watched;
  },
});

fires({
  name: "of two entries of the source list one is mistyped, and one names a Secret that nobody makes",
  fires: ["SecretcastRefused", "SecretcastListAbsent"],
  live: async () => {
    const watched = await healthy();
    watched.rig.api.put(LIST, {
      data: {
        mistyped: "secret: shared/plain\ntoo: '*'\n",
        absent: "secret: shared/wildcrad\nto: '*'\n",
      },
    });
    await watched.minutes(HOURS);
    return watched;
  },
});

for (const [what, provoke] of [
  [
    "a Secret outside the source namespaces is annotated as a source",
    (rig: Rig) => rig.source("team-a/own", { k: "v" }),
  ],
  [
    "a Secret is moved with a copy's marks on it",
    (rig: Rig) => {
      const copy = rig.api.get("team-b/registry")?.metadata;
      const [labels, annotations] = [copy?.["labels"], copy?.annotations];
      rig.api.secret("team-a/moved", { labels, annotations });
    },
  ],
  [
    "a namespace accepts something that is no glob",
    (rig: Rig) => rig.api.namespace("team-e", { annotations: { "secretcast.io/accept": "A/B/C" } }),
  ],
] as const)
  fires({
    name: what,
    fires: ["SecretcastIgnored"],
    live: async () => {
      const watched = await healthy();
      provoke(watched.rig);
      await watched.minutes(HOURS);
      return watched;
    },
  });

fires({
  name: "more deletions than the limit wait for the hold",
  fires: ["SecretcastHeld", "SecretcastNowhere"],
  live: async () => {
    const watched = await healthy({ "delete-limit": "1", "delete-hold": "24h" });
    watched.rig.api.secret("shared/registry", { annotations: { "secretcast.io/to": "nowhere" } });
    await watched.minutes(HOURS);
    return watched;
  },
});

fires({
  name: "an edit leaves a source without any copy (A4)",
  fires: ["SecretcastNowhere"],
  live: async () => {
    const watched = await healthy({ "delete-hold": "0" });
    watched.rig.api.secret("shared/registry", { annotations: { "secretcast.io/to": "taem-*" } });
    await watched.minutes(HOURS);
    return watched;
  },
});

test(
  "SecretcastHeld fires at once, for the removals of one typing error (A6)",
  options,
  async () => {
    const watched = await healthy({ "delete-hold": "24h" });
    watched.rig.api.secret("shared/registry", { annotations: { "secretcast.io/to": "taem-*" } });
    await watched.minutes(3);
    const both = ["SecretcastHeld", "SecretcastNowhere"];
    await watched.end({ 9: [], 11: both, 12: both });
  },
);

fires({
  name: "a source is too large for its places",
  fires: ["SecretcastHeld"],
  live: async () => {
    const watched = await healthy({ "fanout-limit": "20Ki" });
    watched.rig.source("shared/large", { k: "x".repeat(20_000) });
    await watched.minutes(HOURS);
    return watched;
  },
});

fires({
  name: "a value is older than --max-value-age, though a label was edited",
  fires: ["SecretcastOldValues"],
  live: async () => {
    const watched = await healthy({ "max-value-age": "24h" });
    const time = (agoMs: number): string =>
      new Date(watched.rig.clock.now() - agoMs).toISOString().replace(/\.\d+Z$/, "Z");
    const old = time(48 * 60 * MINUTE);
    const fieldsV1 = { "f:data": { "f:k": {} } };
    const labels = { "f:metadata": { "f:labels": { "f:x": {} } } };
    watched.rig.api.secret(
      "shared/second",
      {
        annotations: { "secretcast.io/to": "team-*" },
        creationTimestamp: old,
        managedFields: [
          { manager: "create", time: old, fieldsV1 },
          { manager: "label", time: time(0), fieldsV1: labels },
        ],
      },
      { k: "v" },
    );
    await watched.minutes(HOURS);
    return watched;
  },
});

fires({
  name: "somebody else's Secret is in the way",
  fires: ["SecretcastConflicts"],
  live: async () => {
    const watched = await healthy();
    watched.rig.api.secret("team-a/second", {}, { k: "theirs" });
    watched.rig.source("shared/second", { k: "v" });
    await watched.minutes(HOURS);
    return watched;
  },
});

fires({
  name: "a namespace's quota is used up",
  fires: ["SecretcastFailing", "SecretcastNotConverged"],
  live: async () => {
    const quota = faults(
      (request) => isWrite(request) && request.path.includes("/team-a/"),
      forbidden,
    );
    const watched = new Watched();
    watched.rig.teams("team-a", "team-b");
    watched.pod("a", { before: quota.before });
    await watched.minutes(10);
    quota.on = true;
    watched.rig.source("shared/registry", { password: "two" });
    await watched.minutes(HOURS);
    return watched;
  },
});

fires({
  name: "every pass throws",
  fires: ["SecretcastSyncFailing"],
  live: async () => {
    const watched = new Watched();
    watched.rig.teams("team-a");
    let broken = false;
    const onPlan = (): void => {
      if (broken) throw new TypeError("a bug");
    };
    watched.pod("a", { observer: { onPlan } });
    await watched.minutes(10);
    broken = true;
    watched.rig.source("shared/registry", { password: "two" });
    await watched.minutes(HOURS);
    return watched;
  },
});

fires({
  name: "somebody edits a copy twice a minute",
  fires: ["SecretcastFought"],
  live: async () => {
    const watched = await healthy();
    let turn = 0;
    watched.each = () => {
      for (const team of ["team-a", "team-b"])
        watched.rig.api.secret(`${team}/registry`, {}, { password: `theirs ${turn++}` });
    };
    await watched.minutes(HOURS);
    return watched;
  },
});

fires({
  name: "thirty sources change each minute, and the cache has room for none",
  fires: ["SecretcastDataCacheThrashing"],
  end: 60,
  live: async () => {
    const watched = new Watched();
    watched.rig.teams("team-a");
    watched.pod("a", { given: { "data-cache": "0" } });
    await watched.minutes(10);
    let turn = 0;
    watched.each = () => {
      turn++;
      for (let at = 0; at < 30; at++) watched.rig.source(`shared/s${at}`, { k: `${turn}` });
    };
    await watched.minutes(51);
    return watched;
  },
});

for (const [what, outage] of [
  ["the API server is away", faults(() => true, unavailable)],
  ["the right to read Secrets is gone", faults(({ path }) => path.endsWith("/secrets"), forbidden)],
] as const)
  test(
    `SecretcastWatchDisconnected, then SecretcastWatchStale: ${what}, and comes back`,
    options,
    async () => {
      const watched = new Watched();
      watched.rig.teams("team-a");
      watched.pod("a", { before: outage.before });
      await watched.minutes(10);
      outage.on = true;
      watched.rig.api.expireWatches();
      await watched.minutes(30);
      outage.on = false;
      await watched.minutes(10);
      const [first, then] = ["SecretcastWatchDisconnected", "SecretcastWatchStale"];
      for (const alert of [first, then]) provoked.add(alert);
      await watched.end({ 9: [], 15: [first], 39: [first, then], 49: [] });
    },
  );

fires({
  name: "the cache has room for none of 300 sources, and they are copied once",
  fires: [],
  live: async () => {
    const watched = await healthy({ "data-cache": "0" });
    for (let at = 0; at < 300; at++) watched.rig.source(`shared/s${at}`, { k: "v" });
    await watched.minutes(HOURS);
    return watched;
  },
});

fires({
  name: "nobody gets the Lease",
  fires: ["SecretcastNoLeader"],
  live: async () => {
    const lease = faults(() => true, unavailable);
    const watched = new Watched();
    watched.rig.teams("team-a");
    watched.pod("a", { given: { "leader-elect": true } });
    await watched.minutes(10);
    await watched.gone("a");
    lease.on = true;
    watched.pod("b", { given: { "leader-elect": true }, beforeLease: lease.before });
    await watched.minutes(HOURS);
    return watched;
  },
});

test("SecretcastNoLeader: no replica is there, within the hour and after it", options, async () => {
  const watched = await healthy();
  await watched.gone("a");
  await watched.minutes(HOURS);
  const alerts = ["SecretcastNoLeader"];
  await watched.end({ 9: [], 40: alerts, [END]: alerts });
});

fires({
  name: "two run without the election",
  fires: ["SecretcastTwoLeaders"],
  live: async () => {
    const watched = await healthy();
    watched.pod("b");
    await watched.minutes(HOURS);
    return watched;
  },
});

test("no alert: a rolling update, in which nobody leads for seconds", options, async () => {
  const watched = new Watched();
  watched.rig.teams("team-a");
  watched.pod("a", { given: { "leader-elect": true } });
  watched.pod("b", { given: { "leader-elect": true } });
  await watched.minutes(10);
  await watched.gone("a");
  watched.pod("c", { given: { "leader-elect": true } });
  await watched.minutes(10);
  await watched.gone("b");
  watched.pod("d", { given: { "leader-elect": true } });
  await watched.minutes(40);
  await watched.end({ 9: [], 12: [], 15: [], 21: [], 25: [], 59: [] });
});

test("promtool finds nothing to say against the rules", options, () => {
  const { status, stdout, stderr } = spawnSync(
    "promtool",
    ["check", "rules", "--lint=all", RULES],
    {
      encoding: "utf8",
    },
  );
  assert.equal(status, 0, stdout + stderr);
});

test("every rule is provoked here", options, () => {
  const all = rules.map(({ alert }) => alert);
  assert.deepEqual(
    all.filter((alert) => !provoked.has(alert)),
    [],
  );
});
