// A reference model of the public contract, written from its words alone; it imports nothing of the
// program. Given a world of raw objects of one kind and the flags, it says what is not as it must be
// once all is quiet. Of what was there before it knows only what the objects themselves record: whether
// each write on the way was right is the judge's part (write-judge.ts).
import {
  acceptance,
  allows,
  entriesOf,
  hasUnknownMark,
  isEnding,
  isExcluded,
  isFaulty,
  isHidden,
  isOurs,
  isPull,
  nobodyAt,
  placeOf,
  pushes,
  standingOf,
  wordOf,
  type Content,
  type Flags,
  type Raw,
  type Source,
  type Standing,
} from "./standing.ts";
import { filterKeys, type Texts } from "./patterns.ts";

/** Namespaces by name, and the objects of one kind by "NAMESPACE/NAME". */
export type World = {
  readonly namespaces: ReadonlyMap<string, Raw>;
  readonly objects: ReadonlyMap<string, Raw>;
};

/** What must stand at a place: a copy of one of these, nothing of ours, or whatever is there. */
type Rest = { readonly copyOf: readonly Source[] } | "nothing of ours" | "as it is";

/** What is wrong with a world in which all has been quiet for long enough; empty: nothing. */
export function wrongAtRest(world: World, flags: Flags): readonly string[] {
  const sources = Array.from(world.objects.values()).flatMap((raw) => {
    const standing = standingOf(raw, flags);
    return typeof standing === "string" || isEnding(raw) || isHidden(raw) ? [] : [standing];
  });
  const living = sources.filter(({ namespace }) => !isGoing(world, namespace));
  return Array.from(world.namespaces.values()).flatMap((namespace) => {
    if (isEnding(namespace)) return [];
    const { name } = namespace.metadata;
    const inside = Array.from(world.objects.values()).filter(
      (raw) => raw.metadata.namespace === name,
    );
    const names = new Set([
      ...inside.map((raw) => raw.metadata.name),
      ...living.map(({ copyName }) => copyName),
    ]);
    const rivals = (at: string): readonly Source[] =>
      living.filter(({ copyName }) => copyName === at);
    return [
      ...Array.from(names).flatMap((at) => {
        const present = world.objects.get(`${name}/${at}`);
        return differs(
          `${name}/${at}`,
          present,
          restOf(world, flags, namespace, rivals(at), present),
        );
      }),
      ...inside.flatMap((raw) => (isPull(raw) ? wrongPull(world, flags, namespace, raw) : [])),
    ];
  });
}

function isGoing({ namespaces }: World, name: string): boolean {
  const namespace = namespaces.get(name);
  return namespace === undefined || isEnding(namespace);
}

function restOf(
  world: World,
  flags: Flags,
  namespace: Raw,
  rivals: readonly Source[],
  present: Raw | undefined,
): Rest {
  const wanting = rivals.filter((source) => pushes(source, namespace, flags));
  const takers = wanting.filter(({ paused }) => !paused);
  if (present === undefined) return takers.length > 0 ? { copyOf: takers } : "as it is";
  if (isEnding(present)) return "as it is";
  if (!isOurs(present)) {
    const lets = wordOf(present, "adopt");
    const adopter = takers.find(({ text }) => text === lets);
    return adopter && isAdoptable(present, adopter, flags) ? { copyOf: takers } : "as it is";
  }
  if (hasUnknownMark(present) || isExcluded(namespace.metadata.name, flags)) return "as it is";
  const named = wordOf(present, "source") ?? "";
  if (acceptance(namespace, named, flags) === "unclear") return "as it is";
  if (isFrozenByList(present, flags)) return "as it is";
  const holder = standingOfNamed(world, flags, named);
  if (holder === "refused" || holder === "open") return "as it is";
  // What an entry made that is no more ends, wherever its source is.
  if (holder === "outside" && wordOf(present, "entry") === undefined) return "as it is";
  if (typeof holder !== "string") {
    const same = wordOf(present, "source-uid") === holder.raw.metadata.uid;
    if (holder.paused) return "as it is";
    const keeps =
      holder.copyName === present.metadata.name && pushes(holder, namespace, flags, true);
    // Under opt-in what is there stays; of another object of that name nothing is said.
    if (keeps && !same && !pushes(holder, namespace, flags)) return "as it is";
    if (keeps) {
      const stronger = takers.filter(({ rank }) => rank < holder.rank);
      return { copyOf: stronger.length > 0 ? strongest(stronger) : [holder] };
    }
  }
  if (takers.length > 0) return { copyOf: strongest(takers) };
  return wanting.length > 0 ? "as it is" : "nothing of ours";
}

/** A copy that an entry made, where the list does not say that the entry is gone. */
export function isFrozenByList(copy: Raw, flags: Flags): boolean {
  const key = wordOf(copy, "entry");
  const entries = entriesOf(flags);
  if (key === undefined) return false;
  if (!entries) return true;
  const entry = entries.find((one) => one.key === key);
  if (!entry) return false;
  const { object } = entry;
  const several = entries.filter((one) => one.object === object).length > 1;
  return several || isFaulty(entry) || object !== wordOf(copy, "source");
}

/** Those of the first rank; which of them came first, the world does not show. */
function strongest(sources: readonly Source[]): readonly Source[] {
  const first = Math.min(...sources.map(({ rank }) => rank));
  return sources.filter(({ rank }) => rank === first);
}

/** Of the object that a copy names: `silent` also where there is none. */
function standingOfNamed(world: World, flags: Flags, place: string): Standing {
  const raw = world.objects.get(place);
  if (raw && !isHidden(raw)) {
    const standing = standingOf(raw, flags);
    const going = isEnding(raw) || isGoing(world, raw.metadata.namespace ?? "");
    return going && standing !== "silent" ? "open" : standing;
  }
  // Whatever a list or annotations say of what is not there.
  return standingOf(nobodyAt(place), { ...flags, list: undefined }) === "outside" &&
    !isListed(place, flags)
    ? "outside"
    : "silent";
}

const isListed = (place: string, flags: Flags): boolean =>
  (entriesOf(flags) ?? []).some(({ object }) => object === place);

function isAdoptable(present: Raw, { content }: Source, flags: Flags): boolean {
  const plain = standingOf(present, flags);
  return (
    (plain === "silent" || plain === "outside") &&
    !isPull(present) &&
    !hasUnknownMark(present) &&
    present.immutable !== true &&
    (present.type ?? "Opaque") === content.type
  );
}

function differs(place: string, present: Raw | undefined, rest: Rest): readonly string[] {
  if (rest === "as it is") return [];
  if (rest === "nothing of ours")
    return present && isOurs(present) ? [`${place}: a copy that nobody wants any more`] : [];
  const texts = rest.copyOf.map(({ text }) => text).join(" or ");
  if (!present) return [`${place}: the copy of ${texts} is missing`];
  const faults = rest.copyOf.map((source) => copyFaults(present, source));
  if (faults.some((found) => found.length === 0)) return [];
  return [`${place}: no copy of ${texts} as it must be (${faults[0]?.join(", ")})`];
}

const sameTexts = (a: Texts = {}, b: Texts = {}): boolean =>
  Object.keys(a).length === Object.keys(b).length && holds(a, b);
const holds = (all: Texts | undefined, some: Texts): boolean =>
  Object.entries(some).every(([key, value]) => all?.[key] === value);

/** In what an object is not the copy of `source`. */
function copyFaults(present: Raw, source: Source): readonly string[] {
  const { content, raw, text, keep } = source;
  const checks: Readonly<Record<string, boolean>> = {
    marks: isOurs(present),
    source: wordOf(present, "source") === text,
    "source-uid": wordOf(present, "source-uid") === raw.metadata.uid,
    "source-version": (wordOf(present, "source-version") ?? "") !== "",
    entry: wordOf(present, "entry") === source.entry,
    "on-delete": wordOf(present, "on-delete") === (keep ? "keep" : undefined),
    ...contentChecks(present, content),
  };
  return Object.keys(checks).filter((check) => checks[check] === false);
}

export function contentChecks(present: Raw, content: Content): Record<string, boolean> {
  return {
    data: sameTexts(present.data, content.data),
    type: (present.type ?? "Opaque") === content.type,
    immutable: (present.immutable === true) === content.immutable,
    labels: holds(present.metadata.labels, content.labels),
    annotations: holds(present.metadata.annotations, content.annotations),
  };
}

/** The entries that were filled, as the pulling object records them. */
export function recordedKeys(pull: Raw): readonly string[] {
  const record = wordOf(pull, "pulled-keys") ?? "";
  return record === "" ? [] : record.split(",");
}

/** The source that an object pulls from, where it may; `open`: nothing is said of it. */
function pulledFrom(
  world: World,
  flags: Flags,
  namespace: Raw,
  pull: Raw,
): Source | "nothing" | "open" {
  const from = wordOf(pull, "from") ?? "";
  if (from.startsWith(`${namespace.metadata.name}/`)) return "open";
  const standing = standingOfNamed(world, flags, from);
  if (standing === "silent" || standing === "outside") return "nothing";
  if (typeof standing === "string" || standing.paused) return "open";
  return allows(standing, namespace, flags) ? standing : "nothing";
}

function wrongPull(world: World, flags: Flags, namespace: Raw, pull: Raw): readonly string[] {
  if (isEnding(pull) || isHidden(pull) || pull.immutable === true || hasUnknownMark(pull))
    return [];
  // Whether an entry's word for it still counts is the list's matter.
  if (wordOf(pull, "entry") !== undefined && !entriesOf(flags)) return [];
  const odd = ["placed-at", "adopt"].some((word) => wordOf(pull, word) !== undefined);
  if (isExcluded(namespace.metadata.name, flags) || odd) return [];
  const place = placeOf(pull);
  const source = pulledFrom(world, flags, namespace, pull);
  const recorded = recordedKeys(pull);
  if (source === "open") return [];
  if (source === "nothing") {
    // Where the source is out of scope or kept, what was filled stays.
    const stays = wordOf(pull, "on-delete") === "keep" || standingIsOutside(pull, flags);
    return recorded.length === 0 || stays ? [] : [`${place}: holds what it may not pull any more`];
  }
  const offered = filterKeys(wordOf(pull, "keys"), source.content.data);
  // Its own `keys` leave nothing: it is refused, and stays as it is.
  if (!offered) return [];
  const missing = Object.keys(offered).filter((key) => pull.data?.[key] === undefined);
  const stale = recorded.filter((key) => pull.data?.[key] !== offered[key]);
  return [
    ...missing.map((key) => `${place}: ${key} was not pulled from ${source.text}`),
    ...stale.map((key) => `${place}: ${key} is not as in ${source.text}`),
  ];
}

function standingIsOutside(pull: Raw, flags: Flags): boolean {
  return standingOf(nobodyAt(wordOf(pull, "from") ?? ""), flags) === "outside";
}
