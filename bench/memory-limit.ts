// A memory limit as a container has it, where this machine lets us set one: a control group, whose
// limit Node reads at its start and beyond which the kernel kills.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import type { How } from "./scorecard.ts";

// Of version 2 and of version 1: where groups are made, and the file of the limit.
const HIERARCHIES = [
  { root: "/sys/fs/cgroup", limit: "memory.max", there: "/sys/fs/cgroup/cgroup.controllers" },
  {
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    there: "/sys/fs/cgroup/memory/memory.limit_in_bytes",
  },
] as const;

let made = 0;

/** The words that start a command under the limit; none where it cannot be set, which is said. */
export function limited(how: How, mebibytes: number): readonly string[] {
  const hierarchy = HIERARCHIES.find(({ there }) => existsSync(there));
  const folder = `${hierarchy?.root}/secretcast-bench-${process.pid}-${made++}`;
  try {
    if (!hierarchy) throw new Error("no control groups");
    mkdirSync(folder);
    how.after(() => rmdirSync(folder));
    writeFileSync(`${folder}/${hierarchy.limit}`, String(mebibytes * 2 ** 20));
    if (Number(readFileSync(`${folder}/${hierarchy.limit}`, "utf8")) !== mebibytes * 2 ** 20)
      throw new Error("the limit does not hold");
  } catch (error) {
    how.say(`no limit of ${mebibytes} MiB could be set: ${String(error)}`);
    return [];
  }
  return ["sh", "-c", `echo $$ > ${folder}/cgroup.procs && exec "$0" "$@"`];
}
