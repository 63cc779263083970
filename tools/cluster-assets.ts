// `npm run cluster:assets`: finds or makes the folder with etcd, kube-apiserver and
// kube-controller-manager that `npm run test:cluster` runs on, and prints its path (nothing else) on
// stdout. In this order: KUBEBUILDER_ASSETS; the cache outside the tree; a build from
// test/cluster/assets with Go; else one line on how to get them and exit code 3 (a failed build: 1).
// The cache is keyed by everything that goes into the programs. A build happens in a folder of its
// own that is renamed when complete, so an interrupted or a second run never leaves a broken one.
// kubectl is not made here: the tests take it from the folder or from PATH.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager"] as const;
const MODULE = join(import.meta.dirname, "../test/cluster/assets");
const GO = { major: 1, minor: 26 };
/** Exit code for "neither there nor can they be made here"; CI goes on after this one only. */
const NOT_TO_BE_HAD = 3;

type Environment = Readonly<Record<string, string | undefined>>;
type Found =
  | { readonly kind: "found"; readonly folder: string }
  | { readonly kind: "failed"; readonly exitCode: number; readonly message: string };

export function clusterAssets(env: Environment, say: (line: string) => void): Found {
  const given = env["KUBEBUILDER_ASSETS"];
  if (given !== undefined && given !== "") return checkGiven(given);
  const folder = join(cacheHome(env), "secretcast", "cluster-assets", cacheKey());
  if (missingIn(folder).length === 0) return { kind: "found", folder };
  const go = goVersion(env);
  return go.fits ? build(folder, env, say) : notToBeHad(go.text);
}

function checkGiven(folder: string): Found {
  const missing = missingIn(folder);
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

const missingIn = (folder: string): readonly string[] =>
  PROGRAMS.filter((program) => !existsSync(join(folder, program)));

const cacheHome = (env: Environment): string => env["XDG_CACHE_HOME"] || join(homedir(), ".cache");

function cacheKey(): string {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n`);
  const sources = ["go.mod", "go.sum", ...PROGRAMS.map((program) => join(program, "main.go"))];
  for (const file of sources) hash.update(readFileSync(join(MODULE, file)));
  return `${kubernetes().version}-${hash.digest("hex").slice(0, 16)}`;
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

function goVersion(env: Environment): { readonly fits: boolean; readonly text: string } {
  const asked = spawnSync("go", ["env", "GOVERSION"], { env, encoding: "utf8", cwd: MODULE });
  if (asked.status !== 0) return { fits: false, text: "there is no working go on PATH" };
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(asked.stdout) ?? [];
  const fits =
    Number(major) > GO.major || (Number(major) === GO.major && Number(minor) >= GO.minor);
  return { fits, text: `go on PATH is ${asked.stdout.trim()}` };
}

function build(folder: string, env: Environment, say: (line: string) => void): Found {
  say(
    `building ${PROGRAMS.join(", ")} ${kubernetes().version} from Go modules, once: about ten minutes on two cores`,
  );
  mkdirSync(join(folder, ".."), { recursive: true });
  const making = mkdtempSync(`${folder}.building-`);
  try {
    const args = ["build", "-trimpath", "-ldflags", linkerFlags(), "-o", `${making}/`];
    const built = spawnSync("go", [...args, ...PROGRAMS.map((program) => `./${program}`)], {
      cwd: MODULE,
      env: { ...env, CGO_ENABLED: "0", GOFLAGS: "-mod=readonly -buildvcs=false" },
      stdio: ["ignore", 2, 2],
    });
    if (built.status !== 0 || missingIn(making).length > 0)
      return { kind: "failed", exitCode: 1, message: `go build in "${MODULE}" failed` };
    moveInto(making, folder);
    return { kind: "found", folder };
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

// A run that was faster has put the same programs there: theirs stay.
function moveInto(making: string, folder: string): void {
  if (missingIn(folder).length === 0) return;
  rmSync(folder, { recursive: true, force: true });
  try {
    renameSync(making, folder);
  } catch (error) {
    if (missingIn(folder).length > 0) throw error;
  }
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
