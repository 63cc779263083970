// Decodes the lines of a watch. Chunks may be cut anywhere, also inside a character. An invalid line becomes a
// value (`bad`), never an exception, and is never skipped silently.
import { statusError } from "../rest/api-error.ts";
import type { ApiError } from "../rest/api-error.ts";
import { isKubeObject } from "../rest/resource.ts";
import type { KubeObject } from "../rest/resource.ts";
import { isRecord, parseJson } from "../json.ts";
import { narrow } from "../parsing/narrow.ts";

export type WatchEvent =
  | { readonly kind: "set"; readonly object: KubeObject }
  | { readonly kind: "delete"; readonly object: KubeObject }
  /** `initialEnd`: every object that existed at the start has been sent. */
  | { readonly kind: "bookmark"; readonly resourceVersion: string; readonly initialEnd: boolean }
  | { readonly kind: "error"; readonly error: ApiError }
  /** `why` contains nothing of the line. */
  | { readonly kind: "bad"; readonly why: string };

// The API server accepts requests of 3 MiB at most, and etcd accepts objects of 1.5 MiB. So no line of an API
// server is nearly this long.
export const LONGEST_LINE_BYTES = 32 * 1024 * 1024;

/** A line of this many characters takes a millisecond each for its text, JSON and object. */
const LONG_LINE = 2 ** 18;

const NEWLINE = 0x0a;

export class LineSplitter {
  #parts: Uint8Array[] = [];
  #held = 0;

  /** Bytes of a line whose end has not arrived yet. */
  get held(): number {
    return this.#held;
  }

  /** Returns the lines that `chunk` completes, without their line ends. Empty lines are left out. */
  push(chunk: Uint8Array): readonly string[] {
    const lines: string[] = [];
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      const line = this.#finish(chunk.subarray(from, to)).trim();
      if (line !== "") lines.push(line);
      from = to + 1;
    }
    if (from < chunk.length) {
      this.#parts.push(chunk.subarray(from));
      this.#held += chunk.length - from;
    }
    return lines;
  }

  #finish(last: Uint8Array): string {
    const bytes = this.#held === 0 ? last : Buffer.concat([...this.#parts, last]);
    this.#parts = [];
    this.#held = 0;
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  }
}

/**
 * Decodes one line of a watch on objects of `kind`. `keepKeyPrefixes`: prefixes of the keys that are always read. `what`
 * names the watch in the error that the line may carry. Yields around each stage of a long line.
 */
export function* eventOf(
  line: string,
  keepKeyPrefixes: readonly string[],
  kind: string,
  what: string,
): Generator<undefined, WatchEvent> {
  const isLong = line.length > LONG_LINE;
  if (isLong) yield;
  const narrowed = narrow(line, keepKeyPrefixes);
  if (isLong) yield;
  const event = readEvent(parseJson(narrowed), kind, what);
  if (isLong) yield;
  return event;
}

function readEvent(event: unknown, kind: string, what: string): WatchEvent {
  if (!isRecord(event)) return { kind: "bad", why: "a line is no JSON object" };
  const { type, object } = event as { readonly type?: unknown; readonly object?: unknown };
  switch (type) {
    case "ADDED":
    case "MODIFIED":
      return isKind(object, kind) ? { kind: "set", object } : bad(type, kind);
    case "DELETED":
      return isKind(object, kind) ? { kind: "delete", object } : bad(type, kind);
    case "BOOKMARK":
      return bookmark(object) ?? bad(type, "version");
    case "ERROR":
      return { kind: "error", error: statusError(what, codeOf(object), object) };
    default:
      return { kind: "bad", why: "an event has an unknown type" };
  }
}

function isKind(object: unknown, kind: string): object is KubeObject {
  return isKubeObject(object) && object.kind === kind;
}

function bad(type: string, missing: string): WatchEvent {
  return { kind: "bad", why: `an event of type ${type} carries no usable ${missing}` };
}

// The object of a bookmark has only a version.
function bookmark(object: unknown): WatchEvent | undefined {
  const metadata = isRecord(object) ? object["metadata"] : undefined;
  if (!isRecord(metadata)) return undefined;
  const { resourceVersion, annotations } = metadata as {
    readonly resourceVersion?: unknown;
    readonly annotations?: unknown;
  };
  if (typeof resourceVersion !== "string" || resourceVersion === "") return undefined;
  const initialEnd = isRecord(annotations) && annotations["k8s.io/initial-events-end"] === "true";
  return { kind: "bookmark", resourceVersion, initialEnd };
}

function codeOf(object: unknown): number {
  const code = isRecord(object) ? object["code"] : undefined;
  return typeof code === "number" && code > 0 ? code : 500;
}
