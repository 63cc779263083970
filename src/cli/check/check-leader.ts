// Whether a replica leads now. Without one, nothing keeps the copies current.
import { readLiveLeader, type LeaderQuestion } from "../../inspect/cluster/live-leader.ts";
import { finding, type CheckFinding } from "./finding.ts";

const STATES = { live: "ok", none: "missing", unknown: "unknown" } as const;

export async function checkLeader(question: LeaderQuestion): Promise<CheckFinding> {
  const { kind, says, advice } = await readLiveLeader(question);
  return finding({ area: "controller", check: "a replica leads" }, STATES[kind], says, advice);
}
