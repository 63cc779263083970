// Merges a controller's --source-namespaces with the namespaces of a move. Existing entries are kept in
// their order.
import { NAMESPACE_GLOBS, parseGlobList } from "../../text/globs.ts";

/** Index of the entry of `present` that lets `namespace` publish. Undefined when no entry does. */
export function publishingEntry(present: readonly string[], namespace: string): number | undefined {
  if (excluding(present, namespace) !== undefined) return undefined;
  const at = present.findIndex((entry) => !entry.startsWith("!") && matches(entry, namespace));
  if (at >= 0) return at;
  // A list of "!" entries alone starts from every namespace.
  return present.length > 0 && present.every((entry) => entry.startsWith("!")) ? 0 : undefined;
}

type Union = { readonly entries: readonly string[]; readonly problems: readonly string[] };

/** `needed` has the order of a move, which keeps the order of `present`. */
export function withNamespaces(present: readonly string[], needed: readonly string[]): Union {
  const kept = present.filter((entry) => !needed.some((name) => entry === `!${name}`));
  const entries = kept.length === 0 && present.length > 0 ? ["*"] : [...kept];
  const problems: string[] = [];
  let before = entries.length;
  for (const name of needed.toReversed()) {
    const at = publishingEntry(entries, name);
    const excluded = excluding(entries, name);
    if (excluded !== undefined)
      problems.push(
        `--source-namespaces of the controller excludes ${name} by ${excluded}: take that entry off, or the sources there publish nothing`,
      );
    else if (at === undefined) entries.splice(before, 0, name);
    else before = at;
  }
  return { entries, problems };
}

function excluding(entries: readonly string[], namespace: string): string | undefined {
  return entries.find((entry) => entry.startsWith("!") && matches(entry.slice(1), namespace));
}

function matches(glob: string, namespace: string): boolean {
  const list = parseGlobList(glob, NAMESPACE_GLOBS);
  return list.ok && list.value.matches(namespace);
}
