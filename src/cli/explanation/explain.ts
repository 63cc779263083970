// Explains why an object is, or is not, copied to a place. It asks every rule in the planner's order and
// marks the one that decided. The verdict is the plan's own where the plan has a row. A plan has no rows
// for current and skipped places, and a limited number for pending ones. The verdict table then gives the
// verdict.
import { because, reasonText } from "../../controller/model/reasons.ts";
import type {
  CachedObject,
  ClusterState,
  PlannerSettings,
  PullingObject,
  SourceObject,
} from "../../controller/model/cluster.ts";
import { isNameRead } from "../../controller/annotations/name-scope.ts";
import { isOfOtherInstallation } from "../../controller/desired/namespace-rules.ts";
import { covers, targetsOf, type TargetNamespace } from "../../controller/desired/targets.ts";
import {
  typeDifference,
  type Plan,
  type Row,
  type Verdict,
} from "../../controller/model/verdicts.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { type Ref, refText } from "../../text/names.ts";
import {
  targetStateOf,
  unwantedVerdict,
  wantedVerdict,
} from "../../controller/plan/verdict-table.ts";
import {
  ALL_RIGHTS,
  unknownReason,
  type ReaderRights,
} from "../../inspect/cluster/reader-rights.ts";
import { ruleAnswer, type ExplainedVerdict, type PlaceAnswer, type RuleAnswer } from "./answer.ts";
import {
  absentNamespaceAnswers,
  allowAnswers,
  excludedAnswer,
  namespaceAnswers,
} from "./explain-namespace.ts";
import { NOT_PAUSED, objectAnswers, pullAnswers } from "./explain-object.ts";
import { verdictAnswer } from "./explain-verdict.ts";
import { waysOut, type WaysOut } from "./ways-out.ts";
import { sourceWord } from "./what-to-type.ts";

export type Explanation = {
  readonly kind: ObjectKind;
  readonly subject: Ref;
  readonly is: "source" | "copy" | "pulling" | "other" | "absent" | "unknown";
  /** About the object itself. */
  readonly answers: readonly RuleAnswer[];
  /** The places that the object is copied to, pulled from or conflicts with, sorted by namespace. */
  readonly places: readonly PlaceAnswer[];
  /** For copies that are to be removed: how to keep them, and how to remove them now. */
  readonly waysOut: readonly WaysOut[];
};

type ExplainOptions = {
  /** Limits the answer to this namespace. Undefined means every namespace. */
  readonly namespace?: string | undefined;
  readonly rights?: ReaderRights;
};

export function explain(
  clusterState: ClusterState,
  settings: PlannerSettings,
  plan: Plan,
  subject: Ref,
  { namespace, rights = ALL_RIGHTS }: ExplainOptions = {},
): Explanation {
  const object = clusterState.objectsIn(subject.namespace).get(subject.name);
  const walk = new Walk(clusterState, settings, plan, subject, rights);
  const places = [
    ...(object?.role === "source" ? walk.wanted(object, namespace) : walk.named(subject)),
    ...walk.pulledFrom(subject),
    ...(object ? walk.own(object) : walk.missing(subject)),
  ];
  const shown = places
    .filter(({ place }) => namespace === undefined || place.namespace === namespace)
    .toSorted(byPlace);
  return {
    kind: clusterState.kind,
    subject: { namespace: subject.namespace, name: subject.name },
    is: kindOf(
      object,
      rights.namespace(subject.namespace) !== undefined ||
        !isNameRead(settings.onlyNames, subject.name),
    ),
    answers: objectAnswers(subject, object, clusterState, settings, rights),
    places: shown,
    waysOut: waysOut(clusterState, shown),
  };
}

function byPlace(a: PlaceAnswer, b: PlaceAnswer): number {
  const [one, other] = [refText(a.place), refText(b.place)];
  return one === other ? 0 : one < other ? -1 : 1;
}

function kindOf(object: CachedObject | undefined, unread: boolean): Explanation["is"] {
  switch (object?.role) {
    case undefined:
      return unread ? "unknown" : "absent";
    case "source":
      return "source";
    case "copy":
      return "copy";
    case "pull":
      return "pulling";
    case "unmanaged":
      return "other";
  }
}

class Walk {
  readonly #subject: string;
  readonly #clusterState: ClusterState;
  readonly #settings: PlannerSettings;
  readonly #rights: ReaderRights;
  readonly #targets: ReadonlyMap<string, TargetNamespace>;
  readonly #rows: readonly Row[];
  readonly #rowOf: ReadonlyMap<string, Row>;
  readonly #rowsAt: ReadonlyMap<string, readonly Row[]>;

  constructor(
    clusterState: ClusterState,
    settings: PlannerSettings,
    { rows }: Plan,
    subject: Ref,
    rights: ReaderRights,
  ) {
    this.#rights = rights;
    this.#subject = refText(subject);
    this.#clusterState = clusterState;
    this.#settings = settings;
    this.#targets = new Map(
      targetsOf(clusterState, settings).map((target) => [target.name, target]),
    );
    // Rows of other kinds are about other places.
    this.#rows = rows.filter(({ kind }) => kind === clusterState.kind);
    this.#rowOf = new Map(this.#rows.map((row) => [pairKey(row), row]));
    this.#rowsAt = Map.groupBy(this.#rows, ({ place }) => refText(place));
  }

  /** Every namespace, or only one, and the source's remaining copies under an earlier name. */
  wanted(source: SourceObject, only: string | undefined): readonly PlaceAnswer[] {
    const names = new Set(only === undefined ? this.#clusterState.namespaces.keys() : [only]);
    const { copyName } = source.rule;
    const wanted = Array.from(names, (namespace) =>
      this.#place(source, { namespace, name: copyName }),
    );
    const elsewhere = this.#of(source)
      .filter(({ place }) => place.name !== copyName || !names.has(place.namespace))
      .map(({ place }) => this.#place(source, place));
    return [...wanted, ...elsewhere];
  }

  /** The places that the plan has for a source, even if it is no source now. */
  named(source: Ref): readonly PlaceAnswer[] {
    return this.#of(source).map(({ place }) => this.#place(source, place));
  }

  pulledFrom(source: Ref): readonly PlaceAnswer[] {
    return [...this.#clusterState.pulls]
      .filter((pull) => pull.role === "pull")
      .filter(({ from }) => from && refText(from) === refText(source))
      .map((pull) => this.#pull(pull));
  }

  /** Its own place, and the other sources that want it. */
  own(object: CachedObject): readonly PlaceAnswer[] {
    const others = this.at(object);
    if (object.role === "pull") return [this.#pull(object), ...others];
    if (object.role !== "copy" || this.#holder(object) !== undefined) return others;
    return [this.#place(object.template.source, object), ...others];
  }

  /** Every source that has a row for this place. */
  at(place: Ref): readonly PlaceAnswer[] {
    return this.#at(place)
      .filter(({ pulling }) => !pulling)
      .map((row) => this.#place(row.source, row.place));
  }

  /** For a place without an object: its rows, otherwise the sources that want a copy of this name there. */
  missing(place: Ref): readonly PlaceAnswer[] {
    const rows = this.at(place);
    if (rows.length > 0) return rows;
    return sourcesNamed(this.#clusterState, place)
      .filter((source) => reaches(source, place.namespace, this.#clusterState))
      .slice(0, MOST_SOURCES)
      .map((source) => this.#place(source, place));
  }

  #of(source: Ref): readonly Row[] {
    return this.#rows.filter((row) => !row.pulling && refText(row.source) === refText(source));
  }

  #at(place: Ref): readonly Row[] {
    return this.#rowsAt.get(refText(place)) ?? [];
  }

  // The row that decides about the copy. A current copy has no row.
  #holder(copy: Ref): Row | undefined {
    return this.#at(copy).find(({ verdict }) => verdict !== "conflict");
  }

  #place(source: Ref, place: Ref): PlaceAnswer {
    const object = this.#clusterState.objectsIn(source.namespace).get(source.name);
    const about = objectAnswers(source, object, this.#clusterState, this.#settings, this.#rights);
    const target = this.#targets.get(place.namespace);
    const there =
      object?.role === "source" && target
        ? [nameAnswer(object, place), ...namespaceAnswers(object, target, this.#settings)]
        : target
          ? [excludedAnswer(this.#settings, place.namespace)]
          : absentNamespaceAnswers(
              this.#settings,
              this.#clusterState,
              place.namespace,
              this.#rights,
            );
    const present = target?.secrets.get(place.name);
    const row = this.#rowOf.get(pairKey({ place, source, pulling: false }));
    const refusals = [...about, ...there].filter(
      ({ holds, rule }) => !holds && rule !== NOT_PAUSED,
    );
    const wanted = refusals.length === 0 && object?.role === "source" ? object : undefined;
    // Another source takes the copy over in one update, so this source has nothing to report.
    const taken = !row && !wanted && this.#holder(place) !== undefined;
    const isOthers =
      row === undefined &&
      present?.role === "copy" &&
      refText(present.template.source) === refText(source) &&
      isOfOtherInstallation(this.#settings, source.namespace);
    const unread = this.#unread(source, place, row);
    const verdict =
      unread !== undefined
        ? "unknown"
        : (row?.verdict ??
          (isOthers ? "frozen" : target && !taken ? withoutRow(wanted, source, present) : "skip"));
    const note = isOthers
      ? "its source belongs to another installation (--other-source-namespaces)"
      : undefined;
    return this.#answer(
      { place, source, verdict, present, row, refusals, pulling: false, note, unread },
      about,
      there,
    );
  }

  #pull(pull: PullingObject): PlaceAnswer {
    const place = { namespace: pull.namespace, name: pull.name };
    const target = this.#targets.get(pull.namespace);
    const source = pull.from ?? place;
    const object = pull.from && this.#clusterState.objectsIn(source.namespace).get(source.name);
    const about = pullAnswers(pull, object, this.#clusterState, this.#settings, this.#rights);
    const there = target
      ? [
          excludedAnswer(this.#settings, pull.namespace),
          ...(object?.role === "source" ? allowAnswers(object, target) : []),
        ]
      : absentNamespaceAnswers(this.#settings, this.#clusterState, pull.namespace, this.#rights);
    const row = this.#rowOf.get(pairKey({ place, source, pulling: true }));
    const unread = this.#unread(source, place, row);
    const verdict =
      unread !== undefined ? "unknown" : (row?.verdict ?? (target ? "current" : "skip"));
    const refusals = [...about, ...there].filter(
      ({ holds, rule }) => !holds && rule !== NOT_PAUSED,
    );
    const type = object?.role === "source" ? object.desiredCopy?.type : undefined;
    const difference = type === undefined ? undefined : typeDifference(pull.type, type);
    const note = verdict === "current" ? difference : undefined;
    return this.#answer(
      { place, source, verdict, present: pull, row, refusals, pulling: true, note, unread },
      about,
      there,
    );
  }

  /** Why the verdict depends on objects that the user may not read. */
  #unread(source: Ref, place: Ref, row: Row | undefined): string | undefined {
    if (row) {
      const { verdict, source: named, reason } = row;
      return unknownReason({ verdict, source: named, code: reason.code }, this.#rights);
    }
    return this.#rights.namespace(source.namespace) ?? this.#rights.namespace(place.namespace);
  }

  #answer(
    found: {
      readonly place: Ref;
      readonly source: Ref;
      readonly verdict: ExplainedVerdict;
      readonly present: CachedObject | undefined;
      readonly row: Row | undefined;
      readonly refusals: readonly RuleAnswer[];
      readonly pulling: boolean;
      /** Follows the reason. */
      readonly note?: string | undefined;
      readonly unread?: string | undefined;
    },
    about: readonly RuleAnswer[],
    there: readonly RuleAnswer[],
  ): PlaceAnswer {
    const { verdict, row, refusals, pulling } = found;
    const place = { namespace: found.place.namespace, name: found.place.name };
    const source = { namespace: found.source.namespace, name: found.source.name };
    const first = refusals[0];
    const text = found.unread ?? (row && reasonText(row.reason)) ?? reasonOf(verdict, first);
    const reason = found.note === undefined ? text : `${text}; ${found.note}`;
    const owner = this.#clusterState.objectsIn(source.namespace).get(source.name);
    const last = verdictAnswer({
      ...found,
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
      cause: row?.cause,
      due: { dueAt: row?.dueAt, hold: row?.hold, removal: row?.removal },
    };
  }
}

/** Users can create any number of sources. At most this many of one name are explained. */
const MOST_SOURCES = 20;

/** Those whose copies have the name of `place`. */
export function sourcesNamed(clusterState: ClusterState, place: Ref): readonly SourceObject[] {
  return [...clusterState.sources].filter(
    (source): source is SourceObject =>
      source.role === "source" &&
      source.rule.copyName === place.name &&
      source.namespace !== place.namespace,
  );
}

/** By name and labels, regardless of what the namespace accepts. */
function reaches({ rule }: SourceObject, name: string, clusterState: ClusterState): boolean {
  const { to } = rule;
  const namespace = clusterState.namespaces.get(name);
  if (!to) return false;
  return namespace ? covers(to, namespace) : to.globs?.matches(name) === true;
}

/** Verdicts that the first failing rule determines. */
const BY_RULE: readonly ExplainedVerdict[] = ["skip", "delete", "release"];

type Pair = Pick<Row, "place" | "source" | "pulling">;

function pairKey({ place, source, pulling }: Pair): string {
  return `${refText(place)} ${refText(source)} ${pulling}`;
}

function nameAnswer(source: SourceObject, place: Ref): RuleAnswer {
  const { copyName } = source.rule;
  return ruleAnswer("its copies have this name", copyName === place.name, {
    yes: `they are called ${copyName}`,
    no: `its copies are now called ${copyName} and no longer ${place.name}`,
    change: sourceWord(source, "name", place.name),
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
