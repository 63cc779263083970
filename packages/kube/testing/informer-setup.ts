// An informer of Secrets on a scripted API and a stepped clock, with a record of what handlers heard.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Informer } from "../cache/informer.ts";
import type { EventHandler } from "../cache/event-handlers.ts";
import type { InformerOptions } from "../cache/informer-options.ts";
import { SECRETS } from "../rest/resource.ts";
import type { KubeObject } from "../rest/resource.ts";
import { FakeClock } from "./fake-clock.ts";
import { mark, added, failed, ScriptedApi } from "./scripted-api.ts";
import type { Exchange } from "./scripted-api.ts";

/** The first wait with chance at one half: 800 ms and half of that again. */
export const FIRST_WAIT = 1200;

export type Item = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly label?: string;
};

export function item(object: KubeObject): Item {
  const { name, namespace = "", uid, resourceVersion, labels } = object.metadata;
  const label = (labels as { readonly label?: string } | undefined)?.label;
  return { namespace, name, uid, resourceVersion, ...(label !== undefined && { label }) };
}

export type Setup = {
  readonly api: ScriptedApi;
  readonly clock: FakeClock;
  readonly informer: Informer<Item>;
  /** "add a/x@1", "update a/x@1>2", "delete a/x@3", with "!" for an echo, "?" for a tombstone. */
  readonly heard: string[];
  readonly errors: Error[];
  readonly restarts: string[];
  /** Name and version of everything in the store, sorted. */
  readonly shown: () => readonly string[];
  /** Starts, and answers the first streaming list with these objects. */
  readonly filled: (version: number, ...objects: readonly KubeObject[]) => Promise<Exchange>;
  /** The same, and five seconds later that watch has ended well, so that the next is asked for. */
  readonly ended: Setup["filled"];
  /** Ends a watch whose version is too old, and returns the streaming list that follows. */
  readonly relisted: (watch: Exchange) => Promise<Exchange>;
  /** Starts, and refuses the streaming list, so that one in pages is asked for. */
  readonly listing: () => Promise<void>;
};

/** The informer is stopped, and checked for leaks, when the test ends. */
export function setup(t: TestContext, options: Partial<InformerOptions<Item>> = {}): Setup {
  const clock = new FakeClock();
  const api = new ScriptedApi(clock);
  const heard: string[] = [];
  const errors: Error[] = [];
  const restarts: string[] = [];
  const informer = new Informer<Item>({
    client: api,
    resource: SECRETS,
    transform: item,
    clock,
    onError: (error) => errors.push(error),
    metrics: {
      activity: () => undefined,
      restarted: (reason) => restarts.push(reason),
      handlerFailed: () => restarts.push("handler failed"),
      eventDropped: () => restarts.push("event dropped"),
    },
    ...options,
  });
  informer.addHandler(recorder(heard));
  t.after(async () => {
    await informer.stop();
    assert.equal(clock.timers, 0, "timers left behind");
    assert.equal(api.unclosed, 0, "requests left behind");
  });
  const shown = (): readonly string[] =>
    informer.store
      .list()
      .map(({ name, resourceVersion }) => `${name}@${resourceVersion}`)
      .toSorted();
  const filled = async (version: number, ...objects: readonly KubeObject[]): Promise<Exchange> => {
    informer.start();
    const stream = await api.next("stream");
    await stream.send(...objects.map(added), mark(version));
    return stream;
  };
  const ended = async (version: number, ...objects: readonly KubeObject[]): Promise<Exchange> => {
    const stream = await filled(version, ...objects);
    await clock.advance(5000);
    await stream.end();
    return stream;
  };
  const relisted = async (watch: Exchange): Promise<Exchange> => {
    await watch.send(failed(410, "Expired"));
    await clock.advance(FIRST_WAIT);
    return api.next("stream");
  };
  const listing = async (): Promise<void> => {
    informer.start();
    (await api.next("stream")).fail({ kind: "invalid", status: 422, reason: "Invalid" });
  };
  const answers = { filled, ended, relisted, listing };
  return { api, clock, informer, heard, errors, restarts, shown, ...answers };
}

export function recorder(heard: string[]): EventHandler<Item> {
  const at = ({ namespace, name }: Item): string => `${namespace}/${name}`;
  return {
    add: (object, initial, ownWrite) =>
      void heard.push(
        `add ${at(object)}@${object.resourceVersion}${initial ? " initial" : ""}${ownWrite ? "!" : ""}`,
      ),
    update: (old, object, ownWrite) =>
      void heard.push(
        `update ${at(object)}@${old.resourceVersion}>${object.resourceVersion}${ownWrite ? "!" : ""}`,
      ),
    delete: (last, { finalStateUnknown, ownWrite }) =>
      void heard.push(
        `delete ${at(last)}@${last.resourceVersion}${finalStateUnknown ? "?" : ""}${ownWrite ? "!" : ""}`,
      ),
  };
}
