// The yardstick: a process that posts bodies with undici and does nothing else, as many at a time as
// the controller would. It is a child of its own, so that its CPU time is nobody else's, and lives
// through all rounds, so that it is as warm as the controller.
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent } from "undici";
import { inParallel } from "./cluster.ts";
import { cpuMs } from "./proc.ts";
import type { How } from "./scorecard.ts";

export type Post = { readonly path: string; readonly body: unknown };
export type Batch = {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
  readonly concurrency: number;
  readonly posts: readonly Post[];
};
export type Took = { readonly ms: number; readonly cpuMs: number };

export type BareLoop = { post(batch: Batch): Promise<Took> };

export function bareLoop(how: How): BareLoop {
  const child = fork(import.meta.filename);
  how.after(() => child.kill());
  const { pid } = child;
  if (pid === undefined) throw new Error("the bare loop did not start");
  const ask = async (message: object): Promise<number> => {
    const answered = once(child, "message");
    child.send(message);
    const [ms] = await answered;
    if (typeof ms !== "number") throw new Error(`bare loop: ${String(ms)}`);
    return ms;
  };
  return {
    post: async (batch) => {
      // Handing the bodies over is not part of the measurement.
      await ask({ prepare: batch });
      const before = cpuMs(pid);
      const ms = await ask({});
      return { ms, cpuMs: cpuMs(pid) - before };
    },
  };
}

let agent: Agent | undefined;

async function postAll({ url, token, ca, concurrency, posts }: Batch): Promise<number> {
  agent ??= new Agent({ allowH2: false, connections: concurrency, connect: { ca } });
  const dispatcher = agent;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const began = performance.now();
  await inParallel(posts, concurrency, async ({ path, body }) => {
    const answer = await dispatcher.request({
      origin: url,
      method: "POST",
      path,
      headers,
      body: JSON.stringify(body),
    });
    await answer.body.json();
    if (answer.statusCode !== 201) throw new Error(`POST ${path}: ${answer.statusCode}`);
  });
  return performance.now() - began;
}

if (import.meta.main) {
  let prepared: Batch | undefined;
  process.on("message", (message: { readonly prepare?: Batch }) => {
    if (message.prepare) {
      prepared = message.prepare;
      process.send?.(0);
    } else if (prepared)
      postAll(prepared).then(
        (ms) => process.send?.(ms),
        (error: unknown) => process.send?.(String(error)),
      );
  });
}
