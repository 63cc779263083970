// `node tools/bundle.ts FOLDER MAPS`: what the image runs, laid out in FOLDER as the image's last stage
// copies it, and its source maps in MAPS, which no image holds. Code of a package is in it where the
// program reaches it, names are kept, and the licence of each package lies beside it.
// dist/start.cjs starts it, with what V8 made of it before where compile.cjs has left that in dist.
// Beside the maps, packages.json lists the packages, which the image's bill of materials is made of.
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { rolldown, type OutputChunk, type Plugin } from "rolldown";
import { licenceText, packagesOf } from "./bundle/licences.ts";
import { narrowPackages } from "./bundle/narrow-packages.ts";

const ROOT = join(import.meta.dirname, "..");
const SRC = join(ROOT, "src");
const ENTRY = "\0entry";

export async function bundleInto(folder: string, maps: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  rmSync(maps, { recursive: true, force: true });
  const dist = join(folder, "dist");
  const bundle = await rolldown({
    cwd: ROOT,
    input: { secretcast: ENTRY },
    platform: "node",
    plugins: [startsAtOnce(), keepPlaces(), narrowPackages()],
    // client-node's models do nothing when they are loaded, but its package.json does not say so.
    treeshake: {
      moduleSideEffects: [{ test: /@kubernetes\/client-node\/dist\/gen\//, sideEffects: false }],
    },
    // yargs asks for `import.meta.resolve`, for an option that we do not use.
    checks: { emptyImportMeta: false },
  });
  // CommonJS: import of a built-in module would run every getter of it, which loads a dozen others.
  const { output } = await bundle.write({
    dir: dist,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
    sourcemap: true,
    comments: false,
    // A fifth of the size; names stay, and the source maps say where a column is.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  });
  await bundle.close();
  for (const { fileName } of output)
    if (fileName.endsWith(".map")) move(join(dist, fileName), join(maps, fileName));
  for (const each of ["LICENSE", "package.json", "manifests/example", "src/page/browser"])
    cpSync(join(ROOT, each), join(folder, each.replace(/^src\//, "dist/")), { recursive: true });
  cpSync(join(import.meta.dirname, "bundle/start.cjs"), join(dist, "start.cjs"));
  const chunks = output.filter((each): each is OutputChunk => each.type === "chunk");
  const packages = packagesOf(ROOT, modulesOf(chunks));
  writeFileSync(join(folder, "THIRD-PARTY-LICENSES.txt"), licenceText(ROOT, packages));
  writeFileSync(join(maps, "packages.json"), `${JSON.stringify(packages, null, 2)}\n`);
}

function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  renameSync(from, to);
}

/** The modules of which code is in the bundle. */
function modulesOf(chunks: readonly OutputChunk[]): readonly string[] {
  return chunks.flatMap(({ modules }) =>
    Object.entries(modules)
      .filter(([, module]) => module.renderedLength > 0)
      .map(([id]) => id),
  );
}

function startsAtOnce(): Plugin {
  return {
    name: "starts-at-once",
    resolveId: (source) => (source === ENTRY ? ENTRY : undefined),
    load: (id) =>
      id === ENTRY
        ? `import { main } from ${JSON.stringify(join(SRC, "main.ts"))}; void main();`
        : undefined,
  };
}

/** A file of src finds what lies beside it as it does unbundled: under dist, at its own depth. */
function keepPlaces(): Plugin {
  return {
    name: "keep-places",
    transform(code, id) {
      if (!id.startsWith(SRC) || !code.includes("import.meta.url")) return;
      const place = relative(SRC, id).replace(/\.ts$/, ".cjs");
      // The chunks lie side by side in dist.
      const url = `require("node:url").pathToFileURL(require("node:path").join(__dirname, ${JSON.stringify(place)})).href`;
      return { code: code.replaceAll("import.meta.url", url), map: null };
    },
  };
}

if (import.meta.main) {
  const [folder, maps] = process.argv.slice(2);
  // tools/words.ts is not where the image is built.
  if (folder === undefined || maps === undefined || folder.startsWith("-")) {
    process.stderr.write("bundle: give a folder for the bundle and one for its source maps\n");
    process.exitCode = 1;
  } else await bundleInto(resolve(folder), resolve(maps));
}
