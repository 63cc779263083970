// Which tests run through which place, and how long each takes, measured once and kept: a mutation
// is shown to those tests alone. What was measured of a file that has changed since counts as
// run through everywhere in it.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isMutated, offsetOf, type Place } from "./places.ts";
import { run } from "./test-run.ts";

type Ranges = readonly (readonly [start: number, end: number, ran: boolean])[];
type Measured = {
  readonly hash: string;
  readonly ms: number;
  /** Of each file and each process that ran it. */
  readonly files: Readonly<Record<string, { readonly hash: string; readonly runs: Ranges[] }>>;
};
type Report = {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { startOffset: number; endOffset: number; count: number }[];
    }[];
  }[];
};

const MOST_MS = 240_000;
const hashOf = (path: string): string =>
  createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 16);

export class Coverage {
  readonly #root: string;
  readonly #kept: string;
  readonly #measured: Map<string, Measured>;

  constructor(root: string, kept: string) {
    this.#root = root;
    this.#kept = kept;
    this.#measured = new Map(
      existsSync(kept)
        ? (JSON.parse(readFileSync(kept, "utf8")) as [string, Measured][])
        : undefined,
    );
  }

  /** Measures what was not measured, or has changed. False for a test that fails without a mutation. */
  async measure(test: string, args: readonly string[]): Promise<boolean> {
    const hash = hashOf(join(this.#root, test));
    if (this.#measured.get(test)?.hash === hash) return true;
    const folder = join(this.#root, "coverage");
    rmSync(folder, { recursive: true, force: true });
    const begun = Date.now();
    const ending = await run(this.#root, args, MOST_MS, {
      NODE_V8_COVERAGE: folder,
      NODE_DISABLE_COMPILE_CACHE: "1",
    });
    if (ending.kind === "failed") return false;
    const ms = Date.now() - begun;
    this.#measured.set(test, { hash, ms, files: this.#read(folder) });
    mkdirSync(dirname(this.#kept), { recursive: true });
    writeFileSync(this.#kept, JSON.stringify([...this.#measured]));
    return true;
  }

  #read(folder: string): Measured["files"] {
    const files: Record<string, { hash: string; runs: Ranges[] }> = {};
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      const { result } = JSON.parse(readFileSync(join(folder, name), "utf8")) as Report;
      for (const { url, functions } of result) {
        const file = url.startsWith("file:") ? fileURLToPath(url).slice(this.#root.length + 1) : "";
        if (!isMutated(file)) continue;
        const known = (files[file] ??= { hash: hashOf(join(this.#root, file)), runs: [] });
        known.runs.push(
          functions.flatMap(({ ranges }) =>
            ranges.map((range): Ranges[number] => [
              range.startOffset,
              range.endOffset,
              range.count > 0,
            ]),
          ),
        );
      }
    }
    return files;
  }

  timeOf(test: string): number {
    return this.#measured.get(test)?.ms ?? MOST_MS;
  }

  runsThrough(test: string, place: Place): boolean {
    const known = this.#measured.get(test)?.files[place.file];
    if (!known) return false;
    if (known.hash !== hashOf(join(this.#root, place.file))) return true;
    const at = offsetOf(this.#root, place);
    return at !== undefined && known.runs.some((ranges) => innermost(ranges, at));
  }
}

function innermost(ranges: Ranges, at: number): boolean {
  let [size, ran] = [Number.POSITIVE_INFINITY, false];
  for (const [start, end, did] of ranges)
    if (start <= at && at < end && end - start <= size) [size, ran] = [end - start, did];
  return ran;
}
