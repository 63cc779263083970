// Judges a world in which all has been quiet for long enough: every place is as the model has it.
import { copyDifferences } from "./differences.ts";
import { Model, type Rest } from "../model/model.ts";
import { dataOf, isEnding, placeOf, isFilled, slotOf, wordOf } from "../model/raw.ts";
import type { Flags, Raw, World } from "../model/raw.ts";
import { isPull } from "../model/standing.ts";

/** What is wrong with it; empty: nothing. */
export function wrongAtRest(world: World, flags: Flags): readonly string[] {
  if (world.kind === "ConfigMap" && !flags.configMaps) return [];
  // The list is never a place, and what it carries means nothing.
  const list = flags.list && slotOf(flags.list);
  const places = [...world.objects].filter(([place]) => `${world.kind} ${place}` !== list);
  const objects = new Map(places);
  const model = new Model({ ...world, objects }, flags);
  return [...world.namespaces.values()].flatMap((namespace) => {
    if (isEnding(namespace)) return [];
    const inside = `${namespace.metadata.name}/`;
    const own = [...objects.keys()].filter((place) => place.startsWith(inside));
    const copies = model.sources.map(({ copyName }) => inside + copyName);
    return [...new Set([...own, ...copies])].flatMap((place) => {
      const present = objects.get(place);
      const faults =
        present && isPull(present)
          ? pullFaults(model, namespace, present)
          : faultsOf(present, model.restAt(namespace, place.slice(inside.length)));
      return faults.map((what) => `${world.kind} ${place}: ${what}`);
    });
  });
}

function faultsOf(present: Raw | undefined, rest: Rest): readonly string[] {
  if (rest === "nothing of ours") return ["a copy that nobody wants any more"];
  if (rest.length === 0) return [];
  const texts = rest.map(({ raw }) => placeOf(raw)).join(" or ");
  if (!present) return [`the copy of ${texts} is missing`];
  const differences = rest.map((source) => copyDifferences(present, source));
  if (differences.some((found) => found.length === 0)) return [];
  return [`no copy of ${texts} as it must be (${differences[0]?.join(", ")})`];
}

function pullFaults(model: Model, namespace: Raw, pull: Raw): readonly string[] {
  const rest = model.pulledAt(namespace, pull);
  if (rest === "as it is") return [];
  if (rest === "its owner's" || Object.keys(rest).length === 0)
    return isFilled(pull) ? ["holds what it may not pull any more"] : [];
  const data = dataOf(pull);
  const from = wordOf(pull, "from");
  const missing = Object.keys(rest).filter((key) => data[key] !== rest[key]);
  const odd = Object.keys(data).filter((key) => rest[key] === undefined);
  return [
    ...missing.map((key) => `${key} was not pulled from ${from}`),
    ...odd.map((key) => `${key} is not from ${from}`),
    ...(isFilled(pull) ? [] : [`its content is not recorded as that of ${from}`]),
  ];
}
