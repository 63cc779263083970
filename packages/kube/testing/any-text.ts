// Texts of any characters. fast-check's own (`unit: "binary"`) prepares a table of 1.1 million of them:
// 3 s of processor time in each file.
import * as fc from "fast-check";

/** At most so many characters, none of which is half of another. */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  const point = fc.oneof(
    fc.integer({ min: 0, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  );
  return fc.array(point, { maxLength }).map((points) => String.fromCodePoint(...points));
}
