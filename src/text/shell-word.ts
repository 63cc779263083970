// A text as one word of a command for a shell of POSIX.
import { isPrintable, UNPRINTABLE } from "./printable.ts";

// A leading "=" is a look-up of a command in zsh.
const PLAIN = /^(?!=)[-A-Za-z0-9_./:=@%+,]+$/;

/**
 * In single quotes unless every character is plain, and on one line. A text that is not printable is in `$'…'`. A
 * shell without such quotes reads another word, but still one.
 */
export function shellWord(text: string): string {
  if (PLAIN.test(text)) return text;
  if (isPrintable(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const inside = text.replaceAll("\\", String.raw`\\`).replaceAll("'", String.raw`\x27`);
  return `$'${inside.replace(UNPRINTABLE, shellEscaped)}'`;
}

/** A command of these words. */
export function shellCommand(...words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}

// By byte of UTF-8: every shell that knows `$'…'` reads it, in every locale.
function shellEscaped(sign: string): string {
  return [...Buffer.from(sign)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}
