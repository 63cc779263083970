// Every parser of user text with arbitrary text of up to 256 KiB: never an exception, an answer in time,
// and a Problem that names the annotation, the offending part and what would be right.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  parseAccept,
  parseAdopt,
  parsePull,
  parseSource,
} from "../../../src/controller/annotations/parse.ts";
import { createDigest } from "../../../src/controller/model/secret-data.ts";
import { parseRecord } from "../../../src/controller/desired/copied-metadata.ts";
import { readNamespace } from "../../../src/controller/observed/read-namespace.ts";
import { readObject } from "../../../src/controller/observed/read-object.ts";
import { VOCABULARY, type AnnotationName } from "../../../src/controller/annotations/vocabulary.ts";
import type { Problem } from "../../../src/controller/annotations/rules.ts";
import { KINDS } from "../../../src/controller/model/kinds.ts";
import { anyText } from "../../../packages/kube/testing/any-text.ts";
import { propertyRuns as runs } from "../../../packages/kube/testing/extent.ts";
import { processorMsOf } from "../../support/time/processor.ts";

const WORDS = Object.keys(VOCABULARY) as AnnotationName[];
const LARGEST = 256 * 1024;
// What one parser may take of the processor, and how often it is asked before it counts as too slow:
// the fastest of several answers is the parser's own time, without compilation or garbage.
const LONGEST_MS = 10;
const TRIES = 20;

const context = {
  kind: KINDS.Secret,
  digest: createDigest(Buffer.from("k")),
  intern: (text: string) => text,
  share: <T>(_: string, value: T) => value,
  isSourceNamespace: () => true,
  copyable: { copyableKeys: undefined, namedSources: undefined },
  keep: () => undefined,
};

type Parser = () => readonly Problem[];

function parsersOf(word: string, text: string): readonly Parser[] {
  const annotations = { "secretcast.io/to": "*", [`secretcast.io/${word}`]: text };
  const pulling = { "secretcast.io/from": "a/b", [`secretcast.io/${word}`]: text };
  const none = (parse: () => unknown): Parser => {
    return () => {
      parse();
      return [];
    };
  };
  return [
    () => parseSource(annotations, "b").problems,
    () => parsePull(pulling).problems,
    () => {
      const accept = parseAccept({ [`secretcast.io/${word}`]: text });
      return accept.kind === "problem" ? [accept.problem] : [];
    },
    none(() => parseAdopt(annotations)),
    none(() => parseRecord(text)),
  ];
}

function judge(word: string, text: string): void {
  for (const parse of parsersOf(word, text)) {
    for (const { annotation, part, expected } of parse()) {
      assert.match(annotation, /^secretcast\.io\//);
      assert.ok(part.length <= 83, "the part is short enough to print");
      const written = part.replace(/\.\.\.$/, "");
      assert.ok(
        [text, word, "*", "a/b"].some((one) => one.includes(written)),
        part,
      );
      assert.ok(expected.length > 0);
    }
  }
}

function hurry(word: string, text: string): void {
  for (const parse of parsersOf(word, text)) {
    let fastest = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < TRIES && fastest > LONGEST_MS; turn++) {
      fastest = Math.min(fastest, processorMsOf(parse));
    }
    assert.ok(fastest <= LONGEST_MS, `${word}: ${text.slice(0, 20)}... took ${fastest} ms`);
  }
}

// What the grammars are made of, so that not every text fails at its first character.
const grammar = fc
  .array(
    fc.constantFrom(
      "a",
      "team",
      "*",
      "?",
      "!",
      ",",
      "=",
      " in ",
      "notin",
      "(",
      ")",
      "/",
      "-",
      ".",
      " ",
      "\n",
      "true",
      "keep",
      "1",
      "_",
      "\u0000",
      "ü",
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(""));

test("no text makes a parser throw, and every Problem says where and what", () => {
  const texts = fc.oneof(fc.string(), anyText(200), grammar);
  fc.assert(fc.property(fc.constantFrom(...WORDS), texts, judge), { numRuns: runs * 10 });
});

test("an unknown key is a Problem that names it", () => {
  const key = fc.stringMatching(/^[a-z-]{1,20}$/).filter((one) => !(one in VOCABULARY));
  fc.assert(
    fc.property(key, (word) => {
      const [problem] = parseSource({ [`secretcast.io/${word}`]: "x" }, "b").problems;
      assert.equal(problem?.annotation, `secretcast.io/${word}`);
      assert.match(problem.expected, /to-selector/);
    }),
    { numRuns: runs },
  );
});

test("text of 256 KiB is answered for every annotation, whatever it repeats", () => {
  const units = [
    "a",
    "*",
    "?",
    "!",
    ",",
    "a,",
    "*a",
    "*,",
    "a*,",
    "!a,",
    "a=b,",
    "=",
    "a in (b),",
    "a in (",
    "a,!b,",
    "(",
    "a/",
    "*/*,",
    "label:a,",
    " ",
    "\u0000",
    "__proto__,",
  ];
  for (const unit of units) {
    const text = unit.repeat(Math.ceil(LARGEST / unit.length)).slice(0, LARGEST);
    for (const word of WORDS) {
      judge(word, text);
      hurry(word, text);
    }
  }
});

test("lists of distinct entries of 256 KiB are answered", () => {
  for (const make of [
    (index: number) => `n${index}`,
    (index: number) => `n${index}*`,
    (index: number) => `!n${index}?`,
    (index: number) => `k${index}=v${index}`,
    (index: number) => `k in (v${index})`,
    (index: number) => `label:k${index}`,
  ]) {
    let text = make(0);
    for (let index = 1; text.length < LARGEST - 20; index++) text += `,${make(index)}`;
    for (const word of WORDS) {
      judge(word, text);
      hurry(word, text);
    }
  }
});

test("objects of any shape are read without an exception", () => {
  fc.assert(
    fc.property(fc.anything(), (raw) => {
      readObject(raw, context);
      readNamespace(raw);
      readObject({ metadata: raw }, context);
      readNamespace({ metadata: raw, status: raw });
      const named = { namespace: "a", name: "b", labels: raw, annotations: raw };
      readObject({ metadata: named, data: raw, type: raw }, context);
    }),
    { numRuns: runs },
  );
});
