// What the process hands to a command, so that a command can be run without one.

type Output = {
  write(text: string, done?: (error?: Error | null) => void): boolean;
  /** Bytes that were not read yet. */
  readonly writableLength?: number;
  /** What nobody listens to ends the process. */
  on?(event: "error", listener: (error: Error) => void): unknown;
  readonly isTTY?: boolean;
  /** Lines of the terminal, where it is one that says so. */
  readonly rows?: number;
};

/** The surroundings of one run of the program. */
export type Program = {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clusterNamespace: string | undefined;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Read by who is reported to (`-f -`); undefined: there is none. */
  readonly stdin?: AsyncIterable<Uint8Array | string>;
  /** Aborts at SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
};
