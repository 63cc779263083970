// Explains one place of a source, or one pulling object: every rule in the planner's order, with a mark at the one that
// decided. The verdict is the plan's where the plan has a row, and otherwise the planner's decision for the place.
import { reasonText } from "../../controller/model/reasons.ts";
import type { CachedObject, PullingObject } from "../../controller/model/cluster.ts";
import type { TargetNamespace } from "../../controller/desired/targets.ts";
import type { Row } from "../../controller/model/verdicts.ts";
import { type Ref, refText } from "../../text/names.ts";
import { Decisions, type PullLooks } from "../../inspect/cluster/decisions.ts";
import { unknownReason } from "../../inspect/cluster/reader-rights.ts";
import type { ExplainedVerdict, Known, PlaceAnswer, RuleAnswer } from "./answer.ts";
import { absentNamespaceAnswer, copyAnswers, pullAnswers } from "./explain-namespace.ts";
import { NOT_PAUSED, pullingAnswers, sourceAnswers } from "./explain-object.ts";
import { verdictAnswer, type Found } from "./explain-verdict.ts";

/** A place and one of the sources that want it or have it. `pull`: the object there pulls from it. */
export type Pair = { readonly place: Ref; readonly source: Ref; readonly pull?: PullingObject };

export function pairKey(place: Ref, source: Ref, pulling: boolean): string {
  return `${refText(place)} ${refText(source)} ${pulling}`;
}

/** Verdicts that the first failing rule determines. */
const BY_RULE: readonly ExplainedVerdict[] = ["skip", "delete", "release"];

export class PlaceExplainer {
  readonly #known: Known;
  readonly #decisions: Decisions;
  readonly #rows: ReadonlyMap<string, Row>;

  /** `rows`: those of this kind. */
  constructor(known: Known, rows: readonly Row[], looks: PullLooks) {
    this.#known = known;
    this.#decisions = new Decisions(known.clusterState, known.settings, looks);
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
    const planned: Found["planned"] & Pick<Row, "verdict"> =
      row ?? (pull ? this.#decisions.ofPull(pull) : this.#decisions.ofCopy(source, place));
    const object = this.#objectAt(source);
    const about = pull
      ? pullingAnswers(pull, object, this.#known)
      : sourceAnswers(source, object, this.#known);
    const there = this.#there(pair, object, target);
    // A paused source still wants its copies.
    const first = [...about, ...there].find(({ holds, rule }) => !holds && rule !== NOT_PAUSED);
    const unread = this.#unread(pair, row);
    const verdict = unread === undefined ? planned.verdict : "unknown";
    const skipped = verdict === "skip" ? first?.answer : undefined;
    const reason = unread ?? skipped ?? reasonText(planned.reason);
    const entry = object?.role === "source" ? object.entry : undefined;
    const present = target?.secrets.get(place.name);
    const found = { kind, place, source: { ...source, kind, entry }, present, planned };
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

  /** Why the verdict depends on objects that the user may not read. */
  #unread({ place, source }: Pair, row: Row | undefined): string | undefined {
    const { rights } = this.#known;
    if (row) return unknownReason({ ...row, code: row.reason.code }, rights);
    return (
      rights.namespace(source.namespace) ?? rights.namespace(place.namespace) ?? rights.settings
    );
  }
}
