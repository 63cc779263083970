// `npm run cluster:assets`: finds or makes the folder with etcd, kube-apiserver and
// kube-controller-manager that `npm run test:cluster` runs on, and prints its path (nothing else) on
// stdout. In this order: KUBEBUILDER_ASSETS; the cache outside the tree; a build from
// test/cluster/assets with Go; else one line on how to get them and exit code 3 (a failed build: 1).
// SECRETCAST_KUBERNETES=1.35 asks for an older minor: the same programs from that folder's go.mod.
// kubectl is not made here: the tests take it from the folder or from PATH.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  cacheFolder,
  digestOf,
  GO,
  goBuild,
  goVersion,
  missingIn,
  type Environment,
  type Found,
} from "./go-build.ts";
import { wordsOf } from "./words.ts";

const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager"] as const;
const MODULE = join(import.meta.dirname, "../test/cluster/assets");
/** The environment variable that chooses the minor version of Kubernetes. */
const CHOICE = "SECRETCAST_KUBERNETES";
/** Exit code for "neither there nor can they be made here"; CI goes on after this one only. */
const NOT_TO_BE_HAD = 3;

/** One version of Kubernetes, and the module file that it is built from. */
type Release = {
  readonly modfile: string;
  readonly version: string;
  readonly major: string;
  readonly minor: string;
};

export function clusterAssets(env: Environment, say: (line: string) => void): Found {
  const asked = env[CHOICE] ?? "";
  const given = env["KUBEBUILDER_ASSETS"] ?? "";
  if (given !== "" && asked !== "")
    return failed(`${CHOICE} and KUBEBUILDER_ASSETS are both set: keep one of them`);
  const release = releaseOf(asked);
  if (release === undefined)
    return failed(`${CHOICE} "${asked}" is none of ${releases().map(minorOf).join(", ")}`);
  if (given !== "") return checkGiven(given, release);
  const folder = cacheFolder(env, "cluster-assets", cacheKey(release));
  if (missingIn(folder, PROGRAMS).length === 0) return { kind: "found", folder };
  const go = goVersion(env, MODULE);
  return go.fits ? build(folder, release, env, say) : notToBeHad(go.text, release);
}

/** Does it with that folder, first in PATH for its kubectl; says so where there is none. The exit code. */
export async function withClusterAssets(
  say: (line: string) => void,
  act: (folder: string) => Promise<number>,
): Promise<number> {
  const assets = clusterAssets(process.env, say);
  if (assets.kind === "failed") {
    say(assets.message);
    return assets.exitCode;
  }
  process.env["PATH"] = `${assets.folder}:${process.env["PATH"] ?? ""}`;
  return act(assets.folder);
}

const failed = (message: string): Found => ({ kind: "failed", exitCode: 1, message });

function checkGiven(folder: string, release: Release): Found {
  const missing = missingIn(folder, PROGRAMS);
  if (missing.length === 0) return { kind: "found", folder };
  return failed(
    `KUBEBUILDER_ASSETS "${folder}" has no ${missing.join(", no ")}: put it there (${howToDownload(release)}), or unset KUBEBUILDER_ASSETS`,
  );
}

function notToBeHad(go: string, release: Release): Found {
  const message = `no control plane: Go ${GO.major}.${GO.minor} or newer would build it, but ${go}; or set KUBEBUILDER_ASSETS to a folder with ${PROGRAMS.join(", ")} (${howToDownload(release)})`;
  return { kind: "failed", exitCode: NOT_TO_BE_HAD, message };
}

function howToDownload({ version }: Release): string {
  const platform = `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`;
  return `setup-envtest use ${version.slice(1)} downloads etcd and kube-apiserver, https://dl.k8s.io/${version}/bin/${platform}/kube-controller-manager is the third`;
}

function cacheKey({ version, modfile }: Release): string {
  const sources = PROGRAMS.map((program) => join(program, "main.go"));
  return `${version}-${digestOf(MODULE, [modfile, sumOf(modfile), ...sources])}`;
}

const sumOf = (modfile: string): string => modfile.replace(/mod$/, "sum");

const minorOf = ({ major, minor }: Release): string => `${major}.${minor}`;

/** Every version that there is a module file for; the first is the one that is meant without a choice. */
function releases(): readonly Release[] {
  return ["go.mod", ...globSync("*/go.mod", { cwd: MODULE }).toSorted()].map(read);
}

const releaseOf = (asked: string): Release | undefined =>
  asked === "" ? read("go.mod") : releases().find((release) => minorOf(release) === asked);

function read(modfile: string): Release {
  const text = readFileSync(join(MODULE, modfile), "utf8");
  const found = /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\d+)/.exec(text);
  const [, version, major, minor] = found ?? [];
  if (version === undefined || major === undefined || minor === undefined)
    throw new Error(`"${MODULE}/${modfile}" requires no k8s.io/kubernetes`);
  return { modfile, version, major, minor };
}

function build(
  folder: string,
  release: Release,
  env: Environment,
  say: (line: string) => void,
): Found {
  say(
    `building ${PROGRAMS.join(", ")} ${release.version} from Go modules, once: about ten minutes on two cores`,
  );
  const packages = PROGRAMS.map((program) => `./${program}`);
  const { modfile } = release;
  return goBuild(
    folder,
    { module: MODULE, modfile, packages, programs: PROGRAMS, linkerFlags: linkerFlags(release) },
    env,
  );
}

// What `kubectl version` shows. "archive" is upstream's word for a build that knows no commit.
function linkerFlags({ version, major, minor }: Release): string {
  const facts = {
    gitVersion: version,
    gitMajor: major,
    gitMinor: minor,
    gitCommit: "unknown",
    gitTreeState: "archive",
    buildDate: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
  };
  const packages = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"];
  const stamps = packages.flatMap((path) =>
    Object.entries(facts).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  return ["-s", "-w", ...stamps].join(" ");
}

if (import.meta.main) {
  wordsOf(import.meta.filename, {});
  const found = clusterAssets(process.env, (line) => process.stderr.write(`${line}\n`));
  if (found.kind === "found") process.stdout.write(`${found.folder}\n`);
  else {
    process.stderr.write(`cluster:assets: ${found.message}\n`);
    process.exitCode = found.exitCode;
  }
}
