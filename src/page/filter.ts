// The filter of a reader of the status page: parts of names, one state, one kind. It comes from a URL's
// query. A part is compared literally, never as a pattern.
import { METRIC_STATES, type MetricState } from "../controller/model/verdicts.ts";
import { OBJECT_KINDS, type ObjectKind } from "../controller/model/kinds.ts";

/** States of sources with a problem. */
const SOURCE_STATES = ["refused"] as const;
export type SourceState = (typeof SOURCE_STATES)[number];
/** The page's states: those of the metrics and those of sources. */
const STATES = [...METRIC_STATES, ...SOURCE_STATES] as const;
export type RowState = MetricState | SourceState;

const SEVERITY_OF: Readonly<Record<RowState, number>> = {
  refused: 0,
  failed: 1,
  conflict: 2,
  held: 3,
  frozen: 4,
  pending: 5,
  paused: 6,
  current: 7,
};

export function isSourceState(state: RowState): state is SourceState {
  return SOURCE_STATES.some((each) => each === state);
}

/** 0 is the worst. */
export function severity(state: RowState): number {
  return SEVERITY_OF[state];
}

/** The worst first. */
export const SEVERITY: readonly RowState[] = STATES.toSorted((a, b) => severity(a) - severity(b));

export type Filter = {
  /** Part of a source's NAMESPACE/NAME. "" matches all. */
  readonly source: string;
  /** Part of a target namespace's name. */
  readonly namespace: string;
  /** A namespace. Only sources in it, or with a place in it, with all their places. */
  readonly in?: string | undefined;
  readonly state: RowState | undefined;
  readonly kind: ObjectKind | undefined;
  /** Most sources, groups of places, and places. Undefined means the default for people. */
  readonly limit?: number | undefined;
};

/** The parameters of /api/status and /api/events. docs/reference.md has a row for each. */
export const FILTER_PARAMETERS: readonly string[] = [
  "source",
  "namespace",
  "in",
  "state",
  "kind",
  "limit",
];

/** A program may request more than people read. */
const HIGHEST_LIMIT = 10_000;

// The longest NAMESPACE/NAME.
const LONGEST = 63 + 1 + 253;

/** Throws a RangeError that names the parameter, its value and the valid form. */
export function readFilter(query: URLSearchParams): Filter {
  const part = (name: string): string => {
    const text = (query.get(name) ?? "").trim().toLowerCase();
    if (text.length > LONGEST)
      throw new RangeError(`${name}: ${text.length} characters, want at most ${LONGEST}`);
    return text;
  };
  const unknown = [...query.keys()].find((name) => !FILTER_PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw new RangeError(
      `${JSON.stringify(unknown.slice(0, 40))} is not one of ${FILTER_PARAMETERS.join(", ")}`,
    );
  const state = oneOf("state", STATES, query);
  return {
    source: part("source"),
    namespace: part("namespace"),
    in: part("in") || undefined,
    state,
    kind: oneOf("kind", OBJECT_KINDS, query),
    limit: readLimit(query.get("limit") ?? ""),
  };
}

function oneOf<T extends string>(
  name: string,
  known: readonly T[],
  query: URLSearchParams,
): T | undefined {
  const given = query.get(name) ?? "";
  const found = known.find((each) => each === given);
  if (given === "" || found !== undefined) return found;
  throw new RangeError(
    `${name}: ${JSON.stringify(given.slice(0, 40))} is not one of ${known.join(", ")}`,
  );
}

function readLimit(text: string): number | undefined {
  if (text === "") return undefined;
  const limit = Number(text);
  if (/^\d{1,9}$/.test(text) && limit >= 1 && limit <= HIGHEST_LIMIT) return limit;
  throw new RangeError(
    `limit: ${JSON.stringify(text.slice(0, 40))} is not a number from 1 to ${HIGHEST_LIMIT}`,
  );
}
