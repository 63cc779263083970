// One text for equal texts. A cache of a hundred thousand objects reads the same few names, types and
// digests again and again; kept once they take less memory, and comparing them is comparing addresses.
// Does not promise to know every text: when it holds many it starts anew, which costs only memory.

export type Intern = (text: string) => string;

// Names of every namespace and source of a large cluster; a few MiB.
const MOST = 50_000;

export function createIntern(): Intern {
  const known = new Map<string, string>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size >= MOST) known.clear();
    known.set(text, text);
    return text;
  };
}
