// An API server under Priority & Fairness pressure: the level of service accounts has five seats and
// another account floods it. The Lease, on a level of its own by the component lease-priority, is
// renewed as ever. Where the level refuses what finds no seat, the writes are made when the pressure
// is over; where it lets it wait, the writes have their fair share.
import { setTimeout as delay } from "node:timers/promises";
import { controllerToken } from "../test/support/api-server/account.ts";
import { eventually } from "../test/support/time/eventually.ts";
import {
  LeaseWitness,
  prioritizeLease,
  refusals,
} from "../test/support/api-server/lease-witness.ts";
import {
  Flood,
  floodAccount,
  squeezeWorkloadLow,
  type FloodAccount,
  type WithoutSeat,
} from "../test/support/api-server/pressure.ts";
import {
  LEADER_FLAGS,
  numbered,
  realCluster,
  RENEW_DEADLINE_S,
  type RealCluster,
} from "./cluster.ts";
import { Program } from "./program.ts";
import { scoped, type Bench, type How } from "./scorecard.ts";

const CALM_AGAIN_MS = 120_000;

type Stage = {
  readonly cluster: RealCluster;
  readonly account: FloodAccount;
  readonly controller: Program;
  readonly places: number;
};

export const pressure: Bench = {
  name: "pressure",
  about: "Priority & Fairness refuses or queues what a flood leaves no seat: lease and writes",
  async run(how) {
    const cluster = await realCluster(how);
    if (!cluster) return;
    const { access, http: admin } = cluster;
    const places = how.quick ? 50 : 500;
    await cluster.createNamespaces(["flood", ...numbered("team", places)]);
    const token = controllerToken({ ...access, controllerKubeconfig: cluster.kubeconfig });
    await prioritizeLease(access, admin, token);
    const account = await floodAccount(access, admin, "flood");
    how.after(() => account.remove());
    const controller = new Program(how, cluster.kubeconfig, LEADER_FLAGS);
    await controller.said("leading");
    const stage = { cluster, account, controller, places };
    await refused(how, stage);
    await queued(how, stage);
  },
};

async function refused(how: How, stage: Stage): Promise<void> {
  const { cluster, places } = stage;
  const answers = await flooded(how, stage, "refused", async (flood) => {
    await eventually("the flood is refused", () => flood.bulk.refused > 50);
    await cluster.publish("first", "team-*");
    await delay((how.quick ? 0.1 : 3) * RENEW_DEADLINE_S * 1000);
    return { ours: refusals(cluster.access), bulk: flood.bulk, renewals: flood.renewals };
  });
  const ended = performance.now();
  await copied(stage, places);
  const { ours, bulk, renewals } = answers;
  how.say(`${bulk.refused} of ${bulk.sent} requests of the flood were refused`);
  const share = (name: string, { sent, refused: no }: Flood["bulk"]): void =>
    how.figure(name, (100 * no) / sent, "%", { atLeast: 50, exact: true });
  share("refused: requests of the flood", bulk);
  share("refused: renewals of a Lease without priority", renewals);
  how.count("refused: writes of ours", ours.get("secrets") ?? 0, { atLeast: 1 });
  how.count("refused: renewals of ours", ours.get("leases") ?? 0, { atMost: 0 });
  how.figure(
    "refused: from the end of the pressure to the last copy",
    (performance.now() - ended) / 1000,
    "s",
  );
}

async function queued(how: How, stage: Stage): Promise<void> {
  const { cluster, places } = stage;
  await flooded(how, stage, "queued", async (flood) => {
    await eventually("a renewal had to wait", () => flood.renewals.slowestMs > 1000);
    const began = performance.now();
    await cluster.publish("second", "team-*");
    await copied(stage, 2 * places);
    const value = (performance.now() - began) / 1000;
    how.figure(`queued: ${places} copies under the flood`, value, "s");
    if (!how.quick) await delay(RENEW_DEADLINE_S * 1000);
    how.figure(
      "queued: the slowest renewal of a Lease without priority",
      flood.renewals.slowestMs / 1000,
      "s",
    );
  });
}

/** Does `work` under a flood, looks at our Lease meanwhile, and ends the pressure. */
function flooded<T>(
  how: How,
  { cluster, account }: Stage,
  withoutSeat: WithoutSeat,
  work: (flood: Flood) => Promise<T>,
): Promise<T> {
  return scoped(how, async (own) => {
    own.after(await squeezeWorkloadLow(cluster.http, withoutSeat));
    const flood = new Flood(account);
    own.after(() => flood.stop());
    const witness = new LeaseWitness(cluster.http);
    own.after(() => witness.stop());
    const result = await work(flood);
    await witness.stop();
    how.count(`${withoutSeat}: leaders seen`, witness.holders.length, { atMost: 1 });
    how.figure(`${withoutSeat}: the oldest renewTime of our Lease`, witness.oldestMs / 1000, "s", {
      atMost: RENEW_DEADLINE_S,
    });
    return result;
  });
}

async function copied({ controller }: Stage, count: number): Promise<void> {
  const current = (): Promise<number> => controller.metric("secretcast_copies", 'state="current"');
  await eventually("all copies are there", async () => (await current()) === count, CALM_AGAIN_MS);
}
