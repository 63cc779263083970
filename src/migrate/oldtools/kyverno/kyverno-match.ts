// Which namespaces a generate rule of Kyverno serves. Its relevant behaviour:
//   match and exclude are blocks. "any" is an OR over them, "all" an AND, and exclude wins
//   in a block, all fields must hold. In a list, one value must hold
//   "*" and "?" in names are those of our globs. A block with a namespaceSelector holds for no Namespace
//   preconditions must hold too. Their values are JMESPath, and a few forms are read
import { fields, objectsIn, textsOf, type RawFields } from "../old-objects.ts";
import type { OldMatch, OldTargets } from "../old-tool.ts";
import type { PatternUse } from "../patterns/old-patterns.ts";
import { conditionsOf, type Block } from "./kyverno-conditions.ts";
import { coversNamespaces, isNamespaceKind } from "./kyverno-kinds.ts";
import { readLabelSelector, requirementText } from "../label-selectors.ts";
import { stringOf, stringsOf } from "../../../controller/model/unstructured.ts";

/** `why`: only a list of the namespaces of now expresses it. `never`: it serves no namespace. */
export type KyvernoScope =
  | { readonly kind: "said"; readonly targets: OldTargets; readonly later: string | undefined }
  | { readonly kind: "listed"; readonly why: string }
  | { readonly kind: "never" };

/** Where the copies of a rule are. */
export type RulePlace = {
  readonly scope: KyvernoScope;
  /** Its copies name the Namespace that they are in as their trigger. */
  readonly byNamespace: boolean;
};

export const NAMED_BY_TRIGGER = "its copies are in a namespace that the trigger names";

export function listedPlace(why: string): RulePlace {
  return { scope: listed(why), byNamespace: false };
}

export function fixedPlace(namespace: string): RulePlace {
  const targets = { matches: [someOf([namespace], undefined)], except: [] };
  return { scope: { kind: "said", targets, later: undefined }, byNamespace: false };
}

export function scopeOf(rule: RawFields): KyvernoScope {
  if (objectsIn(rule["context"]).length > 0)
    return listed("its rule looks up other values (context)");
  if (objectsIn(rule["celPreconditions"]).length > 0)
    return listed("its rule asks by CEL (celPreconditions)");
  const matched = matchesOf(fields(rule["match"]));
  if (typeof matched === "string") return listed(matched);
  const excluded = exclusionsOf(fields(rule["exclude"]));
  if (typeof excluded === "string") return listed(excluded);
  const asked = conditionsOf(rule["preconditions"]);
  if (asked.kind === "unknown") return listed(asked.why);
  if (asked.kind === "never") return { kind: "never" };
  const blocks = [excluded.block, asked.block];
  const matches = [...matched.matches, ...blocks.flatMap(factorsOf)];
  const isSelecting = matches.some(
    (match) => match.kind === "some" && match.selector !== undefined,
  );
  const atCreation = matched.atCreation || asked.block.atCreation;
  return {
    kind: "said",
    targets: {
      matches: combined(matches),
      except: [...excluded.except, ...asked.except].map(glob),
    },
    later: atCreation && isSelecting ? AT_CREATION : undefined,
  };
}

export const AT_CREATION =
  "its rule acts on CREATE alone, so that a namespace that gets the label later is served from now on";

function listed(why: string): KyvernoScope {
  return { kind: "listed", why };
}

export function glob(pattern: string): PatternUse {
  return { engine: "glob", mode: "cover", pattern };
}

export function factorsOf({
  lists,
  requirements,
}: Pick<Block, "lists" | "requirements">): readonly OldMatch[] {
  const named = lists.map((names) => someOf(names, undefined));
  return requirements.length === 0 ? named : [...named, someOf([], requirements.join(","))];
}

function someOf(names: readonly string[], selector: string | undefined): OldMatch {
  return { kind: "some", patterns: [...new Set(names)].map(glob), selector };
}

// Selectors that must all hold are one selector.
export function combined(matches: readonly OldMatch[]): readonly OldMatch[] {
  const isSelector = (match: OldMatch): boolean =>
    match.kind === "some" && match.patterns.length === 0 && match.selector !== undefined;
  const selectors = matches.filter(isSelector);
  const rest = matches.filter((match) => !isSelector(match));
  const texts = selectors.flatMap((match) => (match.kind === "some" ? (match.selector ?? []) : []));
  const all = texts.length === 0 ? rest : [...rest, someOf([], [...new Set(texts)].join(","))];
  return all.length === 0 ? [{ kind: "all" }] : all;
}

type Matched = { readonly matches: readonly OldMatch[]; readonly atCreation: boolean };

function matchesOf(match: RawFields): Matched | string {
  const { any, all } = match;
  const [anyBlocks, allBlocks] = [objectsIn(any), objectsIn(all)];
  const isAny = anyBlocks.length > 0;
  const raw = isAny ? anyBlocks : allBlocks.length > 0 ? allBlocks : [match];
  const blocks: Block[] = [];
  for (const one of raw) {
    const block = blockOf(one, "match");
    if (typeof block === "string") return block;
    if (block) blocks.push(block);
  }
  if (blocks.length < raw.length) return OTHER_TRIGGER;
  const atCreation = blocks.some((block) => block.atCreation);
  if (!isAny || blocks.length === 1) {
    return { matches: combined(blocks.flatMap(factorsOf)), atCreation };
  }
  const union = unionOf(blocks);
  return union
    ? { matches: [union], atCreation }
    : "its rule joins names and selectors in several ways";
}

export const OTHER_TRIGGER = "its rule is triggered by objects that are no Namespace";

/** Blocks as one list and one selector, when one block is enough. Undefined when they need more. */
function unionOf(blocks: readonly Block[]): OldMatch | undefined {
  const names: string[] = [];
  const selectors = new Set<string>();
  for (const { lists, requirements } of blocks) {
    const [list, ...others] = lists;
    if (others.length > 0 || (list && requirements.length > 0)) return undefined;
    if (list) names.push(...list);
    else if (requirements.length === 0) return { kind: "all" };
    else selectors.add(requirements.join(","));
  }
  const selector = oneSelector([...selectors]);
  if (selectors.size > 0 && selector === undefined) return undefined;
  return someOf(names, selector);
}

const OF_ONE_KEY = /^([^\s,=!()]+)(?:=([^\s,=!()]*)| in \(([^()=!]*)\))$/;

// Several values of one key are one requirement.
export function oneSelector(selectors: readonly string[]): string | undefined {
  if (selectors.length < 2) return selectors[0];
  const parts = selectors.map((text) => OF_ONE_KEY.exec(text));
  const keys = new Set(parts.map((part) => part?.[1]));
  const [key] = keys;
  if (keys.size > 1 || key === undefined) return undefined;
  const values = parts.flatMap((part) => (part?.[2] ?? part?.[3] ?? "").split(","));
  return `${key} in (${[...new Set(values)].join(",")})`;
}

type Exclusions = { readonly except: readonly string[]; readonly block: Block };

function exclusionsOf(exclude: RawFields): Exclusions | string {
  const { any, all } = exclude;
  const [anyBlocks, allBlocks] = [objectsIn(any), objectsIn(all)];
  const isAll = anyBlocks.length === 0 && allBlocks.length > 0;
  const raw = anyBlocks.length > 0 ? anyBlocks : isAll ? allBlocks : [exclude];
  if (isAll && raw.length > 1) return "its exclude joins several blocks (all)";
  const except: string[] = [];
  const requirements: string[] = [];
  for (const one of raw) {
    const block = blockOf(one, "exclude");
    if (typeof block === "string") return block;
    if (!block) continue;
    const [list, ...lists] = block.lists;
    const [requirement, ...others] = block.requirements;
    const opposite = requirement === undefined ? undefined : negated(requirement);
    if (list && lists.length === 0 && requirement === undefined) except.push(...list);
    else if (!list && opposite !== undefined && others.length === 0) requirements.push(opposite);
    else return "its exclude joins names or labels in a way that no selector expresses";
  }
  return { except, block: { lists: [], requirements, atCreation: false } };
}

function negated(requirement: string): string | undefined {
  const [, key = "", operator = "", values = ""] =
    /^(!?[^\s=!]+)(?:(=| in | notin )\(?([^()]*)\)?)?$/.exec(requirement) ?? [];
  if (key === "") return undefined;
  if (operator === "") return key.startsWith("!") ? key.slice(1) : `!${key}`;
  return operator === " notin " ? `${key} in (${values})` : `${key} notin (${values})`;
}

/** Undefined: it has no effect on Namespaces. A text says why it cannot be expressed. */
function blockOf(filter: RawFields, what: "match" | "exclude"): Block | string | undefined {
  const isMatch = what === "match";
  const users = ["subjects", "roles", "clusterRoles"].find(
    (word) => objectsIn(filter[word]).length > 0,
  );
  const resources = fields(filter["resources"]);
  const { annotations, selector, namespaceSelector } = resources;
  const kinds = textsOf(resources["kinds"]) ?? [];
  if (isMatch ? kinds.length === 0 || !kinds.every(isNamespaceKind) : !mayExclude(kinds))
    return undefined;
  if (namespaceSelector !== undefined)
    return isMatch ? "its match has a namespaceSelector, which holds for no Namespace" : undefined;
  const operations = textsOf(resources["operations"]) ?? [];
  const isOfChange = operations.some((one) => one === "CREATE" || one === "UPDATE");
  if (!isMatch && operations.length > 0 && !isOfChange) return undefined;
  if (users !== undefined) return `its ${what} asks for the user of the request (${users})`;
  if (operations.length > 0 && (!isMatch || !operations.includes("CREATE")))
    return `its ${what} asks for the operation (${operations.join(", ")})`;
  if (Object.keys(fields(annotations)).length > 0) return `its ${what} asks for annotations`;
  const requirements = selector === undefined ? [] : requirementsOf(selector);
  if (typeof requirements === "string") return `its ${what} ${requirements}`;
  const lists = [
    stringOf(resources["name"]) === "" ? [] : [stringOf(resources["name"])],
    textsOf(resources["names"]) ?? [],
    textsOf(resources["namespaces"]) ?? [],
  ].filter((names) => names.length > 0);
  if (isMatch || lists.length + requirements.length > 0)
    return {
      lists,
      requirements,
      atCreation: operations.length > 0 && !operations.includes("UPDATE"),
    };
  const isEmpty = kinds.length === 0 && selector === undefined;
  return isEmpty ? undefined : "its exclude names every Namespace";
}

function mayExclude(kinds: readonly string[]): boolean {
  return kinds.length === 0 || kinds.some(coversNamespaces);
}

/** A label selector of Kubernetes as requirements. A text says why it has none. */
export function requirementsOf(selector: unknown): readonly string[] | string {
  const labels = Object.entries(stringsOf(fields(selector)["matchLabels"])).flat();
  if (labels.some((text) => /[*?]/.test(text))) return "has wildcards in its selector";
  const read = readLabelSelector(selector);
  return typeof read === "string"
    ? `has a selector that cannot be read (${read})`
    : read.map(requirementText);
}
