// Where the rules and the writes can be changed, and how: a condition turned round or dropped, a guard
// removed, an operator, a constant. A place is named by its file, its line's text and its column in
// that text, so that it is found again when lines above it came or went.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { stripTypeScriptTypes } from "node:module";

export type Place = {
  readonly file: string;
  readonly line: number;
  /** The line without its indent. */
  readonly text: string;
  readonly column: number;
  readonly was: string;
  readonly is: string;
};

const ROOMS = [
  "src/text",
  ...["annotations", "desired", "model", "observed", "plan", "state", "writes"].map(
    (room) => `src/controller/${room}`,
  ),
  "src/kube/flowcontrol",
  "src/cli/explanation",
  "src/migrate/moves",
  "src/migrate/oldtools",
];

const CHANGES: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/^(?:\} else )?if \(.*\) (?:return\b.*|continue|break);$/g, () => ""],
  [/ === /g, () => " !== "],
  [/ !== /g, () => " === "],
  [/ && /g, () => " || "],
  [/ \|\| /g, () => " && "],
  [/ < /g, () => " <= "],
  [/ > /g, () => " >= "],
  [/ <= /g, () => " < "],
  [/ >= /g, () => " > "],
  [/ \+ /g, () => " - "],
  [/ - /g, () => " + "],
  [/\bif \(!/g, () => "if ("],
  [/\bif \((?!!)/g, () => "if (!"],
  [/\breturn true\b/g, () => "return false"],
  [/\breturn false\b/g, () => "return true"],
  [/ \? /g, () => " && false ? "],
  [/(?<=[ (])\d[\d_]*(?=[;,) ])/g, (found) => String(Number(found.replaceAll("_", "")) + 1)],
];
/** Comments, imports, types and lines that are only text. */
const NO_CODE =
  /^(\/\/|\/?\*|import |export (?:declare |type )|type |\| |readonly |\}(?! else)|[`"'])/;

export const isMutated = (file: string): boolean =>
  ROOMS.some((room) => file.startsWith(`${room}/`));

export function filesIn(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${folder}/${name}`)
    .toSorted();
}

export function placesIn(root: string): Place[] {
  return ROOMS.flatMap((room) => filesIn(root, room)).flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .flatMap((line, index) => {
        const text = line.trim();
        if (NO_CODE.test(text)) return [];
        return CHANGES.flatMap(([pattern, change]) =>
          Array.from(text.matchAll(pattern), (match): Place => {
            const [was] = match;
            return { file, line: index + 1, text, column: match.index, was, is: change(was) };
          }),
        );
      }),
  );
}

/** Where the place lies in its file's text, by its line's text nearest to where it was; none when that line is gone. */
export function offsetOf(root: string, place: Place): number | undefined {
  const lines = readFileSync(join(root, place.file), "utf8").split("\n");
  let nearest: number | undefined;
  for (const [index, line] of lines.entries()) {
    const away = Math.abs(index + 1 - place.line);
    const nearer = nearest === undefined || away < Math.abs(nearest + 1 - place.line);
    if (line.trim() === place.text && nearer) nearest = index;
  }
  if (nearest === undefined) return undefined;
  const before = lines.slice(0, nearest).reduce((sum, line) => sum + line.length + 1, 0);
  const line = lines[nearest] ?? "";
  return before + line.length - line.trimStart().length + place.column;
}

/** The file's text with the change; none when the line is gone, or when that would be no program. */
export function mutated(root: string, place: Place): string | undefined {
  const at = offsetOf(root, place);
  if (at === undefined) return undefined;
  const text = readFileSync(join(root, place.file), "utf8");
  const changed = text.slice(0, at) + place.is + text.slice(at + place.was.length);
  try {
    stripTypeScriptTypes(changed);
    return changed;
  } catch {
    return undefined;
  }
}
