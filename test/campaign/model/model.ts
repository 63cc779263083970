// A reference model of the public contract, written from its words alone; it imports nothing of the
// program. Given a world of raw objects of one kind and the flags, it says what must be at a place once
// all is quiet. Of what was there before it knows only what the objects themselves record. To compare is
// the part of the judges: of the world at rest (rest-judge.ts), of each write on the way (write-judge.ts).
import { filterKeys } from "./patterns.ts";
import {
  dataOf,
  isBlank,
  isEnding,
  isFilled,
  isHidden,
  isSame,
  placeOf,
  wordOf,
  wordsOn,
} from "./raw.ts";
import type { Entry, Flags, Raw, Source, Standing, Texts, World } from "./raw.ts";
import { acceptance, allows, isExcluded, pushes } from "./namespaces.ts";
import { asksFor, entriesOf, hasUnknownMark, listPlace, isOurs, isPull } from "./standing.ts";
import { isSmall, standingOf, typeFor } from "./standing.ts";

/** What must be at a place: a copy of one of these sources (none: as it is), or nothing of ours. */
export type Rest = readonly Source[] | "nothing of ours";
const AS_IT_IS: Rest = [];
/** What a pulling object must hold. `its owner's`: what was filled stays, and is no longer ours. */
export type PullRest = Texts | "as it is" | "its owner's";

export class Model {
  readonly #world: World;
  readonly #flags: Flags;
  readonly sources: readonly Source[];

  constructor(world: World, flags: Flags) {
    this.#world = world;
    this.#flags = flags;
    const standings = [...world.objects.keys()].map((place) => this.#standingAt(place));
    this.sources = standings.filter((standing) => typeof standing !== "string");
  }

  /** As what an object counts; whether one that is going still does, the contract leaves open. */
  #standingAt(place: string): Standing {
    const { kind, namespaces, objects } = this.#world;
    const raw = objects.get(place);
    const standing = standingOf(`${kind} ${place}`, raw, this.#flags);
    if (!raw || isHidden(raw) || standing === "silent") return standing;
    const namespace = namespaces.get(raw.metadata.namespace ?? "");
    return namespace && !isEnding(namespace) && !isEnding(raw) ? standing : "open";
  }

  /** For all names in a namespace that is not going, but those of pulling objects. */
  restAt(namespace: Raw, name: string): Rest {
    const present = this.#world.objects.get(`${namespace.metadata.name}/${name}`);
    const wanting = this.sources.filter(
      (source) => source.copyName === name && pushes(source, namespace, this.#flags),
    );
    const rest = this.#restOf(namespace, present, wanting);
    // Held is what would be made, or go to a source that does not hold the place.
    const holder = present && isOurs(present) ? wordOf(present, "source") : undefined;
    const held = typeof rest !== "string" && !rest.some(({ raw }) => placeOf(raw) === holder);
    // And a copy is replaced only where a create would be made.
    const replaced =
      typeof rest !== "string" &&
      present !== undefined &&
      rest.some(
        ({ content }) => content.type !== (present.type ?? "Opaque") || present.immutable === true,
      );
    return this.#flags.holdsCreates === true && (held || replaced) ? AS_IT_IS : rest;
  }

  #restOf(namespace: Raw, present: Raw | undefined, wanting: readonly Source[]): Rest {
    const takers = wanting.filter(({ paused }) => !paused);
    if (!present) return takers;
    if (isEnding(present) || hasUnknownMark(present)) return AS_IT_IS;
    if (isOurs(present)) return this.#restOfCopy(namespace, present, wanting);
    const adopter = takers.find(({ raw }) => placeOf(raw) === wordOf(present, "adopt"));
    const alike = adopter?.content.type === (present.type ?? "Opaque") && !present.immutable;
    const own = this.#standingAt(placeOf(present));
    return adopter && alike && (own === "silent" || own === "outside") ? [adopter] : AS_IT_IS;
  }

  #restOfCopy(namespace: Raw, copy: Raw, wanting: readonly Source[]): Rest {
    const flags = this.#flags;
    const takers = wanting.filter(({ paused }) => !paused);
    const named = wordOf(copy, "source") ?? "";
    const fixed = isExcluded(namespace.metadata.name, flags) || isFrozenByList(copy, flags);
    if (fixed || acceptance(namespace, named, flags) === "unclear") return AS_IT_IS;
    const holder = this.#standingAt(named);
    if (holder === "refused" || holder === "open") return AS_IT_IS;
    // What an entry made that is no more ends, wherever its source is; of one that pulls nothing is said.
    const pulls = isPull(this.#world.objects.get(named) ?? copy);
    if (holder === "outside" && (pulls || wordOf(copy, "entry") === undefined)) return AS_IT_IS;
    if (typeof holder !== "string") {
      // Under opt-in what is there stays, and is kept current. A source of that name with another UID counts.
      const keeps =
        holder.copyName === copy.metadata.name && pushes(holder, namespace, flags, true);
      if (holder.paused) return AS_IT_IS;
      // What it only keeps is not replaced.
      if (keeps && !pushes(holder, namespace, flags) && isFixed(copy, holder)) return AS_IT_IS;
      if (keeps) return strongest([holder, ...takers.filter(({ rank }) => rank < holder.rank)]);
    }
    return wanting.length > 0 ? strongest(takers) : "nothing of ours";
  }

  /** What becomes of a pulling object: it has these entries and no others, or what we filled is its owner's. */
  pulledAt(namespace: Raw, pull: Raw): PullRest {
    const flags = this.#flags;
    const { name } = namespace.metadata;
    const from = wordOf(pull, "from") ?? "";
    const fixed = isEnding(pull) || isHidden(pull) || pull.immutable === true;
    // What a copy's or a source's words mean on it, and to pull within one namespace, are left open.
    const odd = ["source", "adopt"].some((word) => wordOf(pull, word) !== undefined);
    const open = odd || asksFor(wordsOn(pull)) || from.startsWith(`${name}/`);
    const frozen = (isFilled(pull) && isFrozenByList(pull, flags)) || hasUnknownMark(pull);
    if (fixed || open || frozen || isExcluded(name, flags) || !isSmall(pull)) return "as it is";
    const source = this.#standingAt(from);
    if (source === "open" || source === "refused" || source === "outside") return "as it is";
    if (source === "silent" || !(source.paused || allows(source, namespace, flags))) {
      if (!isFilled(pull)) return "as it is";
      return wordOf(pull, "on-delete") === "keep" ? "its owner's" : {};
    }
    const { type = "Opaque" } = pull;
    if (source.paused || (type !== "Opaque" && type !== source.content.type)) return "as it is";
    // Where its own `keys` leave nothing, or not what its type asks for, it stays as it is.
    const offered = filterKeys(wordOf(pull, "keys"), source.content.data);
    if (!offered || !isSmall(pull, offered) || typeFor(type, offered) !== type) return "as it is";
    const isOpen = isFilled(pull) || isBlank(pull) || isSame(dataOf(pull), offered);
    return isOpen ? offered : "as it is";
  }
}

/** The API takes no update there: an immutable copy keeps its data and stays immutable. */
function isFixed(copy: Raw, { content }: Source): boolean {
  const isAlike = content.immutable && isSame(dataOf(copy), content.data);
  return (copy.type ?? "Opaque") !== content.type || (copy.immutable === true && !isAlike);
}

/**
 * What an entry made or filled, where the list cannot be read or is empty, refuses that entry or its
 * source, or is not the one that has the entry.
 */
export function isFrozenByList(made: Raw, flags: Flags): boolean {
  const key = wordOf(made, "entry");
  if (key === undefined) return false;
  const entries = entriesOf(flags);
  if (!entries || entries.length === 0) return true;
  const madeBy = wordOf(made, "list");
  if (madeBy !== undefined && madeBy !== listPlace(flags)) return true;
  if (madeBy === undefined && !entries.some((entry) => entry.key === key)) return true;
  const source = `${made.kind} ${wordOf(made, "from") ?? wordOf(made, "source")}`;
  const isOf = (entry: Entry): boolean => entry.key === key || entry.object === source;
  return entries.some((entry) => entry.refused && isOf(entry));
}

/** A list that can be read no longer has the entry that made it. */
export function lostItsEntry(made: Raw, flags: Flags): boolean {
  const key = wordOf(made, "entry");
  if (key === undefined || isFrozenByList(made, flags)) return false;
  const source = `${made.kind} ${wordOf(made, "source")}`;
  return entriesOf(flags)?.some((entry) => entry.key === key && entry.object === source) !== true;
}

/** Those of the first rank; which of them came first, the world does not show. */
const strongest = (sources: readonly Source[]): readonly Source[] =>
  sources.filter(({ rank }) => sources.every((other) => other.rank >= rank));
