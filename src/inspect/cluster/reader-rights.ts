// What the user of a command may not read. A missing right of the reader is never a state of the cluster: a
// verdict that would follow from it is `unknown`, in the commands alone.
import { unreadableReason, type Row } from "../../controller/model/verdicts.ts";
import type { Ref } from "../../text/names.ts";

/** Each answers with the sentence that says what may not be read, or undefined if it was read. */
export type ReaderRights = {
  readonly namespace: (name: string) => string | undefined;
  /** `reason`: the one that the planner gives to what the source list decides. */
  readonly list: { readonly reason: string; readonly text: string } | undefined;
};

export const ALL_RIGHTS: ReaderRights = { namespace: () => undefined, list: undefined };

type Judged = Pick<Row, "reason"> & { readonly verdict: string; readonly source: Ref };

/** Why the verdict is unknown, or undefined if it does not follow from a missing right of the reader. */
export function unknownReason(
  { verdict, reason, source }: Judged,
  { namespace, list }: ReaderRights,
): string | undefined {
  if (verdict !== "frozen") return undefined;
  if (list && reason === list.reason) return list.text;
  return reason === unreadableReason(source) ? namespace(source.namespace) : undefined;
}
