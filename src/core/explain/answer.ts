// One rule on the way of an object to a place, and its answer. Answers name no namespace but where they
// must, so that places with one answer are one group.

export type RuleAnswer = {
  readonly rule: string;
  readonly holds: boolean;
  /** What was found, as a sentence of its own; never a value. */
  readonly answer: string;
  /** What to type, or to do, for another answer; undefined: nothing has to be. */
  readonly change: string | undefined;
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
