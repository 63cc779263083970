// The names of --only-names, as refusals speak of them.

/** Each name is a list and a watch of its own for each kind. */
export const MOST_NAMES = 50;

// An Event has room for 1,024 characters.
const LONGEST_VALUE = 500;

/** Whether objects of this name take part. */
export function isNameRead(onlyNames: ReadonlySet<string> | undefined, name: string): boolean {
  return onlyNames?.has(name) !== false;
}

/** How an administrator lets objects of `name` take part. */
export function nameToAdd(onlyNames: ReadonlySet<string>, name: string): string {
  if (onlyNames.size >= MOST_NAMES)
    return `${name} is not one of its names, and it has ${onlyNames.size}, which is the most`;
  const value = [...onlyNames, name].join(",");
  return value.length > LONGEST_VALUE
    ? `to add ${name} to its names lets it take part`
    : `--only-names ${value} lets it take part`;
}

/** What would be right instead of `name`. */
export function nameExpected(onlyNames: ReadonlySet<string>, name: string): string {
  return `a name of --only-names; ${nameToAdd(onlyNames, name)}`;
}
