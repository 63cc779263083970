// Parses a path into a collection, an object or a subresource of a served resource.
import { findResource, namespaces, resources } from "../kinds/resources.ts";
import type { ServedResource } from "../kinds/resources.ts";

export type RequestTarget = {
  readonly resource: ServedResource;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: "status" | "finalize" | "scale" | undefined;
};

/** Undefined when the path is not served. */
export function route(path: string, rows = resources): RequestTarget | undefined {
  const [root, ...words] = path.replace(/\/+$/, "").split("/").slice(1).map(decode);
  if (root === "api") return inGroup(rows, "", words[0] ?? "", words.slice(1));
  if (root === "apis") return inGroup(rows, words[0] ?? "", words[1] ?? "", words.slice(2));
  return undefined;
}

function inGroup(
  rows: readonly ServedResource[],
  group: string,
  version: string,
  words: readonly string[],
): RequestTarget | undefined {
  const [first, second, third, ...rest] = words;
  if (first === namespaces.plural && second !== undefined && third !== undefined) {
    const nested = findResource(rows, group, version, third);
    if (nested?.namespaced) return target(nested, second, rest);
  }
  const resource = findResource(rows, group, version, first ?? "");
  return resource && target(resource, undefined, words.slice(1));
}

function target(
  resource: ServedResource,
  namespace: string | undefined,
  words: readonly string[],
): RequestTarget | undefined {
  const [name, subresource, ...more] = words;
  if (more.length > 0 || name === "") return undefined;
  // An object of a namespace is not found without the namespace.
  if (resource.namespaced && namespace === undefined && name !== undefined) return undefined;
  if (subresource === undefined) return { resource, namespace, name, subresource };
  if (subresource === "scale" && resource.scale !== undefined)
    return { resource, namespace, name, subresource };
  const known = subresource === "status" || subresource === "finalize" ? subresource : undefined;
  const hasStatus = known === "status" && resource.statusSubresource === true;
  if (known === undefined || (resource !== namespaces && !hasStatus)) return undefined;
  return { resource, namespace, name, subresource: known };
}

function decode(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
