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
  how.figure("RSS, idle", idle.rssMiB, "MiB");
  const strangers = await run(how, "foreign", {
    namespaces,
    secrets: () => foreign(namespaces, count),
  });
  const above = ({ rssMiB }: Occupied): number => rssMiB - idle.rssMiB;
  how.figure(`RSS above idle, ${count} foreign Secrets`, above(strangers), "MiB", { atMost: 100 });
  how.figure("RSS at the peak of the first list", strangers.peakMiB, "MiB", { atMost: 384 });
  how.figure("first list, of curl's time for the same", strangers.readyMs / strangers.curlMs, "x", {
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
  how.figure(
    `RSS above idle, ${count} foreign Secrets and as many ConfigMaps`,
    above(kinds),
    "MiB",
    { atMost: 140 },
  );
  const ours = await run(how, "copies", {
    namespaces,
    secrets: () => both(sources(each, "team-*"), copies(targets, each)),
  });
  how.figure(`RSS above idle, ${count} copies of ${each} sources`, above(ours), "MiB", {
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
