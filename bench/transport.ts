// What one write costs by each of the transports that there were to choose from, in turns against the
// same API server: why the client is as it is.
import { readFileSync } from "node:fs";
import { calm, numbered, realCluster } from "./cluster.ts";
import { postLoop, type PostLoop, type Took } from "./post-loop.ts";
import { median, type Bench } from "./scorecard.ts";
import { CONNECTIONS, type Post, type Transport } from "./transports.ts";

// The first is what the others are compared with.
const TRANSPORTS: readonly Transport[] = [
  "bare",
  "bare, HTTP/2",
  "ours",
  "typed, one dispatcher",
  "typed",
];

type Lane = { readonly transport: Transport; readonly loop: PostLoop; readonly took: Took[] };

export const transport: Bench = {
  name: "transport",
  about: "a write by client-node's typed calls, by our client and by bare undici, HTTP/1.1 and 2",
  async run(how) {
    const cluster = await realCluster(how);
    if (!cluster) return;
    const writes = how.quick ? 50 : 300;
    const rounds = how.quick ? 1 : 7;
    await cluster.createNamespaces(["target"]);
    await calm();
    const { url, token, caFile } = cluster.access;
    const server = { url, token, ca: readFileSync(caFile, "utf8") };
    const lanes = TRANSPORTS.map((transport): Lane => {
      return { transport, loop: postLoop(how, transport), took: [] };
    });
    // Two rounds warm up. Each begins with another, so that nobody always follows the same one.
    for (const round of Array.from({ length: rounds + 2 }).keys())
      for (const at of lanes.keys()) {
        const lane = lanes[(round + at) % lanes.length];
        const posts = numbered(`secret-${round}-${at}`, writes).map(postOf);
        lane?.took.push(await lane.loop.post({ ...server, concurrency: CONNECTIONS, posts }));
      }
    const rate = ({ ms }: Took): number => (1000 * writes) / ms;
    const cpu = ({ cpuMs }: Took): number => cpuMs / writes;
    const of = (lane: Lane | undefined, figure: (took: Took) => number): number =>
      median(lane?.took.slice(2).map(figure) ?? []);
    for (const lane of lanes) {
      const { transport } = lane;
      how.figure(`${transport}: writes/s`, of(lane, rate), "1/s");
      how.figure(`${transport}: CPU a write`, of(lane, cpu), "ms");
      const ratio = of(lane, cpu) / of(lanes[0], cpu);
      how.figure(`${transport}: CPU, of bare undici's`, ratio, "x");
    }
  },
};

function postOf(name: string): Post {
  const metadata = { name, namespace: "target", labels: { app: "bench" } };
  const data = { password: Buffer.from("not a secret").toString("base64") };
  const body = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data };
  return { path: "/api/v1/namespaces/target/secrets", body };
}
