// What the process passes to a command, so that a command can also run without a process.
import type { LogStream } from "../controller/report/log.ts";

/** An error without a listener ends the process. */
export type Output = LogStream & {
  /** Its file descriptor, if it is one of a process. */
  readonly fd?: number;
  readonly isTTY?: boolean;
  /** Lines of the terminal, if it is one and reports them. */
  readonly rows?: number;
};

/** The environment of one run of the program. */
export type Program = {
  readonly version: string;
  /** In the executable that needs no Node: what is in it. Undefined in every other form. */
  readonly executable?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clusterNamespace: string | undefined;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Input for `-f -`, if any. */
  readonly stdin?: AsyncIterable<Uint8Array | string>;
  /** Aborts at SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
};
