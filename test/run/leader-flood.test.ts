// A Pod attacks the address of probes and metrics of a leader, a process of its own.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { LEASES, resourcePath } from "../../packages/kube/rest/resource.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import { kubeConfigFile } from "../../packages/kube/testing/kubeconfig-text.ts";
import { spawnController } from "../support/programs/controller-process.ts";
import { openScene } from "../support/scenes/scene.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const LINUX = process.platform === "linux";
const METRICS = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
/** The manifests' memory limit. */
const LIMIT_KIB = 384 * 1024;

/** Resolves when all connections are closed. */
async function attack(
  t: TestContext,
  address: string,
  connections: number,
  text: string,
): Promise<void> {
  const [host = "", port] = address.split(":");
  const from = LINUX ? { localAddress: "127.0.0.2" } : {};
  let open = connections;
  for (let at = 0; at < connections; at++) {
    const socket = connect({ host, port: Number(port), ...from });
    t.after(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.once("close", () => open--);
    socket.resume();
    socket.write(text);
  }
  await eventually("every connection is closed", () => open === 0, 120_000);
}

const peakKib = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);

test("a Pod that floods the metrics costs a leader neither its Lease nor its memory", async (t) => {
  const scene = await openScene(t);
  const { kubeconfig: _, ...flags } = scene.flags();
  const leader = spawnController(t, kubeConfigFile(t, scene.access), {
    ...flags,
    "leader-elect": true,
    "lease-namespace": scene.source,
  });
  await eventually("it leads", () => leader.log.some((line) => field(line, "msg") === "leading"));
  const path = resourcePath(LEASES, scene.source, "secretcast");
  const lease = async () => {
    const body = await scene.api.client.request({ method: "GET", path, what: "read the Lease" });
    return ["holderIdentity", "leaseTransitions"].map((key) => field(body, "spec", key));
  };
  const before = await lease();
  const address = leader.address() ?? "";
  for (const [connections, requests] of [
    [1500, 4],
    [100, 200],
    [100, 20_000],
  ] as const) {
    const flood = attack(t, address, connections, METRICS.repeat(requests));
    const health = await fetch(`http://${address}/healthz`);
    assert.deepEqual([health.status, await health.text()], [200, "ok\n"]);
    await flood;
  }
  assert.ok(leader.running());
  assert.deepEqual(await lease(), before);
  assert.equal(await leader.metric("leader_election_master_status"), 1);
  if (LINUX) assert.ok(peakKib(leader.pid) < LIMIT_KIB, `${peakKib(leader.pid)} KiB`);
});
