// All benchmarks in the order in which they run.
import { fanout } from "./fanout.ts";
import { planning } from "./planning.ts";
import type { Bench } from "./scorecard.ts";

export const BENCHES: readonly Bench[] = [fanout, planning];
