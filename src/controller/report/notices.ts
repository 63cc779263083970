// What a plan and the outcomes of its writes show that a user or an administrator should fix, as data. The log
// and the Events print the same notices. Pure.
import { IGNORED_HEADLINES, IGNORED_REASONS, type IgnoredReason } from "../annotations/ignored.ts";
import { problemText } from "../annotations/rules.ts";
import { placeKey, type ObjectKind } from "../model/kinds.ts";
import { reasonText } from "../model/reasons.ts";
import { METRIC_STATE, type Plan, type Row } from "../model/verdicts.ts";
import { dueWordsOf, type DueWords } from "../settings/due-text.ts";
import { refText, type Ref } from "../../text/names.ts";
import { reasonShape, sharedReason } from "../../text/shared-reason.ts";
import type { LogKeys } from "./log.ts";
import type { FailingPlace, FoughtPlace, Troubles } from "./troubles.ts";

/** Each code and its message in the log. */
const NOTICES = {
  untargeted: "sources without targets: no namespace matches and accepts them",
  ignored: "ignored annotations",
  listUnread: "source list not read",
  listRefused: "entries of the source list refused",
  refused: "source refused",
  otherSource: "in conflict with another source",
  unmanaged: "in conflict with unmanaged Secrets",
  unfilled: "pulling Secret not filled",
  held: "held",
  overLimit: "held",
  frozen: "copies frozen",
  fought: "copies are repeatedly changed by another client",
  failed: "write failed, will try again",
} as const;
type Code = keyof typeof NOTICES;
/** `held`: a removal waits. `overLimit`: the fan-out limit holds new copies back. */
export type RowCode = "otherSource" | "unmanaged" | "unfilled" | "held" | "overLimit" | "frozen";

/** A source or a pulling object. */
export type Of = { readonly kind: ObjectKind; readonly source: Ref };
/** A row that waits for its owner or for time, or a place in trouble. */
export type Place = Row | FailingPlace | FoughtPlace;

type NoticeAt<C extends Code, P extends Place> = {
  readonly code: C;
  /** The same as long as the problem is the same. */
  readonly id: string;
  readonly message: string;
  /** What it is about. Absent: no single source or pulling object. */
  readonly of?: Of;
  /** Whether the places are pulling objects, which any tenant may write. */
  readonly pulling: boolean;
  readonly params: LogKeys;
  readonly places: readonly P[];
  /** When it changes by itself (ms, monotonic), and the text for that. */
  readonly due?: { readonly at: number; readonly words: DueWords } | undefined;
};
export type Notice =
  | NoticeAt<"failed", FailingPlace>
  | NoticeAt<"fought", FoughtPlace>
  | NoticeAt<RowCode, Row>
  | Plain;
type Plain = NoticeAt<Exclude<Code, RowCode | "failed" | "fought">, never>;

/** Rows or places between two yields. A tenant can cause a hundred thousand. */
const PER_TURN = 1024;
const MOST_NAMED = 5;

export function* noticesOf(
  plan: Plan,
  { failing, fights }: Pick<Troubles, "failing" | "fights">,
): Generator<undefined, readonly Notice[]> {
  return [
    ...untargeted(plan),
    ...ignored(plan),
    ...list(plan),
    ...(yield* grouped(failing, () => "failed" as const)),
    ...refusals(plan),
    ...(yield* grouped(fights, () => "fought" as const)),
    ...(yield* grouped(plan.rows, codeOf)),
  ];
}

function* grouped<C extends Code, P extends Place>(
  places: readonly P[],
  codeAt: (place: P) => C | undefined,
): Generator<undefined, readonly NoticeAt<C, P>[]> {
  const groups = new Map<string, { readonly code: C; readonly members: P[] }>();
  let count = 0;
  for (const place of places) {
    if (count++ % PER_TURN === 0) yield;
    const code = codeAt(place);
    if (code === undefined) continue;
    const id = idOf(code, place);
    const group = groups.get(id);
    if (group) group.members.push(place);
    else groups.set(id, { code, members: [place] });
  }
  const notices: NoticeAt<C, P>[] = [];
  for (const [id, { code, members }] of groups) {
    if (count++ % PER_TURN === 0) yield;
    const [first] = members;
    if (!first) continue;
    const { kind, source, pulling } = first;
    const about = { code, id, message: NOTICES[code], of: { kind, source }, pulling };
    const reason = code === "failed" ? sharedReason(members.map(textOf)) : textOf(first);
    const params = { ...(code === "failed" && { cause: causeOf(first) }), reason };
    notices.push({ ...about, params, places: members, due: dueOf(members) });
  }
  return notices;
}

function codeOf({ verdict, pulling, winner, removal }: Row): RowCode | undefined {
  const state = METRIC_STATE[verdict];
  switch (state) {
    case "held":
      return removal ? "held" : "overLimit";
    case "frozen":
      return state;
    case "conflict":
      return pulling ? "unfilled" : winner ? "otherSource" : "unmanaged";
    case "failed":
    case "current":
    case "pending":
    case "paused":
    case undefined:
      return undefined;
  }
}

/** What is the same for the places of one notice, apart from the names that tenants choose. */
function idOf(code: Code, place: Place): string {
  if (code === "failed") return failureId(place, causeOf(place), textOf(place));
  // The reason of a held removal contains a count of other removals.
  const why = code === "held" ? "" : textOf(place);
  return `${code} ${place.pulling} ${placeKey(place.kind, place.source)} ${why}`;
}

function causeOf(place: Place): string | undefined {
  return "trouble" in place ? place.cause : undefined;
}

export function failureId(
  { kind, source, pulling }: Of & Pick<Place, "pulling">,
  cause: string | undefined,
  reason: string,
): string {
  return `failed ${pulling} ${placeKey(kind, source)} ${cause} ${reasonShape(reason)}`;
}

function textOf({ reason }: Place): string {
  return typeof reason === "object" ? reasonText(reason) : reason;
}

/** The due time of the first place. */
function dueOf(places: readonly Place[]): Notice["due"] {
  const dueAt = (place: Place): number => place.dueAt ?? Number.POSITIVE_INFINITY;
  const soonest = places.reduce((a, b) => (dueAt(b) < dueAt(a) ? b : a));
  if (soonest.dueAt === undefined) return undefined;
  const row = "trouble" in soonest ? ({ verdict: "backoff", pulling: false } as const) : soonest;
  return { at: soonest.dueAt, words: dueWordsOf(row) };
}

function plain(
  code: Plain["code"],
  notice: Pick<Plain, "params"> & Partial<Pick<Plain, "id" | "message" | "of">>,
): Plain {
  return { code, id: code, message: NOTICES[code], pulling: false, places: [], ...notice };
}

function untargeted({ sources }: Plan): readonly Plain[] {
  const named: string[] = [];
  let count = 0;
  for (const { untargeted, source } of sources)
    if (untargeted && count++ < MOST_NAMED) named.push(refText(source));
  return count > 0 ? [plain("untargeted", { params: { count, sources: named } })] : [];
}

function ignored(plan: Plan): readonly Plain[] {
  return IGNORED_REASONS.flatMap((reason) => {
    const count = plan.ignored.counts[reason];
    if (count === 0) return [];
    const message = `${NOTICES.ignored}: ${IGNORED_HEADLINES[reason]}`;
    const params = { reason, count, ...namesOf(plan, reason) };
    return [plain("ignored", { id: `ignored ${reason}`, message, params })];
  });
}

function namesOf({ ignored: { flags, sample }, namespaces }: Plan, reason: IgnoredReason): LogKeys {
  if (reason === "flag") return { flags: flags.slice(0, MOST_NAMED) };
  if (reason === "accept")
    return { namespaces: namespaces.slice(0, MOST_NAMED).map(({ namespace }) => namespace) };
  const secrets = sample.filter((each) => each.ignored.reason === reason);
  return { secrets: secrets.slice(0, MOST_NAMED).map(({ object }) => refText(object)) };
}

// Without a list there is no notice, because it may be intended. Copies that an entry made are frozen then,
// which is reported.
function list({ list: { state, reason, refused } }: Plan): readonly Plain[] {
  if (state === "unread")
    return [plain("listUnread", { params: { reason: reason && reasonText(reason) } })];
  if (refused.length === 0) return [];
  const reasons = refused.slice(0, MOST_NAMED).map((entry) => entry.reason);
  return [plain("listRefused", { params: { count: refused.length, reasons } })];
}

function refusals({ sources }: Plan): readonly Plain[] {
  return sources.flatMap(({ state, kind, source, problems }) => {
    if (state === "ok") return [];
    const params = { reasons: problems.map(problemText) };
    const id = `${state} ${placeKey(kind, source)}`;
    return [plain(state, { id, of: { kind, source }, params })];
  });
}
