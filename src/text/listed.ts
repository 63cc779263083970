// Some names of many, in one text: `a, b, c and 3 more`.

type Wording = {
  /** What separates the names. */
  readonly between?: string;
  /** How many there are, if `names` are not all of them. */
  readonly count?: number;
  /** What the rest are: `and 3 more entries`. */
  readonly of?: string;
};

/** The first `most` of `names`, and the number of the others. */
export function listed(
  names: readonly string[],
  most = 5,
  { between = ", ", count = names.length, of = "" }: Wording = {},
): string {
  const shown = names.slice(0, most);
  const rest = count - shown.length;
  if (rest <= 0) return shown.join(between);
  const and = between === "; " ? "; and" : " and";
  return `${shown.join(between)}${and} ${rest} more${of && ` ${of}`}`;
}
