// A controller that starts beside 100,000 correct copies: it reads them, writes nothing, and is ready.
import { FLAGS, numbered } from "./cluster.ts";
import { curlList } from "./curl.ts";
import { both, copies, sources } from "./population.ts";
import { Program } from "./program.ts";
import { ScriptedServer } from "./scripted-server.ts";
import { eventually } from "../test/support/time/eventually.ts";
import type { Bench } from "./scorecard.ts";

export const start: Bench = {
  name: "start",
  about: "a start with 100,000 correct copies writes nothing and is soon ready",
  async run(how) {
    const targets = numbered("team", how.quick ? 100 : 1000);
    const script = {
      namespaces: ["shared", ...targets],
      secrets: () => both(sources(100, "team-*"), copies(targets, 100)),
    };
    const server = await ScriptedServer.start(how, script);
    const program = new Program(how, server.kubeconfig, FLAGS);
    const readyMs = await program.readyMs();
    const converged = async (): Promise<boolean> =>
      (await program.metric("secretcast_last_converged_timestamp_seconds")) > 0;
    await eventually("the first pass is over", converged, 120_000);
    const count = targets.length * 100;
    how.figure("from process start to ready", readyMs / 1000, "s", { atMost: 20 });
    how.figure("CPU until converged", program.cpuMs / 1000, "s");
    const current = await program.metric("secretcast_copies", 'state="current"');
    how.count("copies found correct", current, { atLeast: count });
    how.count("writes", server.writes.length, { atMost: 0 });
    const curl = await curlList(server.kubeconfig);
    how.figure("curl reads the same list in", curl.ms / 1000, "s");
  },
};
