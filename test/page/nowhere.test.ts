// A source that an edit left without any copy, on the page and in `secretcast status`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isCurrent, isFailing, statusItems } from "../../src/cli/status/status-items.ts";
import { troublesOf } from "../../src/cli/status/status-columns.ts";
import { isAllCurrent } from "../../src/controller/sync/sync-result.ts";
import { readFilter } from "../../src/page/filter.ts";
import { readStatus, type Status } from "../../src/page/status.ts";
import { Cluster } from "../support/planner/planner-cluster.ts";

const ALONE = {
  dryRun: false,
  convergedMs: undefined,
  offsetMs: 0,
  leader: { state: "alone", holder: undefined, command: undefined },
  watches: [],
  outdated: undefined,
  serverAwayMs: undefined,
  troubles: [],
} as const;

function nowhere() {
  const cluster = new Cluster().withNamespaces("shared", "team-a");
  cluster.secret("shared/registry", { to: "taem-*" }, { data: { a: "1" } });
  cluster.secret("shared/fine", { to: "team-*" }, { data: { a: "1" } });
  cluster.settle();
  const made = cluster.plan();
  const plan = {
    ...made,
    sources: made.sources.map((report) =>
      report.source.name === "registry" ? { ...report, state: "nowhere" as const } : report,
    ),
  };
  const read = (query = ""): Promise<Status> =>
    readStatus(
      { ...ALONE, clusterStates: [cluster.world()], plan },
      { version: "v", plannedMs: 0 },
      readFilter(new URLSearchParams(query)),
    );
  return { plan, read };
}

test("a source without any copy after an edit has the state nowhere, is counted and is found (A4)", async () => {
  const { read } = nowhere();
  const { totals, sources } = await read();
  assert.equal(totals?.nowhere, 1);
  assert.deepEqual(
    sources.shown.map(({ source, state }) => [source, state]),
    [
      ["shared/registry", "nowhere"],
      ["shared/fine", "current"],
    ],
  );
  const found = await read("state=nowhere");
  assert.deepEqual(
    found.sources.shown.map(({ source }) => source),
    ["shared/registry"],
  );
});

test("status --failing lists a source without any copy, and nothing is all current then (A4)", async () => {
  const { plan, read } = nowhere();
  const items = statusItems(await read());
  assert.deepEqual(
    items.map((item) => [item.source, item.state, isCurrent(item), isFailing(item)]),
    [
      ["shared/registry", "nowhere", false, true],
      ["shared/fine", "current", true, false],
    ],
  );
  const [trouble] = troublesOf(items);
  assert.deepEqual(
    [trouble?.verdict, trouble?.reason],
    ["nowhere", "an edit leaves the source without any copy"],
  );
  assert.equal(isAllCurrent(plan), false, "a run with --once exits with 1 as well");
});
