// A failing script made short: parts of its steps are left out, ever smaller ones, and what else is in it
// is made plain, as long as it goes on failing. Halves of hundreds of steps go before single ones, so
// that what is left after a minute is short, which the shrinking of fast-check is not.
import { PLAIN_SCRIPT, type Script } from "./script.ts";

/**
 * Tries shorter ones until `isOver` says so or nothing more can be left out; each that fails is where it
 * goes on from, so the last that failed is the result.
 */
export async function shrink(
  failing: Script,
  fails: (script: Script) => Promise<boolean>,
  isOver: () => boolean,
): Promise<void> {
  let script = failing;
  const became = async (shorter: Script): Promise<boolean> => {
    if (isOver() || !(await fails(shorter))) return false;
    script = shorter;
    return true;
  };
  for (let size = script.steps.length; size >= 1 && !isOver(); size = Math.floor(size / 2)) {
    let left = false;
    for (let at = 0; at < script.steps.length && !isOver();) {
      if (await became({ ...script, steps: script.steps.toSpliced(at, size) })) left = true;
      else at += size;
    }
    // What had to stay before may go now.
    if (left && size === 1) size = 2;
  }
  for (const [setting, plain] of Object.entries(PLAIN_SCRIPT))
    await became({ ...script, [setting]: plain });
}
