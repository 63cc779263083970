// What the program does otherwise than the contract, by the rule that is not built yet. Whoever builds it takes its
// line out.

export type Expected = { readonly what: RegExp; readonly rule: string };

export const EXPECTED: readonly Expected[] = [];
