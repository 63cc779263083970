// All benchmarks in the order in which they run.
import { admission } from "./admission.ts";
import { bounds } from "./bounds.ts";
import { commands } from "./commands.ts";
import { executable } from "./executable.ts";
import { failover } from "./failover.ts";
import { cold, fanout } from "./fanout.ts";
import { firstPod } from "./first-pod.ts";
import { fresh } from "./fresh.ts";
import { isolation } from "./isolation.ts";
import { lean } from "./lean.ts";
import { intake } from "./intake.ts";
import { memory } from "./memory.ts";
import { names } from "./names.ts";
import { overload } from "./overload.ts";
import { planning } from "./planning.ts";
import { pressure } from "./pressure.ts";
import { requests } from "./requests.ts";
import { restarts } from "./restarts.ts";
import { scale } from "./scale.ts";
import type { Bench } from "./scorecard.ts";
import { storm } from "./storm.ts";
import { throttle } from "./throttle.ts";
import { transport } from "./transport.ts";

export const BENCHES: readonly Bench[] = [
  fanout,
  cold,
  transport,
  firstPod,
  fresh,
  isolation,
  requests,
  planning,
  intake,
  memory,
  bounds,
  storm,
  throttle,
  pressure,
  overload,
  restarts,
  scale,
  failover,
  commands,
  lean,
  executable,
  names,
  admission,
];
