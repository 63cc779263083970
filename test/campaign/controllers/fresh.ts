// A controller from scratch that ends when nothing is due: what it writes was left undone.
import { setTimeout as delay } from "node:timers/promises";
import type { FlagValues } from "../../../src/controller/settings/config.ts";
import { leaks } from "../../support/programs/eavesdrop.ts";
import { spawnController } from "../../support/programs/controller-process.ts";
import type { Ending } from "../../../packages/kube/testing/fault-proxy.ts";
import { isDone } from "../judges/request-judge.ts";
import type { Violations } from "../judges/violations.ts";
import type { ProxiedServer } from "../stages/proxied-server.ts";

const ENDS_WITHIN_MS = 180_000;

export type Fresh = Pick<ProxiedServer, "proxy" | "kubeconfig"> & {
  readonly endings: Ending;
  readonly flags: FlagValues;
  /** That of the image; undefined: this tree's. */
  readonly command: readonly string[] | undefined;
  /** None of these may be reported. */
  readonly values: readonly string[];
  readonly violations: Violations;
};

/** Resolves with its writes that were carried out. */
export async function freshWrites(fresh: Fresh): Promise<readonly string[]> {
  const { endings, proxy, kubeconfig, flags, command, values, violations } = fresh;
  const judge = proxy.onWrite;
  const written: string[] = [];
  proxy.onWrite = (write) => {
    judge(write);
    if (isDone(write)) written.push(`${write.method} ${write.path}`);
  };
  const given = { ...flags, once: "true", "leader-elect": "false" };
  const running = spawnController(endings, kubeconfig, given, {
    ...(command && { command }),
    onLine: (line) => {
      if (leaks(line, values).length > 0) violations.add("a value was told", "by --once");
    },
  });
  const late = delay(ENDS_WITHIN_MS, "late", { ref: false });
  if ((await Promise.race([running.ended, late])) === "late")
    violations.add("--once did not end", `within ${ENDS_WITHIN_MS / 1000} s`);
  proxy.onWrite = judge;
  return written;
}
