// An example controller as its user starts it: a program of its own, told where the cluster is by
// KUBECONFIG. It ends with the test, in order, and a test fails when it does not.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { eventually } from "../../../packages/kube/testing/eventually.ts";

const EXAMPLES = fileURLToPath(new URL("../../../examples", import.meta.url));

export type ExampleName = "pod-logger" | "service-per-deployment" | "notifier" | "icecream";

export type StartExample = {
  readonly name: ExampleName;
  readonly kubeconfig: string;
  readonly words?: readonly string[];
  /** Where the example was copied to; in the clone when absent, with the library's sources. */
  readonly folder?: string;
  readonly node?: string;
};

export type ExampleProcess = {
  /** Of both outputs. */
  readonly lines: readonly string[];
  readonly wrote: (line: string) => Promise<unknown>;
};

export function startExample(t: TestContext, start: StartExample): ExampleProcess {
  const { name, kubeconfig, words = [], folder, node = process.execPath } = start;
  const conditions = folder === undefined ? ["--conditions=secretcast-source"] : [];
  const file = join(folder ?? EXAMPLES, `${name}.ts`);
  const child = spawn(node, [...conditions, file, ...words], {
    env: { PATH: process.env["PATH"], HOME: "/nowhere", KUBECONFIG: kubeconfig },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const lines: string[] = [];
  for (const output of [child.stdout, child.stderr])
    createInterface({ input: output }).on("line", (line) => lines.push(line));
  t.after(async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 40_000);
    const [code, signal] = await ended;
    clearTimeout(timer);
    assert.deepEqual(
      [code, signal],
      [0, null],
      `${name} did not end in order: ${lines.join("\n")}`,
    );
    assert.ok(lines.includes(`${name}: shutting down`), lines.join("\n"));
  });
  return {
    lines,
    wrote: (line) =>
      eventually(line, () => {
        assert.ok(lines.includes(line), `not in: ${lines.join("\n")}`);
        return true;
      }),
  };
}
