// The objects that take the longest to take in, each at the API server's own limits: 1.5 MiB in etcd,
// annotations of 256 KiB, data of 1 MiB, labels without a bound of their own. Pure, and always the same.
import { MANAGED_BY, MANAGED_BY_LABEL } from "../../../src/controller/annotations/vocabulary.ts";

type Texts = Readonly<Record<string, string>>;

export type Worst = {
  readonly what: string;
  readonly object: {
    readonly kind: "Secret" | "ConfigMap" | "Namespace";
    readonly metadata: Readonly<Record<string, unknown>>;
    readonly [field: string]: unknown;
  };
};

const ANNOTATION_BYTES = 262_144;
const OBJECT_BYTES = 1_500_000;
const MIB = 2 ** 20;

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
/** Of three letters or more, all of them different. */
const shortName = (at: number): string => {
  let [rest, name] = [at, ""];
  while (rest > 0 || name.length < 3) {
    name += LETTERS[rest % 26] ?? "";
    rest = Math.floor(rest / 26);
  }
  return name;
};
const longName = (at: number, length: number): string => `${"a".repeat(length - 5)}${10_000 + at}`;

export function texts(count: number, key: (at: number) => string, value = ""): Texts {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [key(at), value]));
}

/** As many entries, joined by commas, as `bytes` hold. */
export function list(
  bytes: number,
  entry: (at: number) => string,
  most = Number.POSITIVE_INFINITY,
): string {
  const entries: string[] = [];
  for (let left = bytes; left > 0 && entries.length < most;) {
    const one = entry(entries.length);
    left -= one.length + 1;
    if (left >= 0) entries.push(one);
  }
  return entries.join(",");
}

function secret(what: string, parts: Readonly<Record<string, unknown>>, words: Texts = {}): Worst {
  const { labels, annotations = {}, managedFields, ...rest } = parts;
  const prefixed = Object.entries(words).map(([word, text]) => [`secretcast.io/${word}`, text]);
  const metadata = {
    namespace: "tenant",
    name: "worst",
    uid: "11111111-2222-3333-4444-555555555555",
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
    labels,
    annotations: { ...(annotations as Texts), ...Object.fromEntries(prefixed) },
    managedFields,
  };
  return { what, object: { kind: "Secret", metadata, type: "Opaque", ...rest } };
}

function configMap(
  what: string,
  parts: Readonly<Record<string, unknown>>,
  words: Texts = {},
): Worst {
  const { object } = secret(what, parts, words);
  const { type: _, ...rest } = object;
  return { what: `a ConfigMap: ${what}`, object: { ...rest, kind: "ConfigMap" } };
}

function namespace(what: string, labels: Texts, accept: string): Worst {
  const metadata = { name: "tenant", uid: "u", resourceVersion: "1", labels };
  const annotations = { "secretcast.io/accept": accept };
  return { what, object: { kind: "Namespace", metadata: { ...metadata, annotations } } };
}

const copyMarks = {
  source: "secretcast/registry",
  "source-uid": "u",
  "placed-at": "tenant/worst",
  "source-version": "7",
};
const MANAGED = { [MANAGED_BY_LABEL]: MANAGED_BY };

const globs = (piece: (at: number) => string): string => list(ANNOTATION_BYTES, piece, 100);
const longKeys = texts(1000, (at) => longName(at, 253));
const names = (bytes: number): string => list(bytes, (at) => shortName(at));

export function worstObjects(): readonly Worst[] {
  const all = OBJECT_BYTES / 10;
  const fields = texts(1000, (at) => `f:${shortName(at)}`, "");
  const nested = Object.fromEntries(Object.keys(fields).map((key) => [key, texts(100, shortName)]));
  return [
    secret(
      "data: one entry of 1 MiB, copied",
      { data: { a: "QUJD".repeat(349_525) } },
      { to: "*" },
    ),
    secret(
      "data: one entry of 1 MiB, of a copy",
      { data: { a: "QUJD".repeat(349_525) }, labels: MANAGED },
      copyMarks,
    ),
    secret("data: 1,000 entries, copied", { data: longKeys }, { to: "*" }),
    secret("data: 150,000 entries", { data: texts(all, shortName) }, { to: "*" }),
    secret(
      "data: 150,000 entries, of a copy",
      { data: texts(all, shortName), labels: MANAGED },
      copyMarks,
    ),
    secret(
      "data: 150,000 entries, of a pulling Secret",
      { data: texts(all, shortName) },
      { from: "a/b", "placed-at": names(200_000) },
    ),
    secret("labels: 150,000", { labels: texts(all, shortName) }, { to: "*", "copy-labels": "*" }),
    secret("labels: 150,000, of an unmanaged object", { labels: texts(all, shortName) }),
    secret(
      "labels: ours, 60,000",
      { labels: texts(60_000, (at) => `secretcast.io/${shortName(at)}`) },
      { to: "*" },
    ),
    secret(
      "annotations: 80,000 in 256 KiB",
      { annotations: texts(80_000, shortName) },
      { to: "*", "copy-annotations": "*" },
    ),
    secret(
      "annotations: unknown ones of ours",
      { annotations: texts(15_000, (at) => `secretcast.io/${shortName(at)}`) },
      { to: "*" },
    ),
    secret("managedFields of 1.5 MB", {
      managedFields: [{ manager: "x", fieldsV1: nested }, { fieldsV1: nested }],
    }),
    secret("type: quotes of 1.4 MB", { type: '"'.repeat(700_000) }, { to: "*" }),
    secret("type: signs of HTML, 1 MiB", { type: "<".repeat(MIB) }, { to: "*" }),
    ...["<", "\u0001", "\n", '"', "€"].flatMap((sign) => {
      const text = sign.repeat(MIB / Buffer.byteLength(sign));
      const part = Math.floor(text.length / 1000);
      const parts = Array.from({ length: 1000 }, (_, at) => text.slice(at * part, (at + 1) * part));
      const named = JSON.stringify(sign);
      return [
        configMap(`1 MiB of ${named}, of an unmanaged object`, { data: { a: text } }),
        configMap(`1 MiB of ${named}, copied`, { data: { a: text } }, { to: "*" }),
        configMap(`1 MiB of ${named}, pulling`, { data: { a: text } }, { from: "a/b" }),
        configMap(
          `1 MiB of ${named}, of a copy`,
          { data: { a: text }, labels: MANAGED },
          copyMarks,
        ),
        configMap(
          `1,000 entries of ${named}, copied`,
          { data: Object.fromEntries(parts.map((part, at) => [`k${at}`, part])) },
          { to: "*" },
        ),
      ];
    }),
    secret(
      "keys: 99 globs of many stars, 300 entries",
      { data: texts(300, (at) => longName(at, 253)) },
      { to: "*", keys: globs((at) => `${"*a".repeat(100)}*b${at}`) },
    ),
    secret(
      "keys: 100 globs between stars, 1,000 entries",
      { data: longKeys },
      { to: "*", keys: globs((at) => `*${"a".repeat(100)}${at}*`) },
    ),
    secret(
      "keys: 100 globs of one star, 1,000 entries",
      { data: longKeys },
      { to: "*", keys: globs((at) => `${"a".repeat(248)}${at}*`) },
    ),
    secret(
      "keys: globs of question marks",
      { data: longKeys },
      { to: "*", keys: globs((at) => `*${"a?".repeat(60)}${at}*`) },
    ),
    secret("keys: just below the steps allowed", { data: longKeys }, { to: "*", keys: "*,!*aab*" }),
    secret(
      "keys: renames of 64 KiB",
      { data: { a: "" } },
      { to: "*", keys: list(65_536, (at) => `${shortName(at)}=a`) },
    ),
    secret(
      "keys: 1,000 renames",
      { data: longKeys },
      {
        to: "*",
        keys: list(ANNOTATION_BYTES, (at) => `${shortName(at)}=${longName(at, 253)}`, 240),
      },
    ),
    secret(
      "copy-labels: 100 globs, 2,000 labels",
      { labels: texts(2000, (at) => `${longName(at, 253)}/${"b".repeat(63)}`) },
      { to: "*", "copy-labels": globs((at) => `${"a".repeat(200)}${at}*/*`) },
    ),
    secret(
      "copy-labels: all of 2,000, and of each --copyable-keys is asked",
      { labels: texts(2000, (at) => `${longName(at, 80)}.argoproj.io/b`) },
      { to: "*", "copy-labels": "*/*" },
    ),
    secret(
      "copy-labels: all of 800",
      { labels: texts(800, (at) => `${longName(at, 253)}/b`) },
      { to: "*", "copy-labels": "*/*" },
    ),
    secret(
      "copy-annotations: 100 globs, 2,000 annotations",
      { annotations: texts(1900, (at) => longName(at, 60)) },
      { to: "*", "copy-annotations": globs((at) => `${"a".repeat(50)}${at}*`) },
    ),
    secret(
      "five lists of names",
      {},
      Object.fromEntries(
        ["to", "allow", "keys", "copy-labels", "copy-annotations"].map((word) => [
          word,
          names(52_000),
        ]),
      ),
    ),
    secret("to: names of 256 KiB", {}, { to: names(262_000) }),
    secret("to: commas of 256 KiB", {}, { to: ",".repeat(262_000) }),
    secret("to: blanks of 256 KiB", {}, { to: `a${" ".repeat(262_000)}b` }),
    secret("to-selector: values of 64 KiB", {}, { "to-selector": `a in (${names(65_000)})` }),
    secret(
      "to-selector: 256 KiB",
      {},
      { "to-selector": list(262_000, (at) => `${shortName(at)} in (a)`) },
    ),
    secret("to-selector: blanks of 64 KiB", {}, { "to-selector": `a${" ".repeat(65_000)}in (b)` }),
    secret("from: 256 KiB", {}, { from: `a/${"b.".repeat(130_000)}` }),
    secret(
      "placed-at: 256 KiB, of a pulling Secret",
      { data: longKeys },
      { from: "a/b", "placed-at": names(262_000), "source-uid": "u" },
    ),
    secret("adopt: 256 KiB", { data: longKeys }, { adopt: `a/${"b.".repeat(130_000)}` }),
    secret(
      "copied-keys: 256 KiB of a forged copy",
      { labels: { ...texts(2000, shortName), ...MANAGED } },
      { ...copyMarks, "copied-keys": list(262_000, (at) => `label:${shortName(at)}`) },
    ),
    secret(
      "copied-keys: keys that are never copied",
      { labels: MANAGED },
      {
        ...copyMarks,
        "copied-keys": list(262_000, (at) => `label:${shortName(at)}.kubernetes.io/a`),
      },
    ),
    namespace("a namespace: 150,000 labels", texts(all, shortName), "true"),
    namespace(
      "a namespace: 2,000 labels, accept of 64 KiB",
      texts(2000, shortName),
      list(65_000, (at) => `a/${shortName(at)}`),
    ),
    namespace(
      "a namespace: accept of 100 globs",
      {},
      globs((at) => `*${"a".repeat(50)}${at}*/*`),
    ),
    namespace(
      "a namespace: accept of 256 KiB",
      {},
      list(262_000, (at) => `a/${shortName(at)}`),
    ),
  ];
}
