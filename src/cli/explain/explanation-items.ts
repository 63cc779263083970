// An explanation as a list, one item a place, as json and yaml print it.
import { refText } from "../../core/annotations/names.ts";
import type { RuleAnswer } from "../../core/explain/answer.ts";
import type { Explanation } from "../../core/explain/explain.ts";
import { KINDS } from "../../core/model/kinds.ts";
import type { Verdict } from "../../core/model/verdicts.ts";

export type ExplanationItem = {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly source: string;
  readonly verdict: Verdict;
  readonly reason: string;
  /** It is filled by `from`; absent: it is not. */
  readonly pulling?: true;
  readonly decided: RuleAnswer;
  /** Of an explanation of one place: all of them, in the order in which they were asked. */
  readonly rules?: readonly RuleAnswer[];
};

export function explanationItems({ kind, places }: Explanation): readonly ExplanationItem[] {
  return places.map(({ place, source, verdict, reason, pulling, decided, answers }) => ({
    resource: KINDS[kind].resource.plural,
    ...place,
    source: refText(source),
    verdict,
    reason,
    ...(pulling && { pulling }),
    decided,
    ...(places.length === 1 && { rules: answers }),
  }));
}
