// JSON.parse in pieces: the same values, the same refusals, and a bound on what is parsed at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseInTurns } from "../../../src/kube/parsing/parse-in-turns.ts";
import { seeded } from "../../support/time/random.ts";

function parsed(text: string, piece?: number): unknown {
  const steps = parseInTurns(text, piece, piece);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const TEXTS = [
  "",
  "a",
  '"',
  "\\",
  "\n",
  "\u0001",
  "<&>",
  "é€",
  "\u{1f511}",
  "\ud83d",
  "x".repeat(40),
];

function randomValue(random: () => number, depth = 0): unknown {
  const below = (most: number): number => Math.floor(random() * most);
  const text = (): string =>
    Array.from({ length: below(6) }, () => TEXTS[below(TEXTS.length)]).join("");
  const kind = below(depth > 3 ? 4 : 7);
  if (kind === 0) return [null, true, false][below(3)];
  if (kind === 1) return [0, -1, 1.5e10, 42][below(4)];
  if (kind < 4) return text();
  const members = Array.from({ length: below(7) }, () => randomValue(random, depth + 1));
  if (kind === 4) return members;
  return Object.fromEntries(
    members.map((value, at) => [below(9) === 0 ? "__proto__" : `${text()}${at}`, value]),
  );
}

const asGoWrites = (value: unknown, space?: number): string =>
  JSON.stringify(value, undefined, space).replaceAll(/[<>&é\u{1f511}]/gu, (sign) =>
    Array.from(
      { length: sign.length },
      (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );

test("whatever its size and wherever it is cut, a text has the value that JSON.parse gives (B12)", () => {
  const random = seeded(12);
  for (let run = 0; run < 3000; run++) {
    const value = randomValue(random);
    const text = asGoWrites(value, run % 3);
    const piece = 8 + Math.floor(random() * 60);
    assert.deepEqual(parsed(text, piece), JSON.parse(text), `${text} in pieces of ${piece}`);
  }
});

test("a text that JSON.parse refuses is refused in pieces as well (B12)", () => {
  const random = seeded(13);
  let refused = 0;
  for (let run = 0; run < 3000; run++) {
    const text = asGoWrites(randomValue(random), run % 2);
    const at = Math.floor(random() * text.length);
    const sign = '{}[],:"\\ x1'.charAt(Math.floor(random() * 11));
    const damaged = text.slice(0, at) + (run % 2 === 0 ? sign : "") + text.slice(at + 1);
    let wanted: unknown;
    try {
      wanted = JSON.parse(damaged);
    } catch {
      refused++;
      assert.throws(() => parsed(damaged, 8), SyntaxError, damaged);
      continue;
    }
    assert.deepEqual(parsed(damaged, 8), wanted, damaged);
  }
  assert.ok(refused > 1000, String(refused));
});

test("of an object of 1 MiB that takes 6 MiB to write, JSON.parse is given a small part at a time (B12)", (t) => {
  const parse = t.mock.method(JSON, "parse");
  for (const data of [
    { key: "<".repeat(2 ** 20) },
    Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`key-${at}`, "<".repeat(1000)])),
  ]) {
    const object = { kind: "ConfigMap", data };
    const text = JSON.stringify({ type: "MODIFIED", object }).replaceAll("<", String.raw`\u003c`);
    let [most, turns] = [0, 0];
    const steps = parseInTurns(text);
    for (let done = false; !done; turns++) {
      parse.mock.resetCalls();
      done = steps.next().done === true;
      const given = parse.mock.calls.map(({ arguments: [piece] }) => piece.length);
      most = Math.max(
        most,
        given.reduce((sum, each) => sum + each, 0),
      );
    }
    assert.ok(turns > 6 && most < 1_200_000, `${turns} turns, ${most} characters in one`);
  }
});
