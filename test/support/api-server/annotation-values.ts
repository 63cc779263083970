// Values of annotations as people and fuzzers write them: what each word takes, the same with a slip in
// it, what its grammar is made of, and any text at all. By a seed.
import { pick, seeded } from "../../../packages/kube/testing/random.ts";
import {
  PREFIX,
  SOURCE_ANNOTATIONS,
  type AnnotationName,
} from "../../../src/controller/annotations/vocabulary.ts";
import type { Asked } from "./told-by-controller.ts";

const GOOD: Readonly<Partial<Record<AnnotationName, readonly [string, ...string[]]>>> = {
  to: ["*", "team-*", "team-*,!team-legacy", "!a,!b-?", "a, b ,c", " x-1 ", "!team-*"],
  "to-selector": [
    "tier=gold",
    "tier==gold,region in (eu, us)",
    "env notin (test),!legacy",
    "a!=b , c",
    "example.com/team in (a,,b)",
    "in in (notin)",
    "x= ,y",
    "!example.com/x",
    "kubernetes.io/metadata.name in (a-1, b.c_d)",
  ],
  match: ["all", "any", "any", "any"],
  name: ["registry", "a.b-c.d", "x1"],
  keys: ["*,!*.key,ca.pem=ca.crt", "tls.crt,tls.key", "a=b, c = d", "!x", ".dockerconfigjson"],
  "copy-labels": ["team,example.com/*", "*", "*/*,!x/y", "App/Name"],
  "copy-annotations": ["example.com/*", "a_b"],
  "on-delete": ["delete", "keep"],
  paused: ["true", "false"],
  allow: ["*", "team-?", "!a"],
  "allow-selector": ["tier", "tier in (a)", "!b"],
  from: ["platform/db", "a/b.c-d"],
  accept: ["true", "false", "platform/*", "a/b,!c/d*", "!x/y"],
  adopt: ["platform/db", " a/b "],
};

const PIECES = [
  ...Array.from('abz019AZ-_.*?!,=()/ \t\n<>@"\\'),
  " in ",
  " notin ",
  "!=",
  "==",
  "team",
  "..",
  "é",
  "–",
  "“",
  "any",
  "true",
  "sh.helm.release.v1.",
  "x".repeat(70),
  "y".repeat(240),
  "\u0000",
  "\u000b",
  "\u0085",
  "\u00a0",
  "\u2028",
  "\ufeff",
  "😀",
] as const;

export class AnnotationValues {
  readonly #chance: () => number;

  constructor(seed: number) {
    this.#chance = seeded(seed);
  }

  #happens(probability: number): boolean {
    return this.#chance() < probability;
  }

  #of(word: AnnotationName): string {
    const good = pick(this.#chance, GOOD[word] ?? ["x"]);
    const kind = this.#chance();
    if (kind < 0.4) return good;
    if (kind < 0.7) return this.#slipped(good);
    if (kind < 0.75) return pick(this.#chance, ["", " ", "\n", "\u00a0", "\ufeff", "\u0085"]);
    if (kind < 0.8) return `${good},`.repeat(1 + Math.floor(this.#chance() * 300)) + good;
    return Array.from({ length: 1 + Math.floor(this.#chance() * 12) }, () => this.#piece()).join(
      "",
    );
  }

  /** An object with such annotations, in one of two namespaces of which the first may publish. */
  asked(source: string, other: string): Asked {
    const annotations: Record<string, string> = {};
    const say = (word: AnnotationName, probability: number): void => {
      if (this.#happens(probability)) annotations[PREFIX + word] = this.#of(word);
    };
    if (this.#happens(0.15)) annotations[this.#key()] = "x";
    if (this.#happens(0.2)) {
      say("accept", 0.95);
      say("to", 0.05);
      return { resource: "namespaces", namespace: "", publishes: false, annotations };
    }
    const pulls = this.#happens(0.2);
    const words = this.#happens(0.9) ? SOURCE_ANNOTATIONS : [];
    for (const word of words) say(word, pulls && word !== "keys" ? 0.2 : 0.9);
    say("from", pulls ? 1 : 0);
    say("adopt", 0.1);
    say("accept", 0.03);
    say("copied-keys", 0.1);
    const resource = this.#happens(0.2) ? "configmaps" : "secrets";
    const publishes = this.#happens(0.85);
    return { resource, namespace: publishes ? source : other, publishes, annotations };
  }

  /** The same object after somebody has changed, dropped and added some of them. */
  changed(before: Asked): Asked {
    const other = this.asked("", "").annotations;
    const annotations: Record<string, string> = {};
    for (const [key, text] of Object.entries(before.annotations)) {
      if (this.#happens(0.9)) annotations[key] = (this.#happens(0.25) && other[key]) || text;
    }
    for (const [key, text] of Object.entries(other)) {
      if (!(key in before.annotations) && this.#happens(0.3)) annotations[key] = text;
    }
    return { ...before, annotations, before: before.annotations };
  }

  // Most of them nobody's.
  #key(): string {
    const word = pick(this.#chance, [
      "to-selecter",
      "too",
      "To",
      "accepts",
      "x.y_z",
      "entrie",
      "a",
    ]);
    return `secretcast.io/${word}`;
  }

  #piece(): string {
    return pick(this.#chance, PIECES as unknown as readonly [string, ...string[]]);
  }

  // One character off, doubled or put in.
  #slipped(text: string): string {
    const at = Math.floor(this.#chance() * text.length);
    const rest = text.slice(at + (this.#happens(0.5) ? 1 : 0));
    return text.slice(0, at) + (this.#happens(0.6) ? this.#piece() : "") + rest;
  }
}

/** What is long, or slow to look through, up to the 256 KiB that the API server takes. */
export function worstAnnotations(): readonly {
  readonly what: string;
  readonly annotations: Readonly<Record<string, string>>;
}[] {
  const many = (count: number, prefix: string, text = "") =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [prefix + String(at).padStart(5, "0"), text]),
    );
  const said = (texts: Readonly<Partial<Record<AnnotationName, string>>>) =>
    Object.fromEntries(Object.entries(texts).map(([word, text]) => [PREFIX + word, text]));
  const lists = (entry: string) =>
    said({
      to: entry.repeat(511),
      allow: entry.repeat(511),
      keys: entry.repeat(511),
      "copy-labels": entry.repeat(511),
      "copy-annotations": entry.repeat(511),
    });
  const selectors = said({
    "to-selector": `a in (${"b,".repeat(95)}@${"c".repeat(800)})`,
    "allow-selector": `${"a in (b),".repeat(90)}@`,
  });
  const rest = said({
    name: `${"x.".repeat(500)}.`,
    paused: "y".repeat(1024),
    "on-delete": '"'.repeat(1024),
    match: "\\".repeat(1024),
    adopt: "a/".repeat(511),
  });
  const renames = said({ keys: "a=@,".repeat(250) });
  const filler = many(230, "example.com/", "z".repeat(1000));
  return [
    { what: "12,000 keys of ours", annotations: many(12_000, PREFIX) },
    {
      what: "15,000 keys of others, and a word",
      annotations: { ...many(15_000, "a/"), ...said({ to: "A" }) },
    },
    { what: "250 keys of ours", annotations: many(250, PREFIX, "z".repeat(1000)) },
    { what: "bad entries", annotations: { ...lists("_,"), ...selectors, ...rest, ...filler } },
    { what: "good entries", annotations: { ...lists("a,"), ...selectors, ...filler } },
    { what: "entries in capitals", annotations: { ...lists("A,"), ...filler } },
    { what: "bad renames", annotations: { ...renames, ...said({ to: "*" }), ...filler } },
    {
      what: "all at once and from",
      annotations: {
        ...lists("_,"),
        ...selectors,
        ...rest,
        ...said({ from: "a/".repeat(511) }),
        ...filler,
      },
    },
    { what: "blanks", annotations: said({ to: " ".repeat(250_000) }) },
    { what: "one value", annotations: said({ to: "A".repeat(250_000) }) },
  ];
}
