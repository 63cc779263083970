// An overloaded API server: a fan-out in which every write is answered 429 with Retry-After for a
// while. Nothing is written before the time that the server asked for is over, and all ends well.
import { FLAGS, numbered } from "./cluster.ts";
import { sources } from "./population.ts";
import { Program } from "./program.ts";
import { ScriptedServer } from "./scripted-server.ts";
import { eventually } from "../test/support/time/eventually.ts";
import type { Bench } from "./scorecard.ts";

const RETRY_AFTER_S = 2;
/** Writes that arrive within this of the first refusal were on their way already. */
const ON_THEIR_WAY_MS = 250;
/** Fifty of a round in which some were taken, and then twenty in a row. */
const MOST_REFUSED = 70;
/** Long enough that the controller, not its CPU, decides how many fly, also at the lower pace that follows. */
const WRITE_MS = 250;

export const throttle: Bench = {
  name: "throttle",
  about: "429 with Retry-After in a fan-out: obeyed, fewer at a time, and all copies in the end",
  countsByTime: true,
  async run(how) {
    const count = how.quick ? 700 : 1000;
    const server = await ScriptedServer.start(how, {
      namespaces: ["shared", ...numbered("team", count)],
      secrets: () => sources(1, "team-*"),
    });
    server.writeMs = WRITE_MS;
    const most = 32;
    const refused: number[] = [];
    let inPause = 0;
    server.refuse = () => {
      const now = performance.now();
      const first = refused[0];
      if (server.writes.length < 50) return undefined;
      if (first !== undefined && now - first > RETRY_AFTER_S * 1000) return undefined;
      refused.push(now);
      if (first !== undefined && now - first > ON_THEIR_WAY_MS) inPause++;
      return { status: 429, retryAfterS: RETRY_AFTER_S };
    };
    const program = new Program(how, server.kubeconfig, {
      ...FLAGS,
      concurrency: String(most),
    });
    const done = async (): Promise<boolean> =>
      (await program.metric("secretcast_copies", 'state="current"')) === count;
    await eventually("all copies are there", done, 60_000);
    const [first = 0] = refused;
    const before = server.writes.filter(({ at }) => at < first);
    const after = server.writes.filter(({ at }) => at - first > ON_THEIR_WAY_MS);
    how.count("writes refused", refused.length, { atMost: MOST_REFUSED });
    how.count("writes inside the pause", inPause, { atMost: 0 });
    how.figure("the first write after the refusal", ((after[0]?.at ?? 0) - first) / 1000, "s", {
      atLeast: RETRY_AFTER_S,
      atMost: how.quick ? 30 : RETRY_AFTER_S + 1,
    });
    const inFlight = (name: string, writes: typeof after, count: number): void => {
      const value = Math.max(...writes.map((write) => write.inFlight));
      how.count(name, value, { atLeast: count, atMost: count });
    };
    inFlight("most in flight before it", before, most);
    // The limit grows once as many writes have succeeded as may fly.
    inFlight("most in flight just after it", after.slice(0, most / 2), most / 2);
    inFlight("most in flight in the last third", after.slice(-count / 3), most);
  },
};
