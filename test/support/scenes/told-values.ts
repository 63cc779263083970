// The search that every scene ends with: whether anything that its controllers logged, at level trace,
// holds a value of any Secret that the scene wrote.

// The shortest text that no name or identifier holds by chance.
const TELLING = 12;

/** How many of these values (in base64) stand in the log, in base64 or plain. */
export function countTold(log: readonly string[], values: Iterable<string>): number {
  const text = log.join("");
  return Array.from(values).filter(
    (value) => value.length >= TELLING && formsOf(value).some((form) => text.includes(form)),
  ).length;
}

function formsOf(base64: string): readonly string[] {
  const plain = Buffer.from(base64, "base64").toString();
  return plain.length >= TELLING ? [base64, plain] : [base64];
}
