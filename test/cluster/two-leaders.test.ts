// A leader that stands still, or cannot be heard, is followed by another, and comes back while users go
// on changing everything: it writes nothing more, nobody's own Secret is touched, and the Lease changes
// hands once.
import assert from "node:assert/strict";
import { after, before, describe, test, type TestContext } from "node:test";
import { controllerAccount } from "../support/api-server/account.ts";
import type { CableState } from "../support/api-server/cable.ts";
import { openCluster, ownCluster } from "../support/api-server/cluster.ts";
import type { ControlPlane } from "../support/api-server/control-plane.ts";
import type { Http } from "../../packages/sandbox/testing/http.ts";
import { writesSince } from "../support/api-server/lead-judge.ts";
import type { WiredReplica } from "../support/programs/wired-replica.ts";
import { allowLeases, LeadStage } from "../support/scenes/lead-stage.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

// Most of each is waiting for the Lease to run out; more would starve a small machine of it.
const AT_ONCE = 3;

let cluster: ControlPlane;
let kubeconfig: string;
let http: Http;

type Disturbance = {
  readonly what: string;
  readonly begin: (replica: WiredReplica) => void;
  readonly end: (replica: WiredReplica) => void;
};

const cut = (what: string, state: CableState): Disturbance => ({
  what,
  begin: ({ cable }) => void (cable.state = state),
  end: ({ cable }) => void (cable.state = "whole"),
});

const DISTURBANCES: readonly Disturbance[] = [
  {
    what: "stopped in the middle of its work and let go on",
    begin: (replica) => replica.standStill(),
    end: (replica) => replica.goOn(),
  },
  cut("cut off, with what it sent last arriving when the network is back", "silent"),
  cut("whose requests arrive while no answer comes back", "answers lost"),
  cut("that hears of everything and reaches nobody", "requests lost"),
  cut("whose connections are refused", "refused"),
];

const names = DISTURBANCES.map((_, at) => `leaders-${at}`);

before(async () => {
  cluster = await ownCluster();
  kubeconfig = await controllerAccount(cluster);
  http = openCluster(cluster);
  await allowLeases(http, names);
});
after(async () => {
  await http.close();
  await cluster.stop();
});

async function play(t: TestContext, at: number, { begin, end }: Disturbance): Promise<void> {
  const name = names[at] ?? "";
  const access = cluster;
  const own = { name, subnet: at + 1, places: 5, sources: 3 };
  const stage = new LeadStage({ t, access, http, kubeconfig, ...own });
  await stage.prepare();
  const old = await stage.startReplica();
  await eventually("the first replica leads", () => old.leading);
  const next = await stage.startReplica();
  await eventually("the second waits", () => next.says("waiting for the lease"));
  await stage.allRight();
  const load = stage.startLoad();
  await eventually(
    "the load is felt",
    async () => (await stage.value(`${name}-2`, "s-1")) !== "first",
  );

  begin(old);
  await eventually("the other leads", () => next.leading);
  const taken = await stage.lease();
  // What the old one still takes for its own copy is somebody's by now.
  await stage.moveIn(`${name}-3`, "s-2");
  const value = await stage.rotate("s-0");
  await eventually(
    "the other writes",
    async () => (await stage.value(`${name}-4`, "s-0")) === value,
  );
  const back = Date.now();
  end(old);
  assert.equal(await old.process.ended, 1);
  const late = writesSince(cluster.auditLog, old.cable.from, back);
  assert.deepEqual(late, [], "it wrote nothing more");
  old.startAgain();
  await eventually("it comes again and waits", () => old.says("waiting for the lease"));
  await load.end();
  await stage.allRight();

  assert.ok(!next.lost, "the other leads all the time");
  const lease = await stage.lease();
  assert.deepEqual(lease, taken, "the Lease stays where it is");
  assert.equal(lease.transitions, 1);
  const { strays, leaders, writes } = stage.judge();
  assert.deepEqual(strays, []);
  assert.deepEqual(leaders, [old.cable.from, next.cable.from]);
  t.diagnostic(`writes by each: ${[...writes.values()].join(", ")}`);
  assert.equal(await old.process.stop(), 0);
  assert.equal(await next.process.stop(), 0);
  await stage.nothingIsLeft();
}

describe("LE-12 of two leaders one writes", { concurrency: AT_ONCE }, () => {
  for (const [at, disturbance] of DISTURBANCES.entries())
    test(`a leader ${disturbance.what} writes nothing more`, (t) => play(t, at, disturbance));
});
