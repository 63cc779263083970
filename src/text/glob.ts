// One glob: `*` matches any run of characters except "/", `?` matches one character except "/", and every other
// character matches itself. A glob matches the whole name. A tenant's text never becomes a regular expression. A
// glob is a range of its list's text, is not compiled and takes no memory.
// Nothing is tried twice. The text before the first star and after the last is compared in place. Each
// piece between two stars is matched where it is first found. The number of steps per name is known
// beforehand. A step is at most 10 ns, and most take one.

/** At most `fixed` steps a name, plus `each` for each of its characters. */
export type GlobCost = { readonly fixed: number; readonly each: number };

export function hasWildcard(text: string): boolean {
  return text.includes("*") || text.includes("?");
}

/** Whether the glob at `from` to before `to` in `text` matches `name`, whose first "/" is at `slash`. */
export function globCovers(
  text: string,
  from: number,
  to: number,
  name: string,
  slash: number,
): boolean {
  const border = text.indexOf("/", from);
  if (border < 0 || border >= to) {
    return slash < 0 && covers(text, from, to, name, 0, name.length);
  }
  return (
    slash >= 0 &&
    covers(text, from, border, name, 0, slash) &&
    covers(text, border + 1, to, name, slash + 1, name.length) &&
    !name.includes("/", slash + 1)
  );
}

const [STAR, ANY, SLASH] = [42, 63, 47];

// Matches a glob without "/" against the characters of a name from `start` to before `end`.
function covers(
  text: string,
  from: number,
  to: number,
  name: string,
  start: number,
  end: number,
): boolean {
  let [at, left] = [from, start];
  for (let sign; at < to && (sign = text.charCodeAt(at)) !== STAR; at++, left++) {
    if (left >= end || !stands(sign, name.charCodeAt(left))) return false;
  }
  if (at === to) return left === end;
  let [last, right] = [to, end];
  for (let sign; (sign = text.charCodeAt(last - 1)) !== STAR; last--, right--) {
    if (right <= left || !stands(sign, name.charCodeAt(right - 1))) return false;
  }
  // The rest begins and ends with a star.
  while (++at < last) {
    const next = text.indexOf("*", at);
    const found = next === at ? left : find(text.slice(at, next), name, left, right);
    if (found < 0) return false;
    left = found + next - at;
    at = next;
  }
  return true;
}

function stands(sign: number, character: number): boolean {
  return sign === character || (sign === ANY && character !== SLASH);
}

/** Where `piece` is first found from `from` on and ends at or before `to`. -1 if nowhere. */
function find(piece: string, name: string, from: number, to: number): number {
  const { length } = piece;
  if (!piece.includes("?")) {
    const at = name.indexOf(piece, from);
    return at + length <= to ? at : -1;
  }
  for (let at = from; at + length <= to; at++) if (standsAt(piece, name, at)) return at;
  return -1;
}

function standsAt(piece: string, name: string, at: number): boolean {
  for (let index = 0; index < piece.length; index++) {
    if (!stands(piece.charCodeAt(index), name.charCodeAt(at + index))) return false;
  }
  return true;
}

const STEPS_A_PREFIX = 3;
// A call or two per piece. A search adds at most one step per character.
const STEPS_A_PIECE = 8;
/** A comparison in place takes one step for this many characters. */
const IN_PLACE = 16;

export function globCost(glob: string): GlobCost {
  const slash = glob.indexOf("/");
  if (slash >= 0) {
    const [before, after] = [halfCost(glob.slice(0, slash)), halfCost(glob.slice(slash + 1))];
    return { fixed: before.fixed + after.fixed, each: before.each + after.each };
  }
  // Most globs have this form.
  if (glob.endsWith("*") && !hasWildcard(glob.slice(0, -1))) {
    return { fixed: STEPS_A_PREFIX + Math.floor(glob.length / IN_PLACE), each: 0 };
  }
  return halfCost(glob);
}

function halfCost(glob: string): GlobCost {
  const pieces = glob.split("*");
  const [first = "", last = ""] = [pieces.shift(), pieces.pop()];
  const between = pieces.filter((piece) => piece !== "");
  const inPlace = Math.floor((first.length + last.length) / IN_PLACE);
  return {
    fixed: STEPS_A_PIECE + inPlace + STEPS_A_PIECE * between.length + pieces.length,
    // One search through the name finds all the pieces without "?".
    each: between.reduce(
      (sum, piece) => sum + (piece.includes("?") ? piece.length : 0),
      between.length > 0 ? 1 : 0,
    ),
  };
}
