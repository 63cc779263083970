// What the lists of the contract match: globs, label selectors, `keys`, and which labels and annotations
// may be copied. A part of the reference model (model.ts), so it imports nothing of the program.
import { split, type Texts } from "./raw.ts";

export const isPositive = (entry: string): boolean => !entry.startsWith("!");

/** `*` is any run of characters but `/`, `?` is one of them. */
const patterns = new Map<string, RegExp>();
function matchesGlob(glob: string, name: string): boolean {
  const known = patterns.get(glob) ?? patternOf(glob);
  // Those of a run are few, except where texts are drawn at random.
  if (patterns.size < 10_000) patterns.set(glob, known);
  return known.test(name);
}
function patternOf(glob: string): RegExp {
  const escaped = glob.replaceAll(/[.\\^$+{}()|[\]]/g, "\\$&");
  const pattern = escaped.replaceAll("*", "[^/]*").replaceAll("?", "[^/]");
  return new RegExp(`^${pattern}$`, "s");
}
/** One of the `!` globs matches. */
export const isBarred = (globs: string, name: string): boolean =>
  split(globs).some((entry) => !isPositive(entry) && matchesGlob(entry.slice(1), name));
/** A positive glob matches, or there is none, and no `!` glob does; "" matches nothing. */
export function matchesGlobs(globs: string, name: string): boolean {
  const positives = split(globs).filter(isPositive);
  const named = positives.length === 0 || positives.some((entry) => matchesGlob(entry, name));
  return named && !isBarred(globs, name);
}

/** A list of at most 100 globs, and names of 64 KiB in all, each of this form. */
export function isListOf(form: RegExp, list: string): boolean {
  const isGlob = (entry: string): boolean => /[*?]/.test(entry);
  const names = split(list).filter((entry) => !isGlob(entry));
  const short = split(list).filter(isGlob).length <= 100 && names.join(",").length <= 64 * 1024;
  return short && split(list).every((entry) => form.test(entry));
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
  const globs = split(text).filter((entry) => !entry.includes("="));
  const renames = split(text).flatMap((entry) => (entry.includes("=") ? [entry.split("=")] : []));
  // Where the only positives are renames, no other key passes.
  const none = renames.length > 0 && !globs.some(isPositive);
  const moved = renames.map(([, from]) => from);
  const kept = Object.keys(data).filter(
    (key) => !none && !moved.includes(key) && matchesGlobs(globs.join(","), key),
  );
  const passing = [...kept.map((key) => [key, key]), ...renames];
  const lacks = passing.some(([, from = ""]) => data[from] === undefined);
  const twice = new Set(passing.map(([to]) => to)).size < passing.length;
  if (passing.length === 0 || lacks || twice) return undefined;
  return Object.fromEntries(passing.map(([to = "", from = ""]) => [to, data[from] ?? ""]));
}

// The contract's own list, what is left out of it, and what the administrator cannot take off it.
const NEVER_COPIED =
  "secretcast.io/*,kubernetes.io/*,*.kubernetes.io/*,*argoproj.io/*,*fluxcd.io/*,helm.sh/*,meta.helm.sh/*,owner,sealedsecrets.bitnami.com/*,cert-manager.io/*,clustersecret.io,kopf.zalando.org/*,projection.sh/*";
const COPIED = "app.kubernetes.io/*,!app.kubernetes.io/instance,!app.kubernetes.io/managed-by";
const NEVER_TAKEN_OFF = "secretcast.io/*,kubectl.kubernetes.io/*,app.kubernetes.io/managed-by";

/** Of labels or annotations those that `globs` names and that may be copied; `copyable`: the flag. */
export function copiedKeys(globs: string, all: Texts, copyable: string): Texts {
  const takenOff = (key: string): boolean =>
    matchesGlobs(copyable, key) && !matchesGlobs(NEVER_TAKEN_OFF, key);
  const may = (key: string): boolean =>
    matchesGlobs(COPIED, key) || !matchesGlobs(NEVER_COPIED, key) || takenOff(key);
  return Object.fromEntries(
    Object.entries(all).filter(([key]) => matchesGlobs(globs, key) && may(key)),
  );
}
