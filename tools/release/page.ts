// What stands on a release's page: its notes, and the files that are downloaded from there. A page has
// no folders, so that two files of one name could not be told apart there.
import { copyFileSync, existsSync, globSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256OfFile } from "./files.ts";

/** Copies below `page`, with checksums under the names that they have there. */
export function fillPage(out: string, version: string): void {
  const page = join(out, "page");
  mkdirSync(page);
  const files: readonly (readonly [from: string, to: string])[] = [
    [`chart/secretcast-${version}.tgz`, `secretcast-${version}.tgz`],
    [`secretcast-${version}.yaml`, `secretcast-${version}.yaml`],
    [`image/source-maps-${version}.tgz`, `source-maps-${version}.tgz`],
    ["image/sbom.json", "sbom-image.json"],
    ["npm/sbom.json", "sbom-npm.json"],
    ["commit", "commit"],
    // A page renames a file that begins with a dot.
    [".krew.yaml", "secretcast.krew.yaml"],
    ["secretcast.rb", "secretcast.rb"],
    ...filesBelow(join(out, "executables")).map((name): readonly [string, string] => [
      `executables/${name}`,
      name,
    ]),
  ];
  for (const [from, to] of files)
    // Where no chart could be packed, there is none.
    if (existsSync(join(out, from))) copyFileSync(join(out, from), join(page, to));
  writeSums(page);
}

/** Of every file below `folder`, as `sha256sum --check SHA256SUMS` reads them. */
export function writeSums(folder: string): void {
  const sums = filesBelow(folder).map((file) => `${sha256OfFile(join(folder, file))}  ${file}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
}

/** Paths below `folder`, in order. */
export function filesBelow(folder: string): readonly string[] {
  return globSync("**/{*,.*}", { cwd: folder, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted();
}

/** The section of the changelog with that heading (`0.1.0` of `## 0.1.0 (2026-01-31)`); undefined where there is none. */
export function notesOf(changelog: string, heading: string): string | undefined {
  const section = changelog
    .split(/^## /m)
    .slice(1)
    .find((each) => each.split(/\s/, 1)[0] === heading);
  return section?.slice(section.indexOf("\n")).trim();
}
