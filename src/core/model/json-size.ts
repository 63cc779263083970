// How long a text is in the JSON of the API server, which is written by Go: UTF-8, and an escape of six bytes for
// each sign that HTML or JavaScript could misread.

const [QUOTE, BACKSLASH] = [34, 92];
const ESCAPED_FOR_HTML: ReadonlySet<number> = new Set([38, 60, 62, 0x2028, 0x2029]);
const SHORT_ESCAPES: ReadonlySet<number> = new Set([9, 10, 13]);
const ESCAPE_BYTES = 6;

/** In bytes, without the quotes around it. */
export function jsonSize(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE || code === BACKSLASH || SHORT_ESCAPES.has(code)) bytes += 2;
    else if (code < 32 || ESCAPED_FOR_HTML.has(code)) bytes += ESCAPE_BYTES;
    else if (code < 0x80) bytes++;
    // Of a pair of surrogates, which has four bytes, each half counts as two.
    else if (code < 0x800 || (code >= 0xd800 && code < 0xe000)) bytes += 2;
    else bytes += 3;
  }
  return bytes;
}
