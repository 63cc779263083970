// `npm run decode -- MAPS < LOG`: what the image's log says of places in its bundle
// ("unexpected TypeError at run-1a2b3c4d.cjs:155:20") in lines of src, by the source maps that the release has.
// Everything else goes through as it is.
import { existsSync, globSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { wordsOf } from "./words.ts";

/** `names` of chunks are given with a hash of their content, so that a map of another build is not taken. */
export function decode(said: string, maps: string): string {
  const files = new Map(
    globSync("**/*.map", { cwd: maps }).map((path) => [basename(path, ".map"), join(maps, path)]),
  );
  return said.replaceAll(/([\w.-]+\.cjs):(\d+):(\d+)/g, (whole, chunk: string, line, column) => {
    const file = files.get(chunk);
    if (file === undefined) return whole;
    const map = new SourceMap(JSON.parse(readFileSync(file, "utf8")));
    const found = map.findEntry(Number(line) - 1, Number(column) - 1);
    if (!("originalSource" in found)) return whole;
    const source = found.originalSource
      .replace(/^(\.\.\/)+/, "")
      .replace(/^.*?(?=src\/|node_modules\/)/, "");
    return `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  });
}

if (import.meta.main) {
  const { positionals } = wordsOf(import.meta.filename, { allowPositionals: true });
  const [maps = ""] = positionals;
  if (existsSync(maps)) process.stdout.write(decode(await text(process.stdin), maps));
  else {
    process.stderr.write(
      "decode: give the folder of source maps of the release that wrote the log\n",
    );
    process.exitCode = 1;
  }
}
