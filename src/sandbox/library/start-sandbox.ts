// `startSandbox` of `secretcast/sandbox`: the API server of this folder for tests of other projects, empty,
// with faults and with a clock that steps.
import { loadAll } from "js-yaml";
import { startSandbox } from "../server.ts";
import { isObject, parseJsonText, type JsonObject } from "../storage/object.ts";
import type { RunningSandbox, SandboxStart } from "./contract.ts";
import { Faults } from "./faults.ts";
import { SandboxClock } from "./sandbox-clock.ts";

/** Starts an empty API server on 127.0.0.1. Rejects if the port is taken. */
export async function startTestSandbox(options: SandboxStart = {}): Promise<RunningSandbox> {
  const { port, time, historyLimit } = options;
  const clock = new SandboxClock(time);
  const faults = new Faults(clock.schedule);
  const server = await startSandbox({
    shallowKinds: true,
    now: () => clock.now(),
    schedule: clock.schedule,
    ...(port !== undefined && { port }),
    ...(historyLimit !== undefined && { historyLimit }),
  });
  server.beforeRequest = (request) => faults.before(request);
  return {
    url: server.url,
    kubeconfig: server.kubeconfig(),
    requests: server.requests,
    load: (objects) => server.load(objectsOf(objects)),
    inject: (fault) => faults.inject(fault),
    now: () => clock.now(),
    step: (ms) => clock.step(ms),
    cutWatches: () => server.killWatches(),
    expireWatches: () => server.expireWatches(),
    muteWatches: () => server.muteWatches(),
    compact: () => server.compact(),
    stop: () => server.stop(),
  };
}

/** As JSON carries them: without undefined, with times as text. */
function objectsOf(given: string | readonly object[]): readonly JsonObject[] {
  const values = typeof given === "string" ? loadAll(given).filter((each) => each != null) : given;
  return values.map((value: unknown) => {
    const object = parseJsonText(JSON.stringify(value));
    if (isObject(object)) return object;
    throw new TypeError(`cannot load ${JSON.stringify(object)}: want an object of the API`);
  });
}
