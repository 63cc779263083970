// `npm run cluster:assets`: finds or makes the folder with etcd, kube-apiserver and
// kube-controller-manager that `npm run test:cluster` runs on, and prints its path (nothing else) on
// stdout. In this order: KUBEBUILDER_ASSETS; the cache outside the tree; a build from
// test/cluster/assets with Go; else one line on how to get them and exit code 3 (a failed build: 1).
// kubectl is not made here: the tests take it from the folder or from PATH.
import { readFileSync } from "node:fs";
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

const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager"] as const;
const MODULE = join(import.meta.dirname, "../test/cluster/assets");
/** Exit code for "neither there nor can they be made here"; CI goes on after this one only. */
const NOT_TO_BE_HAD = 3;

export function clusterAssets(env: Environment, say: (line: string) => void): Found {
  const given = env["KUBEBUILDER_ASSETS"];
  if (given !== undefined && given !== "") return checkGiven(given);
  const folder = cacheFolder(env, "cluster-assets", cacheKey());
  if (missingIn(folder, PROGRAMS).length === 0) return { kind: "found", folder };
  const go = goVersion(env, MODULE);
  return go.fits ? build(folder, env, say) : notToBeHad(go.text);
}

function checkGiven(folder: string): Found {
  const missing = missingIn(folder, PROGRAMS);
  if (missing.length === 0) return { kind: "found", folder };
  const message = `KUBEBUILDER_ASSETS "${folder}" has no ${missing.join(", no ")}: put it there (${howToDownload()}), or unset KUBEBUILDER_ASSETS`;
  return { kind: "failed", exitCode: 1, message };
}

function notToBeHad(go: string): Found {
  const message = `no control plane: Go ${GO.major}.${GO.minor} or newer would build it, but ${go}; or set KUBEBUILDER_ASSETS to a folder with ${PROGRAMS.join(", ")} (${howToDownload()})`;
  return { kind: "failed", exitCode: NOT_TO_BE_HAD, message };
}

function howToDownload(): string {
  const { version } = kubernetes();
  const platform = `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`;
  return `setup-envtest use ${version.slice(1)} downloads etcd and kube-apiserver, https://dl.k8s.io/${version}/bin/${platform}/kube-controller-manager is the third`;
}

function cacheKey(): string {
  const sources = ["go.mod", "go.sum", ...PROGRAMS.map((program) => join(program, "main.go"))];
  return `${kubernetes().version}-${digestOf(MODULE, sources)}`;
}

function kubernetes(): {
  readonly version: string;
  readonly major: string;
  readonly minor: string;
} {
  const text = readFileSync(join(MODULE, "go.mod"), "utf8");
  const found = /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\d+)/.exec(text);
  const [, version, major, minor] = found ?? [];
  if (version === undefined || major === undefined || minor === undefined)
    throw new Error(`"${MODULE}/go.mod" requires no k8s.io/kubernetes`);
  return { version, major, minor };
}

function build(folder: string, env: Environment, say: (line: string) => void): Found {
  say(
    `building ${PROGRAMS.join(", ")} ${kubernetes().version} from Go modules, once: about ten minutes on two cores`,
  );
  const packages = PROGRAMS.map((program) => `./${program}`);
  const what = { module: MODULE, packages, programs: PROGRAMS, linkerFlags: linkerFlags() };
  return goBuild(folder, what, env);
}

// What `kubectl version` shows. "archive" is upstream's word for a build that knows no commit.
function linkerFlags(): string {
  const { version, major, minor } = kubernetes();
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
  const found = clusterAssets(process.env, (line) => process.stderr.write(`${line}\n`));
  if (found.kind === "found") process.stdout.write(`${found.folder}\n`);
  else {
    process.stderr.write(`cluster:assets: ${found.message}\n`);
    process.exitCode = found.exitCode;
  }
}
