// A world of rotations on a real API server of its own, for all the tests that judge by it.
import { openCluster, ownCluster } from "../../api-server/cluster.ts";
import type { ControlPlane } from "../../api-server/control-plane.ts";
import type { Http } from "../../../../packages/sandbox/testing/http.ts";
import { commandLine } from "../../programs/command-line.ts";
import { loadWorld } from "./load-world.ts";
import { makeWorld } from "./rotation-world.ts";
import type { RotationWorld, WorldPod } from "./world-parts.ts";

export type RotationJudge = {
  readonly cluster: ControlPlane;
  readonly http: Http;
  readonly world: RotationWorld;
  readonly pods: readonly WorldPod[];
  readonly close: () => Promise<void>;
};

export async function openRotationJudge(): Promise<RotationJudge> {
  const cluster = await ownCluster();
  const http = openCluster(cluster);
  const close = async (): Promise<void> => {
    await http.close();
    await cluster.stop();
  };
  const world = makeWorld(Math.floor(Date.now() / 1000));
  const ports = ["--http-address=127.0.0.1:0", "--status-address=127.0.0.1:0"];
  const config = ["--kubeconfig", cluster.kubeconfig];
  const copy = (flags: readonly string[]) =>
    commandLine(["run", "--once", ...config, ...flags, ...ports]);
  try {
    return { cluster, http, world, pods: await loadWorld(world, { http, copy }), close };
  } catch (error) {
    await close();
    throw error;
  }
}
