// The words of the contract that match: lists of globs, label selectors, keys of data and of metadata. It
// imports nothing of the program, so an error there is not repeated here.

export type Texts = Readonly<Record<string, string>>;

export const split = (text: string): readonly string[] =>
  text.split(",").map((part) => part.trim());
export const glob = (text: string): RegExp =>
  new RegExp(
    `^${text
      .replaceAll(/[.\\^$+{}()|[\]]/g, "\\$&")
      .replaceAll("*", "[^/]*")
      .replaceAll("?", "[^/]")}$`,
    "s",
  );

export function matchesGlobs(text: string, name: string): boolean {
  const entries = split(text);
  const positives = entries.filter((entry) => !entry.startsWith("!"));
  const hit = (entry: string): boolean => glob(entry).test(name);
  return (
    (positives.length === 0 || positives.some(hit)) &&
    !entries.some((entry) => entry.startsWith("!") && hit(entry.slice(1)))
  );
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
  const entries = split(text);
  if (entries.some((entry) => !/^(![-._*?\w]+|[-._*?\w]+|[-._\w]+=[-._\w]+)$/.test(entry)))
    return undefined;
  const renames = entries.filter((entry) => entry.includes("="));
  const globs = entries.filter((entry) => !entry.includes("="));
  const moved = new Set(renames.map((entry) => entry.split("=")[1] ?? ""));
  const wanted =
    globs.length === 0 || (renames.length > 0 && globs.every((one) => one.startsWith("!")))
      ? () => false
      : (key: string) => matchesGlobs(globs.join(","), key);
  const kept = Object.entries(data).filter(([key]) => !moved.has(key) && wanted(key));
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
const mayCopy = (key: string): boolean =>
  key.startsWith("app.kubernetes.io/") ? !/\/(instance|managed-by)$/.test(key) : !NEVER.test(key);
export const pickKeys = (globs: string | undefined, all: Texts = {}): Texts =>
  Object.fromEntries(
    Object.entries(all).filter(
      ([key]) => globs !== undefined && mayCopy(key) && matchesGlobs(globs, key),
    ),
  );
