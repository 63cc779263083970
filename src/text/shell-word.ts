// A text as one word of a command for a shell of POSIX.
const PLAIN = /^[-A-Za-z0-9_./:=@%+,]+$/;

/** In single quotes unless every character is plain. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A command of these words. */
export function shellCommand(...words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}
