// The names of --only-names, as refusals speak of them.

/** Each name is a list and a watch of its own for each kind. */
export const MOST_NAMES = 50;

// An Event has room for 1,024 characters, and people read a command line.
const LONGEST_VALUE = 500;

/** Whether objects of this name take part. */
export function isNameRead(onlyNames: ReadonlySet<string> | undefined, name: string): boolean {
  return onlyNames?.has(name) !== false;
}

/** How an administrator lets objects of `name` take part. */
export function nameToAdd(onlyNames: ReadonlySet<string>, name: string): string {
  if (onlyNames.size >= MOST_NAMES)
    return `${name} is not one of its names, and it has ${onlyNames.size}, which is the most`;
  const flag = flagWith(onlyNames, [name]);
  return flag === undefined
    ? `to add ${name} to its names lets it take part`
    : `${flag} lets it take part`;
}

/** How an administrator lets objects of all `missing` names take part. */
export function missingToAdd(onlyNames: ReadonlySet<string>, missing: ReadonlySet<string>): string {
  const { size } = new Set([...onlyNames, ...missing]);
  if (size > MOST_NAMES)
    return `with them --only-names would have ${size} names, and at most ${MOST_NAMES} are possible`;
  const flag = flagWith(onlyNames, missing);
  return flag === undefined
    ? "to add these names to --only-names lets them take part"
    : `${flag} lets them take part`;
}

/** Undefined where it is too long to be read. */
function flagWith(onlyNames: ReadonlySet<string>, names: Iterable<string>): string | undefined {
  const value = [...new Set([...onlyNames, ...names])].join(",");
  return value.length > LONGEST_VALUE ? undefined : `--only-names ${value}`;
}

/** What would be right instead of `name`. */
export function nameExpected(onlyNames: ReadonlySet<string>, name: string): string {
  return `a name of --only-names; ${nameToAdd(onlyNames, name)}`;
}
