// The bill of materials of what is shipped, as CycloneDX on stdout: of the npm package, which brings
// all production packages, or of the image, which holds those whose code its bundle holds:
// `npm run sbom -- MAPS/packages.json`, of the folder of maps that `npm run bundle` filled.
// npm leaves out a production package that a development one depends on too, so it is asked of a lockfile
// without those.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BundledPackage } from "./bundle/licences.ts";
import { ROOT, run } from "./release/files.ts";
import { wordsOf } from "./words.ts";

type Locked = {
  readonly dev?: boolean;
  readonly link?: boolean;
  devDependencies?: unknown;
  workspaces?: unknown;
};
type Component = { readonly "bom-ref": string; readonly name: string; readonly version: string };
export type Bom = {
  readonly serialNumber?: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** Of every production package. */
export function billOfMaterials(): Bom {
  const {
    devDependencies: _,
    workspaces: __,
    ...manifest
  }: Record<string, unknown> = JSON.parse(read("package.json"));
  const lock: { packages: Record<string, Locked> } = JSON.parse(read("package-lock.json"));
  const shipped = Object.entries(lock.packages).filter(
    ([path, { dev, link }]) => !dev && !link && !/^(?:tools|packages)\//.test(path),
  );
  const packages = Object.fromEntries(shipped);
  delete packages[""]?.devDependencies;
  delete packages[""]?.workspaces;
  const scratch = mkdtempSync(join(tmpdir(), "secretcast-sbom-"));
  // Its name stands in the bill.
  const folder = join(scratch, "secretcast");
  mkdirSync(folder);
  try {
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ ...lock, packages }));
    const form = ["--sbom-format=cyclonedx", "--sbom-type=application"];
    return JSON.parse(run("npm", ["sbom", "--package-lock-only", ...form], { cwd: folder }));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** Without the packages of which the bundle holds no code. */
export function ofBundle(bom: Bom, bundled: readonly BundledPackage[]): Bom {
  const held = new Set(bundled.map(({ name, version }) => `${name}@${version}`));
  const components = bom.components.filter(({ name, version }) => held.has(`${name}@${version}`));
  const found = new Set(components.map(({ name, version }) => `${name}@${version}`));
  const missing = [...held].filter((each) => !found.has(each));
  if (missing.length > 0)
    throw new Error(`the bundle holds what the lockfile does not ship: ${missing.join(", ")}`);
  const refs = new Set([
    bom.metadata.component["bom-ref"],
    ...components.map((each) => each["bom-ref"]),
  ]);
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }));
  return { ...bom, components, dependencies };
}

if (import.meta.main) {
  const { positionals } = wordsOf(import.meta.filename, { allowPositionals: true });
  const [list] = positionals;
  const bom = billOfMaterials();
  const shown = list === undefined ? bom : ofBundle(bom, JSON.parse(readFileSync(list, "utf8")));
  process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
}
