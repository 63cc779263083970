// The informer on real sockets: client, proxy, API server. Time is stepped, so a dead connection takes
// no five minutes here; waits before a reconnect are stepped over as they come.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { createClient } from "../../../packages/kube/rest/client.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { Informer } from "../../../packages/kube/cache/informer.ts";
import { isKubeObject, resourcePath, SECRETS } from "../../../packages/kube/rest/resource.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { startFaultProxy } from "../../../packages/kube/testing/fault-proxy.ts";
import type {
  Fault,
  FaultProxy,
  ProxyRequest,
} from "../../../packages/kube/testing/fault-proxy.ts";
import { item, recorder } from "../../../packages/kube/testing/informer-setup.ts";
import type { Item } from "../../../packages/kube/testing/informer-setup.ts";
import { kubeConfigFor } from "../../../packages/kube/testing/kubeconfig-text.ts";

/** An API server to put the proxy before. */
export type Served = {
  readonly url: string;
  readonly token?: string;
  /** PEM. */
  readonly ca?: string;
  /** There, and used by nobody else. */
  readonly namespace: string;
};

export type World = {
  readonly served: Served;
  readonly proxy: FaultProxy;
  readonly clock: FakeClock;
  /** Through the proxy. */
  readonly client: ApiClient;
  readonly informer: Informer<Item>;
  readonly heard: string[];
  readonly errors: string[];
  /** Writes a Secret past the proxy. */
  readonly put: (name: string, value: string) => Promise<void>;
  readonly remove: (name: string) => Promise<void>;
  /** The store equals the server, waits stepped over. */
  readonly converged: () => Promise<void>;
};

export async function world(t: TestContext, served: Served): Promise<World> {
  const { url, namespace, token, ca } = served;
  const config = kubeConfigFor(
    url,
    token === undefined ? {} : { token },
    ca === undefined ? {} : { caData: Buffer.from(ca).toString("base64") },
  );
  const direct = createClient(config, { clock: systemClock, userAgent: "test" });
  t.after(() => direct.close());
  const proxy = await startFaultProxy(t, {
    url,
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    ...(ca !== undefined && { ca }),
  });
  const clock = new FakeClock();
  const client = createClient(kubeConfigFor(proxy.url), { clock, userAgent: "informer" });
  const heard: string[] = [];
  const errors: string[] = [];
  const informer = new Informer<Item>({
    client,
    resource: SECRETS,
    namespace,
    transform: item,
    clock,
    onError: (error) => errors.push(error.message),
  });
  informer.addHandler(recorder(heard));
  t.after(async () => {
    await informer.stop();
    assert.equal(clock.timers, 0, "timers left behind");
    await client.close();
    await eventually("every connection is closed", () => proxy.connections === 0);
  });
  const at = (name?: string): string => resourcePath(SECRETS, namespace, name);
  const ask = (
    method: "POST" | "PUT" | "DELETE" | "GET",
    path: string,
    body?: unknown,
  ): Promise<unknown> => direct.request({ method, path, body, what: `${method} ${path}` });
  const truth = async (): Promise<readonly string[]> => {
    const list = (await ask("GET", at())) as { readonly items: readonly unknown[] };
    return list.items
      .filter(isKubeObject)
      .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
      .toSorted();
  };
  const put = async (name: string, value: string): Promise<void> => {
    const body = { metadata: { name }, stringData: { value } };
    await ask("POST", at(), body).catch(() => ask("PUT", at(name), body));
  };
  const converged = async (): Promise<void> => {
    const expected = await truth();
    await eventually(`the store is ${expected.join()}`, async () => {
      const due = informer.scheduledReconnect;
      if (due !== undefined) await clock.advance(due - clock.monotonic());
      const shown = informer.store.list().map((o) => `${o.name}@${o.resourceVersion}`);
      return informer.hasSynced && shown.toSorted().join() === expected.join();
    });
  };
  const remove = async (name: string): Promise<void> => void (await ask("DELETE", at(name)));
  return { served, proxy, clock, client, informer, heard, errors, put, remove, converged };
}

/** A rule that applies its fault to the first `times` requests of a kind. */
export function first(times: number, kind: ProxyRequest["kind"], fault: Fault): FaultProxy["rule"] {
  let left = times;
  return (request) => (request.kind === kind && left-- > 0 ? fault : undefined);
}

export async function filled(t: TestContext, served: Served): Promise<World> {
  const w = await world(t, served);
  await w.put("one", "1");
  await w.put("two", "2");
  w.informer.start();
  await w.converged();
  w.heard.length = 0;
  return w;
}

/** The informer has sent these requests, in this order, and no more. */
export async function sent(w: World, ...expected: readonly ProxyRequest["kind"][]): Promise<void> {
  const own = (): readonly string[] => kinds(w.proxy).filter((kind) => kind !== "other");
  await eventually("the last request is sent", () => own().length >= expected.length);
  assert.deepEqual(own(), expected);
}

export const kinds = (proxy: FaultProxy): readonly string[] => proxy.seen.map(({ kind }) => kind);
export const watchEnded = (w: World): Promise<boolean> =>
  eventually("the watch has ended", () => w.informer.scheduledReconnect !== undefined);

/** What the handler heard, without namespace and versions: "add one", "delete two?". */
export function reported({ heard, served }: World): readonly string[] {
  return heard.map((line) => line.replace(`${served.namespace}/`, "").replace(/@[\d>]+/, ""));
}

/** Starts the informer; its first request has been answered, at least with a head. */
export async function opened({ clock, informer }: World): Promise<void> {
  await clock.advance(1);
  informer.start();
  await eventually("the server is heard", () => informer.lastActivityMs > 0);
}
