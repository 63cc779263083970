// The logger: a constant message plus keys, one line each. Errors are logged as their kind and
// message only, never as objects, so that no response body and no Secret can ride along.
import pino from "pino";
import { styleText } from "node:util";
import type { Config } from "../settings/config.ts";

/** What the rest of the program asks of a logger; pino's form: keys first, constant message second. */
export type Log = {
  debug(keys: LogKeys, message: string): void;
  info(keys: LogKeys, message: string): void;
  warn(keys: LogKeys, message: string): void;
  error(keys: LogKeys, message: string): void;
};
/** Names, counts and durations: nothing that could hold a Secret's value has one of these types. */
export type LogKeys = Readonly<
  Record<string, string | number | boolean | undefined | readonly string[] | ReadonlyCounts>
>;
type ReadonlyCounts = Readonly<Record<string, number>>;

/** Where lines go; process.stdout in the program. */
export type LogSink = { write(line: string): unknown };

export function createLog(config: Pick<Config, "logLevel" | "logFormat">, sink: LogSink): Log {
  const options: pino.LoggerOptions = {
    level: config.logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    // The belt to the braces above.
    redact: { paths: ["data", "stringData", "*.data", "*.stringData"], censor: "[secret]" },
  };
  const target =
    config.logFormat === "pretty"
      ? { write: (line: string) => void sink.write(pretty(line)) }
      : { write: (line: string) => void sink.write(line) };
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
    return `${styleText("dim", `${key}=`)}${text}`;
  });
  const start = `${styleText("dim", String(time).slice(11, 19))} ${styleText(colour, name.padEnd(5))} ${String(msg)}`;
  return `${[start, ...words].join("  ")}\n`;
}
