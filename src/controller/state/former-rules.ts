// The last rule of each source under which none of its copies awaited a removal. A way out restores it. It follows
// from no object: an edit replaces the annotations, and a deleted source leaves only marks that anybody can write.
// Promises: a rule of at most 4 KiB a source. A source that no longer exists is forgotten with its last row. No
// content and no digest leaves the process.
import { refText } from "../../text/names.ts";
import type { ListEntry } from "../annotations/list-entry.ts";
import { covers } from "../desired/targets.ts";
import type { ClusterState, CopyObject, RuleTexts, SourceObject } from "../model/cluster.ts";
import { LONGEST_RULE, type FormerEntry, type FormerRule } from "../model/former-rule.ts";
import { says } from "../model/reasons.ts";
import { placeKey } from "../model/kinds.ts";
import type { Plan } from "../model/verdicts.ts";
import { ALL_KEYS } from "../../text/key-filter.ts";

type Remembered = { readonly source: SourceObject; readonly uids: readonly string[] };

/** Recreated more often, the source has older copies that are no evidence. */
const MOST_UIDS = 4;
const MOST_ALTERED = 5;

export class FormerRules {
  readonly #clusterStates: readonly ClusterState[];
  #sources: readonly SourceObject[] = [];
  #remembered = new Map<string, Remembered>();
  #waiting: ReadonlySet<string> = new Set();

  constructor(clusterStates: readonly ClusterState[]) {
    this.#clusterStates = clusterStates;
  }

  /** The caches may change while a sync plans and writes. Its plan is about the sources of its beginning. */
  onSync(): void {
    const objects = this.#clusterStates.flatMap(({ sources }) => [...sources]);
    this.#sources = objects.filter((object): object is SourceObject => object.role === "source");
  }

  *onPlan(
    { rows, sources }: Pick<Plan, "rows" | "sources">,
    { settled }: { readonly settled: boolean },
  ): Generator<undefined, void> {
    const found = yield* stateOf({ rows, sources });
    const { waiting } = found;
    const now = new Map<string, Remembered>();
    for (const source of this.#sources) {
      const key = placeKey(source.kind, source);
      const known = this.#remembered.get(key);
      const made = found.planned.has(key) ? noted(known, source, found) : known;
      if (made) now.set(key, made);
    }
    for (const [key, known] of this.#remembered)
      if (!now.has(key) && (found.shown.has(key) || !settled)) now.set(key, known);
    this.#remembered = now;
    this.#waiting = waiting;
  }

  /** Those of sources with copies that await a removal. */
  *waiting(): Generator<FormerRule> {
    for (const key of this.#waiting) {
      const known = this.#remembered.get(key);
      const clusterState = this.#clusterStates.find(({ kind }) => kind === known?.source.kind);
      if (known && clusterState) yield ruleOf(known, clusterState);
    }
  }
}

const ROWS_PER_TURN = 1024;

/** Keys of sources. */
type Found = {
  readonly planned: ReadonlySet<string>;
  /** With a row. */
  readonly shown: ReadonlySet<string>;
  readonly waiting: ReadonlySet<string>;
  /** With copies whose removal is not decided yet. */
  readonly undecided: ReadonlySet<string>;
};

function* stateOf({ rows, sources }: Pick<Plan, "rows" | "sources">): Generator<undefined, Found> {
  const planned = new Set<string>();
  const shown = new Set<string>();
  const waiting = new Set<string>();
  const undecided = new Set<string>();
  for (const [index, { kind, source, verdict, removal, reason }] of rows.entries()) {
    const key = placeKey(kind, source);
    shown.add(key);
    if (verdict === "delete" || verdict === "release" || removal?.hold !== undefined)
      waiting.add(key);
    if (verdict === "frozen" && says(reason, "NotConfirmed")) undecided.add(key);
    if (index % ROWS_PER_TURN === 0) yield;
  }
  // A plan has rows for some of its pending places only.
  for (const { kind, source, counts } of sources) {
    const key = placeKey(kind, source);
    planned.add(key);
    if (counts.delete + counts.release > 0) waiting.add(key);
    if (counts.wait > 0) undecided.add(key);
  }
  return { planned, shown, waiting, undecided };
}

function noted(
  known: Remembered | undefined,
  source: SourceObject,
  { waiting, undecided }: Found,
): Remembered | undefined {
  if (source.problems.length > 0 || (!source.rule.to && !source.rule.allow)) return known;
  const key = placeKey(source.kind, source);
  const awaits = waiting.has(key) || undecided.has(key);
  if (awaits && !known) return undefined;
  const uids = [...new Set([...(known?.uids ?? []), source.uid])].slice(-MOST_UIDS);
  return { source: awaits && known ? known.source : source, uids };
}

function ruleOf({ source, uids }: Remembered, clusterState: ClusterState): FormerRule {
  const { kind, entry, rule, ruleTexts } = source;
  const altered = [...alteredCopies(source, clusterState)];
  return {
    kind,
    source: refText(source),
    uids,
    copyName: rule.copyName,
    texts: entry ? matchTexts(source) : ruleTexts,
    entry: entry && formerEntry(entry),
    filtered: entry ? entry.source.keys !== ALL_KEYS : ruleTexts?.keys !== undefined,
    altered: { total: altered.length, shown: altered.slice(0, MOST_ALTERED) },
  };
}

function formerEntry({ key, list, text }: ListEntry): FormerEntry {
  return { key, list, text: text.length > LONGEST_RULE ? undefined : text };
}

/** Those that decide which places an entry's object gets. */
function matchTexts({ name, rule: { to, copyName } }: SourceObject): RuleTexts | undefined {
  const texts: RuleTexts = {
    ...(to?.globs && { to: to.globs.text }),
    ...(to?.selector && { "to-selector": to.selector.text }),
    ...(to?.any === true && { match: "any" }),
    ...(copyName !== name && { name: copyName }),
  };
  const length = Object.values(texts).reduce((sum, text) => sum + text.length, 0);
  return length > LONGEST_RULE ? undefined : texts;
}

function* alteredCopies(source: SourceObject, clusterState: ClusterState): Generator<string> {
  const { copyName, to } = source.rule;
  for (const namespace of clusterState.namespaces.values()) {
    if (to === undefined || !covers(to, namespace)) continue;
    const copy = clusterState.objectsIn(namespace.name).get(copyName);
    if (copy?.role !== "copy" || refText(copy.template.source) !== refText(source)) continue;
    if (!holdsContentOf(copy, source)) yield refText(copy);
  }
}

function holdsContentOf({ template }: CopyObject, { desiredCopy }: SourceObject): boolean {
  return template.type === desiredCopy?.type && template.dataDigest === desiredCopy.dataDigest;
}
