// The Helm on PATH, with a home folder of its own: no repository, plug-in or cache of the machine
// leaks in, and nothing of the test's leaks out.
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { KubernetesObject } from "@kubernetes/client-node";
import { loadAll } from "js-yaml";

const ASKED_WITHIN_MS = 120_000;

export type HelmResult = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** Why Helm cannot be run here, or undefined when it can. */
export function helmMissing(): string | undefined {
  const asked = spawnSync("helm", ["version", "--short"], { encoding: "utf8" });
  if (asked.status !== 0) return "there is no helm on PATH, and no Go to build one";
  return undefined;
}

/** The words that give Helm these values. */
export function setJson(values: object): readonly string[] {
  const given = Object.entries(values).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  return given.length === 0 ? [] : ["--set-json", given.join(",")];
}

/** With the choice that the chart demands: every Secret, unless these words name some. */
export function readable(...words: readonly string[]): readonly string[] {
  return words.join(" ").includes("onlyNames") ? words : [...words, "--set", "allSecrets=true"];
}

/** The objects of a rendered chart. The Kubernetes client's own reader renames a field called "from". */
export function objectsIn(yaml: string): readonly KubernetesObject[] {
  const all: readonly (KubernetesObject | null)[] = JSON.parse(JSON.stringify(loadAll(yaml)));
  return all.filter((one) => one !== null);
}

export class Helm {
  readonly #home = mkdtempSync(join(tmpdir(), "helm-"));
  /** What a run of it has in its environment. */
  readonly env: Readonly<Record<string, string>>;

  constructor(kubeconfig: string) {
    this.env = { PATH: process.env["PATH"] ?? "", HOME: this.#home, KUBECONFIG: kubeconfig };
  }

  /** Runs to the end, whatever the exit code. */
  try(...words: readonly string[]): HelmResult {
    const { env } = this;
    const { status, stdout, stderr } = spawnSync("helm", words, { encoding: "utf8", env });
    return { code: status, stdout, stderr };
  }

  /** The output of a run that must succeed, and without a warning. */
  run(...words: readonly string[]): string {
    const { code, stdout, stderr } = this.try(...words);
    if (code === 0 && !/warn/i.test(stderr)) return stdout;
    throw new Error(`helm ${words.join(" ")}: exit code ${code}: ${stderr}`);
  }

  /** As `run`, while this process goes on: it may be who Helm asks. */
  async runBeside(...words: readonly string[]): Promise<string> {
    const { env } = this;
    const given = { encoding: "utf8", env, timeout: ASKED_WITHIN_MS } as const;
    const { stdout, stderr } = await promisify(execFile)("helm", words, given);
    if (!/warn/i.test(stderr)) return stdout;
    throw new Error(`helm ${words.join(" ")}: ${stderr}`);
  }

  close(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }
}
