// The table columns that a CustomResourceDefinition declares, and their cells. It supports the JSONPath of
// such columns: fields, indexes, `[*]` and filters that compare one field with a text.
import { asList, asObject, asText, isList, isObject } from "../storage/object.ts";
import type { Json, JsonObject, StoredObject } from "../storage/object.ts";

export type PrinterColumn = {
  readonly name: string;
  readonly type: string;
  /** 1: only with `-o wide`. */
  readonly priority: number;
  readonly jsonPath: string;
};

/** Columns of one version of a definition. Empty when it declares none. */
export function printerColumns(version: JsonObject): readonly PrinterColumn[] {
  const columns = asList(version["additionalPrinterColumns"]).map(asObject);
  return columns.map((column) => ({
    name: asText(column["name"]),
    type: asText(column["type"]),
    priority: typeof column["priority"] === "number" ? column["priority"] : 0,
    jsonPath: asText(column["jsonPath"]),
  }));
}

/** The first value at the path, in the server's format. null when there is no value. */
export function printedCell(
  { jsonPath, type }: PrinterColumn,
  object: StoredObject,
  age: (time: string) => string,
): Json {
  const [first] = valuesAt(object, jsonPath);
  if (first === undefined || first === null) return null;
  if (type === "date") return age(asText(first));
  if (type === "string") return typeof first === "string" ? first : JSON.stringify(first);
  return first;
}

const STEP =
  /\.([A-Za-z0-9_-]+)|\[(\d+|\*)\]|\['([^']*)'\]|\[\?\(@\.([A-Za-z0-9_.-]+)==["']([^"']*)["']\)\]/gy;

function valuesAt(object: Json, path: string): readonly Json[] {
  let values: readonly Json[] = [object];
  for (const [, field, index, quoted, key = "", wanted] of path.matchAll(STEP)) {
    const name = field ?? quoted;
    values = values.flatMap((value): readonly Json[] => {
      if (name !== undefined) {
        const found = isObject(value) ? value[name] : undefined;
        return found === undefined ? [] : [found];
      }
      if (!isList(value)) return [];
      if (wanted !== undefined)
        return value.filter((item) => valuesAt(item, `.${key}`)[0] === wanted);
      return index === "*" ? value : value.slice(Number(index), Number(index) + 1);
    });
  }
  return values;
}
