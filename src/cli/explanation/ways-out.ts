// The two ways to settle the removals of one source, as complete commands: to keep the copies, or to remove them now.
// A way out restores the rule that the controller remembers. Copies are never evidence for which namespaces get the
// value. They are evidence for the content of a deleted source only if all that its rule covered agree.
import type {
  CachedObject,
  ClusterState,
  CopyObject,
  RuleTexts,
} from "../../controller/model/cluster.ts";
import { entryText } from "../../controller/annotations/list-entry.ts";
import { parseSource } from "../../controller/annotations/parse.ts";
import {
  annotationKey,
  PREFIX,
  SOURCE_ANNOTATIONS,
} from "../../controller/annotations/vocabulary.ts";
import { covers } from "../../controller/desired/targets.ts";
import { formerRuleOf, type FormerRule } from "../../controller/model/former-rule.ts";
import { listed } from "../../text/listed.ts";
import { type Ref, refText } from "../../text/names.ts";
import type { PlaceAnswer, RuleAnswer } from "./answer.ts";
import { ACCEPTS } from "./explain-namespace.ts";
import {
  annotate,
  LONGEST_COMMAND,
  patchList,
  recreateSource,
  removeNow,
  unnamed,
  type AnnotationChanges,
  type Home,
} from "./commands.ts";

export type WaysOut = {
  readonly source: Ref;
  readonly count: number;
  /** Commands to run in this order. When empty, `note` says why. */
  readonly keep: readonly string[];
  /** Commands. */
  readonly remove: readonly string[];
  readonly note: string | undefined;
};

/** `places`: those of an explanation. `former`: what a running controller remembers. */
export function waysOut(
  clusterState: ClusterState,
  places: readonly PlaceAnswer[],
  former: readonly FormerRule[],
): readonly WaysOut[] {
  const groups = Map.groupBy(places.filter(awaitsRemoval), ({ source }) => refText(source));
  return Array.from(groups.values(), (members) => {
    const [{ source }] = members as [PlaceAnswer, ...PlaceAnswer[]];
    const rule = formerRuleOf(former, clusterState.kind, source);
    return wayOut(clusterState, source, members, rule);
  });
}

export function awaitsRemoval({ verdict, pulling, due }: PlaceAnswer): boolean {
  if (pulling) return false;
  return verdict === "delete" || verdict === "release" || due.removal?.hold !== undefined;
}

function wayOut(
  clusterState: ClusterState,
  source: Ref,
  members: readonly PlaceAnswer[],
  rule: FormerRule | undefined,
): WaysOut {
  const { kind } = clusterState;
  const kept = keep(clusterState, source, members, rule);
  const isShort = kept.commands.every(({ length }) => length <= LONGEST_COMMAND);
  const ends = Map.groupBy(members, ({ verdict, due }) =>
    verdict === "release" || due.removal?.end === "release" ? "release" : "delete",
  );
  const rest = unnamed(members.length);
  const notes = [
    isShort ? kept.note : "the command that keeps them is too long to be typed",
    rest > 0 ? `${rest} more copies are not named: run this again` : undefined,
  ].filter((each) => each !== undefined);
  return {
    source,
    count: members.length,
    keep: isShort ? kept.commands : [],
    remove: (["delete", "release"] as const).flatMap((end) =>
      removeNow(
        kind,
        (ends.get(end) ?? []).map(({ place }) => place),
        end,
      ),
    ),
    note: notes.length > 0 ? notes.join("; ") : undefined,
  };
}

type Kept = { readonly commands: readonly string[]; readonly note?: string | undefined };

function note(text: string): Kept {
  return { commands: [], note: text };
}

function keep(
  clusterState: ClusterState,
  source: Ref,
  members: readonly PlaceAnswer[],
  rule: FormerRule | undefined,
): Kept {
  const refusing = members.filter(({ answers }) => firstNo(answers)?.rule === ACCEPTS);
  if (refusing.length === members.length) return acceptAgain(refusing);
  const { kind } = clusterState;
  const text = refText(source);
  const object = clusterState.objectsIn(source.namespace).get(source.name);
  if (!rule)
    return note(
      `which rule ${text} had before is not known: no controller that saw it was asked, so no command keeps the copies`,
    );
  if (rule.texts === undefined || (rule.entry && rule.entry.text === undefined))
    return note(`the former rule of ${text} is longer than what a controller remembers`);
  if (!object) return recreated(clusterState, source, { ...rule, texts: rule.texts });
  if (!rule.uids.includes(object.uid) && object.role !== "source")
    return note(`the ${kind} ${text} that is there now was never the source of these copies`);
  if (object.role !== "source" && object.role !== "unmanaged")
    return note(`${text} is itself a copy or a pulling ${kind} now`);
  if (rule.entry) return restoredEntry(clusterState, source, rule);
  if (object.role === "source" && object.entry)
    return note(`the entry ${object.entry.key} of the source list decides about ${text} now`);
  const changes = differences(rule.texts, object);
  if (Object.keys(changes).length > 0) return { commands: [annotate(kind, source, changes)] };
  const places = members.filter(({ answers }) => firstNo(answers)?.rule !== ACCEPTS);
  const where = listed(
    places.map(({ place }) => refText(place)),
    MOST_NAMED,
  );
  return note(
    `the rule of ${text} is what it was, and does not cover ${where}: if the labels of a namespace were changed, put them back`,
  );
}

function firstNo(answers: readonly RuleAnswer[]): RuleAnswer | undefined {
  return answers.find(({ holds }) => !holds);
}

const MOST_NAMESPACES = 8;

/** The source wants these places. Their namespaces do not accept it. */
function acceptAgain(members: readonly PlaceAnswer[]): Kept {
  const commands = [...new Set(members.flatMap(({ answers }) => firstNo(answers)?.change ?? []))];
  const rest = commands.length - MOST_NAMESPACES;
  return {
    commands: commands.slice(0, MOST_NAMESPACES),
    note: rest > 0 ? `${rest} more namespaces are not named` : undefined,
  };
}

/** What makes the annotations of the object those of the rule. */
function differences(texts: RuleTexts, object: CachedObject): AnnotationChanges {
  const now = (object.role === "source" ? object.ruleTexts : undefined) ?? {};
  const changed = SOURCE_ANNOTATIONS.filter((name) => texts[name] !== now[name]);
  return Object.fromEntries(changed.map((name) => [annotationKey(name), texts[name]]));
}

function annotationsOf(texts: RuleTexts): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [`${PREFIX}${name}`, text]),
  );
}

function restoredEntry(clusterState: ClusterState, source: Ref, { entry }: FormerRule): Kept {
  const { list, kind } = clusterState;
  if (!entry || list?.state !== "read" || refText(list.ref) !== entry.list)
    return note("the source list that had its entry cannot be read");
  const known = list.of(source);
  if (known?.text === entry.text) return note("its entry of the source list is what it was");
  const isFree = list.get(entry.key) === undefined;
  const key = known?.key ?? (isFree ? entry.key : `${source.namespace}.${source.name}`);
  const { namespace, name } = source;
  const text = entryText({ kind, namespace, name }, {}, entry.text);
  if (text === undefined) return note("the former text of its entry is not valid");
  return { commands: [patchList(list.ref, key.slice(0, LONGEST_KEY), text)] };
}

const LONGEST_KEY = 253;

type KnownRule = FormerRule & { readonly texts: RuleTexts };

/** The source from a copy, and its entry. */
function recreated(clusterState: ClusterState, source: Ref, rule: KnownRule): Kept {
  const text = refText(source);
  const votes = votingCopies(clusterState, source, rule);
  const contents = [
    ...Map.groupBy(votes, ({ template }) => `${template.type} ${template.dataDigest}`).values(),
  ];
  const where = contents.map((copies) => listed(copies.map(refText), MOST_NAMED)).join(" | ");
  const [copy] = votes;
  if (!copy) return note(`no copy of ${text} is left at a place that its rule covered`);
  if (rule.filtered)
    return note(`with ${annotationKey("keys")}, no copy has the whole content of ${text}`);
  if (contents.length > 1)
    return note(`the copies of ${text} have ${contents.length} contents: ${where}`);
  if (rule.altered.total > 0)
    return note(`copies do not hold what ${text} held: ${listed(rule.altered.shown, MOST_NAMED)}`);
  const home = homeOf(clusterState, source.namespace);
  const own = rule.entry ? {} : annotationsOf(rule.texts);
  const again = recreateSource(clusterState.kind, source, copy, own, home);
  const { list } = clusterState;
  if (!rule.entry || (list?.state === "read" && list.of(source))) return { commands: [again] };
  const entry = restoredEntry(clusterState, source, rule);
  return entry.commands.length > 0 ? { commands: [again, ...entry.commands] } : entry;
}

const MOST_NAMED = 3;

/** One for each namespace: at the source's copy name, where its rule covered it, with a UID that it had. */
function votingCopies(
  clusterState: ClusterState,
  source: Ref,
  { texts, uids, copyName }: KnownRule,
): readonly CopyObject[] {
  const { to } = parseSource(annotationsOf(texts), source.name).rule;
  return [...clusterState.namespaces.values()]
    .filter((namespace) => to !== undefined && covers(to, namespace))
    .flatMap(({ name }) => clusterState.objectsIn(name).get(copyName) ?? [])
    .filter((object): object is CopyObject => object.role === "copy" && !object.deleting)
    .filter(
      ({ template }) =>
        refText(template.source) === refText(source) && uids.includes(template.sourceUid),
    )
    .toSorted((a, b) => (a.namespace < b.namespace ? -1 : 1));
}

function homeOf({ namespaces }: ClusterState, name: string): Home {
  const namespace = namespaces.get(name);
  if (!namespace) return "absent";
  return namespace.terminating ? "terminating" : "there";
}
