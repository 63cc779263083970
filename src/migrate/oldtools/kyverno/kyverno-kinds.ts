// Kinds as Kyverno writes them: KIND, VERSION/KIND, GROUP/VERSION/KIND, each with a subresource behind "/" or
// ".", and wildcards in every part.
import { globCovers } from "../../../text/glob.ts";

/** Its wildcards are those of our globs, in texts with any characters except "/". */
export function wildcardMatches(pattern: string, text: string): boolean {
  return globCovers(pattern, 0, pattern.length, text, -1);
}

/** Group, version, kind and subresource. */
type KindParts = readonly [group: string, version: string, kind: string, subresource: string];

const VERSION = /^(?:v\d+(?:(?:alpha|beta)\d+)?|\*)$/;

function partsOf(text: string): KindParts {
  const slashed = text.split("/");
  const parts = [...slashed.slice(0, -1), ...(slashed.at(-1) ?? "").split(".")];
  const [first = "", second = "", third = "", fourth = ""] = parts;
  switch (parts.length) {
    case 1:
      return ["*", "*", first, ""];
    case 2:
      if (first === "*" && second === "*") return ["*", "*", "*", "*"];
      if (first === "*" && second === second.toLowerCase()) return ["*", "*", "*", second];
      return VERSION.test(first) ? ["*", first, second, ""] : ["*", "*", first, second];
    case 3:
      return VERSION.test(first) ? ["*", first, second, third] : [first, second, third, ""];
    case 4:
      return [first, second, third, fourth];
    default:
      return ["", "", "", ""];
  }
}

/** Whether it matches Namespaces, perhaps beside other kinds. */
export function coversNamespaces(text: string): boolean {
  const [group, version, kind, subresource] = partsOf(text);
  return (
    wildcardMatches(group, "") &&
    wildcardMatches(version, "v1") &&
    wildcardMatches(kind, "Namespace") &&
    wildcardMatches(subresource, "")
  );
}

/** Whether it matches Namespaces and no other kind. */
export function isNamespaceKind(text: string): boolean {
  return partsOf(text)[2] === "Namespace" && coversNamespaces(text);
}
