// What Secrets and ConfigMaps of others take together, on a scripted server: a real one would be filled twice.
import { numbered } from "./cluster.ts";
import { occupy } from "./occupancy.ts";
import { foreign, foreignMaps } from "./population.ts";
import { ScriptedServer, type Script } from "./scripted-server.ts";
import { scoped, type How } from "./scorecard.ts";

export async function bothKinds(how: How): Promise<void> {
  const count = how.quick ? 2000 : 100_000;
  const namespaces = ["shared", ...numbered("team", 1000)];
  const idleMiB = await rssMiB(how, "idle", { namespaces, secrets: () => [] });
  const kindsMiB = await rssMiB(how, "foreign, both kinds", {
    namespaces,
    secrets: () => foreign(namespaces, count),
    configMaps: () => foreignMaps(namespaces, count),
  });
  how.figure(
    `RSS above idle, ${count} foreign Secrets and as many ConfigMaps`,
    kindsMiB - idleMiB,
    "MiB",
    { atMost: 140 },
  );
}

function rssMiB(how: How, name: string, script: Script): Promise<number> {
  return scoped(how, async (own) => {
    const { kubeconfig } = await ScriptedServer.start(own, script);
    return (await occupy(own, name, kubeconfig, { "config-maps": "true" })).rssMiB;
  });
}
