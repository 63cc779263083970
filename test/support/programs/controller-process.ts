// The program itself as a child process, for tests that kill it or what it talks to, and read its log
// and its metrics as an operator does.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { FlagValues } from "../../../src/controller/settings/config.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import type { Ending } from "../../../packages/kube/testing/fault-proxy.ts";
import { field } from "../../../packages/sandbox/testing/http.ts";
import { Guardian } from "../api-server/program.ts";

export type ControllerProcess = {
  readonly pid: number;
  /** Its log, a parsed line each. */
  readonly log: readonly unknown[];
  readonly running: () => boolean;
  /** Its exit code; null when a signal ended it. */
  readonly ended: Promise<number | null>;
  /** The same, when all that it said was heard. */
  readonly heard: Promise<number | null>;
  /** A metric's lines as they stand on /metrics. */
  readonly samples: (name: string) => Promise<readonly string[]>;
  /** The sum of a metric's samples; `labels` as they stand in the text, such as `resource="secrets"`. */
  readonly metric: (name: string, labels?: string) => Promise<number>;
  readonly ready: () => Promise<boolean>;
  /** Where it serves probes and metrics, HOST:PORT; undefined before it does. */
  readonly address: () => string | undefined;
  /** SIGTERM; resolves with the exit code. */
  readonly stop: () => Promise<number | null>;
  /** SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<number | null>;
};

/** `run` and its flags: a log to be read line by line, and whatever free ports there are. */
export function runWords(kubeconfig: string, flags: FlagValues): readonly string[] {
  const given = {
    kubeconfig,
    "http-address": "127.0.0.1:0",
    "status-address": "127.0.0.1:0",
    "log-format": "json",
    ...flags,
  };
  return ["run", ...Object.entries(given).map(([flag, value]) => `--${flag}=${value}`)];
}

export type Spawning = {
  /** Words after the path of Node, before `run`. */
  readonly command?: readonly string[];
  /** A program with its words that starts Node, in its own place. */
  readonly under?: readonly string[];
  /** Called when a line of the log is there. */
  readonly onLog?: () => void;
  /** Hears each line of both its outputs as it comes; otherwise its standard error is ours. */
  readonly onLine?: (line: string) => void;
};

/** Starts `secretcast run`; it is stopped when the test ends. */
export function spawnController(
  t: Ending,
  kubeconfig: string,
  flags: FlagValues,
  { command = ["bin/secretcast.js"], under = [], onLog, onLine }: Spawning = {},
): ControllerProcess {
  const words = [...under, process.execPath, ...command, ...runWords(kubeconfig, flags)];
  const [program = "", ...args] = words;
  const child = spawn(program, args, {
    stdio: ["ignore", "pipe", onLine ? "pipe" : "inherit"],
  });
  const { pid } = child;
  if (pid === undefined || child.stdout === null) throw new Error("secretcast did not start");
  const guardian = new Guardian();
  guardian.watch(pid);
  const log: unknown[] = [];
  createInterface(child.stdout).on("line", (line) => {
    log.push(JSON.parse(line));
    onLog?.();
    onLine?.(line);
  });
  if (child.stderr && onLine) createInterface(child.stderr).on("line", onLine);
  const running = (): boolean => child.exitCode === null && child.signalCode === null;
  const ended = once(child, "exit").then(() => child.exitCode);
  const heard = once(child, "close").then(() => child.exitCode);
  const stop = (): Promise<number | null> => {
    if (running()) child.kill("SIGTERM");
    return ended;
  };
  const kill = (): Promise<number | null> => {
    child.kill("SIGKILL");
    return ended;
  };
  t.after(async () => {
    await stop();
    guardian.unwatch(pid);
    await guardian.dismiss();
  });
  const serving = (): string | undefined =>
    log.map((line) => field(line, "address")).find((address) => typeof address === "string");
  const get = async (path: string): Promise<Response> => {
    const address = await eventually("the controller serves", serving);
    return fetch(`http://${address}${path}`);
  };
  const samples = async (name: string): Promise<readonly string[]> => {
    const text = await (await get("/metrics")).text();
    return text
      .split("\n")
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  };
  const metric = async (name: string, labels = ""): Promise<number> => {
    const ours = (await samples(name)).filter((line) => line.includes(labels));
    return ours.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
  };
  return {
    pid,
    log,
    running,
    ended,
    heard,
    samples,
    address: serving,
    metric,
    ready: async () => (await get("/readyz")).ok,
    stop,
    kill,
  };
}
