// One rule about an object and a place, with its answer. Answers mention a namespace only where necessary,
// so that places with the same answer form one group.

import type { ClusterState, PlannerSettings } from "../../controller/model/cluster.ts";
import { type ReasonCode } from "../../controller/model/reasons.ts";
import type { ReaderRights } from "../../inspect/cluster/reader-rights.ts";
import type { Ref } from "../../text/names.ts";
import type { Row, Verdict } from "../../controller/model/verdicts.ts";

/** What the rules are asked of. */
export type Known = {
  readonly clusterState: ClusterState;
  readonly settings: PlannerSettings;
  /** What the user may read of it. */
  readonly rights: ReaderRights;
};

/** The annotation that names namespaces for pushes, and the one for pulls. Each has a selector beside it. */
export type NamesNamespaces = "to" | "allow";

export type RuleAnswer = {
  readonly rule: string;
  readonly holds: boolean;
  /** The result as a complete sentence, never with a value. */
  readonly answer: string;
  /** The command or action that changes the answer. Undefined when no change is needed. */
  readonly change: string | undefined;
};

/** `unknown`: the verdict depends on objects that the user may not read. */
export type ExplainedVerdict = Verdict | "unknown";

/** The answer to a rule that needs a right which the user does not have. */
export function unreadAnswer(rule: string, text: string): RuleAnswer {
  return failing(rule, `unknown: ${text}`, "ask an administrator, or a person who has that right");
}

export type PlaceAnswer = {
  readonly place: Ref;
  readonly source: Ref;
  readonly verdict: ExplainedVerdict;
  /** One line: the plan's, or that of the rule which decided. */
  readonly reason: string;
  /** Of the planner's reason. Absent for a place without one. */
  readonly code: ReasonCode | undefined;
  /** The place is a pulling object. */
  readonly pulling: boolean;
  /** All rules in the order in which they were asked: about the source, then about the place. */
  readonly answers: readonly RuleAnswer[];
  readonly decided: RuleAnswer;
  /**
   * From the plan: when the row is next due (ms of the plan's clock), and a removal that waits.
   */
  readonly due: Pick<Row, "dueAt" | "removal">;
};

export function holding(rule: string, text: string): RuleAnswer {
  return { rule, holds: true, answer: text, change: undefined };
}

export function failing(rule: string, text: string, change?: string): RuleAnswer {
  return { rule, holds: false, answer: text, change };
}

/** The answer with the text for `holds`, and with `change` when it does not hold. */
export function ruleAnswer(
  rule: string,
  holds: boolean,
  { yes, no, change }: { readonly yes: string; readonly no: string; readonly change?: string },
): RuleAnswer {
  return holds ? holding(rule, yes) : failing(rule, no, change);
}
