// A reference model of the public contract, written from its words alone; it imports nothing of the
// program. Given a world of raw objects of one kind and the flags, it says what is not as it must be
// once all is quiet. Of what was there before it knows only what the objects themselves record: whether
// each write on the way was right is the judge's part (write-judge.ts).
import {
  dataOf,
  isEnding,
  isHidden,
  placeOf,
  recordedKeys,
  slotOf,
  wordOf,
  wordsOn,
} from "./raw.ts";
import type { Content, Flags, Raw, Source, Standing, Texts } from "./raw.ts";
import { acceptance, allows, asksFor, entriesOf, filterKeys, hasUnknownMark } from "./standing.ts";
import { isExcluded, isOurs, isPull, pushes, standingOf } from "./standing.ts";

/** Namespaces by name, and the objects of one kind by "NAMESPACE/NAME". */
export type World = {
  readonly kind: "Secret" | "ConfigMap";
  readonly namespaces: ReadonlyMap<string, Raw>;
  readonly objects: ReadonlyMap<string, Raw>;
};
type Place = { readonly namespace: Raw; readonly name: string; readonly present: Raw | undefined };
/** What must stand at a place: a copy of one of these (none: as it is), or nothing of ours. */
type Rest = readonly Source[] | "nothing of ours";
const AS_IT_IS: Rest = [];

/** What is wrong with a world in which all has been quiet for long enough; empty: nothing. */
export function wrongAtRest(world: World, flags: Flags): readonly string[] {
  if (world.kind === "ConfigMap" && !flags.configMaps) return [];
  // The list is never a place, and what it carries means nothing.
  const list = flags.list && slotOf(flags.list);
  const objects = [...world.objects.keys()].filter((place) => `${world.kind} ${place}` !== list);
  const standings = objects.map((object) => standingIn(world, flags, object));
  const sources = standings.filter((standing) => typeof standing !== "string");
  return [...world.namespaces.values()].flatMap((namespace) => {
    if (isEnding(namespace)) return [];
    const inside = `${namespace.metadata.name}/`;
    const own = objects.filter((object) => object.startsWith(inside));
    const copies = sources.map(({ copyName }) => inside + copyName);
    return [...new Set([...own, ...copies])].flatMap((text) => {
      const place = {
        namespace,
        name: text.slice(inside.length),
        present: world.objects.get(text),
      };
      const faults = faultsAt(world, flags, place, sources);
      return faults.map((what) => `${world.kind} ${text}: ${what}`);
    });
  });
}

/** `open` also of what is going; `silent` also where there is nothing. */
function standingIn({ kind, namespaces, objects }: World, flags: Flags, place: string): Standing {
  const raw = objects.get(place);
  const standing = standingOf(`${kind} ${place}`, raw, flags);
  const namespace = namespaces.get(raw?.metadata.namespace ?? "");
  const stays = !raw || isHidden(raw) || (namespace && !isEnding(namespace) && !isEnding(raw));
  return stays || standing === "silent" ? standing : "open";
}

function faultsAt(world: World, flags: Flags, place: Place, sources: readonly Source[]) {
  const { namespace, name, present } = place;
  if (present && isPull(present)) return pullFaults(world, flags, namespace, present);
  const named = sources.filter(({ copyName }) => copyName === name);
  const wanting = named.filter((source) => pushes(source, namespace, flags));
  const rest = restOf(world, flags, place, wanting);
  // Held is what would be made, or go to somebody who does not hold it.
  const holder = present && isOurs(present) ? wordOf(present, "source") : undefined;
  const held = typeof rest !== "string" && !rest.some(({ raw }) => placeOf(raw) === holder);
  return differs(present, flags.holdsCreates === true && held ? AS_IT_IS : rest);
}

function restOf(world: World, flags: Flags, place: Place, wanting: readonly Source[]): Rest {
  const { namespace, name, present } = place;
  const takers = wanting.filter(({ paused }) => !paused);
  if (!present) return takers;
  if (isEnding(present) || hasUnknownMark(present)) return AS_IT_IS;
  if (!isOurs(present)) {
    const adopter = takers.find(({ raw }) => placeOf(raw) === wordOf(present, "adopt"));
    return adopter && isAdoptable(present, adopter, flags) ? takers : AS_IT_IS;
  }
  const named = wordOf(present, "source") ?? "";
  const unclear = acceptance(namespace, named, flags) === "unclear";
  const excluded = isExcluded(namespace.metadata.name, flags);
  if (unclear || excluded || isFrozenByList(present, flags)) return AS_IT_IS;
  const holder = standingIn(world, flags, named);
  if (holder === "refused" || holder === "open") return AS_IT_IS;
  // What an entry made that is no more ends, wherever its source is.
  if (holder === "outside" && wordOf(present, "entry") === undefined) return AS_IT_IS;
  if (typeof holder !== "string") {
    const keeps = holder.copyName === name && pushes(holder, namespace, flags, true);
    // Under opt-in what is there stays; of another object of that name nothing is said.
    const other = wordOf(present, "source-uid") !== holder.raw.metadata.uid;
    const unsaid = keeps && other && !pushes(holder, namespace, flags);
    if (holder.paused || unsaid) return AS_IT_IS;
    if (keeps) return strongest([holder, ...takers.filter(({ rank }) => rank < holder.rank)]);
  }
  return wanting.length > 0 ? strongest(takers) : "nothing of ours";
}

/** What an entry made or filled, where the list cannot be read, or refuses that entry or its source. */
export function isFrozenByList(made: Raw, flags: Flags): boolean {
  const key = wordOf(made, "entry");
  const source = `${made.kind} ${wordOf(made, "from") ?? wordOf(made, "source")}`;
  const entries = entriesOf(flags);
  if (key === undefined || !entries) return key !== undefined;
  return entries.some((one) => one.refused && (one.key === key || one.object === source));
}

/** Those of the first rank; which of them came first, the world does not show. */
const strongest = (sources: readonly Source[]): readonly Source[] =>
  sources.filter(({ rank }) => sources.every((other) => other.rank >= rank));

function isAdoptable(present: Raw, { content }: Source, flags: Flags): boolean {
  const standing = standingOf(slotOf(present), present, flags);
  const alike = (present.type ?? "Opaque") === content.type && present.immutable !== true;
  return alike && (standing === "silent" || standing === "outside");
}

function differs(present: Raw | undefined, rest: Rest): readonly string[] {
  if (rest === "nothing of ours") return ["a copy that nobody wants any more"];
  if (rest.length === 0) return [];
  const texts = rest.map(({ raw }) => placeOf(raw)).join(" or ");
  if (!present) return [`the copy of ${texts} is missing`];
  const faults = rest.map((source) => copyFaults(present, source));
  if (faults.some((found) => found.length === 0)) return [];
  return [`no copy of ${texts} as it must be (${faults[0]?.join(", ")})`];
}

const falseOf = (checks: Readonly<Record<string, boolean>>): readonly string[] =>
  Object.keys(checks).filter((check) => checks[check] === false);
const holds = (all: Texts = {}, some: Texts): boolean =>
  Object.entries(some).every(([key, value]) => all[key] === value);

/** In what an object is not the copy of a source. */
function copyFaults(present: Raw, { content, raw, words, entry }: Source): readonly string[] {
  const kept = words["on-delete"] === "keep" ? "keep" : undefined;
  const marks = { source: placeOf(raw), "source-uid": raw.metadata.uid, entry, "on-delete": kept };
  const wrong = Object.entries(marks).filter(([word, value]) => wordOf(present, word) !== value);
  const plain = { marks: isOurs(present), "source-version": !!wordOf(present, "source-version") };
  return [...falseOf(plain), ...wrong.map(([word]) => word), ...contentFaults(present, content)];
}

export function contentFaults(present: Raw, content: Content): readonly string[] {
  const data = dataOf(present);
  return falseOf({
    data: holds(data, content.data) && holds(content.data, data),
    type: (present.type ?? "Opaque") === content.type,
    immutable: (present.immutable === true) === content.immutable,
    labels: holds(present.metadata.labels, content.labels),
    annotations: holds(present.metadata.annotations, content.annotations),
  });
}

function pullFaults(world: World, flags: Flags, namespace: Raw, pull: Raw): readonly string[] {
  const { name } = namespace.metadata;
  const from = wordOf(pull, "from") ?? "";
  const fixed = isEnding(pull) || isHidden(pull) || pull.immutable === true;
  // What a copy's or a source's words mean on it, and to pull within one namespace, are left open.
  const odd = ["placed-at", "adopt"].some((word) => wordOf(pull, word) !== undefined);
  const open = odd || asksFor(wordsOn(pull)) || from.startsWith(`${name}/`);
  const frozen = isFrozenByList(pull, flags) || hasUnknownMark(pull) || isExcluded(name, flags);
  if (fixed || open || frozen) return [];
  const source = standingIn(world, flags, from);
  if (source === "open" || source === "refused" || source === "outside") return [];
  const [recorded, data] = [recordedKeys(pull), dataOf(pull)];
  if (source === "silent" || (!source.paused && !allows(source, namespace, flags))) {
    const stays = recorded.length === 0 || wordOf(pull, "on-delete") === "keep";
    return stays ? [] : ["holds what it may not pull any more"];
  }
  const offered = filterKeys(wordOf(pull, "keys"), source.content.data);
  // Its own `keys` leave nothing: it is refused, and stays as it is.
  if (source.paused || !offered) return [];
  const missing = Object.keys(offered).filter((key) => data[key] === undefined);
  const stale = recorded.filter((key) => data[key] !== offered[key]);
  return [...new Set([...missing, ...stale])].map((key) => `${key} was not pulled from ${from}`);
}
