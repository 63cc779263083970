// What the user of a command may not read. A missing right of the reader is never a state of the cluster: a
// verdict that would follow from it is `unknown`, in the commands alone.
import type { Ref } from "../../text/names.ts";

/** Each answers with the sentence that says what may not be read, or undefined if it was read. */
export type ReaderRights = {
  readonly namespace: (name: string) => string | undefined;
  readonly list: string | undefined;
  /** Why the settings may not be those of the controller. Every verdict depends on them. */
  readonly settings?: string | undefined;
};

export const ALL_RIGHTS: ReaderRights = { namespace: () => undefined, list: undefined };

type Judged = {
  readonly verdict: string;
  /** Undefined if a page reported it without one. */
  readonly code: string | undefined;
  readonly source: Ref;
};

/** Why the verdict is unknown, or undefined if it does not follow from a missing right of the reader. */
export function unknownReason(
  { verdict, code, source }: Judged,
  { namespace, list, settings }: ReaderRights,
): string | undefined {
  return unreadReason({ verdict, code, source }, { namespace, list }) ?? settings;
}

function unreadReason(
  { verdict, code, source }: Judged,
  { namespace, list }: ReaderRights,
): string | undefined {
  if (verdict !== "frozen") return undefined;
  if (code === "ListForbidden") return list;
  return code === "SourceUnreadable" ? namespace(source.namespace) : undefined;
}
