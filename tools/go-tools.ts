// The Helm that the chart is tested with, the helm-unittest that runs the chart's own tests, the promtool that the
// alerting rules are, the actionlint that the workflows are and the krew that its manifest is: each built once from
// its Go module into the cache. Without Go it is the one on PATH, if there is one: the tests look for that themselves.
import { basename, join } from "node:path";
import { readFileSync } from "node:fs";
import { cacheFolder, digestOf, goBuild, goVersion, missingIn } from "./go-build.ts";
import type { Environment } from "./go-build.ts";

type Name = "helm" | "helm-unittest" | "promtool" | "actionlint" | "krew";
type GoTool = {
  readonly name: Name;
  /** The Go module that it is part of, and where in that; the last part of a path is the program's name. */
  readonly module: string;
  readonly paths: readonly string[];
  readonly linkerFlags: (version: string, own: string) => string;
  readonly tags?: string;
};

const TOOLS: readonly GoTool[] = [
  {
    name: "helm",
    module: "helm.sh/helm/v3",
    paths: ["cmd/helm"],
    linkerFlags: (version, own) => {
      // As its own release is built: without a cluster to ask, it takes the newest Kubernetes that it
      // knows, and not one that is years old.
      const [, minor = ""] = versionOf("k8s.io/client-go", own).split(".");
      const minors = ["lint/rules", "chartutil"].map(
        (path) => `-X helm.sh/helm/v3/pkg/${path}.k8sVersionMinor=${minor}`,
      );
      return `-s -w -X helm.sh/helm/v3/internal/version.version=${version} ${minors.join(" ")}`;
    },
  },
  {
    name: "helm-unittest",
    module: "github.com/helm-unittest/helm-unittest",
    paths: ["cmd/helm-unittest"],
    linkerFlags: () => "-s -w",
  },
  {
    name: "promtool",
    module: "github.com/prometheus/prometheus",
    paths: ["cmd/promtool"],
    linkerFlags: () => "-s -w",
    // Clients of every cloud there is: rules need none.
    tags: "remove_all_sd",
  },
  {
    name: "actionlint",
    module: "github.com/rhysd/actionlint",
    paths: ["cmd/actionlint"],
    linkerFlags: (version) => `-s -w -X github.com/rhysd/actionlint.version=${version.slice(1)}`,
  },
  {
    name: "krew",
    module: "sigs.k8s.io/krew",
    paths: ["cmd/krew", "cmd/validate-krew-manifest"],
    linkerFlags: () => "-s -w",
  },
];

/** The folders with these tools, or with those that are `wanted`, for PATH: without those that cannot be built. */
export function goToolFolders(
  env: Environment,
  say: (line: string) => void,
  wanted: readonly Name[] = TOOLS.map(({ name }) => name),
): readonly string[] {
  return TOOLS.filter(({ name }) => wanted.includes(name)).flatMap((tool) =>
    folderOf(tool, env, say),
  );
}

function folderOf(
  { name, module, paths, linkerFlags, tags }: GoTool,
  env: Environment,
  say: (line: string) => void,
): readonly string[] {
  const own = join(import.meta.dirname, "../test/cluster", name);
  const version = versionOf(module, own);
  const flags = linkerFlags(version, own);
  const folder = cacheFolder(env, name, `${version}-${digestOf(own, ["go.mod", "go.sum"], flags)}`);
  const programs = paths.map((path) => basename(path));
  if (missingIn(folder, programs).length === 0) return [folder];
  if (!goVersion(env, own).fits) return [];
  say(`building ${name} ${version} from Go modules, once: minutes on two cores`);
  const found = goBuild(
    folder,
    {
      module: own,
      packages: paths.map((path) => `${module}/${path}`),
      programs,
      linkerFlags: flags,
      ...(tags === undefined ? {} : { tags }),
    },
    env,
  );
  if (found.kind === "found") return [found.folder];
  say(found.message);
  return [];
}

function versionOf(module: string, own: string): string {
  const words = readFileSync(join(own, "go.mod"), "utf8").split(/\s+/);
  const version = words[words.lastIndexOf(module) + 1];
  if (!words.includes(module) || version === undefined || !/^v\d+\.\d+\.\d+$/.test(version))
    throw new Error(`"${own}/go.mod" requires no ${module}`);
  return version;
}
