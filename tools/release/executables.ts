// The executables of a release, an archive for each platform: the program, its licence and those of all that
// is in it. gzip, which krew and Homebrew unpack. At level 6: level 9 takes three times as long for 0.5 % less.
import { copyFileSync, existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { buildExecutable, packBundle } from "../executable/build.ts";
import { NODE_LICENCE } from "../executable/node-program.ts";
import { PLATFORMS, type Platform } from "../executable/platforms.ts";
import { archive, sha256OfFile } from "./files.ts";

const LEVEL = 6;
/** Of an archive. */
const MOST_BYTES = 45 * 2 ** 20;

export type PackedExecutable = {
  readonly platform: Platform;
  /** The name of its file. */
  readonly archive: string;
  readonly sha256: string;
};

export type ExecutablesOf = {
  /** The bundle, with its licences. */
  readonly layer: string;
  readonly version: string;
  /** Of the commit, since the epoch. */
  readonly seconds: number;
  readonly scratch: string;
  /** A folder with executables that were made elsewhere, each as `givenName` says. */
  readonly given: string | undefined;
  /** A folder with Node's own archives and their checksums; undefined in a dry run, which takes npm's. */
  readonly nodes: string | undefined;
};

/** In such a folder: `secretcast-darwin-arm64`. */
const givenName = ({ name }: Platform): string => `secretcast-${name}`;

/** Those that only exist where they were made elsewhere, and were not given. */
export function missingExecutables(given: string | undefined): readonly string[] {
  return PLATFORMS.filter((platform) => platform.node === undefined)
    .map((platform) => givenName(platform))
    .filter((name) => given === undefined || !existsSync(join(given, name)));
}

/** Into `folder`, in the order of the table: what is given, what is made here, and with `all` the others too. */
export function packExecutables(
  folder: string,
  all: boolean,
  { layer, version, seconds, scratch, given, nodes }: ExecutablesOf,
): readonly PackedExecutable[] {
  const packed = packBundle(layer, scratch);
  const foreign = (platform: Platform): string | undefined => {
    const path = given === undefined ? undefined : join(given, givenName(platform));
    return path !== undefined && existsSync(path) ? path : undefined;
  };
  const platforms = PLATFORMS.filter(
    (platform) => all || platform.madeHere || foreign(platform) !== undefined,
  );
  return platforms.map((platform) => {
    const stage = join(scratch, platform.name);
    mkdirSync(stage);
    const program = join(stage, platform.program);
    const made = foreign(platform);
    if (made === undefined) buildExecutable(platform, packed, program, scratch, nodes);
    else copyFileSync(made, program);
    const papers = {
      LICENSE: join(layer, "LICENSE"),
      "NODE-LICENSE.txt": NODE_LICENCE,
      "THIRD-PARTY-LICENSES.txt": join(layer, "THIRD-PARTY-LICENSES.txt"),
    };
    for (const [paper, path] of Object.entries(papers)) copyFileSync(path, join(stage, paper));
    const name = `secretcast-${version}-${platform.name}.tar.gz`;
    const file = join(folder, name);
    archive(stage, [platform.program, ...Object.keys(papers)], file, seconds, LEVEL);
    const { size } = statSync(file);
    if (size > MOST_BYTES)
      throw new Error(`${name} has ${size} bytes: at most ${MOST_BYTES} are allowed`);
    return { platform, archive: name, sha256: sha256OfFile(file) };
  });
}
