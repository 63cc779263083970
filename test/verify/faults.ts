// Faults that are planted one at a time: at the walls of the program, in what it reads, plans, sends and
// remembers, so that they stay planted whatever it becomes within; or as one text in one of its files, which is
// replaced while it is loaded. `npm run verify -- --planted` shows which domain finds each.
import type { ApiRequest } from "../../packages/kube/rest/api-client.ts";
import type { RawObject } from "./server.ts";

/** What a fault does at the walls. */
export type Wall = {
  /** What the program sees of an object. */
  readonly read?: (raw: RawObject) => RawObject;
  /** What becomes of an action; undefined: nothing. */
  readonly act?: <A extends { readonly kind: string }>(action: A) => A | undefined;
  /** What it sends. */
  readonly send?: (request: ApiRequest) => ApiRequest;
  /** By what its waits are divided. */
  readonly shortens?: number;
  /** Of which slots no watch event ever comes. */
  readonly isDeaf?: (slot: string) => boolean;
  /** A new process remembers what the one before did. */
  readonly remembers?: true;
  /** What it reads live is what its cache shows. */
  readonly readsCache?: true;
  /** No decision is asked again before a request. */
  readonly goesOn?: true;
};

/** One text in one file, below src/, in which it is exactly once. */
export type SourceFault = { readonly file: string; readonly find: string; readonly put: string };

export type Fault = {
  readonly name: string;
  /** The domain that finds it. */
  readonly domain: string;
} & ({ readonly wall: Wall } | { readonly text: SourceFault });

const P = "secretcast.io/";

const annotated = (
  raw: RawObject,
  change: (annotations: Record<string, string>) => void,
): RawObject => {
  const annotations = { ...raw.metadata.annotations };
  change(annotations);
  return { ...raw, metadata: { ...raw.metadata, annotations } };
};

/** It does not read this annotation. */
const without = (word: string): Wall => ({
  read: (raw) => annotated(raw, (annotations) => delete annotations[P + word]),
});

type Body = { readonly metadata?: { readonly annotations?: Record<string, string | null> } };

/** A created copy lacks this mark. */
const unmarked = (word: string): Wall => ({
  send: (request) => {
    if (request.method !== "POST") return request;
    const body = structuredClone(request.body) as Body;
    delete body.metadata?.annotations?.[P + word];
    return { ...request, body };
  },
});

const PLANTED_FIRST: readonly Fault[] = [
  { name: "paused is ignored", domain: "source", wall: without("paused") },
  { name: "on-delete is ignored", domain: "keeps", wall: without("on-delete") },
  { name: "accept is ignored", domain: "waits", wall: without("accept") },
  {
    name: "an invalid annotation is ignored",
    domain: "source",
    wall: without("to-selecter"),
  },
  { name: "name is ignored", domain: "source", wall: without("name") },
  {
    name: "an object without placed-at counts as a copy",
    domain: "copies",
    wall: {
      read: (raw) =>
        annotated(raw, (annotations) => {
          annotations[P + "placed-at"] = `${raw.metadata.namespace}/${raw.metadata.name}`;
        }),
    },
  },
  {
    name: "immutable is not read",
    domain: "source",
    wall: { read: (raw) => ({ ...raw, immutable: false }) },
  },
  {
    name: "an update has no preconditions",
    domain: "copies",
    wall: {
      send: (request) =>
        Array.isArray(request.body)
          ? {
              ...request,
              body: (request.body as { path: string }[]).filter(
                ({ path }) => path !== "/metadata/resourceVersion",
              ),
            }
          : request,
    },
  },
  {
    name: "a delete has no preconditions",
    domain: "waits",
    wall: {
      send: (request) => (request.method === "DELETE" ? { ...request, body: {} } : request),
    },
  },
  { name: "the waits are half as long", domain: "waits", wall: { shortens: 2 } },
  { name: "a removal is not confirmed", domain: "waits", wall: { readsCache: true } },
  { name: "memory is kept over a restart", domain: "waits", wall: { remembers: true } },
  {
    name: "a copy is deleted in place of released",
    domain: "keeps",
    wall: { act: (action) => (action.kind === "release" ? { ...action, kind: "delete" } : action) },
  },
  {
    name: "a copy is released in place of deleted",
    domain: "waits",
    wall: { act: (action) => (action.kind === "delete" ? { ...action, kind: "release" } : action) },
  },
  {
    name: "updates are not made",
    domain: "copies",
    wall: { act: (action) => (action.kind === "update" ? undefined : action) },
  },
  {
    name: "Namespaces are not watched",
    domain: "waits",
    wall: { isDeaf: (slot) => slot === "team-a" },
  },
  {
    name: "a decision is not asked again before a request",
    domain: "waits",
    wall: { goesOn: true },
  },
  {
    name: "a copy has no mark of its source's UID",
    domain: "copies",
    wall: unmarked("source-uid"),
  },
  { name: "a copy has no record of on-delete", domain: "keeps", wall: unmarked("on-delete") },
];

const undone = (kind: string): Wall => ({
  act: (action) => (action.kind === kind ? undefined : action),
});

const WAIT = "controller/plan/removal-wait.ts";
const PLACES = "controller/state/unwanted-places.ts";

const OF_WAITS: readonly Fault[] = [
  {
    name: "three lost namespaces are few",
    domain: "losses of seven",
    text: { file: WAIT, find: "MOST_LOST = 2", put: "MOST_LOST = 3" },
  },
  {
    name: "what a source still wants is not asked",
    domain: "losses of three",
    text: { file: WAIT, find: "left <= lost", put: "left < 0" },
  },
  {
    name: "what the first sync finds waits for the grace",
    domain: "losses of three",
    text: { file: WAIT, find: "return foundAtStart ?", put: "return false ?" },
  },
  {
    name: "a deleted source waits for the grace",
    domain: "losses by deletes",
    text: { file: WAIT, find: ": { cause: kind, why: heldBy(kind) }", put: ": undefined" },
  },
  {
    name: "a reported time becomes earlier",
    domain: "losses of four",
    text: { file: PLACES, find: ": current.dueAt >= before.dueAt", put: ": true" },
  },
  {
    name: "what is asked for late waits from the first moment on",
    domain: "losses of three",
    text: { file: PLACES, find: "(loss.askedSince ?? loss.since)", put: "loss.since" },
  },
  {
    name: "a wait goes on although the place was wanted",
    domain: "losses of three",
    text: { file: PLACES, find: " && (known.isNow || known.wasBefore)", put: "" },
  },
  {
    name: "losses are not counted together",
    domain: "losses of three",
    text: { file: PLACES, find: "losses.count = namespaces.size", put: "losses.count = 1" },
  },
];

const OF_MARKS_AND_WRITES: readonly Fault[] = [
  { name: "to is ignored", domain: "waits", wall: without("to") },
  { name: "to-selector is ignored", domain: "labels", wall: without("to-selector") },
  { name: "adopt is ignored", domain: "copies", wall: without("adopt") },
  { name: "a copy has no mark of its source", domain: "copies", wall: unmarked("source") },
  { name: "a copy has no mark of its place", domain: "copies", wall: unmarked("placed-at") },
  { name: "a copy has no mark of a version", domain: "copies", wall: unmarked("source-version") },
  { name: "creates are not made", domain: "copies", wall: undone("create") },
  { name: "deletes are not made", domain: "waits", wall: undone("delete") },
  { name: "releases are not made", domain: "keeps", wall: undone("release") },
  { name: "adoptions are not made", domain: "copies", wall: undone("adopt") },
  {
    name: "labels of Namespaces are not watched",
    domain: "labels",
    wall: { isDeaf: (slot) => slot === "team-a" },
  },
  {
    name: "sources are not watched",
    domain: "source",
    wall: { isDeaf: (slot) => slot === "Secret shared/one" },
  },
  {
    name: "copies are not watched",
    domain: "copies",
    wall: { isDeaf: (slot) => slot === "Secret team-a/one" },
  },
];

const FILL = "controller/desired/pull-fill.ts";
const OF_PULLS: readonly Fault[] = [
  {
    name: "content of its owner is overwritten",
    domain: "pulls",
    text: { file: FILL, find: "isFilled: isOurs &&", put: "isFilled: true ||" },
  },
  {
    name: "what an owner adds to a filled object stays",
    domain: "pulls",
    text: { file: FILL, find: "!Object.hasOwn(offered, key)", put: "false" },
  },
  {
    name: "content that is to be kept is taken out",
    domain: "pulls",
    text: { file: FILL, find: 'onDelete === "keep" ? [] : Object', put: "Object" },
  },
  {
    name: "a fill in another place counts as ours",
    domain: "pulls",
    text: { file: FILL, find: "=== refText(place)", put: "!== undefined" },
  },
  { name: "fills are not made", domain: "pulls", wall: undone("fill") },
  { name: "content is not taken out", domain: "pulls", wall: undone("clear") },
];

const DECIDE = "controller/plan/decide.ts";
const SOURCE = "controller/plan/source-answer.ts";
const OF_DECISIONS: readonly Fault[] = [
  {
    name: "copies of a paused source change",
    domain: "source",
    text: { file: SOURCE, find: "if (source.rule.paused) return", put: "if (false) return" },
  },
  {
    name: "a refused source takes its copies away",
    domain: "source",
    text: { file: SOURCE, find: "if (frozen !== undefined) return", put: "if (false) return" },
  },
  {
    name: "a stronger source takes no place over",
    domain: "two sources",
    text: { file: DECIDE, find: "find((one) => one.rank < holder.rank", put: "find((_) => false" },
  },
  {
    name: "the place of a source that is gone is taken at once",
    domain: "two sources",
    text: { file: DECIDE, find: "return template.entry === undefined &&", put: "return true ||" },
  },
  {
    name: "a copy is replaced for a source that is about to lose it",
    domain: "two by two worlds",
    text: {
      file: "controller/plan/enact.ts",
      find: "if (failed || meanwhile.kind",
      put: "if (!failed || meanwhile.kind",
    },
  },
  {
    name: "who does not get the place is not told",
    domain: "two sources",
    text: {
      file: "controller/plan/enact.ts",
      find: "if (!lost) return;",
      put: "if (lost) return;",
    },
  },
  {
    name: "an immutable Secret is adopted",
    domain: "one by one",
    text: {
      file: "controller/plan/verdict-table.ts",
      find: "if (adopt.immutable) return",
      put: "if (false) return",
    },
  },
];

export const FAULTS: readonly Fault[] = [
  ...PLANTED_FIRST,
  ...OF_WAITS,
  ...OF_MARKS_AND_WRITES,
  ...OF_PULLS,
  ...OF_DECISIONS,
];
