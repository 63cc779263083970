// A shell as a person has it: a pseudo-terminal, keys typed into it, and what is on the screen. Made by
// script(1), which every Linux has.
import { spawn, spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { eventually } from "../../../packages/kube/testing/eventually.ts";

/** Why there can be none of `program`; undefined: there can. */
export function shellMissing(program: string): string | undefined {
  for (const each of ["script", program])
    if (spawnSync("sh", ["-c", `command -v ${each}`]).status !== 0)
      return `there is no ${each} here`;
  return undefined;
}

export type PseudoTerminal = {
  type(keys: string): void;
  /** Waits until `text` is among what was shown since the last key; throws after a minute. */
  shows(text: RegExp): Promise<string>;
  close(): Promise<void>;
};

export function openTerminal(
  command: string,
  env: Readonly<Record<string, string>>,
): PseudoTerminal {
  const child = spawn("script", ["-qfec", command, "/dev/null"], {
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", COLUMNS: "120", LINES: "40", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let screen = "";
  child.stdout.on("data", (chunk: Buffer) => (screen += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  return {
    type: (keys) => {
      screen = "";
      child.stdin.write(keys);
    },
    shows: async (text) => {
      await eventually(`the terminal shows ${text}`, () => text.test(plain(screen)));
      return plain(screen);
    },
    close: async () => {
      child.kill("SIGKILL");
      child.stdin.destroy();
      await ended;
    },
  };
}

// Without colours, cursor movements, titles and bells.
function plain(screen: string): string {
  return stripVTControlCharacters(screen).replaceAll("\u0007", "");
}
