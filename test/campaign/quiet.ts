// The end of a run, when tenant and faults have stopped and no controller runs: one from scratch puts
// right what was left, and the next one finds nothing to write. And the last search for values.
import { setTimeout as delay } from "node:timers/promises";
import { imageCommand } from "../../bench/image.ts";
import type { FlagValues } from "../../src/controller/settings/config.ts";
import { leaks } from "../support/programs/eavesdrop.ts";
import { runOnce } from "./controllers/watched-process.ts";
import type { Arena } from "./stages/arena.ts";
import type { Violations } from "./judges/violations.ts";

/** What was asked last has been logged and has come through the watches. */
const CALM_MS = 500;

export async function quietInTheEnd(
  arena: Arena,
  flags: FlagValues,
  violations: Violations,
): Promise<void> {
  await once(arena, flags, violations);
  const left = await once(arena, flags, violations);
  if (left > 0) violations.add("not quiet in the end", `${left} writes by a fresh controller`);
  const { body } = await arena.admin.send("GET", "/apis/events.k8s.io/v1/events");
  search(arena, JSON.stringify(body), "in an Event", violations);
}

/** Runs a controller until nothing is due; resolves with how many Secrets it wrote. */
async function once(arena: Arena, flags: FlagValues, violations: Violations): Promise<number> {
  const { audit, direct, endings } = arena;
  await delay(CALM_MS);
  audit.round();
  const before = audit.writes;
  const { text, late } = await runOnce(endings, direct, flags, imageCommand());
  if (late) violations.add("--once did not end", "");
  search(arena, text, "by --once", violations);
  audit.round();
  return audit.writes - before;
}

function search({ marker, platform }: Arena, text: string, where: string, violations: Violations) {
  if (leaks(text, [marker, ...platform.values]).length > 0)
    violations.add("a value was told", where);
}
