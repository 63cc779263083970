// Why an object is refused for what it is, whatever its annotations say: its type, a name, its size.
import { excessOf } from "../../text/bounds.ts";
import { invalid, type Invalid } from "../../text/result.ts";
import type { Problem } from "../annotations/rules.ts";
import { isNameRead, nameExpected } from "../annotations/name-scope.ts";
import { annotationKey } from "../annotations/vocabulary.ts";
import { entryBytes, type KindRules } from "../model/kinds.ts";
import { LONGEST_TYPE, type ReadingObject } from "./read-context.ts";

export function dataExcess(
  kind: KindRules,
  entries: Readonly<Record<string, string>>,
): Invalid | undefined {
  return excessOf(entries, (entry) => entryBytes(kind, entry));
}

/** The refusals of a source and of a pulling object. */
export function refusals(
  { identity, type }: ReadingObject,
  { kind, types, refusedPrefix }: KindRules,
): Problem[] {
  const problems: Problem[] = [];
  if (types?.refused.includes(type)) {
    const expected = `another type: ${kind}s of this one are made and filled by their own controller`;
    problems.push({ annotation: "type", ...invalid(type, expected).fault });
  }
  if (type.length > LONGEST_TYPE) {
    const expected = `a type of at most ${LONGEST_TYPE} characters`;
    problems.push({ annotation: "type", ...invalid(type, expected).fault });
  }
  if (identity.name.startsWith(refusedPrefix)) {
    const expected = `another name: ${kind}s called so are Helm's`;
    problems.push({ annotation: "name", ...invalid(identity.name, expected).fault });
  }
  return problems;
}

/** `name`: of the copies of a source. */
export function copyNameRefusals(kind: KindRules, name: string): Problem[] {
  const never = [
    ...everywhereRefusals(kind, annotationKey("name"), name),
    ...reservations(kind, name),
  ];
  const { onlyNames } = kind;
  if (never.length > 0 || !onlyNames || isNameRead(onlyNames, name)) return never;
  const expected = nameExpected(onlyNames, name);
  return [{ annotation: annotationKey("name"), ...invalid(name, expected).fault }];
}

function reservations({ kind, reserved }: KindRules, name: string): Problem[] {
  if (!reserved?.includes(name)) return [];
  const expected = `another name: a ${kind} called so tells secretcast what to do, and is nobody's copy`;
  return [{ annotation: annotationKey("name"), ...invalid(name, expected).fault }];
}

// Its own controller would overwrite it in every namespace.
export function everywhereRefusals(
  { kind, everywhere: names }: KindRules,
  annotation: string,
  name: string,
): Problem[] {
  if (!names.includes(name)) return [];
  const expected = `another name: Kubernetes puts a ${kind} of this one into every namespace`;
  return [{ annotation, ...invalid(name, expected).fault }];
}
