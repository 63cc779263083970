// The words of the contract that match: lists of globs, label selectors, keys of data and of metadata. It
// imports nothing of the program, so an error there is not repeated here.

export type Texts = Readonly<Record<string, string>>;

export const split = (text: string): readonly string[] =>
  text.split(",").map((part) => part.trim());
export const isPositive = (entry: string): boolean => !entry.startsWith("!");

const compiled = new Map<string, RegExp>();
export function glob(text: string): RegExp {
  const escaped = text.replaceAll(/[.\\^$+{}()|[\]]/g, "\\$&");
  const pattern = escaped.replaceAll("*", "[^/]*").replaceAll("?", "[^/]");
  const found = compiled.get(text) ?? new RegExp(`^${pattern}$`, "s");
  compiled.set(text, found);
  return found;
}

export function matchesGlobs(text: string, name: string): boolean {
  const positives = split(text).filter(isPositive);
  const barred = split(text).some((one) => !isPositive(one) && glob(one.slice(1)).test(name));
  return !barred && (positives.length === 0 || positives.some((one) => glob(one).test(name)));
}

const TERM =
  /^(?:(?<not>!)?(?<there>[-./\w]+)|(?<key>[-./\w]+)\s*(?<op>==|=|!=)\s*(?<value>[-.\w]*)|(?<set>[-./\w]+)\s+(?<how>in|notin)\s+\((?<values>[^()]*)\))$/;

/** undefined: not a selector. */
export function matchesSelector(text: string, labels: Texts): boolean | undefined {
  const terms = text.split(/,(?![^(]*\))/).map((term) => TERM.exec(term.trim())?.groups);
  if (terms.some((term) => term === undefined)) return undefined;
  return terms.every((term) => {
    const { not, there, key, op, value, set, how, values = "" } = term ?? {};
    if (there !== undefined) return Object.hasOwn(labels, there) !== (not === "!");
    if (key !== undefined) return (labels[key] === value) === (op !== "!=");
    return split(values).includes(labels[set ?? ""] ?? "\n") === (how === "in");
  });
}

/** What `keys` lets through; undefined: it refuses the source. */
export function filterKeys(text: string | undefined, data: Texts): Texts | undefined {
  if (text === undefined) return data;
  const renames = split(text).filter((entry) => entry.includes("="));
  const globs = split(text).filter((entry) => !entry.includes("="));
  const moved = new Set(renames.map((entry) => entry.split("=")[1] ?? ""));
  // Exclusions start from everything, but beside a rename they take nothing in.
  const none = globs.length === 0 || (renames.length > 0 && !globs.some(isPositive));
  const kept = Object.entries(data).filter(
    ([key]) => !none && !moved.has(key) && matchesGlobs(globs.join(","), key),
  );
  const renamed = renames.map((entry): [string, string | undefined] => {
    const [to = "", from = ""] = entry.split("=");
    return [to, data[from]];
  });
  const all = [...kept, ...renamed];
  if (all.length === 0 || renamed.some(([, value]) => value === undefined)) return undefined;
  if (new Set(all.map(([key]) => key)).size < all.length) return undefined;
  return Object.fromEntries(all.map(([key, value]) => [key, value ?? ""]));
}

const NEVER =
  /^(secretcast\.io\/|(.*\.)?kubernetes\.io\/|[^/]*(argoproj|fluxcd)\.io\/|(meta\.)?helm\.sh\/|owner$|sealedsecrets\.bitnami\.com\/|cert-manager\.io\/)/;
const NO_FLAG_HELPS =
  /^(secretcast\.io\/|kubectl\.kubernetes\.io\/|app\.kubernetes\.io\/managed-by$)/;
const isHarmless = (key: string): boolean =>
  key.startsWith("app.kubernetes.io/") ? !/\/(instance|managed-by)$/.test(key) : !NEVER.test(key);

/** Of the labels or annotations those that are copied; `copyable`: what the administrator adds. */
export function pickKeys(globs: string | undefined, all: Texts = {}, copyable = ""): Texts {
  const may = (key: string): boolean =>
    isHarmless(key) || (copyable !== "" && !NO_FLAG_HELPS.test(key) && matchesGlobs(copyable, key));
  const picked = Object.entries(all).filter(
    ([key]) => globs !== undefined && may(key) && matchesGlobs(globs, key),
  );
  return Object.fromEntries(picked);
}
