// What commands print, in a document between two marks. UPDATE_README=1 writes it anew.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";

/** Compares what stands between `<!-- NAME:start -->` and `<!-- NAME:end -->`, or writes it. */
export function assertTranscript(page: URL, name: string, transcript: string): void {
  const [start, end] = [`<!-- ${name}:start -->\n`, `<!-- ${name}:end -->`];
  const block = `${start}\n\`\`\`console\n${transcript}\`\`\`\n\n${end}`;
  const text = readFileSync(page, "utf8");
  const present = text.slice(text.indexOf(start), text.indexOf(end) + end.length);
  const update = process.env["UPDATE_README"];
  if (update)
    writeFileSync(
      page,
      text.replace(present, () => block),
    );
  else assert.equal(present, block);
}
