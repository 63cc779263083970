// The end of a run, when tenant and faults have stopped and no controller runs: one from scratch puts
// right what was left, and the next one finds nothing to write. And the last search for values.
import { setTimeout as delay } from "node:timers/promises";
import { imageCommand } from "../../bench/image.ts";
import type { FlagValues } from "../../src/controller/settings/config.ts";
import { spawnController } from "../support/programs/controller-process.ts";
import { leaks } from "../support/programs/eavesdrop.ts";
import type { Arena } from "./stages/arena.ts";
import type { Violations } from "./judges/violations.ts";

const ENDS_WITHIN_MS = 180_000;
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
  const { audit, direct, after } = arena;
  await delay(CALM_MS);
  audit.round();
  const before = audit.writes;
  const lines: string[] = [];
  const given = { ...flags, once: "true", "leader-elect": "false" };
  const running = spawnController({ after }, direct, given, {
    command: imageCommand(),
    onLine: (line) => lines.push(line),
  });
  const late = delay(ENDS_WITHIN_MS, "late" as const, { ref: false });
  if ((await Promise.race([running.ended, late])) === "late")
    violations.add("--once did not end", `within ${ENDS_WITHIN_MS / 1000} s`);
  search(arena, lines.join("\n"), "by --once", violations);
  audit.round();
  return audit.writes - before;
}

function search({ marker, platform }: Arena, text: string, where: string, violations: Violations) {
  if (leaks(text, [marker, ...platform.values]).length > 0)
    violations.add("a value was told", where);
}
