// A real API server killed and started again, one to twenty times in a row, while sources are rotated
// all the time: how long after it is ready again all that was rotated is copied.
import { setTimeout as delay } from "node:timers/promises";
import { FLAGS, numbered, realCluster, type RealCluster } from "./cluster.ts";
import { Program } from "./program.ts";
import { quantile, type Bench, type How } from "./scorecard.ts";

const PLACES = numbered("team", 3);
// One after the other, so that each is rotated less than once a second: a place takes one write then.
const SOURCES = numbered("source", 30);
const WRITE_EVERY_MS = 50;
const LOOK_EVERY_MS = 20;

type Outage = { readonly downMs: number; readonly inARow: number; readonly atMostMs: number };

const OUTAGES: readonly Outage[] = [
  { downMs: 2000, inARow: 20, atMostMs: 2000 },
  { downMs: 20_000, inARow: 5, atMostMs: 2000 },
  { downMs: 120_000, inARow: 2, atMostMs: 5000 },
];
const QUICK: readonly Outage[] = [{ downMs: 500, inARow: 3, atMostMs: 2000 }];

export const restarts: Bench = {
  name: "restarts",
  about: "a real API server killed again and again: until all is right after it is back",
  async run(how) {
    const cluster = await realCluster(how);
    if (!cluster) return;
    await cluster.createNamespaces(PLACES);
    for (const name of SOURCES) await cluster.publish(name, "team-*");
    const program = new Program(how, cluster.kubeconfig, FLAGS);
    await program.said("synced");
    for (const outage of how.quick ? QUICK : OUTAGES) await measure(how, cluster, outage);
  },
};

async function measure(how: How, cluster: RealCluster, outage: Outage): Promise<void> {
  const { downMs, inARow, atMostMs } = outage;
  const took: number[] = [];
  for (let restart = 0; restart < inARow; restart++) {
    const rotating = new Rotation(cluster);
    await delay(1500);
    await cluster.access.restartApiServer({
      signal: "SIGKILL",
      whileDown: () => delay(downMs),
    });
    const back = performance.now();
    const wanted = await rotating.end();
    while (!(await allHold(cluster, wanted))) await delay(LOOK_EVERY_MS);
    took.push(performance.now() - back);
  }
  const name = `right after ${inARow} restarts of ${downMs / 1000} s`;
  how.say(`${name}: ${took.map((ms) => ms.toFixed(0)).join(", ")} ms`);
  how.figure(`${name}, p50`, quantile(took, 0.5), "ms");
  how.figure(`${name}, max`, Math.max(...took), "ms", { atMost: atMostMs });
}

/** Rotates the sources until it is told to end. */
class Rotation {
  readonly #wanted = new Map<string, string>();
  readonly #cluster: RealCluster;
  readonly #running: Promise<void>;
  readonly #stop = new AbortController();

  constructor(cluster: RealCluster) {
    this.#cluster = cluster;
    this.#running = this.#run();
  }

  /** What each source that was rotated holds at the end. */
  async end(): Promise<ReadonlyMap<string, string>> {
    this.#stop.abort();
    await this.#running;
    return this.#wanted;
  }

  async #run(): Promise<void> {
    for (let at = 0; !this.#stop.signal.aborted; at++) {
      const name = SOURCES[at % SOURCES.length] ?? "";
      const path = `/api/v1/namespaces/shared/secrets/${name}`;
      const value = `${Date.now()}-${at}`;
      // Refused and cut while the server is away; a write whose answer was cut may have been made.
      const done = await this.#cluster
        .send("PATCH", path, { stringData: { value } })
        .then(() => true)
        .catch(() => false);
      if (done) this.#wanted.set(name, value);
      else this.#wanted.delete(name);
      await delay(WRITE_EVERY_MS);
    }
  }
}

async function allHold(
  cluster: RealCluster,
  wanted: ReadonlyMap<string, string>,
): Promise<boolean> {
  const found = new Map<string, string | undefined>();
  for await (const { metadata, data } of cluster.copies())
    found.set(`${metadata.namespace}/${metadata.name}`, data?.["value"]);
  return Array.from(wanted).every(([name, value]) => {
    const encoded = Buffer.from(value).toString("base64");
    return PLACES.every((namespace) => found.get(`${namespace}/${name}`) === encoded);
  });
}
