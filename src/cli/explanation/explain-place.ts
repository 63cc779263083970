// Explains one place of a source, or one pulling object. It asks every rule in the planner's order and marks
// the one that decided. The verdict is the plan's own where the plan has a row. A plan has no rows for current
// and skipped places, and a limited number for pending ones. The verdict table then gives the verdict.
import { because, reasonText } from "../../controller/model/reasons.ts";
import type {
  CachedObject,
  ClusterState,
  PlannerSettings,
  PullingObject,
  SourceObject,
} from "../../controller/model/cluster.ts";
import { isMadeByOther } from "../../controller/desired/namespace-rules.ts";
import { targetsOf, type TargetNamespace } from "../../controller/desired/targets.ts";
import type { Row, Verdict } from "../../controller/model/verdicts.ts";
import { type Ref, refText } from "../../text/names.ts";
import {
  targetStateOf,
  unwantedVerdict,
  wantedVerdict,
} from "../../controller/plan/verdict-table.ts";
import { unknownReason, type ReaderRights } from "../../inspect/cluster/reader-rights.ts";
import { ruleAnswer, type ExplainedVerdict, type PlaceAnswer, type RuleAnswer } from "./answer.ts";
import {
  absentNamespaceAnswers,
  allowAnswers,
  excludedAnswer,
  namespaceAnswers,
} from "./explain-namespace.ts";
import { NOT_PAUSED, objectAnswers, pullAnswers } from "./explain-object.ts";
import { verdictAnswer, type Found } from "./explain-verdict.ts";
import type { PlanRows } from "./plan-rows.ts";
import { annotateSource } from "./what-to-type.ts";

type Asked = Pick<Found, "place" | "source" | "present" | "row" | "pulling"> & {
  /** About the source. */
  readonly about: readonly RuleAnswer[];
  /** About the place. */
  readonly there: readonly RuleAnswer[];
  /** The verdict if the plan has no row. */
  readonly otherwise: Verdict;
  /** Follows the reason. */
  readonly note?: string | undefined;
};

export class PlaceExplainer {
  readonly #subject: string;
  readonly #clusterState: ClusterState;
  readonly #settings: PlannerSettings;
  readonly #rights: ReaderRights;
  readonly #rows: PlanRows;
  readonly #targets: ReadonlyMap<string, TargetNamespace>;

  constructor(
    clusterState: ClusterState,
    settings: PlannerSettings,
    rows: PlanRows,
    subject: Ref,
    rights: ReaderRights,
  ) {
    this.#subject = refText(subject);
    this.#clusterState = clusterState;
    this.#settings = settings;
    this.#rights = rights;
    this.#rows = rows;
    this.#targets = new Map(
      targetsOf(clusterState, settings).map((target) => [target.name, target]),
    );
  }

  copy(source: Ref, place: Ref): PlaceAnswer {
    const object = this.#objectAt(source);
    const about = objectAnswers(source, object, this.#clusterState, this.#settings, this.#rights);
    const target = this.#targets.get(place.namespace);
    const there = !target
      ? this.#absentNamespace(place)
      : object?.role === "source"
        ? [nameAnswer(object, place), ...namespaceAnswers(object, target, this.#settings)]
        : [excludedAnswer(this.#settings, place.namespace)];
    const present = target?.secrets.get(place.name);
    const row = this.#rows.get({ place, source, pulling: false });
    const refused = refusalsIn(about, there).length > 0;
    const wanted = !refused && object?.role === "source" ? object : undefined;
    // Another source takes the copy over in one update, so this source has nothing to report.
    const taken = !row && !wanted && this.#rows.holder(place) !== undefined;
    const isOthers =
      row === undefined &&
      present?.role === "copy" &&
      refText(present.template.source) === refText(source) &&
      isMadeByOther(this.#settings, present.template);
    const planned = target && !taken ? withoutRow(wanted, source, present) : "skip";
    const otherwise = isOthers ? "frozen" : planned;
    const note = isOthers ? OTHER_INSTALLATION : undefined;
    const pulling = false;
    return this.#answer({ place, source, present, row, about, there, pulling, otherwise, note });
  }

  pull(pull: PullingObject): PlaceAnswer {
    const place = { namespace: pull.namespace, name: pull.name };
    const target = this.#targets.get(pull.namespace);
    const source = pull.from ?? place;
    const object = pull.from && this.#objectAt(source);
    const about = pullAnswers(pull, object, this.#clusterState, this.#settings, this.#rights);
    const there = target
      ? [
          excludedAnswer(this.#settings, pull.namespace),
          ...(object?.role === "source" ? allowAnswers(object, target) : []),
        ]
      : this.#absentNamespace(place);
    const row = this.#rows.get({ place, source, pulling: true });
    const otherwise = target ? "current" : "skip";
    const [present, pulling] = [pull, true];
    return this.#answer({ place, source, present, row, about, there, pulling, otherwise });
  }

  #objectAt({ namespace, name }: Ref): CachedObject | undefined {
    return this.#clusterState.objectsIn(namespace).get(name);
  }

  #absentNamespace({ namespace }: Ref): readonly RuleAnswer[] {
    return absentNamespaceAnswers(this.#settings, this.#clusterState, namespace, this.#rights);
  }

  /** Why the verdict depends on objects that the user may not read. */
  #unread(source: Ref, place: Ref, row: Row | undefined): string | undefined {
    if (row) {
      const { verdict, source: named, reason } = row;
      return unknownReason({ verdict, source: named, code: reason.code }, this.#rights);
    }
    const { settings, namespace } = this.#rights;
    return namespace(source.namespace) ?? namespace(place.namespace) ?? settings;
  }

  #answer(asked: Asked): PlaceAnswer {
    const { about, there, row, pulling } = asked;
    const place = { namespace: asked.place.namespace, name: asked.place.name };
    const source = { namespace: asked.source.namespace, name: asked.source.name };
    const unread = this.#unread(source, place, row);
    const verdict = unread === undefined ? (row?.verdict ?? asked.otherwise) : "unknown";
    const [first] = refusalsIn(about, there);
    const text = unread ?? (row && reasonText(row.reason)) ?? reasonOf(verdict, first);
    const { note } = asked;
    const reason = note === undefined ? text : `${text}; ${note}`;
    const owner = this.#objectAt(source);
    const last = verdictAnswer({
      ...asked,
      verdict,
      kind: this.#clusterState.kind,
      entry: owner?.role === "source" ? owner.entry : undefined,
      reason,
    });
    const whole =
      last.holds || last.change !== undefined ? last : { ...last, change: first?.change };
    const decided =
      verdict === "paused"
        ? (about.find(({ rule }) => rule === NOT_PAUSED) ?? whole)
        : BY_RULE.includes(verdict)
          ? (first ?? whole)
          : whole;
    return {
      place,
      source,
      verdict,
      reason,
      code: row?.reason.code,
      pulling,
      answers: [
        ...(this.#subject === refText(source) && !pulling ? [] : about),
        ...there,
        ...(verdict === "skip" ? [] : [whole]),
      ],
      decided,
      cause: row?.failure?.cause,
      due: { dueAt: row?.dueAt, removal: row?.removal },
    };
  }
}

/** The rules that keep a copy away. A paused source still wants its copies. */
function refusalsIn(...answers: readonly (readonly RuleAnswer[])[]): readonly RuleAnswer[] {
  return answers.flat().filter(({ holds, rule }) => !holds && rule !== NOT_PAUSED);
}

const OTHER_INSTALLATION = "its source belongs to another installation (--other-source-namespaces)";

/** Verdicts that the first failing rule determines. */
const BY_RULE: readonly ExplainedVerdict[] = ["skip", "delete", "release"];

function nameAnswer(source: SourceObject, place: Ref): RuleAnswer {
  const { copyName } = source.rule;
  return ruleAnswer("its copies have this name", copyName === place.name, {
    yes: `they are called ${copyName}`,
    no: `its copies are now called ${copyName} and no longer ${place.name}`,
    change: annotateSource(source, "name", place.name),
  });
}

function withoutRow(
  wanted: SourceObject | undefined,
  source: Ref,
  present: CachedObject | undefined,
): Verdict {
  const desiredCopy = wanted?.desiredCopy;
  if (present?.role === "copy") {
    if (wanted && desiredCopy)
      return wantedVerdict(targetStateOf(present, { source: wanted, desiredCopy }));
    return refText(present.template.source) === refText(source)
      ? unwantedVerdict("equal", present.template.onDelete)
      : "skip";
  }
  if (!wanted) return "skip";
  return present === undefined ? wantedVerdict("absent") : wantedVerdict("unmanaged", true);
}

function reasonOf(verdict: ExplainedVerdict, first: RuleAnswer | undefined): string {
  if (verdict === "current") return reasonText(because("Current"));
  if (verdict === "skip" || verdict === "delete" || verdict === "release")
    return first?.answer ?? "it is not wanted there";
  return reasonText(because("Queued"));
}
