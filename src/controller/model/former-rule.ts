// The rule that a source had before copies of it began to await a removal, as the status API reports it.
import { refText, type Ref } from "../../text/names.ts";
import type { RuleTexts } from "./cluster.ts";
import type { ObjectKind } from "./kinds.ts";

/** Characters. A longer rule is not remembered. */
export const LONGEST_RULE = 4096;

export type FormerRule = {
  readonly kind: ObjectKind;
  /** "NAMESPACE/NAME". */
  readonly source: string;
  /** UIDs that the source had, the latest last. */
  readonly uids: readonly string[];
  readonly copyName: string;
  /** Its annotations, or the fields of its entry. Undefined if they were too long to be remembered. */
  readonly texts: RuleTexts | undefined;
  /** Set if an entry of the source list made the source. Its text is undefined if it was too long. */
  readonly entry: FormerEntry | undefined;
  /** `keys` left entries out, or renamed some, so that no copy has the content of the source. */
  readonly filtered: boolean;
  /** Places of its rule whose copies do not hold what the source held. */
  readonly altered: { readonly total: number; readonly shown: readonly string[] };
};

export type FormerEntry = {
  readonly key: string;
  /** "NAMESPACE/NAME" of the list. */
  readonly list: string;
  readonly text: string | undefined;
};

/** By source, for one kind. */
export function formerRuleOf(
  rules: readonly FormerRule[],
  kind: ObjectKind,
  source: Ref,
): FormerRule | undefined {
  return rules.find((rule) => rule.kind === kind && rule.source === refText(source));
}
