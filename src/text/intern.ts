// One text for equal texts. A cache of a hundred thousand objects reads the same few names, types and
// digests again and again. Kept once they take less memory, and comparing them is comparing addresses.
// Promises: a text that is requested again while `objects` others are read is found. A text that nobody
// requests is dropped, so sources that change for weeks leave no trail of their old digests.
// Does not promise to know every text. An unknown text costs only memory.

export type Intern = (text: string) => string;
/** One value for equal keys: the first that was given. */
export type Share<T> = (key: string, value: T) => T;

// Names of every namespace and source of a large cluster: a few MiB, of two generations.
const MOST = 25_000;
const FEWEST = 500;
/** An object has so many texts that others may have too. */
const TEXTS_AN_OBJECT = 4;

/** `objects`: how many there are to be read, or as many as possible if that is unknown. */
export function createIntern(objects?: () => number): Intern {
  const share = createShare<string>(objects);
  return (text) => share(text, text);
}

export function createShare<T>(objects: () => number = () => MOST): Share<T> {
  let young = new Map<string, T>();
  let old: ReadonlyMap<string, T> = new Map();
  return (key, value) => {
    const known = young.get(key);
    if (known !== undefined) return known;
    const kept = old.get(key) ?? value;
    if (young.size >= FEWEST && young.size >= Math.min(MOST, TEXTS_AN_OBJECT * objects())) {
      old = young;
      young = new Map();
    }
    young.set(key, kept);
    return kept;
  };
}
