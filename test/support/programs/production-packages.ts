// The packages that an install without development ones leaves, by the lockfile: linked from this
// clone's node_modules into another folder's, so that a test needs no registry.
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

type Locked = {
  readonly version?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

/** Every package of the lockfile by its path: `node_modules/undici`, `tools/dev-node`. */
export function lockedPackages(): Readonly<Record<string, Locked>> {
  const lock: { packages: Record<string, Locked> } = JSON.parse(
    readFileSync(join(ROOT, "package-lock.json"), "utf8"),
  );
  return lock.packages;
}

/** Paths of the production packages, those inside another's node_modules included. */
export function productionPackages(): readonly string[] {
  return Object.entries(lockedPackages())
    .filter(([path, { dev, link }]) => path.startsWith("node_modules/") && !dev && !link)
    .map(([path]) => path);
}

/** Links each of them into `folder`/node_modules; one inside another comes along with it. */
export function linkProductionPackages(folder: string): void {
  for (const path of productionPackages()) {
    if (path.lastIndexOf("node_modules/") > 0) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, path));
  }
}

/** Node's options under which a linked package finds only what lies beside the link. */
export const KEEP_LINKS = ["--preserve-symlinks", "--preserve-symlinks-main"] as const;
