// A kubeconfig for a server on loopback, in memory or in a file.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { KubeConfig } from "@kubernetes/client-node";
import type { Cluster, User } from "@kubernetes/client-node";

export function kubeConfigFor(
  server: string,
  user: Partial<User> = {},
  cluster: Partial<Cluster> = {},
): KubeConfig {
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    { name: "test", server, skipTLSVerify: false, ...cluster },
    { name: "tester", ...user },
  );
  return config;
}

/** The path of a file with it, which goes with the test. */
export function kubeConfigFile(t: TestContext, config: KubeConfig): string {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-kubeconfig-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "config");
  writeFileSync(path, config.exportConfig(), { mode: 0o600 });
  return path;
}
