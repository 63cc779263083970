import assert from "node:assert/strict";
import { test } from "node:test";
import { LineSplitter, eventOf, type WatchEvent } from "./watch-decoder.ts";
import { added, bookmark, failed, raw } from "../testing/scripted-api.ts";

function parse(value: unknown): WatchEvent {
  const line = typeof value === "string" ? value : JSON.stringify(value);
  const steps = eventOf(line, [], "Secret", "watch secrets");
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

test("lines cut anywhere, also inside a character, come out whole", () => {
  const text = '{"a":"ä€😀"}\n\n{"b":2}\r\n{"c":"ü"}\n';
  const bytes = Buffer.from(text);
  const whole = ['{"a":"ä€😀"}', '{"b":2}', '{"c":"ü"}'];
  for (let cut = 0; cut <= bytes.length; cut++) {
    const splitter = new LineSplitter();
    const lines = [...splitter.push(bytes.subarray(0, cut)), ...splitter.push(bytes.subarray(cut))];
    assert.deepEqual(lines, whole, `cut at ${cut}`);
    assert.equal(splitter.held, 0);
  }
  const splitter = new LineSplitter();
  assert.deepEqual(
    [...bytes].flatMap((byte) => splitter.push(Uint8Array.of(byte))),
    whole,
  );
});

test("a line that has not ended is held and counted", () => {
  const splitter = new LineSplitter();
  assert.deepEqual(splitter.push(Buffer.from("abc\nde")), ["abc"]);
  assert.equal(splitter.held, 2);
  assert.deepEqual(splitter.push(Buffer.from("f")), []);
  assert.equal(splitter.held, 3);
});

test("W7 a line of 5 MB is read", () => {
  const splitter = new LineSplitter();
  const chunk = Buffer.alloc(64 * 1024, "x");
  for (let at = 0; at < 80; at++) splitter.push(chunk);
  assert.equal(splitter.push(Buffer.from("\n"))[0]?.length, 80 * 64 * 1024);
});

test("W5 an ERROR event is an error with the kind of its Status", () => {
  const kinds = [
    [failed(410, "Expired"), "gone"],
    [failed(410, "Gone"), "gone"],
    [failed(429, "TooManyRequests"), "throttled"],
    [failed(500, "InternalError"), "unavailable"],
    [failed(403, "Forbidden"), "forbidden"],
    [failed(504, "Timeout", { causes: [{ reason: "ResourceVersionTooLarge" }] }), "tooLarge"],
    [{ type: "ERROR", object: {} }, "unavailable"],
    [{ type: "ERROR" }, "unavailable"],
  ] as const;
  for (const [event, kind] of kinds) {
    const parsed = parse(event);
    assert.equal(parsed.kind === "error" && parsed.error.kind, kind, JSON.stringify(event));
  }
});

test("RF-07 a version that is too large is known by its cause or its message", () => {
  const details = { causes: [{ reason: "ResourceVersionTooLarge" }] };
  const objects = [
    { code: 504, reason: "Timeout", details },
    { code: 504, reason: "Timeout", message: "Too large resource version: 9, current: 5" },
    { code: 504, reason: "Timeout", message: "resourceVersion 9 is too large" },
    { code: 504, reason: "Timeout", message: "the request timed out" },
  ];
  const kinds = objects.map((object) => {
    const parsed = parse({ type: "ERROR", object });
    return parsed.kind === "error" && parsed.error.kind;
  });
  assert.deepEqual(kinds, ["tooLarge", "tooLarge", "tooLarge", "timeout"]);
});

test("RF-52 only the annotation's value true is the end mark", () => {
  const ends = [bookmark(5, "true"), bookmark(5, "false"), bookmark(5)].map((event) => {
    const parsed = parse(event);
    return parsed.kind === "bookmark" && parsed.initialEnd;
  });
  assert.deepEqual(ends, [true, false, false]);
});

test("W3 a line of another kind is bad, and its error quotes no content", () => {
  const hidden = "aGlkZGVu";
  const secret = raw("x", 1);
  const lines: readonly unknown[] = [
    "",
    hidden,
    `{"type":"ADDED","object":"${hidden}`,
    "[]",
    "null",
    "{}",
    { type: hidden, object: secret },
    { type: "ADDED", object: null },
    { type: "ADDED", object: {} },
    { type: "MODIFIED", object: { kind: "Secret", metadata: { name: hidden } } },
    { type: "ADDED", object: { ...secret, kind: "Pod" } },
    { type: "DELETED", object: { ...secret, metadata: { ...secret.metadata, uid: "" } } },
    { type: "BOOKMARK", object: { kind: "Secret", metadata: {} } },
    { type: "BOOKMARK" },
    { type: "ADDED", object: { kind: "Table", metadata: { resourceVersion: "1" } } },
  ];
  for (const line of lines) {
    const parsed = parse(line);
    assert.equal(parsed.kind, "bad", JSON.stringify(line));
    assert.ok(parsed.kind === "bad" && !parsed.why.includes(hidden));
  }
  assert.equal(parse(added(secret)).kind, "set");
});
