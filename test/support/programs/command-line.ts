// One command line of the program in this process: everything but bin/ and main.ts.
import { runProgram } from "../../../src/cli/program.ts";

export type Said = { readonly code: number; readonly stdout: string; readonly stderr: string };

export type Surroundings = {
  readonly env?: Readonly<Record<string, string>>;
  /** What `-f -` reads. */
  readonly stdin?: string;
  readonly terminal?: boolean;
  /** Lines of the terminal. */
  readonly rows?: number;
  readonly signal?: AbortSignal;
};

export async function commandLine(
  args: readonly string[],
  { env = {}, stdin, terminal = false, rows, signal }: Surroundings = {},
): Promise<Said> {
  let stdout = "";
  let stderr = "";
  const code = await runProgram(args, {
    version: "1.2.3",
    env,
    clusterNamespace: undefined,
    stdout: {
      write: (text) => Boolean((stdout += text)),
      isTTY: terminal,
      ...(rows !== undefined && { rows }),
    },
    stderr: { write: (text) => Boolean((stderr += text)), isTTY: terminal },
    ...(stdin !== undefined && { stdin: chunks(stdin) }),
    signal: signal ?? new AbortController().signal,
  });
  return { code, stdout, stderr };
}

async function* chunks(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}

/** What was shown, as on any machine: one address for all servers, and without the progress of a slow one. */
export function onAnyMachine(shown: string): string {
  return shown
    .replaceAll(/^context \S+, https?:\S+$/gm, "context secretcast-sandbox, http://127.0.0.1:40123")
    .replaceAll(/^.+: \d+(?: of \d+)?, \d+ a second(?:, .+ left)?\n/gm, "");
}
