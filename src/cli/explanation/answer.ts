// One rule on the way of an object to a place, and its answer. Answers name no namespace but where they
// must, so that places with one answer are one group.

import type { Ref } from "../../text/names.ts";
import type { Row, Verdict } from "../../controller/model/verdicts.ts";

export type RuleAnswer = {
  readonly rule: string;
  readonly holds: boolean;
  /** What was found, as a sentence of its own; never a value. */
  readonly answer: string;
  /** What to type, or to do, for another answer; undefined: nothing has to be. */
  readonly change: string | undefined;
};

/** `unknown`: it would follow from what the reader may not read. */
export type ExplainedVerdict = Verdict | "unknown";

/** The answer to a rule that nobody can answer without the right to read. */
export function unreadAnswer(rule: string, text: string): RuleAnswer {
  return failing(rule, `unknown: ${text}`, "ask an administrator, or a person who has that right");
}

export type PlaceAnswer = {
  readonly place: Ref;
  readonly source: Ref;
  readonly verdict: ExplainedVerdict;
  /** One line: the plan's, or that of the rule which decided. */
  readonly reason: string;
  /** The place is a pulling object. */
  readonly pulling: boolean;
  /** About the place; before them about its source, where that is not the object that is explained. */
  readonly answers: readonly RuleAnswer[];
  readonly decided: RuleAnswer;
  readonly cause: string | undefined;
  /** Of the plan: when it is looked at again by itself (ms of the plan's clock), and of a held removal why. */
  readonly due: Pick<Row, "dueAt" | "hold" | "removal">;
};

export function holding(rule: string, text: string): RuleAnswer {
  return { rule, holds: true, answer: text, change: undefined };
}

export function failing(rule: string, text: string, change?: string): RuleAnswer {
  return { rule, holds: false, answer: text, change };
}

/** The text of whichever it is, with what changes it where it does not hold. */
export function ruleAnswer(
  rule: string,
  holds: boolean,
  { yes, no, change }: { readonly yes: string; readonly no: string; readonly change?: string },
): RuleAnswer {
  return holds ? holding(rule, yes) : failing(rule, no, change);
}
