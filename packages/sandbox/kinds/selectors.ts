// Selects the objects of a list or a watch: labelSelector and fieldSelector, compiled once per request.
// Only the fields that the real server indexes can be selected.
import { labelSelector } from "./selector-syntax.ts";
import type { Matcher } from "./selector-syntax.ts";
import { textAt } from "../storage/object.ts";
import type { StoredObject } from "../storage/object.ts";
import type { ServedResource } from "./resources.ts";
import { badRequest } from "../storage/status.ts";

/** What a request sees of a collection. */
export type Selection = {
  /** Of every key that can match: its namespace, if the request is for one. */
  readonly prefix: string;
  /** The one key that can match, when the field selector says so. */
  readonly key: string | undefined;
  /** Undefined when every object is meant. */
  readonly matches: Matcher<StoredObject> | undefined;
};

export type Scope = {
  readonly resource: ServedResource;
  readonly namespace: string | undefined;
};

/** Reads both selectors of `query`. Throws a 400 when one of them cannot be read. */
export function selection({ resource, namespace }: Scope, query: URLSearchParams): Selection {
  const labels = labelSelector(query.get("labelSelector") ?? "");
  const terms = fieldTerms(resource, query.get("fieldSelector") ?? "");
  const prefix = namespace === undefined ? "" : `${namespace}/`;
  const named = terms.find((term) => term.path === "metadata.name" && term.equal);
  const isUnique = namespace !== undefined || !resource.namespaced;
  const matches: Matcher<StoredObject> = (object) =>
    (labels === undefined || labels(object.metadata.labels ?? {})) &&
    terms.every((term) => (textAt(object, term.path) === term.value) === term.equal);
  return {
    prefix,
    key: named && isUnique ? `${prefix}${named.value}` : undefined,
    matches: labels === undefined && terms.length === 0 ? undefined : matches,
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
