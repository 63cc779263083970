// An explanation as a list with one item for each place, as json and yaml print it.
import { type ReasonCode } from "../../controller/model/reasons.ts";
import { refText } from "../../text/names.ts";
import type { ExplainedVerdict, PlaceAnswer, RuleAnswer } from "../explanation/answer.ts";
import type { Explanation } from "../explanation/explain.ts";
import { objectOfItem, type ItemObject } from "../../inspect/kubectl/listing.ts";
import type { RemovalHoldCause } from "../../controller/model/verdicts.ts";
import { dueWordsOf, isoTime } from "../../controller/settings/due-text.ts";

export type ExplanationItem = ItemObject & {
  readonly source: string;
  readonly verdict: ExplainedVerdict;
  /** Of the planner's reason. Absent for a place without one. */
  readonly code: ReasonCode | undefined;
  readonly reason: string;
  /** When it changes without any event: RFC 3339, what happens then, and of a held removal why it waits. */
  readonly dueAt?: string;
  readonly dueWords?: string;
  readonly hold?: RemovalHoldCause | undefined;
  readonly unless?: string | undefined;
  /** Set when `from` fills the object, otherwise absent. */
  readonly pulling?: true;
  readonly decided: RuleAnswer;
  /** All rules in the order in which they were asked. Set when the explanation is about one place. */
  readonly rules?: readonly RuleAnswer[];
};

export function explanationItems({
  kind,
  places,
}: Pick<Explanation, "kind" | "places">): readonly ExplanationItem[] {
  return places.map(({ place, source, verdict, code, reason, pulling, decided, answers, due }) => ({
    ...objectOfItem(kind, place),
    source: refText(source),
    verdict,
    code,
    reason,
    ...dueOf({ verdict, pulling, due }),
    ...(pulling && { pulling }),
    decided,
    ...(places.length === 1 && { rules: answers }),
  }));
}

function dueOf({
  verdict,
  pulling,
  due: { dueAt, removal },
}: Pick<PlaceAnswer, "verdict" | "pulling" | "due">) {
  if (dueAt === undefined || verdict === "unknown") return {};
  const { dueWords, unless } = dueWordsOf({ verdict, pulling, removal });
  return { dueAt: isoTime(dueAt), dueWords, hold: removal?.hold, unless };
}
