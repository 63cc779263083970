// The Helm that the chart is tested with: built once from its Go module into the cache. Without Go
// it is the one on PATH, if there is one: the tests look for that themselves.
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { cacheFolder, digestOf, goBuild, goVersion, missingIn } from "./go-build.ts";
import type { Environment } from "./go-build.ts";

const MODULE = join(import.meta.dirname, "../test/cluster/helm");
const PROGRAMS = ["helm"];

/** The folder with helm, as a list to put into PATH: empty where it cannot be built. */
export function helmFolder(env: Environment, say: (line: string) => void): readonly string[] {
  const folder = cacheFolder(env, "helm", `${version()}-${digestOf(MODULE, ["go.mod", "go.sum"])}`);
  if (missingIn(folder, PROGRAMS).length === 0) return [folder];
  if (!goVersion(env, MODULE).fits) return [];
  say(`building helm ${version()} from Go modules, once: about two minutes on two cores`);
  const found = goBuild(
    folder,
    {
      module: MODULE,
      packages: ["helm.sh/helm/v3/cmd/helm"],
      programs: PROGRAMS,
      linkerFlags: `-s -w -X helm.sh/helm/v3/internal/version.version=${version()}`,
    },
    env,
  );
  if (found.kind === "found") return [found.folder];
  say(found.message);
  return [];
}

function version(): string {
  const text = readFileSync(join(MODULE, "go.mod"), "utf8");
  const [, version] = /helm\.sh\/helm\/v3 (v\d+\.\d+\.\d+)/.exec(text) ?? [];
  if (version === undefined) throw new Error(`"${MODULE}/go.mod" requires no helm.sh/helm/v3`);
  return version;
}
