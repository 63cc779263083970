// An API server whose Priority & Fairness refuses nearly everybody: the level of service accounts has
// five seats and another account floods it. The Lease, on a level of its own by the component
// lease-priority, is renewed as ever; the writes are refused, and made when the pressure is over.
import { setTimeout as delay } from "node:timers/promises";
import { controllerToken } from "../test/support/account.ts";
import { eventually } from "../test/support/eventually.ts";
import { LeaseWitness, prioritizeLease, refusals } from "../test/support/lease-witness.ts";
import { Flood, floodAccount, squeezeWorkloadLow } from "../test/support/pressure.ts";
import { FLAGS, numbered, realCluster } from "./cluster.ts";
import { Program } from "./program.ts";
import type { Bench } from "./scorecard.ts";

const RENEW_DEADLINE_S = 10;

export const pressure: Bench = {
  name: "pressure",
  about: "Priority & Fairness refuses nearly everybody: the lease is renewed, the writes wait",
  async run(how) {
    const cluster = await realCluster(how);
    if (!cluster) return;
    const { access, http: admin } = cluster;
    const count = how.quick ? 50 : 500;
    await cluster.createNamespaces(["flood", ...numbered("team", count)]);
    const token = controllerToken({ ...access, controllerKubeconfig: cluster.kubeconfig });
    await prioritizeLease(access, admin, token);
    const account = await floodAccount(access, admin, "flood");
    how.after(() => account.remove());
    const controller = new Program(how, cluster.kubeconfig, {
      ...FLAGS,
      "leader-elect": "true",
      "lease-namespace": "secretcast",
    });
    await controller.said("leading");
    const release = await squeezeWorkloadLow(admin);
    const flood = new Flood(account);
    how.after(() => flood.stop());
    await eventually("the flood is refused", () => flood.bulk.refused > 50);
    const witness = new LeaseWitness(admin);
    how.after(() => witness.stop());
    await cluster.publish("first", "team-*");
    await delay((how.quick ? 0.5 : 3) * RENEW_DEADLINE_S * 1000);
    const { bulk, renewals } = flood;
    const refused = refusals(access);
    await Promise.all([witness.stop(), flood.stop()]);
    await release();
    const ended = performance.now();
    const current = (): Promise<number> =>
      controller.metric("secretcast_copies", 'state="current"');
    await eventually("all copies are there", async () => (await current()) === count, 120_000);
    const share = ({ sent, refused: no }: Flood["bulk"]): number => (100 * no) / sent;
    how.say(`${bulk.refused} of ${bulk.sent} requests of the flood were refused`);
    how.figure({
      name: "requests of the flood refused",
      value: share(bulk),
      unit: "%",
      atLeast: 50,
      exact: true,
    });
    how.figure({
      name: "renewals of a Lease without priority refused",
      value: share(renewals),
      unit: "%",
      atLeast: 50,
      exact: true,
    });
    how.figure({
      name: "our writes refused",
      value: refused.get("secrets") ?? 0,
      unit: "",
      atLeast: 1,
      exact: true,
    });
    how.figure({
      name: "our renewals refused",
      value: refused.get("leases") ?? 0,
      unit: "",
      atMost: 0,
      exact: true,
    });
    how.figure({
      name: "leaders seen",
      value: witness.holders.length,
      unit: "",
      atMost: 1,
      exact: true,
    });
    how.figure({
      name: "the oldest renewTime of our Lease",
      value: witness.oldestMs / 1000,
      unit: "s",
      atMost: RENEW_DEADLINE_S,
    });
    how.figure({
      name: "from the end of the pressure to the last copy",
      value: (performance.now() - ended) / 1000,
      unit: "s",
    });
  },
};
