// Reads what the API answers, field by field. What is absent or of another type is empty, and nothing here throws.
import { isRecord } from "../../../packages/kube/json.ts";

export type AnswerFields = Readonly<Record<string, unknown>>;

export function fieldsIn(value: unknown): AnswerFields {
  return isRecord(value) ? value : {};
}

/** The objects among the items of a list. */
export function recordsIn(value: unknown): readonly AnswerFields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
