// Fills a real API server with Secrets as fast as it takes them: bodies made one by one as they are
// sent, and answers of metadata alone, so that a gigabyte costs this process little.
import { readFileSync } from "node:fs";
import { Agent } from "undici";
import { inParallel, type RealCluster } from "./cluster.ts";

const CONNECTIONS = 32;
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const FOREIGN_BASE64 = Buffer.alloc((2048 * 3) / 4, "x").toString("base64");
const RELEASE_BASE64 = Buffer.alloc((500_000 * 3) / 4, "x").toString("base64");

type Body = { readonly namespace: string; readonly text: string };

/** `total` Secrets of 2 KB that are nobody's business, spread over the namespaces. */
export function* foreignBodies(namespaces: readonly string[], total: number): Iterable<Body> {
  for (let at = 0; at < total; at++) {
    const labels = { app: `app-${at % 500}`, "app.kubernetes.io/instance": "release" };
    const metadata = { name: `foreign-${at}`, labels };
    const body = { metadata, type: "Opaque", data: { "config.yaml": FOREIGN_BASE64 } };
    yield { namespace: namespaces[at % namespaces.length] ?? "", text: JSON.stringify(body) };
  }
}

/** `total` Secrets of 500 KB as Helm writes them, spread over the namespaces. */
export function* releaseBodies(namespaces: readonly string[], total: number): Iterable<Body> {
  for (let at = 0; at < total; at++) {
    const name = `app-${at}`;
    const labels = { name, owner: "helm", status: "deployed", version: "1" };
    const metadata = { name: `sh.helm.release.v1.${name}.v1`, labels };
    const body = { metadata, type: "helm.sh/release.v1", data: { release: RELEASE_BASE64 } };
    yield { namespace: namespaces[at % namespaces.length] ?? "", text: JSON.stringify(body) };
  }
}

/** Resolves with the seconds it took. */
export async function load({ access }: RealCluster, bodies: Iterable<Body>): Promise<number> {
  const began = performance.now();
  const ca = readFileSync(access.caFile, "utf8");
  const agent = new Agent({ allowH2: false, connections: CONNECTIONS, connect: { ca } });
  const headers = {
    authorization: `Bearer ${access.token}`,
    "content-type": "application/json",
    accept: METADATA,
  };
  const post = async ({ namespace, text }: Body): Promise<void> => {
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    const answer = await agent.request({
      origin: access.url,
      method: "POST",
      path,
      headers,
      body: text,
    });
    await answer.body.dump();
    if (answer.statusCode !== 201) throw new Error(`POST ${path}: ${answer.statusCode}`);
  };
  try {
    await inParallel(bodies, CONNECTIONS, post);
  } finally {
    await agent.destroy();
  }
  return (performance.now() - began) / 1000;
}
