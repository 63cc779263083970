// `startSandbox` of `secretcast/sandbox`: the API server of this folder for tests of other projects, empty,
// with faults and with a clock that steps.
import { loadAll, YAMLException } from "js-yaml";
import { startSandbox, type Sandbox } from "../server.ts";
import { asObject, asText, isObject, parseJsonText, type JsonObject } from "../storage/object.ts";
import { checkStart } from "./checks.ts";
import type { RunningSandbox, SandboxStart } from "./contract.ts";
import { Faults } from "./faults.ts";
import { SandboxClock } from "./sandbox-clock.ts";

/** Starts an empty API server on 127.0.0.1. Rejects if the port is taken. */
export async function startTestSandbox(options: SandboxStart = {}): Promise<RunningSandbox> {
  checkStart(options);
  const { port, time, historyLimit } = options;
  const clock = new SandboxClock(time);
  const server = await startSandbox({
    shallowKinds: true,
    now: () => clock.now(),
    schedule: clock.schedule,
    ...(port !== undefined && { port }),
    ...(historyLimit !== undefined && { historyLimit }),
  });
  const faults = new Faults(clock.schedule, () => server.kinds);
  server.beforeRequest = (request) => faults.before(request);
  return {
    url: server.url,
    kubeconfig: server.kubeconfig(),
    requests: server.requests,
    load: (objects) => {
      for (const object of objectsOf(objects)) loadOne(server, object);
    },
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

/** The error names the object, since a refusal need not. */
function loadOne(server: Sandbox, object: JsonObject): void {
  try {
    server.load([object]);
  } catch (error) {
    const { kind } = object;
    const name = asText(asObject(object["metadata"])["name"]);
    const said = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot load ${asText(kind) || "an object"} "${name}": ${said}`, {
      cause: error,
    });
  }
}

/** As JSON carries them: without undefined, with times as text. A List is its items, as kubectl reads it. */
function objectsOf(given: unknown): readonly JsonObject[] {
  const values = typeof given === "string" ? documentsOf(given) : given;
  if (!Array.isArray(values))
    throw new TypeError(`cannot load ${kindOf(values)}: want a list of objects, or YAML as text`);
  return values.flatMap((value: unknown, at) => {
    const object = parseJsonText(JSON.stringify(value ?? null));
    if (!isObject(object))
      throw new TypeError(`cannot load ${kindOf(value)} at ${at + 1}: want an object of the API`);
    return object["kind"] === "List" ? objectsOf(object["items"]) : [object];
  });
}

/** An error is without the message and the cause of the failure, which quote the text, in several lines. */
function documentsOf(yaml: string): readonly unknown[] {
  let problem: string;
  try {
    return loadAll(yaml).filter((each) => each != null);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    problem = `${error.reason} in line ${(error.mark?.line ?? 0) + 1}`;
  }
  throw new TypeError(`cannot load YAML: ${problem}`);
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}
