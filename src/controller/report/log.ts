// The logger writes a constant message plus keys, one line each. Errors are logged as kind and message, never
// as objects, so that no response body and no Secret is logged. A closed pipe, a full disk or a stopped reader never
// ends or delays the process: a line is lost and counted if it cannot be written or if too many bytes are unread.
import pino from "pino";
import { styleText } from "node:util";
import { printable, printableLines } from "../../text/printable.ts";
import type { Config } from "../settings/config.ts";

/** The logger interface of the program, in pino's form: keys first, constant message second. */
export type Log = {
  debug(keys: LogKeys, message: string): void;
  info(keys: LogKeys, message: string): void;
  warn(keys: LogKeys, message: string): void;
  error(keys: LogKeys, message: string): void;
};
/** Names, counts and durations. No value of a Secret has one of these types. */
export type LogKeys = Readonly<
  Record<string, string | number | boolean | undefined | readonly string[] | ReadonlyCounts>
>;
type ReadonlyCounts = Readonly<Record<string, number>>;

/** Where lines are written. In the program this is process.stdout. */
export type LogSink = { write(line: string): unknown };

export function createLog(config: Pick<Config, "logLevel" | "logFormat">, sink: LogSink): Log {
  const options: pino.LoggerOptions = {
    level: config.logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    // Second line of defence: the types above already exclude data.
    redact: { paths: ["data", "stringData", "*.data", "*.stringData"], censor: "[secret]" },
  };
  const target =
    config.logFormat === "pretty"
      ? { write: (line: string) => void sink.write(pretty(line)) }
      : { write: (line: string) => void sink.write(printableLines(line)) };
  return pino(options, target);
}

const COLOUR = {
  trace: "dim",
  debug: "dim",
  info: "green",
  warn: "yellow",
  error: "red",
  fatal: "red",
} as const;

/** One line for people: time, level, message, keys. */
function pretty(line: string): string {
  const { time, level, msg, ...keys }: Record<string, unknown> = JSON.parse(line);
  const name = String(level);
  const colour = Object.hasOwn(COLOUR, name) ? COLOUR[name as keyof typeof COLOUR] : "dim";
  const words = Object.entries(keys).map(([key, value]) => {
    const text = typeof value === "string" && !value.includes(" ") ? value : JSON.stringify(value);
    return `${styleText("dim", `${key}=`)}${printable(text)}`;
  });
  const start = `${styleText("dim", String(time).slice(11, 19))} ${styleText(colour, name.padEnd(5))} ${printable(String(msg))}`;
  return `${[start, ...words].join("  ")}\n`;
}

/** Most bytes that a reader may leave unread: some thousand lines. */
const MOST_UNREAD_BYTES = 1024 * 1024;

/** The parts of a stream that are needed here. */
export type LogStream = {
  write(text: string, done?: (error?: Error | null) => void): unknown;
  /** Bytes that are not read yet. */
  readonly writableLength?: number;
  on?(event: "error", listener: (error: Error) => void): unknown;
};

export class LogOutput {
  readonly #stream: LogStream;
  #lost = 0;

  constructor(stream: LogStream) {
    this.#stream = stream;
    // The callback reports each failure. Without a listener an error would end the process.
    stream.on?.("error", () => undefined);
  }

  /** Lines that were not written. */
  get lost(): number {
    return this.#lost;
  }

  write(line: string): void {
    if ((this.#stream.writableLength ?? 0) > MOST_UNREAD_BYTES) {
      this.#lost++;
      return;
    }
    this.#stream.write(line, (error) => {
      if (error) this.#lost++;
    });
  }
}
