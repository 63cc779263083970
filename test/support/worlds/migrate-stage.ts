// A recorded world and the command line of an administrator that comes through a proxy.
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { sharedCluster } from "../api-server/cluster.ts";
import { startFaultProxy, type FaultProxy } from "../../../packages/kube/testing/fault-proxy.ts";
import { listBody } from "../api-server/list-body.ts";
import { kubeConfigFile, kubeConfigFor } from "../../../packages/kube/testing/kubeconfig-text.ts";
import { commandLine, type Said, type Surroundings } from "../programs/command-line.ts";
import { openScene, type Scene } from "../scenes/scene.ts";
import { WorldScene } from "./world-scene.ts";
import type { WorldName } from "./world.ts";

export type MigrateStage = {
  readonly stage: WorldScene<Scene>;
  readonly proxy: FaultProxy;
  readonly migrate: (...args: readonly (string | Surroundings)[]) => Promise<Said>;
};

export async function openMigrateStage(t: TestContext, world: WorldName): Promise<MigrateStage> {
  const scene = await openScene(t);
  const stage = new WorldScene(scene, world);
  await stage.load(t);
  const proxy = await startFaultProxy(t, upstream(scene.sandbox?.url));
  // On a shared server the manifests are applied, whose controller would be asked for its flags.
  const none = listBody("apps/v1", "Deployment", []);
  proxy.rule = ({ path }) => {
    const body = path.endsWith("/deployments") ? none : stage.customList(path);
    return body === undefined ? undefined : { kind: "answer", status: 200, body };
  };
  const kubeconfig = kubeConfigFile(t, kubeConfigFor(proxy.url));
  const migrate: MigrateStage["migrate"] = (...args) => {
    const words = args.filter((each) => typeof each === "string");
    const around = args.find((each) => typeof each !== "string");
    return commandLine(["migrate", "--from", world, "--kubeconfig", kubeconfig, ...words], around);
  };
  return { stage, proxy, migrate };
}

function upstream(url: string | undefined): Parameters<typeof startFaultProxy>[1] {
  if (url !== undefined) return { url };
  const { url: server, token, caFile } = sharedCluster();
  const headers = { authorization: `Bearer ${token}` };
  return { url: server, headers, ca: readFileSync(caFile, "utf8") };
}
