// What the admission components cost the API server: CPU of a create by the controller's account with none of them,
// with each one, and with all, by turns on one API server.
import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { controllerToken } from "../test/support/api-server/account.ts";
import { openCluster } from "../test/support/api-server/cluster.ts";
import { kubectlAt } from "../test/support/api-server/kubectl.ts";
import { apiServerPid, inParallel, numbered, realCluster } from "./cluster.ts";
import { fineCpuMs } from "./proc.ts";
import { median, type Bench } from "./scorecard.ts";

const FOLDER = fileURLToPath(new URL("../manifests/components", import.meta.url));
const COMPONENTS = ["guardrail", "early-check", "tenant-guard", "pull-secrets"] as const;
const SETS: Readonly<Record<string, readonly string[]>> = {
  none: [],
  ...Object.fromEntries(COMPONENTS.map((name) => [name, [name]])),
  all: COMPONENTS,
};
const AT_ONCE = 4;
/** The API server reads policies from a watch, and compiles them. */
const IN_FORCE_MS = 3000;

export const admission: Bench = {
  name: "admission",
  about: "CPU of the API server for a create, with and without each admission component",
  alone: true,
  async run(how) {
    const cluster = await realCluster(how);
    if (!cluster) return;
    const folder = process.env["BENCH_COMPONENTS"] ?? FOLDER;
    const kubectl = (verb: string, name: string): void => {
      const files = globSync(`${folder}/${name}/{policy,binding}*.yaml`);
      const flags = verb === "delete" ? ["--ignore-not-found"] : [];
      kubectlAt(cluster.access.kubeconfig, [
        verb,
        ...files.flatMap((file) => ["-f", file]),
        ...flags,
      ]);
    };
    const token = controllerToken({ controllerKubeconfig: cluster.kubeconfig });
    const controller = openCluster(cluster.access, token);
    how.after(() => controller.close());
    const creates = how.quick ? 20 : 400;
    const cpu = new Map<string, number[]>(Object.keys(SETS).map((name) => [name, []]));
    const server = apiServerPid(cluster);
    for (const name of COMPONENTS) kubectl("delete", name);
    // The first round warms the API server, and is left out.
    for (let round = 0; round < (how.quick ? 2 : 6); round++)
      for (const [name, components] of Object.entries(SETS)) {
        for (const each of components) kubectl("apply", each);
        await delay(how.quick ? 0 : IN_FORCE_MS);
        const namespace = `${name}-${round}`;
        await cluster.createNamespaces([namespace]);
        await delay(500);
        const before = fineCpuMs(server);
        await inParallel(numbered("copy", creates), AT_ONCE, async (copy) => {
          const { status } = await controller.send(
            "POST",
            `/api/v1/namespaces/${namespace}/secrets`,
            {
              body: copyOf(namespace, copy),
            },
          );
          if (status !== 201) throw new Error(`POST ${namespace}/${copy}: ${status}`);
        });
        if (round > 0) cpu.get(name)?.push((1000 * (fineCpuMs(server) - before)) / creates);
        for (const each of components) kubectl("delete", each);
      }
    const none = median(cpu.get("none") ?? []);
    for (const [name, each] of cpu) {
      const ratios = each.map((value, round) => value / (cpu.get("none")?.[round] ?? none));
      how.figure(`${name}: CPU of the API server for a create`, median(each), "µs");
      const target = name === "all" ? { atMost: 1.1 } : {};
      if (name !== "none") how.figure(`${name}: of that without`, median(ratios), "x", target);
    }
  },
};

function copyOf(namespace: string, name: string): object {
  const annotations = {
    "secretcast.io/source": "shared/registry",
    "secretcast.io/source-uid": "11111111-2222-3333-4444-555555555555",
    "secretcast.io/source-version": "7",
    "secretcast.io/placed-at": `${namespace}/${name}`,
  };
  const labels = { "app.kubernetes.io/managed-by": "secretcast" };
  return { metadata: { name, labels, annotations }, data: { value: "b25l" } };
}
