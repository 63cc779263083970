// The judges of chaos are worth what they would find: worlds and writes that are wrong are seen to be.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { wrongAtRest } from "../judges/rest-judge.ts";
import { Slots } from "../judges/slots.ts";
import { slotOf, type Flags, type Raw, type Texts, type World } from "./raw.ts";
import { hasUnknownMark } from "./standing.ts";
import { ANNOTATION_NAMES } from "../../../src/controller/annotations/vocabulary.ts";
import { PLAIN_FLAGS } from "../scripts/script.ts";
import { wrongWrite } from "../judges/write-judge.ts";

/** All that the model is made of; raw.ts decides nothing of the contract. */
const MODEL = ["model.ts", "namespaces.ts", "patterns.ts", "standing.ts"];
const textOf = (file: string): string => readFileSync(new URL(file, import.meta.url), "utf8");

test("the model imports its own files only", () => {
  const imported = [...MODEL, "raw.ts"].flatMap((file) =>
    [...textOf(file).matchAll(/ from "\.\/(.+)";/g)].map(([, name]) => name),
  );
  assert.deepEqual(new Set(["model.ts", ...imported]), new Set([...MODEL, "raw.ts"]));
});

test("the model knows every annotation and mark of the program", () => {
  const isUnknown = (word: string) => hasUnknownMark(secret("team-a/x", { [word]: "x" }));
  assert.deepEqual(ANNOTATION_NAMES.filter(isUnknown), []);
  assert.ok(isUnknown("future"));
});

const FLAGS: Flags = {
  ...PLAIN_FLAGS,
  sourceNamespaces: "shared",
  ownNamespace: "controller",
  list: undefined,
};
const P = "secretcast.io/";

function secret(place: string, words: Texts, data: Texts = { key: "dmFsdWU=" }): Raw {
  const [namespace = "", name = ""] = place.split("/");
  const annotations = Object.fromEntries(
    Object.entries(words).map(([word, value]) => [P + word, value]),
  );
  const ours = "source" in words ? { "app.kubernetes.io/managed-by": "secretcast" } : {};
  const uid = `uid of ${place}`;
  const metadata = { namespace, name, uid, resourceVersion: place, annotations, labels: ours };
  return { kind: "Secret", metadata, data, type: "Opaque" };
}

function entries(count: number): Texts {
  return Object.fromEntries(Array.from({ length: count }, (_, no) => [`entry-${no}`, "dmFsdWU="]));
}

function copy(place: string, of: string, words: Texts = {}, data?: Texts): Raw {
  const marks = {
    source: of,
    "source-uid": `uid of ${of}`,
    "placed-at": place,
    "source-version": "1",
  };
  return secret(place, { ...marks, ...words }, data);
}

function world(...objects: readonly Raw[]): World {
  const names = ["shared", "team-a", "team-b", "controller", "kube-system"];
  const namespaces = names.map((name) => {
    const metadata = { name, uid: name, resourceVersion: "1" };
    return [name, { metadata }] as const;
  });
  const placed = objects.map((raw) => {
    const { namespace, name } = raw.metadata;
    return [`${namespace}/${name}`, raw] as const;
  });
  return { kind: "Secret", namespaces: new Map(namespaces), objects: new Map(placed) };
}

const SOURCE = secret("shared/one", { to: "team-*" });
const BOTH = [copy("team-a/one", "shared/one"), copy("team-b/one", "shared/one")] as const;

const WORLDS: Readonly<Record<string, readonly [readonly Raw[], RegExp | undefined]>> = {
  "all as it must be": [[SOURCE, ...BOTH], undefined],
  "a copy that is missing": [[SOURCE, BOTH[0]], /team-b\/one: the copy of shared\/one is missing/],
  "a copy that holds something else": [
    [SOURCE, BOTH[0], copy("team-b/one", "shared/one", {}, { key: "b3RoZXI=" })],
    /team-b\/one: no copy .*data/,
  ],
  "a copy without its source": [[BOTH[0]], /nobody wants/],
  "a copy that was to be kept, without its source": [
    [copy("team-a/one", "shared/one", { "on-delete": "keep" })],
    /nobody wants/,
  ],
  "a copy of a source that is refused": [
    [secret("shared/one", { to: "team-*", "to-selecter": "x" }), BOTH[0]],
    undefined,
  ],
  "a copy of a source out of scope": [[copy("team-a/one", "elsewhere/one")], undefined],
  "a copy with a mark of a newer version": [
    [copy("team-a/one", "shared/one", { future: "x" })],
    undefined,
  ],
  "a stranger in the way": [[SOURCE, BOTH[0], secret("team-b/one", {})], undefined],
  "a stranger who lets it be adopted": [
    [SOURCE, BOTH[0], secret("team-b/one", { adopt: "shared/one" })],
    /team-b\/one: no copy/,
  ],
  "a stranger who lets it be adopted, with a word that nobody knows": [
    [SOURCE, BOTH[0], secret("team-b/one", { adopt: "shared/one", "to-selecter": "x" })],
    undefined,
  ],
  "a copy that names another source than the one that has the place": [
    [SOURCE, BOTH[0], copy("team-b/one", "shared/two")],
    /team-b\/one: no copy of shared\/one as it must be \(source, source-uid\)/,
  ],
  "a copy without the version that it was made of": [
    [SOURCE, BOTH[0], copy("team-b/one", "shared/one", { "source-version": "" })],
    /source-version/,
  ],
  "a copy of a source that is paused": [
    [secret("shared/one", { to: "nobody", paused: "true" }), BOTH[0]],
    undefined,
  ],
  "a copy by an entry, without a list": [
    [copy("team-a/one", "shared/one", { entry: "gone" })],
    undefined,
  ],
  "a copy of a source with more globs than a list may hold": [
    [secret("shared/one", { to: `team-*${",no-*".repeat(100)}` }), BOTH[0]],
    undefined,
  ],
  "a copy that is missing, of a source with as many globs as a list may hold": [
    [secret("shared/one", { to: `team-*${",no-*".repeat(99)}` }), BOTH[0]],
    /team-b\/one: the copy of shared\/one is missing/,
  ],
  "a copy of a source whose renames make more of it than a copy may hold": [
    [secret("shared/one", { to: "team-*", keys: "a=key,b=key" }, { key: "A".repeat(800_000) })],
    undefined,
  ],
  "a copy that is missing, of a source with as many entries as there may be": [
    [secret("shared/one", { to: "team-a" }, entries(1000))],
    /team-a\/one: the copy of shared\/one is missing/,
  ],
  "a source with more entries than there may be": [
    [secret("shared/one", { to: "team-a" }, entries(1001))],
    undefined,
  ],
  "what is pulled, where it would be more than there may be": [
    [
      secret("shared/one", { allow: "*" }),
      secret("team-a/mine", { from: "shared/one" }, entries(1000)),
    ],
    undefined,
  ],
  "a copy that carries a label which is never copied": [
    [
      secret("shared/one", { to: "team-a", "copy-labels": "*" }),
      copy("team-a/one", "shared/one", { "copied-keys": "label:owner" }),
    ],
    /copied-keys/,
  ],
  "a pulling Secret that was not filled": [
    [secret("shared/one", { allow: "*" }), secret("team-a/mine", { from: "shared/one" }, {})],
    /key was not pulled/,
  ],
  "what was pulled, without consent": [
    [
      secret("team-a/mine", {
        from: "shared/one",
        "source-uid": "u",
        "source-version": "1",
        "placed-at": "team-a/mine",
      }),
    ],
    /may not pull any more/,
  ],
};

for (const [name, [objects, expected]] of Object.entries(WORLDS))
  test(`the model on ${name}`, () => {
    const wrong = wrongAtRest(world(...objects), FLAGS);
    if (expected) assert.match(wrong.join("\n"), expected);
    else assert.deepEqual(wrong, []);
  });

type Case = {
  readonly method: "DELETE" | "PATCH" | "POST";
  readonly before: Raw;
  readonly after?: Raw;
  readonly conditions?: object;
  /** What the source says: since ever, and then one after the other, a while before the write. */
  readonly said: readonly Texts[];
};
const deleted = (before: Raw, ...said: readonly Texts[]): Case => {
  return { method: "DELETE", before, said };
};
const KEPT = copy("team-a/one", "shared/one", { "on-delete": "keep" });
const EVERYWHERE = { to: "team-*" };
const KEEPING = { to: "*", "on-delete": "keep" };
const NOW_MS = 3_600_000;
const WRITES: Readonly<Record<string, readonly [Case, RegExp | undefined]>> = {
  "a delete of a copy whose source is gone": [deleted(BOTH[0]), undefined],
  "a delete of a stranger's": [deleted(secret("team-a/x", {})), /not ours/],
  "a delete of a copy that is wanted": [deleted(BOTH[0], EVERYWHERE), /wanted, frozen or paused/],
  "a delete without a version": [
    { ...deleted(BOTH[0]), conditions: { uid: "uid" } },
    /without a resourceVersion/,
  ],
  "a delete of a copy that was to be kept": [deleted(KEPT), /to be kept/],
  "a delete of a copy that was to be kept, of a source that says nothing any more": [
    deleted(KEPT, EVERYWHERE, KEEPING, { allow: "*" }),
    /to be kept/,
  ],
  "a delete of a copy that was to be kept, of a source that says otherwise by now": [
    deleted(KEPT, EVERYWHERE, KEEPING, { to: "team-b" }),
    undefined,
  ],
  "a delete of a copy that was to be kept, of what is no source and says otherwise": [
    deleted(KEPT, EVERYWHERE, KEEPING, { "on-delete": "delete" }),
    undefined,
  ],
  "a delete of a copy whose source says by now that copies are kept": [
    deleted(BOTH[0], EVERYWHERE, { to: "nobody", "on-delete": "keep" }),
    /says that it is kept/,
  ],
  "a delete of a copy whose source is a pulling Secret by now, which keeps what it was filled with":
    [deleted(BOTH[0], EVERYWHERE, { from: "shared/other", "on-delete": "keep" }), undefined],
  "a delete of a copy that was to be kept, of a source that is a pulling Secret by now": [
    deleted(KEPT, EVERYWHERE, KEEPING, { from: "shared/other", "on-delete": "delete" }),
    /to be kept/,
  ],
  "an update that brings what the source never held": [
    {
      method: "PATCH",
      before: BOTH[0],
      after: copy("team-a/one", "shared/one", {}, { key: "b3RoZXI=" }),
      said: [EVERYWHERE],
    },
    /never held this/,
  ],
  "a create where the source never wanted a copy": [
    {
      method: "POST",
      before: BOTH[0],
      after: copy("kube-system/one", "shared/one"),
      said: [EVERYWHERE],
    },
    /never wanted this place/,
  ],
};

for (const [name, [{ method, before, after, said, conditions }, expected]] of Object.entries(
  WRITES,
))
  test(`the judge on ${name}`, () => {
    const slots = new Slots();
    for (const raw of world().namespaces.values())
      slots.note(raw.metadata.name, raw, Number.NEGATIVE_INFINITY);
    slots.note(slotOf(before), before, Number.NEGATIVE_INFINITY);
    for (const [at, words] of said.entries()) {
      const since = at === 0 ? Number.NEGATIVE_INFINITY : NOW_MS - 60_000 + at;
      slots.note("Secret shared/one", secret("shared/one", words), since);
    }
    const { namespace, name: own } = (after ?? before).metadata;
    const path = `/api/v1/namespaces/${namespace}/secrets${method === "POST" ? "" : `/${own}`}`;
    const { uid, resourceVersion } = before.metadata;
    const held = conditions ?? { uid, resourceVersion };
    const body = method === "DELETE" ? { preconditions: held } : { metadata: held };
    const answer = after
      ? { ...after, metadata: { ...after.metadata, resourceVersion: "later" } }
      : before;
    const wrong = wrongWrite({ method, path, body, what: "a write" }, answer, slots, {
      now: NOW_MS,
      flags: FLAGS,
      graceMs: 10_000,
      holdMs: 0,
      listSlot: "ConfigMap controller/secretcast-sources",
    });
    if (expected) assert.match(wrong ?? "", expected);
    else assert.equal(wrong, undefined);
  });
