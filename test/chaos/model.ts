// A reference model of the public contract, written from its words alone; it imports nothing of the
// program. Given a world of raw objects of one kind and the flags, it says what is not as it must be
// once all is quiet. Of what was there before it knows only what the objects themselves record: whether
// each write on the way was right is the judge's part (write-judge.ts).
import { filterKeys, type Texts } from "./patterns.ts";
import {
  placeOf,
  slotOf,
  wordOf,
  type Content,
  type Flags,
  type Raw,
  type Source,
  type Standing,
} from "./raw.ts";
import {
  acceptance,
  allows,
  dataOf,
  entriesOf,
  hasUnknownMark,
  isEnding,
  isExcluded,
  isHidden,
  isOurs,
  isPull,
  pushes,
  standingOf,
  standingOfNobody,
} from "./standing.ts";

/** Namespaces by name, and the objects of one kind by "NAMESPACE/NAME". */
export type World = {
  readonly kind: "Secret" | "ConfigMap";
  readonly namespaces: ReadonlyMap<string, Raw>;
  readonly objects: ReadonlyMap<string, Raw>;
};
/** What must stand at a place: a copy of one of these, nothing of ours, or whatever is there. */
type Rest = readonly Source[] | "nothing of ours" | "as it is";

/** What is wrong with a world in which all has been quiet for long enough; empty: nothing. */
export function wrongAtRest(world: World, flags: Flags): readonly string[] {
  if (world.kind === "ConfigMap" && !flags.configMaps) return [];
  // The list is never a place, and what it carries means nothing.
  const objects = Array.from(world.objects.values()).filter((raw) => !isList(raw, flags));
  const sources = objects.flatMap((raw) => {
    const standing = standingOf(raw, flags);
    const there = !isEnding(raw) && !isHidden(raw) && !isGoing(world, raw);
    return typeof standing === "string" || !there ? [] : [standing];
  });
  const wrong: string[] = [];
  for (const namespace of world.namespaces.values()) {
    if (isEnding(namespace)) continue;
    const inside = objects.filter((raw) => raw.metadata.namespace === namespace.metadata.name);
    const names = [...inside.map((raw) => raw.metadata.name), ...sources.map((s) => s.copyName)];
    for (const name of new Set(names)) {
      const place = `${namespace.metadata.name}/${name}`;
      const present = world.objects.get(place);
      const wanting = sources.filter(
        (source) => source.copyName === name && pushes(source, namespace, flags),
      );
      const found = restOf(world, flags, namespace, wanting, present);
      const rest = flags.holdsCreates === true && isTaken(found, present) ? "as it is" : found;
      wrong.push(...differs(present, rest).map((what) => `${world.kind} ${place}: ${what}`));
    }
    for (const raw of inside.filter(isPull))
      wrong.push(
        ...wrongPull(world, flags, namespace, raw).map((what) => `${slotOf(raw)}: ${what}`),
      );
  }
  return wrong;
}

/** It would be made, or go to somebody who does not hold it. */
function isTaken(rest: Rest, present: Raw | undefined): boolean {
  const holder = present && isOurs(present) ? wordOf(present, "source") : undefined;
  return typeof rest !== "string" && !rest.some(({ raw }) => placeOf(raw) === holder);
}

const isList = (raw: Raw, { list }: Flags): boolean =>
  list !== undefined && slotOf(raw) === slotOf(list);

function isGoing({ namespaces }: World, { metadata }: Raw): boolean {
  const namespace = namespaces.get(metadata.namespace ?? "");
  return namespace === undefined || isEnding(namespace);
}

function restOf(
  world: World,
  flags: Flags,
  namespace: Raw,
  wanting: readonly Source[],
  present: Raw | undefined,
): Rest {
  const takers = wanting.filter(({ paused }) => !paused);
  if (present === undefined) return takers.length > 0 ? takers : "as it is";
  if (isEnding(present)) return "as it is";
  if (!isOurs(present)) {
    const adopter = takers.find(({ raw }) => placeOf(raw) === wordOf(present, "adopt"));
    return adopter && isAdoptable(present, adopter, flags) ? takers : "as it is";
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
    if (holder.paused) return "as it is";
    const keeps =
      holder.copyName === present.metadata.name && pushes(holder, namespace, flags, true);
    // Under opt-in what is there stays; of another object of that name nothing is said.
    const same = wordOf(present, "source-uid") === holder.raw.metadata.uid;
    if (keeps && !same && !pushes(holder, namespace, flags)) return "as it is";
    const stronger = takers.filter(({ rank }) => rank < holder.rank);
    if (keeps) return stronger.length > 0 ? strongest(stronger) : [holder];
  }
  if (takers.length > 0) return strongest(takers);
  return wanting.length > 0 ? "as it is" : "nothing of ours";
}

/** A copy that an entry made, where the list cannot be read, or refuses that entry or its source. */
export function isFrozenByList(copy: Raw, flags: Flags): boolean {
  const key = wordOf(copy, "entry");
  const entries = entriesOf(flags);
  if (key === undefined || !entries) return key !== undefined;
  const source = `${copy.kind} ${wordOf(copy, "source")}`;
  const concerned = entries.filter((entry) => entry.key === key || entry.object === source);
  return concerned.some(
    ({ faulty, object }) => faulty || entries.filter((one) => one.object === object).length > 1,
  );
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
    return (isEnding(raw) || isGoing(world, raw)) && standing !== "silent" ? "open" : standing;
  }
  return standingOfNobody(`${world.kind} ${place}`, flags);
}

function isAdoptable(present: Raw, { content }: Source, flags: Flags): boolean {
  const standing = standingOf(present, flags);
  const plain = (standing === "silent" || standing === "outside") && !isPull(present);
  const alike = (present.type ?? "Opaque") === content.type && present.immutable !== true;
  return plain && alike && !hasUnknownMark(present);
}

function differs(present: Raw | undefined, rest: Rest): readonly string[] {
  if (rest === "as it is") return [];
  if (rest === "nothing of ours")
    return present && isOurs(present) ? ["a copy that nobody wants any more"] : [];
  const texts = rest.map(({ raw }) => placeOf(raw)).join(" or ");
  if (!present) return [`the copy of ${texts} is missing`];
  const faults = rest.map((source) => copyFaults(present, source));
  if (faults.some((found) => found.length === 0)) return [];
  return [`no copy of ${texts} as it must be (${faults[0]?.join(", ")})`];
}

const holds = (all: Texts | undefined, some: Texts): boolean =>
  Object.entries(some).every(([key, value]) => all?.[key] === value);

/** In what an object is not the copy of a source. */
function copyFaults(present: Raw, { content, raw, words, entry }: Source): readonly string[] {
  const checks: Readonly<Record<string, boolean>> = {
    marks: isOurs(present),
    source: wordOf(present, "source") === placeOf(raw),
    "source-uid": wordOf(present, "source-uid") === raw.metadata.uid,
    "source-version": (wordOf(present, "source-version") ?? "") !== "",
    entry: wordOf(present, "entry") === entry,
    "on-delete":
      wordOf(present, "on-delete") === (words["on-delete"] === "keep" ? "keep" : undefined),
    ...contentChecks(present, content),
  };
  return Object.keys(checks).filter((check) => checks[check] === false);
}

export function contentChecks(present: Raw, content: Content): Record<string, boolean> {
  const data = dataOf(present);
  return {
    data: holds(data, content.data) && holds(content.data, data),
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

const LEFT_OPEN = ["placed-at", "adopt", "to", "to-selector", "allow", "allow-selector"];

function wrongPull(world: World, flags: Flags, namespace: Raw, pull: Raw): readonly string[] {
  const from = wordOf(pull, "from") ?? "";
  // Pulling within one namespace, and what words of a source or of a copy mean on it, are left open.
  const odd = LEFT_OPEN.some((word) => wordOf(pull, word) !== undefined);
  if (odd || from.startsWith(`${namespace.metadata.name}/`)) return [];
  if (isEnding(pull) || isHidden(pull) || pull.immutable === true || hasUnknownMark(pull))
    return [];
  if (isExcluded(namespace.metadata.name, flags)) return [];
  // Whether an entry's word for it still counts is the list's matter.
  if (wordOf(pull, "entry") !== undefined && !entriesOf(flags)) return [];
  const source = standingOfNamed(world, flags, from);
  const recorded = recordedKeys(pull);
  const data = dataOf(pull);
  if (source === "open" || source === "refused") return [];
  if (source === "outside") return [];
  if (source === "silent" || (!source.paused && !allows(source, namespace, flags))) {
    const stays = recorded.length === 0 || wordOf(pull, "on-delete") === "keep";
    return stays ? [] : ["holds what it may not pull any more"];
  }
  const offered = filterKeys(wordOf(pull, "keys"), source.content.data);
  // Its own `keys` leave nothing: it is refused, and stays as it is.
  if (source.paused || !offered) return [];
  const missing = Object.keys(offered).filter((key) => data[key] === undefined);
  const stale = recorded.filter((key) => data[key] !== offered[key]);
  return [
    ...missing.map((key) => `${key} was not pulled from ${from}`),
    ...stale.map((key) => `${key} is not as in ${from}`),
  ];
}
