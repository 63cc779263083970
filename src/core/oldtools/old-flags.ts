// The old tool's own settings, from the words of its command line and its environment.
import type { OldFlags } from "./old-tool.ts";

/** `words`: "-flag=value", "--flag value"; `environment`: by name, as its container has it. */
export function oldFlags(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): OldFlags {
  const given = new Map<string, string>();
  for (const [name, value] of Object.entries(environment)) {
    // .NET's way: ES_Reflector__ExcludedNamespaces.
    const [, word] = /^ES_Reflector__(\w+)$/.exec(name) ?? [];
    if (word) given.set(kebab(word), value);
  }
  for (const [index, word] of words.entries()) {
    const [, name, value] = /^--?([a-z][a-z-]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined) continue;
    const next = words[index + 1];
    const bare = next === undefined || next.startsWith("-") ? "true" : next;
    given.set(name, value ?? bare);
  }
  return { flag: (name) => given.get(name) };
}

function kebab(word: string): string {
  return word.replaceAll(/(?<=[a-z])[A-Z]/g, "-$&").toLowerCase();
}
