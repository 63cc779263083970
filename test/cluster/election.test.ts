// Leader election and Events against a real API server: that it takes what we send.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { createClient } from "../../packages/kube/rest/client.ts";
import type { ApiClient } from "../../packages/kube/rest/api-client.ts";
import { systemClock } from "../../packages/kube/time/clock.ts";
import type { EventDetails, KubeEvent } from "../../packages/kube/events/event-record.ts";
import { EventRecorder } from "../../packages/kube/events/event-recorder.ts";
import { LeaderElector, newIdentity } from "../../packages/kube/leaderelection/leader-elector.ts";
import type { Lease } from "../../packages/kube/leaderelection/lease-record.ts";
import { EVENTS, LEASES, NAMESPACES, resourcePath } from "../../packages/kube/rest/resource.ts";
import { untilAborted } from "../../packages/kube/testing/candidate.ts";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { kubeConfigFor } from "../../packages/kube/testing/kubeconfig-text.ts";
import { createLeaseClient } from "../../packages/kube/leaderelection/lease-lock.ts";
import { createEventClient } from "../../packages/kube/events/event-writer.ts";

async function setup(t: TestContext, namespace: string): Promise<ApiClient> {
  const { url, token, caFile } = sharedCluster();
  const config = kubeConfigFor(url, { token }, { caFile });
  const api = createClient(config, { clock: systemClock, userAgent: "secretcast/test" });
  const path = resourcePath(NAMESPACES);
  await api.request({
    method: "POST",
    path,
    body: { metadata: { name: namespace } },
    what: "create namespace",
  });
  t.after(async () => {
    const own = resourcePath(NAMESPACES, undefined, namespace);
    await api.request({ method: "DELETE", path: own, what: "delete namespace" });
    await api.close();
  });
  return api;
}

test("LE-04 LE-06 LE-11 a real Lease is created, renewed, released and taken over", async (t) => {
  const namespace = "election";
  const api = await setup(t, namespace);
  const read = (): Promise<Lease> => {
    const path = resourcePath(LEASES, namespace, "lock");
    return api.request<Lease>({ method: "GET", path, what: "get lease" });
  };
  const errors: unknown[] = [];
  const start = (identity: string): { elector: LeaderElector; stop: () => Promise<string> } => {
    const elector = new LeaderElector({
      client: createLeaseClient(api, namespace, "lock"),
      clock: systemClock,
      identity,
      namespace,
      name: "lock",
      labels: { app: "secretcast" },
      leaseDurationMs: 3000,
      renewDeadlineMs: 2000,
      retryPeriodMs: 200,
      onError: (error) => errors.push(error),
    });
    const cancel = new AbortController();
    const run = elector.run(cancel.signal, { onStartedLeading: untilAborted });
    const stop = (): Promise<string> => {
      cancel.abort();
      return run;
    };
    return { elector, stop };
  };

  const identity = newIdentity();
  const first = start(identity);
  await eventually("the first leads", () => first.elector.isLeader);
  const created = await read();
  assert.equal(created.spec?.holderIdentity, identity);
  const renewedOnce = async (): Promise<boolean> =>
    (await read()).spec?.renewTime !== created.spec?.renewTime;
  await eventually("the lease is renewed", renewedOnce);
  const second = start("second");
  assert.equal(await first.stop(), "cancelled");
  await eventually("the second leads", () => second.elector.isLeader);
  const taken = await read();
  assert.equal(taken.spec?.holderIdentity, "second");
  assert.equal(taken.spec?.leaseTransitions, 1);
  assert.equal(await second.stop(), "cancelled");
  const released = await read();
  assert.equal(released.spec?.holderIdentity, "");
  assert.equal(released.spec?.leaseDurationSeconds, 1);
  assert.deepEqual(released.metadata["labels"], { app: "secretcast" });
  assert.deepEqual(errors, []);
});

test("EV-08 EV-10 a real API server takes our Events, their series and a note cut to size", async (t) => {
  const namespace = "recording";
  const api = await setup(t, namespace);
  const drops: unknown[] = [];
  const recorder = new EventRecorder({
    client: createEventClient(api),
    clock: systemClock,
    reporter: { controller: "secretcast", instance: newIdentity() },
    onDrop: (...drop) => drops.push(drop),
  });
  const secret = { apiVersion: "v1", kind: "Secret", namespace, name: "registry", uid: "u1" };
  const copied: EventDetails = {
    regarding: secret,
    type: "Normal",
    reason: "Copied",
    action: "Copy",
    note: "copied to 3 namespaces",
  };
  for (let i = 0; i < 3; i++) recorder.record(copied);
  recorder.record({ ...copied, type: "Warning", related: secret, note: "ü".repeat(2000) });
  recorder.record({
    ...copied,
    regarding: { apiVersion: "v1", kind: "Namespace", name: namespace, uid: "u2" },
  });
  await recorder.close({ timeoutMs: 10_000 });
  assert.deepEqual(drops, []);

  const list = (inside: string): Promise<{ items: KubeEvent[] }> =>
    api.request({ method: "GET", path: resourcePath(EVENTS, inside), what: "list events" });
  const { items } = await list(namespace);
  const counts = items.map((event) => `${event.type} ${event.series?.count}`);
  assert.deepEqual(new Set(counts), new Set(["Normal 3", "Warning undefined"]));
  const elsewhere = (await list("default")).items.filter(
    (event) => event.regarding.name === namespace,
  );
  assert.equal(elsewhere.length, 1);
});
