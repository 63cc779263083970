// The value of `--only-names`: its form, its limit, and what contradicts other flags.
import { MOST_NAMES } from "../annotations/name-scope.ts";
import { KINDS, rulesOf, type ObjectKind } from "../model/kinds.ts";
import { isSecretName } from "../../text/names.ts";

/** Throws a RangeError that names the name at fault. */
export function parseObjectNames(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes(""))
    throw new RangeError(`"${text}" has an empty name: separate names by single commas`);
  if (names.length > MOST_NAMES)
    throw new RangeError(`${names.length} names are too many: expected at most ${MOST_NAMES}`);
  const wrong = names.find((name) => !isSecretName(name));
  if (wrong !== undefined)
    throw new RangeError(
      `"${wrong}" is wrong: expected the name of an object, no glob: at most 253 lower-case letters, digits, "-" and "."`,
    );
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw new RangeError(`"${twice}" is given twice`);
  return names;
}

/** Why no object of one of these names may take part, or undefined. */
export function contradictionOf(
  names: readonly string[],
  kinds: readonly ObjectKind[],
  sourceList: string | undefined,
): string | undefined {
  for (const kind of kinds) {
    const { refusedPrefix } = KINDS[kind];
    const refused = names.find((name) => name.startsWith(refusedPrefix));
    if (refused !== undefined)
      return `"${refused}" is never copied: names that begin with ${refusedPrefix} are records of Helm`;
    const { reserved } = rulesOf(kind, { sourceList });
    const taken = names.find((name) => reserved?.includes(name));
    // Rights by name would let the controller change its own source list in every namespace.
    if (taken !== undefined)
      return `"${taken}" is reserved: a ${kind} of that name configures secretcast and never takes part`;
  }
  return undefined;
}
