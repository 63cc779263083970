// `--wait` and `--timeout`: a command reads repeatedly until what is asked for holds or the time is over.
import type { Argv } from "yargs";
import { UsageError } from "../../controller/settings/config.ts";
import { formatDuration, parseDuration } from "../../controller/settings/units.ts";
import { sleep, systemClock } from "../../../packages/kube/time/clock.ts";
import type { Program } from "../../run/program-context.ts";
import { readDuration, type Args, textFlag } from "./kubectl-flags.ts";
import { say } from "./say.ts";

const USUAL_WAIT = "30s";

/** `until`: what is waited for. */
export function waitOptions(argv: Argv, until: string): Argv {
  return argv
    .option("wait", { type: "boolean", describe: until })
    .option("timeout", textFlag(`with --wait: how long at most [default: ${USUAL_WAIT}]`));
}

/** The longest wait in milliseconds. Undefined without --wait. */
export function readWait(args: Args): number | undefined {
  const timeout = readDuration(args, "timeout");
  if (args["wait"] === true) return timeout ?? parseDuration(USUAL_WAIT);
  if (timeout !== undefined) throw new UsageError("--timeout is for --wait: leave it out");
  return undefined;
}

/**
 * Reads once, or with `waitMs` until `isDone`. The last result is passed to `print`. A wait that
 * timed out is then reported on stderr. Rejects when the signal of the program fires.
 */
export async function readUntil<T extends { readonly againMs: number }>(
  read: () => Promise<T>,
  isDone: (found: T) => boolean,
  waitMs: number | undefined,
  { signal, stderr }: Pick<Program, "signal" | "stderr">,
  print: (last: T) => void,
): Promise<T> {
  const until = systemClock.monotonic() + (waitMs ?? 0);
  for (;;) {
    const found = await read();
    const leftMs = until - systemClock.monotonic();
    if (isDone(found) || leftMs <= 0) {
      print(found);
      if (waitMs !== undefined && !isDone(found))
        say(stderr, `timed out after ${formatDuration(waitMs)} (--timeout)`);
      return found;
    }
    await sleep(systemClock, Math.min(found.againMs, leftMs), signal);
    signal.throwIfAborted();
  }
}
