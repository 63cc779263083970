// The papers of the packages whose code is in the bundle: what each one's own folder holds.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

export type BundledPackage = {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** Relative to the root of the tree. */
  readonly folder: string;
  /** Folders of the package of which code is bundled, its own among them. */
  readonly within: readonly string[];
};

const FOLDER = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const PAPER = /^(licen[cs]e|copying|notice|authors)([.-].*)?$/i;

/** Packages of the modules with these paths, by name. */
export function packagesOf(root: string, modules: readonly string[]): readonly BundledPackage[] {
  const within = new Map<string, Set<string>>();
  for (const module of modules) {
    const folder = FOLDER.exec(module)?.[1];
    // Modules that the build makes up have no file.
    if (folder === undefined || module.startsWith("\0")) continue;
    const folders = within.get(folder) ?? new Set([folder]);
    for (let each = dirname(module); each.length > folder.length; each = dirname(each))
      folders.add(each);
    within.set(folder, folders);
  }
  const all = Array.from(within, ([folder, folders]) => {
    const { name, version, license }: { name: string; version: string; license: string } =
      JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return {
      name,
      version,
      licence: license,
      folder: relative(root, folder),
      within: Array.from(folders, (each) => relative(root, each)).toSorted(),
    };
  });
  // npm may have laid one version in several folders.
  const once = new Map(all.map((each) => [`${each.name}@${each.version}`, each]));
  return [...once.values()].toSorted(
    (a, b) => a.name.localeCompare(b.name) || a.version.localeCompare(b.version),
  );
}

export function licenceText(root: string, packages: readonly BundledPackage[]): string {
  const intro =
    "secretcast is under the Apache License 2.0, see LICENSE. Its image and its executables hold code of these packages.\n";
  return [intro, ...packages.map((each) => entry(root, each))].join(`\n${"-".repeat(80)}\n\n`);
}

function entry(root: string, { name, version, licence, within }: BundledPackage): string {
  const papers = within
    .map((folder) => join(root, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { withFileTypes: true })
        .filter((file) => file.isFile() && PAPER.test(file.name))
        .map((file) => join(folder, file.name))
        .toSorted(),
    );
  const texts = papers.map(
    (file) => `${basename(file)}:\n\n${readFileSync(file, "utf8").trim()}\n`,
  );
  const none = "Its package brings no licence text.\n";
  return [`${name} ${version}, ${licence}\n`, ...(texts.length > 0 ? texts : [none])].join("\n");
}
