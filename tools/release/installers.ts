// How others install an executable: a manifest for krew, kubectl's plugin manager, and a formula for Homebrew.
// Both name the archives of the release's page by their checksums.
import { dump } from "js-yaml";
import type { PackedExecutable } from "./executables.ts";

/** Stands for the repository in a dry run, as long as package.json names none. */
const NO_REPOSITORY = "https://repository.invalid/secretcast";
const ABOUT = "Copy Secrets and ConfigMaps into other namespaces";

export type Manifest = {
  readonly version: string;
  readonly license: string;
  readonly homepage?: string;
  readonly repository?: string | { readonly url: string };
};

type Executables = readonly PackedExecutable[];

/** As package.json names it, without what only git reads. */
function repositoryOf({ repository }: Manifest): string {
  const url = typeof repository === "string" ? repository : repository?.url;
  if (url === undefined) return NO_REPOSITORY;
  return url
    .replace(/^git\+/, "")
    .replace(/^github:/, "https://github.com/")
    .replace(/\.git$/, "");
}

const homeOf = (manifest: Manifest): string => manifest.homepage ?? repositoryOf(manifest);

const addressOf = (manifest: Manifest, archive: string): string =>
  `${repositoryOf(manifest)}/releases/download/v${manifest.version}/${archive}`;

/** `kubectl krew install --manifest`. */
export function krewManifest(manifest: Manifest, executables: Executables): string {
  const platforms = executables.map(({ platform, archive, sha256 }) => ({
    selector: { matchLabels: platform.krew },
    uri: addressOf(manifest, archive),
    sha256,
    files: [platform.program, "*LICENSE*"].map((from) => ({ from, to: "." })),
    bin: platform.program,
  }));
  return dump(
    {
      apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
      kind: "Plugin",
      metadata: { name: "secretcast" },
      spec: {
        version: `v${manifest.version}`,
        homepage: homeOf(manifest),
        shortDescription: ABOUT,
        description:
          "Shows what secretcast, a controller that copies annotated Secrets and ConfigMaps into\n" +
          "other namespaces, does and why: plan, status, explain, check, migrate. It also runs the\n" +
          "controller itself, and a sandbox without a cluster.\n",
        platforms,
      },
    },
    { lineWidth: -1 },
  );
}

/** For macOS and Linux: those of the executables that are there. */
export function homebrewFormula(manifest: Manifest, executables: Executables): string {
  const block = (os: "darwin" | "linux"): string => {
    const its = executables.filter(({ platform }) => platform.krew.os === os);
    if (its.length === 0) return "";
    const files = its.map(({ platform, archive, sha256 }) => {
      const processor = platform.krew.arch === "arm64" ? "on_arm" : "on_intel";
      return [
        `    ${processor} do`,
        `      url ${JSON.stringify(addressOf(manifest, archive))}`,
        `      sha256 ${JSON.stringify(sha256)}`,
        "    end",
      ].join("\n");
    });
    return `  ${os === "darwin" ? "on_macos" : "on_linux"} do\n${files.join("\n")}\n  end\n\n`;
  };
  return `class Secretcast < Formula
  desc ${JSON.stringify(ABOUT)}
  homepage ${JSON.stringify(homeOf(manifest))}
  version ${JSON.stringify(manifest.version)}
  license ${JSON.stringify(manifest.license)}

${block("darwin")}${block("linux")}  def install
    bin.install "secretcast"
    bin.install_symlink "secretcast" => "kubectl-secretcast"
    bin.install_symlink "secretcast" => "kubectl_complete-secretcast"
    generate_completions_from_executable(bin/"secretcast", "completion", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/secretcast --version")
    assert_match "registry", shell_output("#{bin}/secretcast sandbox --once")
  end
end
`;
}
