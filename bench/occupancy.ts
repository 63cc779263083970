// One run of the controller on a cluster as it stands: what it takes once it has settled, and on the
// way there.
import { setTimeout as delay } from "node:timers/promises";
import { FLAGS } from "./cluster.ts";
import { Program } from "./program.ts";
import { scoped, type How } from "./scorecard.ts";

export type Occupied = {
  readonly rssMiB: number;
  readonly peakMiB: number;
  /** From the first request until the caches were filled. */
  readonly readyMs: number;
  /** From the start of the process until then. */
  readonly startMs: number;
  /** All that the process read, its own source files included. */
  readonly readBytes: number;
  /** Copies that it found correct. */
  readonly current: number;
};

const SETTLE_MS = 5000;

export function occupy(
  how: How,
  name: string,
  kubeconfig: string,
  flags: Readonly<Record<string, string>> = {},
): Promise<Occupied> {
  return scoped(how, async (own) => {
    const program = new Program(own, kubeconfig, { ...FLAGS, resync: "2s", ...flags });
    const filled = await program.said("caches filled", 0, 300_000);
    const begun = await program.said("starting informers");
    // Several passes, so that what a pass leaves behind is in it.
    await delay(how.quick ? 500 : SETTLE_MS);
    const { memory, readBytes } = program;
    const current = await program.metric("secretcast_copies", 'state="current"');
    how.say(
      `${name}: ${memory.rssMiB.toFixed(0)} MiB, at the peak ${memory.peakMiB.toFixed(0)} MiB`,
    );
    const { startedAt } = program;
    const [readyMs, startMs] = [filled.at - begun.at, filled.at - startedAt];
    return { ...memory, readyMs, startMs, readBytes, current };
  });
}
