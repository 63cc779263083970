// What the annotations of a user say, once they are understood, and why one is not.
import type { GlobList } from "../../text/globs.ts";
import { printable } from "../../text/printable.ts";
import type { Selector } from "../../text/label-selector.ts";

/** Why a text of a user cannot be taken as it is. */
export type Problem = {
  /** The annotation's full key, or "type", "name" or "data" where the Secret itself is at fault. */
  readonly annotation: string;
  /** The offending part as the user wrote it, shortened. */
  readonly part: string;
  /** What would be right. */
  readonly expected: string;
};

/** Begins `expected` where the annotation itself must be removed. */
export const NO_ANNOTATION = "no such annotation";

export function problemText(problem: Problem): string {
  return `invalid ${problem.annotation}: ${quoted(problem.part)}: expected ${problem.expected}`;
}

/** The same without the text of the user: for readers who may not read the object. */
export function expectedText({ annotation, expected }: Problem): string {
  return `invalid ${annotation}: expected ${expected}`;
}

/** As JSON, with nothing that could steer a terminal or mislead a reader: an Event is read in both. */
function quoted(part: string): string {
  return printable(JSON.stringify(part));
}

/** Which namespaces a source names: where both are given, both must hold, or with `any` one of them. */
export type NamespaceMatch = {
  readonly globs: GlobList | undefined;
  readonly selector: Selector | undefined;
  /** A "!" glob excludes all the same. Both are given then, the globs with one that is no "!". */
  readonly any: boolean;
};

export type OnDelete = "delete" | "keep";

/** The annotations of a source, understood. */
export type Rule = {
  /** From `to` and `to-selector`, or undefined: it pushes nowhere. */
  readonly to: NamespaceMatch | undefined;
  /** From `allow` and `allow-selector`, or undefined: nobody may pull. */
  readonly allow: NamespaceMatch | undefined;
  readonly copyName: string;
  /** undefined: the source does not say, which means delete. */
  readonly onDelete: OnDelete | undefined;
  readonly paused: boolean;
};

/** Which copies a namespace takes. */
export type Accept =
  | { readonly kind: "absent" }
  | { readonly kind: "all" }
  | { readonly kind: "none" }
  | { readonly kind: "sources"; readonly globs: GlobList }
  | { readonly kind: "problem"; readonly problem: Problem };
