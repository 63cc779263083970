// The plan alone, on a world that holds every object: CPU time and bytes a pair when nothing
// differs, and whether ten times the pairs cost ten times the time. A process of its own each, with
// room enough that no garbage collection falls into a measured pass. The smallest object there is takes
// 16 bytes: less than half of that a pair is what a pass allocates once, and what runs before it is compiled.
import { execFileSync } from "node:child_process";
import type { Bench, How } from "./scorecard.ts";

export type Shape = {
  readonly sources: number;
  readonly namespaces: number;
  /** Namespaces that each source wants; all its copies are there and correct. */
  readonly wanted: number;
  /** Secrets of others in each namespace. */
  readonly strangers: number;
};
export type Measured = {
  readonly pairs: number;
  readonly current: number;
  readonly writes: number;
  readonly nsAPair: number;
  readonly bytesAPair: number;
  readonly longestTurnMs: number;
};

export const planning: Bench = {
  name: "plan",
  about: "the plan when nothing differs: time and allocation a pair, linear up to 10,000,000 pairs",
  run(how) {
    const scale = how.quick ? 10 : 1;
    const side = 1000 / scale;
    const square = { sources: side, namespaces: side, strangers: 0 };
    judge(how, "every pair a correct copy", measure(how, { ...square, wanted: side }));
    judge(how, "no pair wanted", measure(how, { ...square, wanted: 0 }));
    const crowd = { ...square, sources: 10, wanted: 0, strangers: 100 };
    const crowded = measure(how, crowd);
    how.figure(
      `${crowd.strangers * side} Secrets of others: CPU time a Secret`,
      (crowded.nsAPair * crowd.sources) / crowd.strangers,
      "ns",
      { atMost: 200 },
    );
    const small = measure(how, { ...square, namespaces: 100, wanted: 10 });
    const large = measure(how, { ...square, sources: 10 * side, wanted: 10 });
    judge(how, `${large.pairs} pairs, 10 copies a source`, large);
    how.figure(
      `ns a pair, ${large.pairs} pairs to ${small.pairs}`,
      large.nsAPair / small.nsAPair,
      "x",
      { atMost: 2 },
    );
    return Promise.resolve();
  },
};

function judge(how: How, what: string, measured: Measured): void {
  const { nsAPair, bytesAPair, longestTurnMs, writes } = measured;
  how.figure(`${what}: CPU time a pair`, nsAPair, "ns", { atMost: 200 });
  how.figure(`${what}: allocated a pair`, bytesAPair, "bytes", { atMost: 8 });
  how.figure(`${what}: longest turn`, longestTurnMs, "ms", { atMost: 25 });
  how.count(`${what}: writes`, writes, { atMost: 0 });
}

function measure(how: How, shape: Shape): Measured {
  const clusterState = new URL("planning-world.ts", import.meta.url).pathname;
  const young = ["--min-semi-space-size=512", "--max-semi-space-size=512"];
  const flags = ["--expose-gc", ...young, "--max-old-space-size=8192"];
  const out = execFileSync(process.execPath, [...flags, clusterState, JSON.stringify(shape)], {
    encoding: "utf8",
  });
  const measured: Measured = JSON.parse(out);
  how.say(
    `${shape.sources} sources x ${shape.namespaces} namespaces, ${measured.current} copies, ${shape.strangers * shape.namespaces} strangers: ${measured.nsAPair.toFixed(0)} ns and ${measured.bytesAPair.toFixed(2)} bytes a pair`,
  );
  return measured;
}
