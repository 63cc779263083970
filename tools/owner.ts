// `npm run owner`: writes the values of owner.yaml into every file that needs one of them, and names those that are
// missing. Run it after each change of owner.yaml, and commit what it wrote. Exit code 1 where something is missing:
// then nothing is written. `npm run release -- --registry …` asks for the same.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chartDocs } from "./chart-docs.ts";
import { ROOT, run } from "./release/files.ts";
import { OWNER_FILE, PLACES, readOwner } from "./release/owner-values.ts";
import { wordsOf } from "./words.ts";

const say = (line: string): void => void process.stderr.write(`owner: ${line}\n`);
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

function fillIn(): boolean {
  const reading = readOwner(read(OWNER_FILE));
  if (reading.kind === "partial") {
    for (const problem of reading.problems) say(`${OWNER_FILE}: ${problem}`);
    say("docs/owner.md says what each value is; nothing was written");
    return false;
  }
  for (const [file, fill] of Object.entries(PLACES))
    writeFileSync(join(ROOT, file), fill(read(file), reading.owner));
  const ofChart = [...chartDocs()];
  for (const [file, text] of ofChart) writeFileSync(join(ROOT, "manifests/chart", file), text);
  const written = [
    OWNER_FILE,
    ...Object.keys(PLACES),
    ...ofChart.map(([file]) => `manifests/chart/${file}`),
  ];
  run(join(ROOT, "node_modules/.bin/oxfmt"), written);
  say(`filled in ${Object.keys(PLACES).join(", ")}: look at git diff, and commit`);
  return true;
}

if (import.meta.main) {
  wordsOf(import.meta.filename, {});
  if (!fillIn()) process.exitCode = 1;
}
