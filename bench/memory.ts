// Memory and the time of the first list on a real API server, above what an idle controller takes
// there: in a cluster of foreign Secrets and Helm releases, and in one of correct copies that a
// controller made before. Whether the releases stay away shows in the bytes that the process reads.
import { auditMark, requestsSince, shown, sumOf } from "./audit.ts";
import { calm, FLAGS, numbered, realCluster, type RealCluster } from "./cluster.ts";
import { curlList, curlStream, type Read } from "./curl.ts";
import { foreignBodies, load, releaseBodies } from "./load.ts";
import { bothKinds } from "./memory-scripted.ts";
import { occupy, type Occupied } from "./occupancy.ts";
import { Program } from "./program.ts";
import { median, scoped, type Bench, type How } from "./scorecard.ts";

// 100,000 Secrets of 2 KB and a gigabyte of releases come to 1.3 GiB, with their history to more
// than etcd's own 2 GiB.
const SIZE = { etcdQuotaBytes: 8 * 2 ** 30 };
const SELECTED = { fieldSelector: "type!=helm.sh/release.v1" };
const MIB = 2 ** 20;

type Names = readonly string[];

export const memory: Bench = {
  name: "memory",
  about:
    "RSS with 100,000 foreign Secrets and 2,000 Helm releases, with 100,000 copies; first list",
  async run(how) {
    const namespaces = numbered("team", how.quick ? 100 : 1000);
    const idleMiB = await scoped(how, async (own) => {
      const cluster = await clusterOf(own, namespaces);
      if (!cluster) return undefined;
      const idle = await foreigners(own, cluster, namespaces);
      if (how.quick) await copies(own, cluster, namespaces, idle);
      return idle;
    });
    await scoped(how, bothKinds);
    if (idleMiB === undefined || how.quick) return;
    // A second control plane is there sooner than the first has deleted 100,000 Secrets.
    await scoped(how, async (own) => {
      const cluster = await clusterOf(own, namespaces);
      if (cluster) await copies(own, cluster, namespaces, idleMiB);
    });
  },
};

const round = async <T>(how: How, work: (at: number) => Promise<T>): Promise<readonly T[]> => {
  const results: T[] = [];
  for (let at = 0; at < (how.quick ? 1 : 3); at++) results.push(await work(at));
  return results;
};
const medianOf = <T>(all: readonly T[], value: (one: T) => number): number =>
  median(all.map(value));

async function clusterOf(how: How, namespaces: Names): Promise<RealCluster | undefined> {
  const cluster = await realCluster(how, SIZE);
  await cluster?.createNamespaces(namespaces);
  await calm();
  return cluster;
}

/** Resolves with the RSS of an idle controller, in MiB. */
async function foreigners(how: How, cluster: RealCluster, namespaces: Names): Promise<number> {
  const { kubeconfig } = cluster;
  const [foreign, releases] = how.quick ? [2000, 20] : [100_000, 2000];
  const idle = await round(how, () => occupy(how, "idle", kubeconfig));
  const idleMiB = medianOf(idle, ({ rssMiB }) => rssMiB);
  how.figure("RSS, idle", idleMiB, "MiB");
  const took = await load(cluster, foreignBodies(namespaces, foreign));
  how.say(`${foreign} foreign Secrets: ${(foreign / took).toFixed(0)} a second`);
  const tookReleases = await load(cluster, releaseBodies(namespaces, releases));
  how.say(`${releases} Helm releases: ${(releases / tookReleases).toFixed(0)} a second`);
  const rounds = await round(how, async (at) => ({
    ...(await occupy(how, `foreign, round ${at}`, kubeconfig)),
    list: await curlList(kubeconfig, SELECTED),
    stream: await curlStream(kubeconfig, SELECTED),
  }));
  const whole = await curlList(kubeconfig);
  how.say(`the same list with the Helm releases: ${mib(whole)} in ${whole.ms.toFixed(0)} ms`);
  how.figure(
    `RSS above idle, ${foreign} foreign Secrets`,
    medianOf(rounds, ({ rssMiB }) => rssMiB) - idleMiB,
    "MiB",
    { atMost: 100 },
  );
  how.figure(
    "RSS at the peak of the first list",
    Math.max(...rounds.map(({ peakMiB }) => peakMiB)),
    "MiB",
    { atMost: 384 },
  );
  const idleBytes = medianOf(idle, ({ readBytes }) => readBytes);
  const bytes = medianOf(rounds, ({ readBytes }) => readBytes) - idleBytes;
  const [list, stream] = [rounds[0]?.list, rounds[0]?.stream];
  how.say(`curl: list ${list && mib(list)}, as a stream ${stream && mib(stream)}`);
  how.figure("read by the controller, above idle", bytes / MIB, "MiB");
  how.figure("the same, of the list without Helm releases", bytes / (list?.bytes ?? 0), "x", {
    atMost: 1.2,
    exact: true,
  });
  times(how, rounds);
  return idleMiB;
}

type Round = Occupied & { readonly list: Read; readonly stream: Read };

function times(how: How, rounds: readonly Round[]): void {
  const figure = (name: string, value: (one: Round) => number): void =>
    how.figure(name, medianOf(rounds, value), "ms");
  figure("from process start to ready", ({ startMs }) => startMs);
  figure("first list, ready after", ({ readyMs }) => readyMs);
  figure("curl reads the same list in", ({ list }) => list.ms);
  figure("curl reads the same as a stream in", ({ stream }) => stream.ms);
  how.figure(
    "first list, of curl's time for the list",
    medianOf(rounds, ({ readyMs, list }) => readyMs / list.ms),
    "x",
    { atMost: 3 },
  );
  how.figure(
    "first list, of curl's time for the stream",
    medianOf(rounds, ({ readyMs, stream }) => readyMs / stream.ms),
    "x",
  );
}

async function copies(
  how: How,
  cluster: RealCluster,
  namespaces: Names,
  idleMiB: number,
): Promise<void> {
  const sources = how.quick ? 20 : 100;
  const count = sources * namespaces.length;
  for (const name of numbered("source", sources)) await cluster.publish(name, "team-*");
  await scoped(how, async (own) => {
    // As the administrator, whose writes the server neither judges by the guardrail nor logs.
    const maker = new Program(own, cluster.access.kubeconfig, FLAGS);
    const { at } = await maker.said("synced", 0, 1_200_000);
    how.say(`${count} copies made in ${((at - maker.startedAt) / 1000).toFixed(0)} s`);
  });
  const mark = auditMark(cluster);
  const rounds = await round(how, (at) => occupy(how, `copies, round ${at}`, cluster.kubeconfig));
  const asked = requestsSince(cluster, mark);
  how.say(`the server's audit log: ${shown(asked)}`);
  how.figure(
    `RSS above idle, ${count} copies of ${sources} sources`,
    medianOf(rounds, ({ rssMiB }) => rssMiB) - idleMiB,
    "MiB",
    { atMost: 200 },
  );
  how.count("copies found correct", Math.min(...rounds.map(({ current }) => current)), {
    atLeast: count,
  });
  how.count(
    "writes of a fresh controller beside them",
    sumOf(asked, (verb) => !["watch", "list", "get"].includes(verb)),
    { atMost: 0 },
  );
  const starts = medianOf(rounds, ({ startMs }) => startMs);
  how.figure("from process start to ready", starts, "ms", { atMost: 20_000 });
}

const mib = ({ bytes }: Read): string => `${(bytes / MIB).toFixed(0)} MiB`;
