// How long a text is in the JSON of the API server, which is written by Go: UTF-8, and an escape of six bytes for
// each sign that HTML or JavaScript could misread.

const ESCAPE_BYTES = 6;
/** Bytes of each ASCII character. A table, because a text of 1 MiB is read in a turn of 10 ms. */
const ASCII_BYTES = Uint8Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code);
  if ('"\\\n\r\t'.includes(sign)) return 2;
  return code < 32 || "&<>".includes(sign) ? ESCAPE_BYTES : 1;
});

/** In bytes, without the quotes around it. */
export function jsonSize(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const ascii = ASCII_BYTES[code];
    if (ascii !== undefined) bytes += ascii;
    // A pair of surrogates has four bytes, so each half counts as two.
    else if (code < 0x800 || (code >= 0xd800 && code < 0xe000)) bytes += 2;
    else bytes += code === 0x2028 || code === 0x2029 ? ESCAPE_BYTES : 3;
  }
  return bytes;
}
