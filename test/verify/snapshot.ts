// A copy of what the process remembers, and its canonical text: times as what has passed since, UIDs and
// versions by what they are of now. Works by reflection, so a new memory needs nothing here. hooks.ts
// makes private fields readable.

/** Every time is larger, and no other number is. */
export const FIRST_MS = 1e12;

const immutable = new WeakSet<object>();
const immutableClasses = new Set<unknown>();

/** No instance of it ever changes. */
export function keepInstances(of: unknown): void {
  immutableClasses.add(of);
}

/** It never changes, so copies share it. */
export function keep<T>(value: T): T {
  const keepAll = (one: unknown): void => {
    if (typeof one !== "object" || one === null || immutable.has(one)) return;
    immutable.add(one);
    if (one instanceof Map) for (const each of one.values()) keepAll(each);
    else for (const each of Object.values(one)) keepAll(each);
  };
  keepAll(value);
  return value;
}

function isImmutable(value: object): boolean {
  return immutable.has(value) || immutableClasses.has(value.constructor);
}

/** Times that order writes and decide nothing: each sync makes them anew from those before. */
const ORDERS_ONLY = new Set(["dueSince", "reportedSince"]);

export function copyOf<T>(value: T): T {
  return copied(value, new Map()) as T;
}

function copied(value: unknown, done: Map<object, unknown>): unknown {
  if (typeof value !== "object" || value === null || isImmutable(value)) return value;
  const known = done.get(value);
  if (known !== undefined) return known;
  if (value instanceof Map) {
    const made = new Map();
    done.set(value, made);
    for (const [key, each] of value) made.set(key, copied(each, done));
    return made;
  }
  if (value instanceof Set) {
    const made = new Set(value);
    done.set(value, made);
    return made;
  }
  // What cannot be listed is a cache of what is known anyway.
  if (value instanceof WeakMap) return new WeakMap();
  if (value instanceof Int32Array) return value.slice();
  const made = Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value));
  done.set(value, made);
  const [from, to] = [value as Record<string, unknown>, made as Record<string, unknown>];
  for (const key of Object.keys(value))
    to[key] = ORDERS_ONLY.has(key)
      ? Object.assign(Object.create(Object.getPrototypeOf(from[key])), from[key])
      : copied(from[key], done);
  return made;
}

/** Fields that order or show, and decide nothing. */
const SHOWN_ONLY = new Set([
  "dueSince",
  "reportedSince",
  "shared",
  "deleteGuard",
  "beganAt",
  "__left",
  "__now",
  "__used",
  // Syncs are counted.
  "__sync",
  "usedIn",
]);

export type Naming = {
  readonly time: (ms: number) => string;
  readonly text: (text: string) => string;
};

export function textOf(value: unknown, naming: Naming): string {
  if (value === undefined || typeof value === "function" || value instanceof WeakMap) return "";
  if (typeof value === "number") return value >= FIRST_MS ? naming.time(value) : String(value);
  if (typeof value === "string") return naming.text(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  if (value instanceof Map) {
    if (value.size === 0) return "";
    const entries = Array.from(
      value,
      ([key, each]) => `${textOf(key, naming)}=${textOf(each, naming)}`,
    );
    return `{${entries.toSorted().join(",")}}`;
  }
  if (value instanceof Set)
    return `(${Array.from(value, (each) => textOf(each, naming))
      .toSorted()
      .join(",")})`;
  if (isImmutable(value)) {
    const { uid, resourceVersion } = value as { uid?: string; resourceVersion?: string };
    return uid === undefined ? "~" : naming.text(`${uid} ${resourceVersion}`);
  }
  const own = Object.entries(value).flatMap(([key, each]) => {
    if (SHOWN_ONLY.has(key)) return [];
    const text = textOf(each, naming);
    return text === "" ? [] : [`${key}:${text}`];
  });
  return own.length === 0 ? "" : `<${own.join(",")}>`;
}
