// Explains one place of a source, or one pulling object: every rule in the planner's order, with a mark at the one that
// decided. The verdict is the plan's where the plan has a row, and otherwise the planner's decision for the place.
import { because, reasonText, type Reason } from "../../controller/model/reasons.ts";
import type { CachedObject, PullingObject } from "../../controller/model/cluster.ts";
import type { TargetNamespace } from "../../controller/desired/targets.ts";
import type { Row, Verdict } from "../../controller/model/verdicts.ts";
import { type Ref, refText } from "../../text/names.ts";
import type { Decision, Stays } from "../../controller/plan/decide.ts";
import type { PullDecision } from "../../controller/plan/decide-pull.ts";
import { unwantedVerdict } from "../../controller/plan/verdict-table.ts";
import { Decisions } from "../../inspect/cluster/decisions.ts";
import { unknownReason } from "../../inspect/cluster/reader-rights.ts";
import type { ExplainedVerdict, Known, PlaceAnswer, RuleAnswer } from "./answer.ts";
import { absentNamespaceAnswer, copyAnswers, pullAnswers } from "./explain-namespace.ts";
import { NOT_PAUSED, pullingAnswers, sourceAnswers } from "./explain-object.ts";
import { verdictAnswer } from "./explain-verdict.ts";

/** A place and one of the sources that want it or have it. `pull`: the object there pulls from it. */
export type Pair = { readonly place: Ref; readonly source: Ref; readonly pull?: PullingObject };

export function pairKey(place: Ref, source: Ref, pulling: boolean): string {
  return `${refText(place)} ${refText(source)} ${pulling}`;
}

/** What the planner decides. A skipped place has no text: the first failing rule says why. */
type Decided = { readonly verdict: Verdict; readonly text?: string };

const SKIP: Decided = { verdict: "skip" };
const OTHERS: Decided = {
  verdict: "frozen",
  text: "its source belongs to another installation (--other-source-namespaces)",
};
/** Verdicts that the first failing rule determines. */
const BY_RULE: readonly ExplainedVerdict[] = ["skip", "delete", "release"];

export class PlaceExplainer {
  readonly #known: Known;
  readonly #decisions: Decisions;
  readonly #rows: ReadonlyMap<string, Row>;

  /** `rows`: those of this kind. */
  constructor(known: Known, rows: readonly Row[]) {
    this.#known = known;
    this.#decisions = new Decisions(known.clusterState, known.settings);
    this.#rows = new Map(rows.map((row) => [pairKey(row.place, row.source, row.pulling), row]));
  }

  explain(pair: Pair): PlaceAnswer {
    const { pull } = pair;
    const { kind } = this.#known.clusterState;
    const place = { namespace: pair.place.namespace, name: pair.place.name };
    const source = { namespace: pair.source.namespace, name: pair.source.name };
    const pulling = pull !== undefined;
    const target = this.#decisions.target(place.namespace);
    const row = this.#rows.get(pairKey(place, source, pulling));
    const planned = row ? decided(row.verdict, row.reason) : this.#decided(pair, target);
    const object = this.#objectAt(source);
    const about = pull
      ? pullingAnswers(pull, object, this.#known)
      : sourceAnswers(source, object, this.#known);
    const there = this.#there(pair, object, target);
    // A paused source still wants its copies.
    const first = [...about, ...there].find(({ holds, rule }) => !holds && rule !== NOT_PAUSED);
    const unread = this.#unread(pair, row);
    const verdict = unread === undefined ? planned.verdict : "unknown";
    const reason = unread ?? planned.text ?? first?.answer ?? "it is not wanted there";
    const entry = object?.role === "source" ? object.entry : undefined;
    const present = target?.secrets.get(place.name);
    const found = { kind, place, source: { ...source, kind, entry }, present, row };
    const last = verdictAnswer({ verdict, reason, pulling }, found, first?.change);
    const paused = about.find(({ rule }) => rule === NOT_PAUSED);
    const byRule = verdict === "paused" ? paused : BY_RULE.includes(verdict) ? first : undefined;
    return {
      place,
      source,
      verdict,
      reason,
      code: row?.reason.code,
      pulling,
      answers: [...about, ...there, ...(verdict === "skip" ? [] : [last])],
      decided: byRule ?? last,
      due: { dueAt: row?.dueAt, removal: row?.removal },
    };
  }

  #objectAt({ namespace, name }: Ref): CachedObject | undefined {
    return this.#known.clusterState.objectsIn(namespace).get(name);
  }

  #there(
    { place, pull }: Pair,
    object: CachedObject | undefined,
    target: TargetNamespace | undefined,
  ): readonly RuleAnswer[] {
    if (!target) return [absentNamespaceAnswer(place.namespace, this.#known)];
    const { settings } = this.#known;
    return pull
      ? pullAnswers(pull, object, target, settings)
      : copyAnswers(object, place, target, settings);
  }

  #decided({ place, source, pull }: Pair, target: TargetNamespace | undefined): Decided {
    if (!target) return SKIP;
    if (pull) return decidedForPull(this.#decisions.of(target, pull));
    const present = target.secrets.get(place.name);
    return decidedFor(refText(source), this.#decisions.at(target, place.name), present);
  }

  /** Why the verdict depends on objects that the user may not read. */
  #unread({ place, source }: Pair, row: Row | undefined): string | undefined {
    const { rights } = this.#known;
    if (row) return unknownReason({ ...row, code: row.reason.code }, rights);
    return (
      rights.namespace(source.namespace) ?? rights.namespace(place.namespace) ?? rights.settings
    );
  }
}

function decided(verdict: Verdict, reason: Reason): Decided {
  return { verdict, text: reasonText(reason) };
}

/** What a decision gives one source. While a take-over waits, the sources that wait for it have rows. */
function decidedFor(
  source: string,
  decision: Decision,
  present: CachedObject | undefined,
): Decided {
  switch (decision.kind) {
    case "skip":
      return SKIP;
    case "stays": {
      const { verdict, reason, isOthers = false } = decision;
      if (refText(decision.source) !== source) return lostBy(source, decision);
      return isOthers ? OTHERS : decided(verdict, reason);
    }
    case "given": {
      const { verdict, reason, winner, meanwhile } = decision;
      if (winner.text === source)
        return decided(verdict, verdict === "current" ? because("Current") : reason);
      return meanwhile ? decidedFor(source, meanwhile, present) : lostBy(source, decision);
    }
    case "unwanted": {
      const { onDelete, removalReason, successor } = decision;
      if (present?.role !== "copy" || refText(present.template.source) !== source)
        return successor ? decidedFor(source, successor, present) : SKIP;
      const state = present.deleting ? "deleting" : "equal";
      return decided(unwantedVerdict(state, onDelete), removalReason.reason);
    }
  }
}

function lostBy(source: string, { losers, lost }: Pick<Stays, "losers" | "lost">): Decided {
  return lost && losers.some(({ text }) => text === source)
    ? decided("conflict", lost.reason)
    : SKIP;
}

function decidedForPull(decision: PullDecision): Decided {
  switch (decision.kind) {
    case "stays":
      return decided(decision.verdict, decision.reason);
    case "others":
      return OTHERS;
    case "current":
      return decided("current", because("Current"));
    case "fill":
      return decided("update", because("EntriesDiffer"));
    case "unwanted":
      return decided("release", decision.removalReason.reason);
  }
}
