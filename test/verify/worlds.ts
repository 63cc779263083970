// Every start world of a stated set of variants: what a source, a namespace and a place may be like when a
// process starts. The events of domains.ts reach some of them; here they are all tried.
import { clusterOf, namespace, object, type Given } from "./events.ts";
import { written, type Objects, type RawObject } from "./server.ts";

export type World = { readonly name: string; readonly objects: Objects };
type Variants<T> = Readonly<Record<string, T>>;

const SOURCES = {
  none: undefined,
  silent: {},
  "to all": { annotations: { to: "*" } },
  elsewhere: { annotations: { to: "team-z" } },
  nobody: { annotations: { to: "!*" } },
  selected: { annotations: { "to-selector": "tier=gold" } },
  renamed: { annotations: { to: "*", name: "two" } },
  paused: { annotations: { to: "*", paused: "true" } },
  misspelt: { annotations: { to: "*", "to-selecter": "x=y" } },
  kept: { annotations: { to: "*", "on-delete": "keep" } },
  "kept nobody": { annotations: { to: "!*", "on-delete": "keep" } },
  rotated: { annotations: { to: "*" }, data: { key: "two" } },
  immutable: { annotations: { to: "*" }, immutable: true },
  "other type": { annotations: { to: "*" }, type: "example.com/x" },
  "no key left": { annotations: { to: "*", keys: "other" } },
  offer: { annotations: { allow: "*" } },
  "offer to nobody": { annotations: { allow: "!*" } },
  "offer and to": { annotations: { allow: "*", to: "*" } },
  going: { annotations: { to: "*" }, going: true },
} satisfies Variants<(Given & { readonly going?: boolean }) | undefined>;

const NAMESPACES = {
  plain: {},
  accepts: { accept: "true" },
  declines: { accept: "false" },
  "accepts it": { accept: "shared/*" },
  "accepts others": { accept: "other/*" },
  unclear: { accept: "maybe" },
  ends: { ending: "yes" },
} satisfies Variants<Readonly<Record<string, string>>>;

/** What may be at a place, of the source that made it. */
type Place = (slot: string, source: Made) => RawObject | undefined;
/** What a copy says of its source. */
type Made = { readonly name: string; readonly uid: string; readonly version: string };

const at = (slot: string): string => slot.slice(slot.indexOf(" ") + 1);
const marks = (slot: string, { name, uid, version }: Made) => ({
  source: name,
  "source-uid": uid,
  "source-version": version,
  "placed-at": at(slot),
});
const LABELS = { "app.kubernetes.io/managed-by": "secretcast" };
const copy =
  (given: Given = {}, more: Readonly<Record<string, string>> = {}): Place =>
  (slot, source) =>
    object(slot, {
      labels: LABELS,
      ...given,
      annotations: strip({ ...marks(slot, source), ...more }),
    });
const filled =
  (given: Given = {}, more: Readonly<Record<string, string>> = {}): Place =>
  (slot, source) => {
    const { source: from, ...rest } = marks(slot, source);
    return object(slot, { ...given, annotations: strip({ from, ...rest, ...more }) });
  };
const own =
  (given: Given): Place =>
  (slot) =>
    object(slot, { data: { key: "own" }, ...given });
const strip = (words: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(words).filter(([, text]) => text !== ""));

const PLACES = {
  empty: () => undefined,
  copy: copy(),
  "copy edited": copy({ data: { key: "edited" } }),
  "copy old": copy({ data: { key: "two" } }, { "source-version": "1" }),
  "copy immutable": copy({ immutable: true }),
  "copy other type": copy({ type: "example.com/x" }),
  "copy stripped": copy({}, { "placed-at": "" }),
  "copy moved": copy({}, { "placed-at": "other/one" }),
  "copy of a former UID": copy({}, { "source-uid": "uid-0." }),
  "copy of a ghost": copy({}, { source: "shared/ghost", "source-uid": "uid-0." }),
  "copy of a newer version": copy({}, { future: "yes" }),
  "copy of an entry": copy({}, { entry: "one" }),
  own: own({}),
  "own opened": own({ annotations: { adopt: "shared/one" } }),
  "own opened immutable": own({ annotations: { adopt: "shared/one" }, immutable: true }),
  "own opened other type": own({ annotations: { adopt: "shared/one" }, type: "example.com/x" }),
  pull: own({ annotations: { from: "shared/one" }, data: {} }),
  "pull own": own({ annotations: { from: "shared/one" } }),
  "pull kept": own({ annotations: { from: "shared/one", "on-delete": "keep" }, data: {} }),
  "pull filled": filled(),
  "pull filled edited": filled({ data: { key: "edited", more: "own" } }),
  "pull filled kept": filled({}, { "on-delete": "keep" }),
  "pull filled of a former UID": filled({}, { "source-uid": "uid-0." }),
  "pull from elsewhere": filled({}, { "placed-at": "other/one" }),
} satisfies Variants<Place>;

type SourceVariant = keyof typeof SOURCES;
type NamespaceVariant = keyof typeof NAMESPACES;
type PlaceVariant = keyof typeof PLACES;
const namesOf = <K extends string>(variants: Readonly<Record<K, unknown>>): readonly K[] =>
  Object.keys(variants) as K[];

function sourceOf(slot: string, variant: SourceVariant, age: number): RawObject | undefined {
  const given: (Given & { readonly going?: boolean }) | undefined = SOURCES[variant];
  const raw = given && object(slot, { ...given, at: age });
  if (!raw || given.going !== true) return raw;
  const { metadata } = raw;
  const going = { finalizers: ["example.com/wait"], deletionTimestamp: "2026-03-01T00:00:00Z" };
  return written(slot, raw, { metadata: { ...metadata, ...going } });
}

function namespaceOf(name: string, variant: NamespaceVariant): RawObject {
  const { ending, ...annotations }: { readonly ending?: string; readonly accept?: string } =
    NAMESPACES[variant];
  const raw = namespace(name, annotations, { tier: "gold" });
  return ending === undefined ? raw : written(name, raw, { status: { phase: "Terminating" } });
}

const madeOf = (slot: string, raw: RawObject | undefined): Made => ({
  name: at(slot),
  uid: raw?.metadata.uid ?? "uid-0.",
  version: raw?.metadata.resourceVersion ?? "1",
});

// For two sources and two places: the variants that concern more than one of them.
const TWO_SOURCES: readonly SourceVariant[] = [
  ...(["none", "silent", "to all", "nobody", "renamed", "paused", "misspelt"] as const),
  ...(["kept", "immutable", "other type", "offer"] as const),
];
const TWO_HOMES: readonly NamespaceVariant[] = ["plain", "declines", "accepts it", "unclear"];
const TWO_PLACES: readonly PlaceVariant[] = [
  ...(["empty", "copy", "copy edited", "copy old", "copy immutable"] as const),
  ...(["copy other type", "copy stripped", "copy of a former UID", "copy of a ghost"] as const),
  ...(["own", "own opened", "pull", "pull filled"] as const),
];
/** What can also be there of the other source. */
const OF_THE_OTHER: readonly PlaceVariant[] = ["copy", "copy edited", "copy of a former UID"];

/**
 * Two sources of one name in two namespaces and two places: 251,680. Which of the two places is which
 * changes nothing, so each pair is tried once.
 */
export function* twoByTwo(kind: string): Generator<World> {
  const [one, other] = [`${kind} shared/one`, `${kind} shared-2/one`];
  const around = ["secretcast", "shared", "shared-2"].map((name) => namespace(name));
  const homes = ["team-a", "team-b"].map((name) =>
    TWO_HOMES.map((home) => [home, namespaceOf(name, home)] as const),
  );
  for (const variant of TWO_SOURCES)
    for (const second of TWO_SOURCES) {
      const sources = [sourceOf(one, variant, 0), sourceOf(other, second, 1)];
      const [madeByOne, madeByOther] = [madeOf(one, sources[0]), madeOf(other, sources[1])];
      const [cells = [], others = []] = ["team-a", "team-b"].map((name, index) => {
        const slot = `${kind} ${name}/one`;
        const there = [
          ...TWO_PLACES.map((place) => [place, PLACES[place](slot, madeByOne)] as const),
          ...OF_THE_OTHER.map(
            (place) => [`${place} of the other`, PLACES[place](slot, madeByOther)] as const,
          ),
        ];
        return (homes[index] ?? []).flatMap(([home, raw]) =>
          there.map(([place, object]) => ({ name: `${home} / ${place}`, raws: [raw, object] })),
        );
      });
      for (const [at, cell] of cells.entries())
        for (const far of others.slice(at)) {
          const raws = [...around, ...sources, ...cell.raws, ...far.raws];
          const objects = clusterOf(...raws.filter((raw) => raw !== undefined));
          yield { name: `@${variant} + ${second} / ${cell.name} / ${far.name}`, objects };
        }
    }
}

/** One source and one place, in every variant of both and of the namespace. */
export function* oneByOne(kind: string): Generator<World> {
  const [slot, place] = [`${kind} shared/one`, `${kind} team-a/one`];
  const around = [namespace("secretcast"), namespace("shared"), namespace("apps")];
  const homes = namesOf(NAMESPACES).map((name) => [name, namespaceOf("team-a", name)] as const);
  for (const variant of namesOf(SOURCES)) {
    const source = sourceOf(slot, variant, 0);
    const made = madeOf(slot, source);
    for (const there of namesOf(PLACES)) {
      const raw = PLACES[there](place, made);
      for (const [home, namespaced] of homes) {
        const objects = [...around, namespaced, source, raw].filter((one) => one !== undefined);
        yield { name: `@${variant} / ${home} / ${there}`, objects: clusterOf(...objects) };
      }
    }
  }
}
