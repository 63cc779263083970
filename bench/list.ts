// All benchmarks in the order in which they run.
import { admission } from "./admission.ts";
import { bounds } from "./bounds.ts";
import { commands } from "./commands.ts";
import { executable } from "./executable.ts";
import { failover } from "./failover.ts";
import { cold, fanout } from "./fanout.ts";
import { firstPod } from "./first-pod.ts";
import { lean } from "./lean.ts";
import { intake } from "./intake.ts";
import { memory } from "./memory.ts";
import { overload } from "./overload.ts";
import { planning } from "./planning.ts";
import { requests } from "./requests.ts";
import { scale } from "./scale.ts";
import type { Bench } from "./scorecard.ts";

export const BENCHES: readonly Bench[] = [
  fanout,
  cold,
  firstPod,
  requests,
  planning,
  intake,
  memory,
  bounds,
  overload,
  scale,
  failover,
  commands,
  lean,
  executable,
  admission,
];
