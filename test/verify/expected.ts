// What the program does otherwise than the contract until the one rule for removals is built. Whoever builds a
// part of it takes its line out.

export type Expected = { readonly what: RegExp; readonly rule: string };

export const EXPECTED: readonly Expected[] = [
  {
    what: /earlier than the reported time|the reported time became earlier/,
    rule: "a reported time becomes earlier only by accept: false or to: !*, and is then a grace away",
  },
];
