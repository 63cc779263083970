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
import type { ApiRequest } from "../../packages/kube/rest/api-client.ts";
import { metricsOfNothing } from "../support/documents/metrics.ts";
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
  readonly rig = new Rig("team-a", "team-b", "team-c", "team-d");
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

const forbidden = (request: ApiRequest): never => {
  throw refusal(request, "forbidden");
};

/** Four teams and a pod; ten minutes in which all is well. The state begins after them. */
async function healthy(options: Parameters<Rig["start"]>[0] = {}): Promise<Watched> {
  const watched = new Watched();
  watched.pod("a", options);
  await watched.minutes(10);
  return watched;
}

// The longest that a rule waits is three hours.
const END = 280;
const HOURS = END - 10 + 1;

const provoked = new Set<string>();
type Case = {
  readonly name: string;
  readonly fires: readonly string[];
  readonly pod?: Parameters<Rig["start"]>[0];
  /** How the state begins. */
  readonly begin?: (watched: Watched) => unknown;
  readonly minutes?: number;
};
function fires({ name, fires: alerts, pod, begin, minutes = HOURS }: Case): void {
  for (const alert of alerts) provoked.add(alert);
  test(`${alerts.join(", ") || "no alert"}: ${name}`, options, async () => {
    const watched = await healthy(pod);
    await begin?.(watched);
    await watched.minutes(minutes);
    await watched.end({ 9: [], [9 + minutes]: alerts });
  });
}

/** Annotates the source of the four teams. */
const annotate =
  (annotations: Readonly<Record<string, string>>) =>
  ({ rig }: Watched): void =>
    rig.api.secret("shared/registry", { annotations });

fires({ name: "all is current, and nothing happens for hours", fires: [] });

fires({
  name: "sources change each minute, and their copies with them",
  fires: [],
  begin: (watched) => {
    let turn = 0;
    watched.each = () => watched.rig.source("shared/registry", { password: `${turn++}` });
  },
});

fires({
  name: "a mistyped --source-namespaces stops everything",
  fires: ["SecretcastFrozen", "SecretcastIgnored"],
  begin: async (watched) => {
    await watched.gone("a");
    watched.pod("b", { given: { "source-namespaces": "sahred" } });
  },
});

fires({
  name: "a new process may not read a namespace of --namespaces, so it knows no copy there",
  fires: ["SecretcastFrozen"],
  begin: async (watched) => {
    await watched.gone("a");
    // Lists of the memory's API know no namespace.
    watched.rig.api.unlisted = ({ metadata: { namespace, name } }) =>
      (namespace ?? name) !== "shared";
    watched.pod("b", {
      given: { namespaces: "shared,team-d" },
      before: async (request) => {
        if (request.method === "GET" && request.path.includes("/team-d/secrets"))
          forbidden(request);
      },
    });
  },
});

fires({
  name: "an annotation is mistyped, and the copies that are there freeze",
  fires: ["SecretcastRefused", "SecretcastFrozen"],
  begin: annotate({ "secretcast.io/to-selecter": "x" }),
});

fires({
  name: "of two entries of the source list one is mistyped, and one names a Secret that nobody makes",
  fires: ["SecretcastRefused", "SecretcastListAbsent"],
  begin: ({ rig }) => {
    const mistyped = "secret: shared/plain\ntoo: '*'\n";
    rig.api.put(LIST, { data: { mistyped, absent: "secret: shared/wildcrad\nto: '*'\n" } });
  },
});

for (const [name, begin] of Object.entries<NonNullable<Case["begin"]>>({
  "a Secret outside the source namespaces is annotated as a source": ({ rig }) =>
    rig.source("team-a/own", { k: "v" }),
  "a Secret is moved with a copy's marks on it": ({ rig }) => {
    const copy = rig.api.get("team-b/registry")?.metadata;
    const [labels, annotations] = [copy?.["labels"], copy?.annotations];
    rig.api.secret("team-a/moved", { labels, annotations });
  },
  "a namespace accepts something that is no glob": ({ rig }) =>
    rig.api.namespace("team-e", { annotations: { "secretcast.io/accept": "A/B/C" } }),
}))
  fires({ name, fires: ["SecretcastIgnored"], begin });

fires({
  name: "an edit takes the copies of many namespaces",
  fires: ["SecretcastHeld"],
  pod: { given: { "delete-hold": "24h" } },
  begin: annotate({ "secretcast.io/to": "taem-*" }),
});

fires({
  name: "a source is deleted",
  fires: ["SecretcastHeld"],
  pod: { given: { "delete-hold": "24h" } },
  begin: ({ rig }) => rig.api.removeSecret("shared/registry"),
  minutes: 2,
});

fires({
  name: "a source is too large for its places",
  fires: ["SecretcastHeldOther"],
  pod: { given: { "fanout-limit": "20Ki" } },
  begin: ({ rig }) => rig.source("shared/large", { k: "x".repeat(20_000) }),
});

fires({
  name: "a value is older than --max-value-age, though a label was edited",
  fires: ["SecretcastOldValues"],
  pod: { given: { "max-value-age": "24h" } },
  begin: ({ rig }) => {
    const time = (agoMs: number): string =>
      new Date(rig.clock.now() - agoMs).toISOString().replace(/\.\d+Z$/, "Z");
    const old = time(48 * 60 * MINUTE);
    const fieldsV1 = { "f:data": { "f:k": {} } };
    const labels = { "f:metadata": { "f:labels": { "f:x": {} } } };
    const managedFields = [
      { manager: "create", time: old, fieldsV1 },
      { manager: "label", time: time(0), fieldsV1: labels },
    ];
    const annotations = { "secretcast.io/to": "team-*" };
    const metadata = { annotations, creationTimestamp: old, managedFields };
    rig.api.secret("shared/second", metadata, { k: "v" });
  },
});

fires({
  name: "somebody else's Secret is in the way",
  fires: ["SecretcastConflicts"],
  begin: ({ rig }) => {
    rig.api.secret("team-a/second", {}, { k: "theirs" });
    rig.source("shared/second", { k: "v" });
  },
});

const quota = faults((request) => isWrite(request) && request.path.includes("/team-a/"), forbidden);
fires({
  name: "a namespace's quota is used up",
  fires: ["SecretcastFailing", "SecretcastNotConverged"],
  pod: { before: quota.before },
  begin: ({ rig }) => {
    quota.on = true;
    rig.source("shared/registry", { password: "two" });
  },
});

let broken = false;
const onPlan = (): void => {
  if (broken) throw new TypeError("a bug");
};
fires({
  name: "every pass throws",
  fires: ["SecretcastSyncFailing"],
  pod: { observer: { onPlan } },
  begin: ({ rig }) => {
    broken = true;
    rig.source("shared/registry", { password: "two" });
  },
});

fires({
  name: "somebody edits a copy twice a minute",
  fires: ["SecretcastFought"],
  begin: (watched) => {
    let turn = 0;
    watched.each = () => {
      for (const team of ["team-a", "team-b"])
        watched.rig.api.secret(`${team}/registry`, {}, { password: `theirs ${turn++}` });
    };
  },
});

let lostLines = 0;
fires({
  name: "each minute a line is lost",
  fires: ["SecretcastLogLinesLost"],
  pod: { lostLines: () => lostLines },
  begin: (watched) => {
    watched.each = () => void lostLines++;
  },
});

fires({
  name: "thirty sources change each minute, and the cache has room for none",
  fires: ["SecretcastDataCacheThrashing"],
  pod: { given: { "data-cache": "0" } },
  begin: (watched) => {
    let turn = 0;
    watched.each = () => {
      turn++;
      // In one namespace each, so that a reading serves one write.
      for (let at = 0; at < 30; at++)
        watched.rig.source(`shared/s${at}`, { k: `${turn}` }, "team-a");
    };
  },
  minutes: 51,
});

for (const [what, outage] of [
  ["the API server is away", faults(() => true, unavailable)],
  ["the right to read Secrets is gone", faults(({ path }) => path.endsWith("/secrets"), forbidden)],
] as const)
  test(
    `SecretcastWatchDisconnected, then SecretcastWatchStale: ${what}, and comes back`,
    options,
    async () => {
      const watched = await healthy({ before: outage.before });
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
  pod: { given: { "data-cache": "0" } },
  begin: ({ rig }) => {
    for (let at = 0; at < 300; at++) rig.source(`shared/s${at}`, { k: "v" });
  },
});

const ELECTED = { given: { "leader-elect": true } };

fires({
  name: "nobody gets the Lease",
  fires: ["SecretcastNoLeader"],
  pod: ELECTED,
  begin: async (watched) => {
    await watched.gone("a");
    watched.pod("b", { ...ELECTED, beforeLease: async (request) => unavailable(request) });
  },
});

for (const minutes of [31, HOURS])
  fires({
    name: `no replica is there for ${minutes} minutes`,
    fires: ["SecretcastNoLeader"],
    begin: (watched) => watched.gone("a"),
    minutes,
  });

fires({
  name: "two run without the election",
  fires: ["SecretcastTwoLeaders"],
  begin: (watched) => watched.pod("b"),
});

test("no alert: a rolling update, in which nobody leads for seconds", options, async () => {
  const watched = new Watched();
  for (const name of ["a", "b"]) watched.pod(name, ELECTED);
  await watched.minutes(10);
  await watched.gone("a");
  watched.pod("c", ELECTED);
  await watched.minutes(10);
  await watched.gone("b");
  watched.pod("d", ELECTED);
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

test("promtool finds nothing to say against the metrics", options, async () => {
  const input = await metricsOfNothing().registry.metrics();
  assert.match(input, /^nodejs_active_resources\{/m);
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
    encoding: "utf8",
    input,
  });
  assert.equal(status, 0, stdout + stderr);
});

test("every rule is provoked here", options, () => {
  const all = rules.map(({ alert }) => alert);
  assert.deepEqual(
    all.filter((alert) => !provoked.has(alert)),
    [],
  );
});
