// One glob: `*` is any run of characters but "/", `?` one character but "/", everything else itself,
// and a glob covers the whole name. Text of a tenant never becomes a regular expression, and nothing is
// made of it beforehand: a glob is a stretch of the list that it stands in, and takes no memory.
// Nothing is tried twice: what stands before the first star and after the last is compared in place,
// and each piece between two stars is taken where it is first found. How many steps a name may cost is
// known beforehand; a step is at most 10 ns, and most take one.

/** At most `fixed` steps a name, and `each` for each character of it. */
export type GlobCost = { readonly fixed: number; readonly each: number };

export function hasWildcard(text: string): boolean {
  return text.includes("*") || text.includes("?");
}

/** Whether the glob at `from` to before `to` in `text` covers `name`, whose first "/" is at `slash`. */
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

// A glob without "/", over the characters of a name from `start` to before `end`.
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
  // What is left begins and ends with a star.
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

/** Where `piece` is first found from `from` on, ending at `to` or before; -1: nowhere. */
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
// A call or two for each; what is looked through adds at most a step a character.
const STEPS_A_PIECE = 8;
/** What is compared in place takes a step for so many characters. */
const IN_PLACE = 16;

export function globCost(glob: string): GlobCost {
  const slash = glob.indexOf("/");
  if (slash >= 0) {
    const [before, after] = [halfCost(glob.slice(0, slash)), halfCost(glob.slice(slash + 1))];
    return { fixed: before.fixed + after.fixed, each: before.each + after.each };
  }
  // Most globs are of this form.
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
    // One look through the name finds all the pieces that have no "?".
    each: between.reduce(
      (sum, piece) => sum + (piece.includes("?") ? piece.length : 0),
      between.length > 0 ? 1 : 0,
    ),
  };
}
