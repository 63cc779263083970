// Selects the objects of a list or a watch: labelSelector and fieldSelector, compiled once per request.
// Only the fields that the real server indexes can be selected.
import { labelSelector } from "./selector-syntax.ts";
import type { Matcher } from "./selector-syntax.ts";
import { asText, isObject } from "../storage/object.ts";
import type { Json, StoredObject } from "../storage/object.ts";
import type { ServedResource } from "./resources.ts";
import { badRequest } from "../storage/status.ts";

export type Selection = {
  /** Undefined when every object is meant. */
  readonly matches: Matcher<StoredObject> | undefined;
  /** The one name that can match, when the field selector says so. */
  readonly name: string | undefined;
};

/** Reads both selectors of `query`. Throws a 400 when one of them cannot be read. */
export function selection(resource: ServedResource, query: URLSearchParams): Selection {
  const labels = labelSelector(query.get("labelSelector") ?? "");
  const terms = fieldTerms(resource, query.get("fieldSelector") ?? "");
  if (labels === undefined && terms.length === 0) return { matches: undefined, name: undefined };
  const named = terms.find((term) => term.path === "metadata.name" && term.equal);
  return {
    name: named?.value,
    matches: (object) =>
      (labels === undefined || labels(object.metadata.labels ?? {})) &&
      terms.every((term) => (valueAt(object, term.path) === term.value) === term.equal),
  };
}

type Term = { readonly path: string; readonly value: string; readonly equal: boolean };

function fieldTerms(resource: ServedResource, text: string): Term[] {
  const supported: Readonly<Record<string, string>> = {
    "metadata.name": "metadata.name",
    ...(resource.namespaced ? { "metadata.namespace": "metadata.namespace" } : {}),
    ...resource.fieldLabels,
  };
  return splitTerms(text).map((part) => {
    const [, label, operator, value] = /^(.*?)(!=|==|=)(.*)$/s.exec(part) ?? [];
    if (label === undefined || value === undefined)
      throw badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    const path = Object.hasOwn(supported, label) ? supported[label] : undefined;
    if (path === undefined) throw badRequest(`field label not supported: ${label}`);
    return { path, value: unescaped(value), equal: operator !== "!=" };
  });
}

/** A value without its backslashes, which precede a backslash, a comma or an equals sign. */
function unescaped(value: string): string {
  const [wrong] = /\\(?![\\,=]).?/s.exec(value.replace(/\\[\\,=]/g, "")) ?? [];
  if (wrong !== undefined)
    throw badRequest(`invalid field selector: invalid escape sequence: ${wrong}`);
  if (value.replace(/\\./gs, "").includes("="))
    throw badRequest("invalid field selector: unescaped character in value: 61");
  return value.replace(/\\(.)/gs, "$1");
}

// A comma ends a term unless a backslash precedes it.
function splitTerms(text: string): string[] {
  const parts = text.match(/(?:\\.?|[^,\\])+/gs) ?? [];
  return parts.filter((part) => part !== "");
}

function valueAt(object: StoredObject, path: string): string {
  let value: Json | undefined = object;
  for (const field of path.split(".")) value = isObject(value) ? value[field] : undefined;
  return asText(value);
}
