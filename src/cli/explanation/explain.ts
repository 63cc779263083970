// Explains why an object is, or is not, copied: finds the places that it concerns (explain-place.ts explains
// each).
import type {
  CachedObject,
  ClusterState,
  PlannerSettings,
  SourceObject,
} from "../../controller/model/cluster.ts";
import { isNameRead } from "../../controller/annotations/name-scope.ts";
import { covers } from "../../controller/desired/targets.ts";
import type { FormerRule } from "../../controller/model/former-rule.ts";
import type { Plan } from "../../controller/model/verdicts.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { type Ref, refText } from "../../text/names.ts";
import { ALL_RIGHTS, type ReaderRights } from "../../inspect/cluster/reader-rights.ts";
import type { PlaceAnswer, RuleAnswer } from "./answer.ts";
import { objectAnswers } from "./explain-object.ts";
import { PlaceExplainer } from "./explain-place.ts";
import { PlanRows } from "./plan-rows.ts";
import { waysOut, type WaysOut } from "./ways-out.ts";

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
  /** What a running controller remembers. */
  readonly formerRules?: readonly FormerRule[];
};

export function explain(
  clusterState: ClusterState,
  settings: PlannerSettings,
  plan: Plan,
  subject: Ref,
  { namespace, rights = ALL_RIGHTS, formerRules = [] }: ExplainOptions = {},
): Explanation {
  const object = clusterState.objectsIn(subject.namespace).get(subject.name);
  const rows = new PlanRows(plan, clusterState.kind);
  const explainer = new PlaceExplainer(clusterState, settings, rows, subject, rights);
  const walk = new Walk(clusterState, rows, explainer);
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
    waysOut: waysOut(clusterState, shown, formerRules),
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
  readonly #clusterState: ClusterState;
  readonly #rows: PlanRows;
  readonly #places: PlaceExplainer;

  constructor(clusterState: ClusterState, rows: PlanRows, places: PlaceExplainer) {
    this.#clusterState = clusterState;
    this.#rows = rows;
    this.#places = places;
  }

  /** Every namespace, or only one, and the source's remaining copies under an earlier name. */
  wanted(source: SourceObject, only: string | undefined): readonly PlaceAnswer[] {
    const names = new Set(only === undefined ? this.#clusterState.namespaces.keys() : [only]);
    const { copyName } = source.rule;
    const wanted = Array.from(names, (namespace) =>
      this.#places.copy(source, { namespace, name: copyName }),
    );
    const elsewhere = this.#rows
      .ofSource(source)
      .filter(({ place }) => place.name !== copyName || !names.has(place.namespace))
      .map(({ place }) => this.#places.copy(source, place));
    return [...wanted, ...elsewhere];
  }

  /** The places that the plan has for a source, even if it is no source now. */
  named(source: Ref): readonly PlaceAnswer[] {
    return this.#rows.ofSource(source).map(({ place }) => this.#places.copy(source, place));
  }

  pulledFrom(source: Ref): readonly PlaceAnswer[] {
    return [...this.#clusterState.pulls]
      .filter((pull) => pull.role === "pull")
      .filter(({ from }) => from && refText(from) === refText(source))
      .map((pull) => this.#places.pull(pull));
  }

  /** Its own place, and the other sources that want it. */
  own(object: CachedObject): readonly PlaceAnswer[] {
    const others = this.at(object);
    if (object.role === "pull") return [this.#places.pull(object), ...others];
    if (object.role !== "copy" || this.#rows.holder(object) !== undefined) return others;
    return [this.#places.copy(object.template.source, object), ...others];
  }

  /** Every source that has a row for this place. */
  at(place: Ref): readonly PlaceAnswer[] {
    return this.#rows
      .at(place)
      .filter(({ pulling }) => !pulling)
      .map((row) => this.#places.copy(row.source, row.place));
  }

  /** For a place without an object: its rows, otherwise the sources that want a copy of this name there. */
  missing(place: Ref): readonly PlaceAnswer[] {
    const rows = this.at(place);
    if (rows.length > 0) return rows;
    return sourcesNamed(this.#clusterState, place)
      .filter((source) => reaches(source, place.namespace, this.#clusterState))
      .slice(0, MOST_SOURCES)
      .map((source) => this.#places.copy(source, place));
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
