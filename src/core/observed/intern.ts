// One text for equal texts. A cache of a hundred thousand objects reads the same few names, types and
// digests again and again; kept once they take less memory, and comparing them is comparing addresses.
// Does not promise to know every text: when it holds many it starts anew, which costs only memory.

export type Intern = (text: string) => string;
/** One value for equal keys: the first that was given. */
export type Share<T> = (key: string, value: T) => T;

// Names of every namespace and source of a large cluster; a few MiB.
const MOST = 50_000;

export function createIntern(): Intern {
  const share = createShare<string>();
  return (text) => share(text, text);
}

export function createShare<T>(): Share<T> {
  const known = new Map<string, T>();
  return (key, value) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= MOST) known.clear();
    known.set(key, value);
    return value;
  };
}
