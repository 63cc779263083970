// The same requests, one after the other, to the sandbox and to a real API server: the answers are
// equal, but for what each server makes up for itself.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startSandbox } from "../../packages/sandbox/server.ts";
import type { Sandbox } from "../../packages/sandbox/server.ts";
import { openCluster, ownCluster } from "../support/api-server/cluster.ts";
import { of } from "../support/api-server/kubernetes-version.ts";
import { openHttp } from "../../packages/sandbox/testing/http.ts";
import type { Http } from "../../packages/sandbox/testing/http.ts";
import { listNotOlder, version } from "../../packages/sandbox/testing/facts/place.ts";
import { SECRETS } from "../support/api-server/replay/builders.ts";
import { label, Normalizer } from "../support/api-server/replay/request.ts";
import type { Request } from "../support/api-server/replay/request.ts";
import { DELETES, UPDATES } from "../support/api-server/replay/changes.ts";
import { CREATES, NAMESPACES } from "../support/api-server/replay/creates.ts";
import { OTHERS, READS } from "../support/api-server/replay/reads.ts";

// Other versions say some of it in other words; that they do the same is conformance.test.ts's to show.
const options = of(37, "the words of its answers, which are the sandbox's");
let sandbox: Sandbox;
let stop = async (): Promise<void> => {};
let servers: readonly [Http, Http];
before(async () => {
  sandbox = await startSandbox();
  // A young one: after five minutes a real one compacts its history, and the first version is too old.
  const cluster = await ownCluster();
  stop = () => cluster.stop();
  servers = [openCluster(cluster), openHttp({ url: sandbox.url })];
});
after(async () => {
  await Promise.all(servers.map((http) => http.close()));
  await stop();
  await sandbox.stop();
});
const words = [new Normalizer(), new Normalizer()] as const;

async function compare(requests: readonly Request[]): Promise<void> {
  const differences: string[] = [];
  for (const request of requests) {
    const { method, path, ...options } = request;
    const real = words[0].answer(await servers[0].send(method, path, options));
    const ours = words[1].answer(await servers[1].send(method, path, options));
    const [expected, actual] = [JSON.stringify(real), JSON.stringify(ours)];
    if (expected !== actual)
      differences.push(`${label(request)}\n   real    ${expected}\n   sandbox ${actual}`);
  }
  assert.deepEqual(
    differences,
    [],
    `${differences.length} answers differ:\n${differences.join("\n")}`,
  );
}

test("namespaces", options, () => compare(NAMESPACES));
test("creates", options, () => compare(CREATES));
test("updates and patches", options, () => compare(UPDATES));
test("reads, lists and selectors", options, async () => {
  // Some are answered by the watch cache, which may be a moment behind the writes before.
  const [http] = servers;
  const { body } = await http.send("GET", SECRETS);
  await listNotOlder({ http, secrets: SECRETS }, version(body));
  await compare(READS);
});
test("deletes", options, () => compare(DELETES));
test("leases, events, service accounts and config maps", options, () => compare(OTHERS));
