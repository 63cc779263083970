// The bill of materials of what is shipped, as CycloneDX on stdout. npm leaves out a production package
// that a development one depends on too, so it is asked of a lockfile without those.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Locked = { readonly dev?: boolean; readonly link?: boolean; devDependencies?: unknown };

const root = new URL("..", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), "utf8");

const { devDependencies: _, ...manifest }: Record<string, unknown> = JSON.parse(
  read("package.json"),
);
const lock: { packages: Record<string, Locked> } = JSON.parse(read("package-lock.json"));
const shipped = Object.entries(lock.packages).filter(
  ([path, { dev, link }]) => !dev && !link && !path.startsWith("tools/"),
);
const packages = Object.fromEntries(shipped);
delete packages[""]?.devDependencies;

const folder = mkdtempSync(join(tmpdir(), "secretcast-sbom-"));
try {
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ ...lock, packages }));
  const form = ["--sbom-format=cyclonedx", "--sbom-type=application"];
  const { status, stdout, stderr } = spawnSync("npm", ["sbom", "--package-lock-only", ...form], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`npm sbom: ${stderr}`);
  process.stdout.write(stdout);
} finally {
  rmSync(folder, { recursive: true });
}
