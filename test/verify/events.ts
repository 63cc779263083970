// What users, owners and tenants can do in a small cluster, each as one change of its objects.
import type { Texts } from "../campaign/model/raw.ts";
import { isOurs } from "../campaign/model/standing.ts";
import { written, type Objects, type RawObject } from "./server.ts";
import type { Change, Event } from "./run.ts";
import { LIST_SLOT } from "./subject.ts";

const PREFIX = "secretcast.io/";
export type Given = {
  readonly annotations?: Texts;
  readonly labels?: Texts;
  readonly data?: Texts;
  readonly type?: string;
  readonly immutable?: boolean;
  /** Later ones are younger. */
  readonly at?: number;
};

const encoded = (slot: string, data: Texts): Texts =>
  slot.startsWith("Secret")
    ? Object.fromEntries(Object.entries(data).map(([key, text]) => [key, btoa(text)]))
    : data;

const prefixed = (words: Texts): Texts =>
  Object.fromEntries(
    Object.entries(words).map(([word, text]) => [word.includes("/") ? word : PREFIX + word, text]),
  );

/** An object as its owner makes it. */
export function object(slot: string, given: Given = {}): RawObject {
  const { annotations = {}, labels = {}, data = { key: "one" }, type, immutable, at = 0 } = given;
  const creationTimestamp = `2026-01-01T00:00:0${at}Z`;
  const own = { annotations: prefixed(annotations), labels, creationTimestamp };
  return written(slot, undefined, {
    metadata: own,
    ...(slot.startsWith("Secret") ? { type: type ?? "Opaque" } : {}),
    data: encoded(slot, data),
    ...(immutable ? { immutable: true } : {}),
  });
}

export function namespace(name: string, annotations: Texts = {}, labels: Texts = {}): RawObject {
  const metadata = { annotations: prefixed(annotations), labels };
  return written(name, undefined, { metadata, status: { phase: "Active" } });
}

export const clusterOf = (...raws: readonly RawObject[]): Objects =>
  new Map(
    raws.map((raw) => {
      const { kind, metadata } = raw;
      return [
        kind === "Namespace" ? metadata.name : `${kind} ${metadata.namespace}/${metadata.name}`,
        raw,
      ];
    }),
  );

const one = (slot: string, raw: RawObject | undefined): Change => new Map([[slot, raw]]);

/** Where there is none. A second life of an object is younger. */
export const creates =
  (slot: string, given: Given = {}): Event =>
  (objects) => {
    const [, home = ""] = slot.split(/[ /]/);
    const hasHome = objects.get(home)?.status?.phase === "Active";
    return objects.has(slot) || !hasHome ? undefined : one(slot, object(slot, given));
  };

export const deletes =
  (slot: string): Event =>
  (objects) =>
    objects.has(slot) ? one(slot, undefined) : undefined;

type Edit = (raw: RawObject) => Partial<Given> | undefined;

/** An edit of an object that is there; undefined: it does not apply. Annotations and labels of "" are taken off. */
export const edits =
  (slot: string, edit: Edit): Event =>
  (objects) => {
    const raw = objects.get(slot);
    const change = raw && edit(raw);
    if (!raw || !change) return undefined;
    const { annotations = {}, labels = {}, data } = change;
    const merged = (own: Texts | undefined, more: Texts): Texts =>
      Object.fromEntries(Object.entries({ ...own, ...more }).filter(([, text]) => text !== ""));
    const metadata = {
      ...raw.metadata,
      annotations: merged(raw.metadata.annotations, prefixed(annotations)),
      labels: merged(raw.metadata.labels, labels),
    };
    return one(
      slot,
      written(slot, raw, {
        metadata,
        ...(data && raw.immutable !== true ? { data: encoded(slot, data) } : {}),
      }),
    );
  };

/** Says `words`, where it does not say so yet; "" takes a word off. */
export const says = (
  slot: string,
  words: Texts,
  when: (raw: RawObject) => boolean = () => true,
): Event =>
  edits(slot, (raw) => {
    const now = raw.metadata.annotations ?? {};
    const isNew = Object.entries(prefixed(words)).some(([key, text]) => (now[key] ?? "") !== text);
    return isNew && when(raw) ? { annotations: words } : undefined;
  });

export const labels = (slot: string, words: Texts): Event =>
  edits(slot, ({ metadata }) =>
    Object.entries(words).some(([key, text]) => (metadata.labels?.[key] ?? "") !== text)
      ? { labels: words }
      : undefined,
  );

/** From one value to the other and back. */
export const rotates = (slot: string): Event =>
  edits(slot, ({ data = {}, immutable }) => {
    if (immutable === true) return undefined;
    const isFirst = data["key"] === encoded(slot, { key: "one" })["key"];
    return { data: { key: isFirst ? "two" : "one" } };
  });

export const ifCopy =
  (slot: string, event: Event): Event =>
  (objects) => {
    const raw = objects.get(slot);
    return raw && isOurs(raw) ? event(objects) : undefined;
  };

export const ifUnmanaged =
  (slot: string, event: Event): Event =>
  (objects) => {
    const raw = objects.get(slot);
    return raw && !isOurs(raw) ? event(objects) : undefined;
  };

/** In place of what is there, at one moment. */
export const replacesBy =
  (slot: string, given: Given): Event =>
  (objects) =>
    objects.has(slot) ? one(slot, object(slot, given)) : undefined;

export const ends =
  (name: string): Event =>
  (objects) => {
    const raw = objects.get(name);
    if (!raw || raw.status?.phase === "Terminating") return undefined;
    return one(name, written(name, raw, { status: { phase: "Terminating" } }));
  };

/** With all that is in it. */
export const goes =
  (name: string): Event =>
  (objects) => {
    if (!objects.has(name)) return undefined;
    const inside = [...objects.keys()].filter((slot) => slot.includes(` ${name}/`));
    return new Map([...inside, name].map((slot) => [slot, undefined]));
  };

export const comes =
  (name: string, annotations: Texts = {}, own: Texts = {}): Event =>
  (objects) =>
    objects.has(name) ? undefined : one(name, namespace(name, annotations, own));

/** A forged copy of any source, with the marks that a tenant can write. */
export const forges = (slot: string, source: string, uid: string): Event => {
  const [, place = ""] = slot.split(" ");
  return creates(slot, {
    data: { key: "forged" },
    labels: { "app.kubernetes.io/managed-by": "secretcast" },
    annotations: { source, "source-uid": uid, "source-version": "1", "placed-at": place },
  });
};

/** The list has these entries, each as JSON; undefined: there is no list. */
export const lists =
  (entries: Readonly<Record<string, Texts | string>> | undefined): Event =>
  (objects) => {
    const raw = objects.get(LIST_SLOT);
    if (!entries) return raw && one(LIST_SLOT, undefined);
    const data = Object.fromEntries(
      Object.entries(entries).map(([key, entry]) => [
        key,
        typeof entry === "string" ? entry : JSON.stringify(entry),
      ]),
    );
    if (raw && JSON.stringify(raw.data) === JSON.stringify(data)) return undefined;
    return one(LIST_SLOT, raw ? written(LIST_SLOT, raw, { data }) : object(LIST_SLOT, { data }));
  };
