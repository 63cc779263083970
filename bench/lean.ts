// The image's own layer, how soon the program has asked its API server the first time, beside a bare Node
// in turns with it, and what it takes of memory when there is nothing to do. Over TLS, as in a cluster.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ONE } from "../packages/kube/testing/certificates.ts";
import { kubeConfigFor, kubeConfigText } from "../packages/kube/testing/kubeconfig-text.ts";
import { runWords } from "../test/support/programs/controller-process.ts";
import { FLAGS, realCluster } from "./cluster.ts";
import { imageCommand, imageFolder } from "./image.ts";
import { fineCpuMs } from "./proc.ts";
import { Program } from "./program.ts";
import { median, type Bench, type How } from "./scorecard.ts";

const ROUNDS = 31;
const MUST_HAVE_ASKED_MS = 60_000;
const IDLE_MS = 30_000;

export const lean: Bench = {
  name: "lean",
  about: "the image's own layer, the time until its first request, and its memory when idle",
  async run(how) {
    layer(how);
    await firstRequest(how);
    await idle(how);
  },
};

function layer(how: How): void {
  const files = globSync("**/*", { cwd: imageFolder(), withFileTypes: true });
  const bytes = files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  const value = bytes.reduce((total, each) => total + each, 0) / 2 ** 20;
  how.figure("the image's own layer", value, "MiB", { atMost: 5.5, exact: true });
}

type Start = { readonly ms: number; readonly cpuMs: number };

async function firstRequest(how: How): Promise<void> {
  const start = await starter(how);
  const [bare, ours, spent]: [number[], number[], number[]] = [[], [], []];
  for (let at = 0; at < (how.quick ? 3 : ROUNDS); at++) {
    bare.push(await bareNode());
    const { ms, cpuMs } = await start();
    ours.push(ms);
    spent.push(cpuMs);
  }
  const [node, value] = [median(bare), median(ours)];
  how.figure("bare Node, from start to end, median", node, "ms");
  how.figure("start until the first request, median", value, "ms", { atMost: 150 });
  how.figure("the quickest of them", Math.min(...ours), "ms");
  how.figure("CPU until then, median", median(spent), "ms");
  how.figure("times a bare Node", value / node, "");
}

async function bareNode(): Promise<number> {
  const began = performance.now();
  await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
  return performance.now() - began;
}

/** Starts the program as the image does, and ends it when it has asked something. */
async function starter(how: How): Promise<() => Promise<Start>> {
  let asked = (): void => {};
  const server = createServer(ONE, () => asked());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  how.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const folder = mkdtempSync(join(tmpdir(), "secretcast-lean-"));
  how.after(() => rmSync(folder, { recursive: true }));
  const caFile = join(folder, "ca.crt");
  writeFileSync(caFile, ONE.cert);
  const file = join(folder, "kubeconfig");
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(file, kubeConfigText(kubeConfigFor(url, { token: "bench" }, { caFile })));
  const words = [...imageCommand(), ...runWords(file, FLAGS)];
  return async () => {
    const began = performance.now();
    const child = spawn(process.execPath, words, { stdio: ["ignore", "ignore", "inherit"] });
    const ended = once(child, "exit");
    try {
      return await new Promise<Start>((resolve, reject) => {
        asked = () => resolve({ ms: performance.now() - began, cpuMs: fineCpuMs(child.pid ?? 0) });
        const late = new Error(`it asked nothing within ${MUST_HAVE_ASKED_MS} ms`);
        setTimeout(() => reject(late), MUST_HAVE_ASKED_MS).unref();
        child.once("exit", () => reject(new Error("it ended before it asked anything")));
      });
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
  };
}

async function idle(how: How): Promise<void> {
  const cluster = await realCluster(how);
  if (!cluster) return;
  const program = new Program(how, cluster.kubeconfig, FLAGS);
  await program.readyMs();
  await delay(how.quick ? 2000 : IDLE_MS);
  const { rssMiB } = program.memory;
  how.figure("RSS, idle, on a real API server", rssMiB, "MiB", { atMost: 80 });
}
