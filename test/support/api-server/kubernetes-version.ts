// Which Kubernetes the cluster tests run on, asked of the program itself: what a version does not have
// yet is skipped with the reason, and nothing else is.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { assetsFolder } from "./cluster.ts";

/** 36 of 1.36. */
function kubernetesMinor(): number {
  const program = join(assetsFolder(), "kube-apiserver");
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  const [, minor] = /^Kubernetes v1\.(\d+)\./.exec(stdout) ?? [];
  if (minor === undefined) throw new Error(`"${program}" does not say its version`);
  return Number(minor);
}

export type Skipping = { readonly skip: string | false };

/** A test's options, where it needs what came with 1.`minor`. */
export function since(minor: number, what: string): Skipping {
  const here = kubernetesMinor();
  return { skip: here < minor && `needs Kubernetes 1.${minor} (${what}), this is 1.${here}` };
}

/** A test's options, where it is about the very version 1.`minor`. */
export function of(minor: number, what: string): Skipping {
  const here = kubernetesMinor();
  return { skip: here !== minor && `is about Kubernetes 1.${minor} (${what}), this is 1.${here}` };
}
