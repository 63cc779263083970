// A kubeconfig in memory for a server on loopback.
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
