// A process that posts bodies by plain undici and does nothing else, as many at a time as the controller would:
// the yardstick of the fan-out. It is a child of its own, so that its CPU time is nobody else's, and lives through
// all rounds, so that it is as warm as the controller.
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent } from "undici";
import { inParallel } from "./cluster.ts";
import { cpuMs } from "./proc.ts";
import type { How } from "./scorecard.ts";

type Server = { readonly url: string; readonly token: string; readonly ca: string };
export type Post = { readonly path: string; readonly body: unknown };
export type Batch = Server & { readonly concurrency: number; readonly posts: readonly Post[] };
export type Took = { readonly ms: number; readonly cpuMs: number };

export type PostLoop = { post(batch: Batch): Promise<Took> };

export function postLoop(how: How): PostLoop {
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

const CONNECTIONS = 32;

function sender({ url, token, ca }: Server): (post: Post) => Promise<void> {
  const dispatcher = new Agent({ allowH2: false, connections: CONNECTIONS, connect: { ca } });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return async ({ path, body }) => {
    const text = JSON.stringify(body);
    const answer = await dispatcher.request({
      origin: url,
      method: "POST",
      path,
      headers,
      body: text,
    });
    await answer.body.json();
    if (answer.statusCode !== 201) throw new Error(`POST ${path}: ${answer.statusCode}`);
  };
}

let send: ReturnType<typeof sender> | undefined;

async function postAll(batch: Batch): Promise<number> {
  send ??= sender(batch);
  const began = performance.now();
  await inParallel(batch.posts, batch.concurrency, send);
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
