// Strings, numbers, bytes and times in a request body, checked like Go's decoder and with its messages.
import { isList, isObject } from "../storage/object.ts";
import type { Json } from "../storage/object.ts";
import type { Shape } from "./schema.ts";
import { quoted } from "../storage/status.ts";

export type Scalar = Exclude<Extract<Shape, string>, "any">;

/** A value of the wrong type. The client receives the message. */
export class Mismatch extends Error {}

const goTypes: Readonly<Record<Scalar, string>> = {
  string: "string",
  bytes: "[]uint8",
  boolean: "bool",
  integer: "int32",
  time: "time.Time",
  microTime: "time.Time",
};

/** The name of a type in Go's messages. */
function goType(shape: Shape): string {
  if (typeof shape === "string") return shape === "any" ? "interface {}" : goTypes[shape];
  if ("map" in shape) return `map[string]${goType(shape.map)}`;
  return "list" in shape ? `[]${goType(shape.list)}` : "struct";
}

/** `value` as a `shape`. `field` is the struct field that Go would name. */
export function readScalar(value: Json, shape: Scalar, field: string): Json {
  const wrong = () => mismatch(value, field, shape);
  if (shape === "boolean" || shape === "integer") {
    const fits = shape === "boolean" ? typeof value === "boolean" : Number.isInteger(value);
    if (!fits) throw wrong();
    return value;
  }
  if (typeof value !== "string") throw wrong();
  if (shape === "bytes") return canonicalBase64(value);
  return shape === "string" ? value : readTime(value, shape);
}

export function mismatch(value: Json, field: string, shape: Shape): Mismatch {
  return new Mismatch(
    `json: cannot unmarshal ${goName(value)} into Go struct field ${field} of type ${goType(shape)}`,
  );
}

export function goName(value: Json): string {
  if (isList(value)) return "array";
  if (isObject(value)) return "object";
  return typeof value === "boolean" ? "bool" : typeof value;
}

const times = {
  time: {
    pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
    layout: "2006-01-02T15:04:05Z07:00",
  },
  microTime: {
    pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/,
    layout: "2006-01-02T15:04:05.000000Z07:00",
  },
} as const;

function readTime(value: string, shape: "time" | "microTime"): string {
  const { pattern, layout } = times[shape];
  if (pattern.test(value) && !Number.isNaN(Date.parse(value))) return value;
  const [, rest] = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(.*)$/s.exec(value) ?? [];
  const [left, wanted] =
    rest === undefined ? [value, "2006"] : [rest, shape === "microTime" ? ".000000" : "Z07:00"];
  throw new Mismatch(
    `parsing time ${quoted(value)} as ${quoted(layout)}: cannot parse ${quoted(left)} as ${quoted(wanted)}`,
  );
}

/** Standard base64 with padding. Line breaks are allowed. Throws Go's message for anything else. */
function canonicalBase64(text: string): string {
  const bad = badBase64At(text);
  if (bad !== undefined) throw new Mismatch(`illegal base64 data at input byte ${bad}`);
  return Buffer.from(text, "base64").toString("base64");
}

/** Where Go's decoder stops, or undefined when it does not. */
function badBase64At(text: string): number | undefined {
  const end = text.search(/[^A-Za-z0-9+/\r\n]/);
  if (end < 0) {
    const letters = text.replace(/[\r\n]/g, "").length;
    return letters % 4 === 0 ? undefined : text.length - (letters % 4);
  }
  const [padding = ""] = /^=[\r\n]*=?[\r\n]*/.exec(text.slice(end)) ?? [];
  const letters = text.slice(0, end).replace(/[\r\n]/g, "").length % 4;
  if (padding === "" || letters < 2) return end;
  const marks = padding.replace(/[\r\n]/g, "").length;
  // One padding mark instead of two, or two instead of one.
  if (letters === 2 && marks === 1) return end + padding.length;
  const used = letters === 3 && marks === 2 ? padding.lastIndexOf("=") : padding.length;
  return end + used < text.length ? end + used : undefined;
}
