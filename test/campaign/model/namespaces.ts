// What the flags and a namespace's own words say of it, and which namespaces a source names. A part of
// the reference model (model.ts), so it imports nothing of the program.
import { isBarred, isListOf, isPositive, matchesGlobs, matchesSelector } from "./patterns.ts";
import { isEnding, placeOf, split, wordOf } from "./raw.ts";
import type { Flags, Raw, Source, Texts } from "./raw.ts";

/** Namespaces of every name publish by this entry of --source-namespaces. */
const isEveryName = (entry: string): boolean => /^[*?]*\*[*?]*$/.test(entry);
const isServed = (namespace: string, { namespaces }: Flags): boolean =>
  namespaces === "" || split(namespaces).includes(namespace);
export const isRead = (namespace: string, flags: Flags): boolean =>
  isServed(namespace, flags) || split(flags.sourceNamespaces).includes(namespace);
/** Its place in the order of --source-namespaces; -1: it is none of them. */
export function rankOf(namespace: string, { sourceNamespaces }: Flags): number {
  if (!matchesGlobs(sourceNamespaces, namespace)) return -1;
  const order = [...split(sourceNamespaces).filter(isPositive), "*"];
  return order.findIndex((entry) => matchesGlobs(entry, namespace));
}
export function publishesByName(namespace: string, { sourceNamespaces }: Flags): boolean {
  const named = split(sourceNamespaces).filter((entry) => !isEveryName(entry));
  return named.some(isPositive) && matchesGlobs(named.join(","), namespace);
}

const SYSTEM = ["kube-system", "kube-public", "kube-node-lease"];
/** Never a target: excluded, of the system, or not served. */
export function isExcluded(namespace: string, flags: Flags): boolean {
  const { exclude, ownNamespace, includeSystem } = flags;
  const ofSystem = !includeSystem && [...SYSTEM, ownNamespace].includes(namespace);
  return ofSystem || matchesGlobs(exclude, namespace) || !isServed(namespace, flags);
}

/** Which copies a namespace takes; `kept`: nothing new. */
export function acceptance(namespace: Raw, source: string, { policy, sourceNamespaces }: Flags) {
  const positives = split(sourceNamespaces).filter(isPositive);
  const everybody = positives.length === 0 || positives.some(isEveryName);
  const silent = (policy ?? (everybody ? "opt-in" : "opt-out")) === "opt-out" ? "yes" : "kept";
  const said = wordOf(namespace, "accept");
  if (said === undefined) return silent;
  if (said === "true" || said === "false") return said === "true" ? "yes" : "no";
  if (!isListOf(/^!?[-*?a-z0-9]+\/[-*?.a-z0-9]+$/, said)) return "unclear";
  return matchesGlobs(said, source) ? "yes" : "no";
}

/** The list and the selector of a source hold for a namespace: both, or by `match: any` one. */
function covers(words: Texts, word: "to" | "allow", { metadata }: Raw): boolean {
  const [globs, selector] = [words[word], words[`${word}-selector`]];
  const answers: readonly boolean[] = [
    ...(globs === undefined ? [] : [matchesGlobs(globs, metadata.name)]),
    ...(selector === undefined ? [] : [matchesSelector(selector, metadata.labels ?? {}) === true]),
  ];
  const enough = words["match"] === "any" || !answers.includes(false);
  return enough && answers.includes(true) && !isBarred(globs ?? "", metadata.name);
}

/** Does `source` want a place in `namespace`; `there`: a copy of it is there already. */
export function pushes(source: Source, namespace: Raw, flags: Flags, there = false): boolean {
  const { raw, words } = source;
  const { name } = namespace.metadata;
  const accepts = acceptance(namespace, placeOf(raw), flags);
  const takes = accepts === "yes" || (accepts === "kept" && there);
  const open = raw.metadata.namespace !== name && !isEnding(namespace) && !isExcluded(name, flags);
  return open && takes && covers(words, "to", namespace);
}

/** May a pulling object in `namespace` have what `source` offers. */
export const allows = ({ words }: Source, namespace: Raw, flags: Flags): boolean =>
  !isExcluded(namespace.metadata.name, flags) && covers(words, "allow", namespace);
