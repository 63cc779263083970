// The memory benchmark where no control plane can be had: the same populations from a scripted server.
// It sends no Helm releases, so it says nothing of the field selector that keeps them away.
import { curlList } from "./curl.ts";
import { numbered } from "./cluster.ts";
import { occupy, type Occupied } from "./occupancy.ts";
import { both, copies, foreign, foreignMaps, sources } from "./population.ts";
import { ScriptedServer, type Script } from "./scripted-server.ts";
import { scoped, type How } from "./scorecard.ts";

export async function scriptedMemory(how: How): Promise<void> {
  how.say("on a scripted server instead, and without Helm releases");
  const count = how.quick ? 2000 : 100_000;
  const namespaces = ["shared", ...numbered("team", 1000)];
  const targets = namespaces.slice(1);
  const each = count / targets.length;
  const idle = await run(how, "idle", { namespaces, secrets: () => [] });
  how.figure({ name: "RSS, idle", value: idle.rssMiB, unit: "MiB" });
  const strangers = await run(how, "foreign", {
    namespaces,
    secrets: () => foreign(namespaces, count),
  });
  const above = ({ rssMiB }: Occupied): number => rssMiB - idle.rssMiB;
  how.figure({
    name: `RSS above idle, ${count} foreign Secrets`,
    value: above(strangers),
    unit: "MiB",
    atMost: 100,
  });
  how.figure({
    name: "RSS at the peak of the first list",
    value: strangers.peakMiB,
    unit: "MiB",
    atMost: 384,
  });
  how.figure({
    name: "first list, of curl's time for the same",
    value: strangers.readyMs / strangers.curlMs,
    unit: "x",
    atMost: 3,
  });
  const kinds = await run(
    how,
    "foreign, both kinds",
    {
      namespaces,
      secrets: () => foreign(namespaces, count),
      configMaps: () => foreignMaps(namespaces, count),
    },
    { "config-maps": "true" },
  );
  how.figure({
    name: `RSS above idle, ${count} foreign Secrets and as many ConfigMaps`,
    value: above(kinds),
    unit: "MiB",
    atMost: 140,
  });
  const ours = await run(how, "copies", {
    namespaces,
    secrets: () => both(sources(each, "team-*"), copies(targets, each)),
  });
  how.figure({
    name: `RSS above idle, ${count} copies of ${each} sources`,
    value: above(ours),
    unit: "MiB",
    atMost: 200,
  });
}

function run(
  how: How,
  name: string,
  script: Script,
  flags: Readonly<Record<string, string>> = {},
): Promise<Occupied & { curlMs: number }> {
  return scoped(how, async (own) => {
    const { kubeconfig } = await ScriptedServer.start(own, script);
    const occupied = await occupy(own, name, kubeconfig, flags);
    return { ...occupied, curlMs: (await curlList(kubeconfig)).ms };
  });
}
