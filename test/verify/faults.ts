// Faults that are planted one at a time: at the walls of the program, in what it reads, plans, sends and
// remembers, so that they stay planted whatever it becomes within; or as one text in one of its files, which is
// replaced while it is loaded. `npm run verify -- --planted` shows which domain finds each.
import type { ApiRequest } from "../../src/kube/rest/api-client.ts";
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

export const FAULTS: readonly Fault[] = PLANTED_FIRST;
