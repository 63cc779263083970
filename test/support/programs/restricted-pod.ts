// The image's program as OpenShift's restricted-v2 runs it, without an engine: a mount namespace, a root that is
// read-only with everything in it, a user that no file knows, group 0, no capability, no home and no variable but
// those that are given. The layer is that of the image; Node and its libraries are those of this machine.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const USER = 1_000_680_000;
const GROUP = 0;
const NODE = "/nodejs/bin/node";
const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

// Each program puts the next one in its place, so that a signal reaches the last one.
const SCRIPT = `
root=$1 node=$2; shift 2
mount --bind "$root" "$root"
mount --bind /usr "$root/usr"
mount --bind /proc "$root/proc"
mount --bind /dev/null "$root/dev/null"
mount --bind "$node" "$root${NODE}"
for place in /usr /proc /dev/null ${NODE} ''; do mount -o remount,ro,bind "$root$place"; done
exec chroot "$root" /usr/bin/setpriv --reuid=${USER} --regid=${GROUP} --clear-groups \\
  --no-new-privs --bounding-set=-all --inh-caps=-all /usr/bin/env -i --chdir=/app "$@"`;

/** Why there can be no such process here; undefined where there can. */
export function whyNoRestrictedPod(): string | undefined {
  if (process.platform !== "linux")
    return `mount namespaces are Linux's, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return "a mount namespace and a chroot need root";
  for (const program of ["unshare", "setpriv", "chroot"])
    if (spawnSync(program, ["--version"]).status !== 0) return `there is no ${program}`;
  const { status, stderr } = spawnSync("unshare", ["--mount", "true"], { encoding: "utf8" });
  return status === 0 ? undefined : `no mount namespace: ${stderr.trim()}`;
}

export type RestrictedPod = {
  /** What a Pod has under /var/run/secrets. */
  readonly account: Readonly<Record<"token" | "ca.crt" | "namespace", string>>;
  readonly env: Readonly<Record<string, string>>;
};

/** Lays out the root in `folder`, with the layer in /app. */
export function layOut(folder: string, layer: string, { account }: RestrictedPod): void {
  for (const each of ["usr", "proc", "dev", "nodejs/bin", ACCOUNT.slice(1)])
    mkdirSync(join(folder, each), { recursive: true });
  for (const each of ["bin", "lib", "lib64"]) symlinkSync(`usr/${each}`, join(folder, each));
  for (const file of ["dev/null", NODE.slice(1)]) writeFileSync(join(folder, file), "");
  cpSync(layer, join(folder, "app"), { recursive: true });
  for (const [name, text] of Object.entries(account))
    writeFileSync(join(folder, ACCOUNT, name), text);
}

/** Starts Node in that root, by its words. */
export function startIn(
  folder: string,
  { env }: RestrictedPod,
  words: readonly string[],
): ChildProcess {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const inside = [...variables, NODE, ...words];
  const script = ["sh", "-ec", SCRIPT, "sh", folder, process.execPath, ...inside];
  const unshared = ["--mount", "--propagation", "private", ...script];
  return spawn("unshare", unshared, { stdio: ["ignore", "pipe", "pipe"] });
}
