// The reason of a row, or "" if there is no such row.
import { reasonText, type Reason } from "../../../src/controller/model/reasons.ts";

export const whyOf = (row: { readonly reason: Reason } | undefined): string =>
  row ? reasonText(row.reason) : "";
