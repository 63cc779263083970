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
import type { Plan, Row } from "../../controller/model/verdicts.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { type Ref, refText } from "../../text/names.ts";
import { ALL_RIGHTS, type ReaderRights } from "../../inspect/cluster/reader-rights.ts";
import type { PullLooks } from "../../inspect/cluster/decisions.ts";
import type { PlaceAnswer, RuleAnswer } from "./answer.ts";
import { sourceAnswers } from "./explain-object.ts";
import { pairKey, PlaceExplainer, type Pair } from "./explain-place.ts";
import { waysOut, type WaysOut } from "./ways-out.ts";

export type Explanation = {
  readonly kind: ObjectKind;
  readonly subject: Ref;
  readonly is: "source" | "copy" | "pulling" | "other" | "absent" | "unknown";
  /** The same as words. */
  readonly what: string;
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
  /** What the plan saw of pulling objects. */
  readonly looks?: PullLooks;
};

const NO_LOOKS: PullLooks = new Map();

export function explain(
  clusterState: ClusterState,
  settings: PlannerSettings,
  plan: Plan,
  subject: Ref,
  { namespace: only, rights = ALL_RIGHTS, formerRules = [], looks = NO_LOOKS }: ExplainOptions = {},
): Explanation {
  const { kind } = clusterState;
  const object = clusterState.objectsIn(subject.namespace).get(subject.name);
  const rows = plan.rows.filter((row) => row.kind === kind);
  const known = { clusterState, settings, rights };
  const explainer = new PlaceExplainer(known, rows, looks);
  const pairs = new Map<string, Pair>();
  for (const pair of pairsOf(subject, object, clusterState, rows, only)) {
    if (only !== undefined && pair.place.namespace !== only) continue;
    pairs.set(pairKey(pair.place, pair.source, pair.pull !== undefined), pair);
  }
  const places = Array.from(pairs.values(), (pair) => explainer.explain(pair)).toSorted(byPlace);
  const answers = sourceAnswers(subject, object, known);
  const unread =
    rights.namespace(subject.namespace) !== undefined ||
    !isNameRead(settings.onlyNames, subject.name);
  return {
    kind,
    subject: { namespace: subject.namespace, name: subject.name },
    ...(!object && unread
      ? { is: "unknown", what: answers[0]?.answer ?? "unknown" }
      : whatItIs(object)),
    answers,
    places,
    waysOut: waysOut(clusterState, places, formerRules),
  };
}

function whatItIs(object: CachedObject | undefined): Pick<Explanation, "is" | "what"> {
  switch (object?.role) {
    case undefined:
      return { is: "absent", what: "it is not there" };
    case "source": {
      const isRefused = object.problems.length > 0;
      return { is: "source", what: isRefused ? "a source that is refused" : "a source" };
    }
    case "copy":
      return { is: "copy", what: `a copy of ${refText(object.template.source)}` };
    case "pull":
      return {
        is: "pulling",
        what: object.from ? `it pulls from ${refText(object.from)}` : "it pulls",
      };
    case "unmanaged":
      return { is: "other", what: "neither a source nor a copy" };
  }
}

function byPlace(a: PlaceAnswer, b: PlaceAnswer): number {
  const [one, other] = [refText(a.place), refText(b.place)];
  return one === other ? 0 : one < other ? -1 : 1;
}

/** The places of an object as a source, then its own place. `only`: no other namespace is asked for. */
function* pairsOf(
  subject: Ref,
  object: CachedObject | undefined,
  clusterState: ClusterState,
  rows: readonly Row[],
  only: string | undefined,
): Generator<Pair> {
  const text = refText(subject);
  if (object?.role === "source") {
    const { copyName: name } = object.rule;
    for (const namespace of only === undefined ? clusterState.namespaces.keys() : [only])
      yield { source: object, place: { namespace, name } };
  }
  // Also the places that it still has under an earlier name, or while it is no source.
  for (const { place, source, pulling } of rows)
    if (!pulling && refText(source) === text) yield { place, source };
  for (const pull of clusterState.pulls)
    if (pull.role === "pull" && pull.from && refText(pull.from) === text)
      yield { place: pull, source: pull.from, pull };
  const there = rows.filter(({ place, pulling }) => !pulling && refText(place) === text);
  if (object?.role === "pull") yield { place: object, source: object.from ?? object, pull: object };
  // A current copy has no row, and a copy that another source takes over none of its own source.
  if (object?.role === "copy" && there.every(({ verdict }) => verdict === "conflict"))
    yield { place: object, source: object.template.source };
  yield* there;
  if (object || there.length > 0) return;
  const wanting = sourcesNamed(clusterState, subject)
    .filter((source) => reaches(source, subject.namespace, clusterState))
    .slice(0, MOST_SOURCES);
  for (const source of wanting) yield { place: subject, source };
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
