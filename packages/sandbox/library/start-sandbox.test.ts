// `startSandbox` for tests of other projects: which request a fault happens to, what the client then sees, and
// a time that only a step moves.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { startTestSandbox } from "./start-sandbox.ts";
import type { Effect, Fault, RunningSandbox } from "./contract.ts";
import { eventually } from "@secretcast/kube/testing/eventually";

const SECRETS = "/api/v1/namespaces/default/secrets";
const BEGAN = Date.parse("2030-01-01T00:00:00Z");

async function started(t: TestContext, time?: number): Promise<RunningSandbox> {
  const sandbox = await startTestSandbox(time === undefined ? {} : { time });
  t.after(() => sandbox.stop());
  return sandbox;
}

const create = (sandbox: RunningSandbox, name: string): Promise<Response> =>
  fetch(sandbox.url + SECRETS, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ metadata: { name } }),
  });

async function namesIn(sandbox: RunningSandbox, path = SECRETS): Promise<readonly string[]> {
  const { items } = (await (await fetch(sandbox.url + path)).json()) as {
    items: readonly { metadata: { name: string } }[];
  };
  return items.map(({ metadata }) => metadata.name);
}

/** The types of the events of a watch until it ends, and whether it ended regularly. */
async function watched(watch: Response): Promise<readonly string[]> {
  const seen: string[] = [];
  try {
    for await (const chunk of watch.body ?? [])
      for (const line of Buffer.from(chunk).toString().trim().split("\n"))
        seen.push((JSON.parse(line) as { type: string }).type);
    return seen;
  } catch {
    return [...seen, "cut"];
  }
}

test("an error replaces the n-th matching request, which is not carried out", async (t) => {
  const sandbox = await started(t);
  const effect = { kind: "status", code: 429, retryAfter: 3 } as const;
  const fault = sandbox.inject({ verb: "create", resource: "secrets", nth: 2, times: 2, effect });
  await namesIn(sandbox);
  const answers = [];
  for (const name of ["a", "b", "c", "d"]) answers.push(await create(sandbox, name));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 429, 429, 201],
  );
  const [, refused] = answers;
  assert.equal(refused?.headers.get("retry-after"), "3");
  const body = (await refused?.json()) as { reason: string; details: object };
  assert.deepEqual([body.reason, body.details], ["TooManyRequests", { retryAfterSeconds: 3 }]);
  assert.deepEqual(await namesIn(sandbox), ["a", "d"]);
  assert.equal(fault.hits, 2);
  assert.deepEqual(
    sandbox.requests.filter(({ method }) => method === "POST").map(({ code }) => code),
    [201, 429, 429, 201],
  );
});

test("a fault happens to its verb, resource, namespace and name alone, until it is removed", async (t) => {
  const sandbox = await started(t);
  await create(sandbox, "a");
  const effect = { kind: "status", code: 500 } as const;
  const times = Number.POSITIVE_INFINITY;
  const all = { times, effect };
  const codeOf = async (path: string, method = "GET") =>
    (await fetch(sandbox.url + path, { method })).status;
  const tried: readonly (readonly [Omit<Fault, "effect">, string, string, number])[] = [
    [{ verb: "get" }, SECRETS, "GET", 200],
    [{ verb: "get" }, `${SECRETS}/a`, "GET", 500],
    [{ verb: "list", resource: "secrets" }, "/api/v1/secrets", "GET", 500],
    [{ resource: "secrets", namespace: "default" }, "/api/v1/secrets", "GET", 200],
    [{ namespace: "other" }, `${SECRETS}/a`, "GET", 200],
    [{ name: "a" }, `${SECRETS}?fieldSelector=metadata.name%3Da`, "GET", 500],
    [{ name: "b" }, `${SECRETS}/a`, "GET", 200],
    [{ resource: "namespaces/status" }, "/api/v1/namespaces/default/status", "GET", 500],
    [{ resource: "namespaces" }, "/api/v1/namespaces/default/status", "GET", 200],
    [{ verb: "deletecollection" }, SECRETS, "DELETE", 500],
    [{}, "/version", "GET", 500],
    [{ resource: "secrets" }, "/version", "GET", 200],
  ];
  for (const [match, path, method, code] of tried) {
    const fault = sandbox.inject({ ...match, ...all });
    assert.equal(await codeOf(path, method), code, `${JSON.stringify(match)} ${path}`);
    fault.remove();
  }
  assert.equal(await codeOf(`${SECRETS}/a`), 200);
});

test("of two faults for one request the first happens, and both count it", async (t) => {
  const sandbox = await started(t);
  const page = { kind: "answer", code: 200, headers: { "content-type": "text/html" } } as const;
  const first = sandbox.inject({ effect: { ...page, body: "<html>" } });
  const second = sandbox.inject({ nth: 2, effect: { kind: "reset" } });
  const answer = await fetch(sandbox.url + SECRETS);
  assert.deepEqual(
    [answer.headers.get("content-type"), await answer.text()],
    ["text/html", "<html>"],
  );
  await assert.rejects(fetch(sandbox.url + SECRETS));
  assert.deepEqual([first.hits, second.hits], [1, 1]);
  assert.equal(sandbox.requests.at(-1)?.code, 0);
});

test("a watch is cut, or expires, after so many events, and another watch is not", async (t) => {
  const sandbox = await started(t);
  sandbox.inject({ effect: { kind: "cut", afterEvents: 0 } });
  sandbox.inject({ nth: 2, effect: { kind: "expire", afterEvents: 2 } });
  const watch = (query: string) => fetch(`${sandbox.url}${SECRETS}?watch=1${query}`);
  assert.deepEqual(await watched(await watch("")), ["cut"]);
  const second = watched(await watch(""));
  const third = watched(await watch("&timeoutSeconds=3600"));
  for (const name of ["a", "b", "c"]) await create(sandbox, name);
  assert.deepEqual(await second, ["ADDED", "ADDED", "ERROR"]);
  sandbox.step(3_600_000);
  assert.deepEqual(await third, ["ADDED", "ADDED", "ADDED"]);
});

test("time stops until a step moves timestamps, delays, deletions and watches", async (t) => {
  const sandbox = await started(t, BEGAN);
  sandbox.load("apiVersion: v1\nkind: Namespace\nmetadata: { name: old }\n---\n");
  await fetch(`${sandbox.url}/api/v1/namespaces/old`, { method: "DELETE" });
  const watch = watched(await fetch(`${sandbox.url}${SECRETS}?watch=1&timeoutSeconds=60`));
  const slow = sandbox.inject({ verb: "create", effect: { kind: "delay", ms: 30_000 } });
  const created = create(sandbox, "late");
  await eventually("the request is there", () => slow.hits === 1);
  await create(sandbox, "next");
  assert.ok((await namesIn(sandbox, "/api/v1/namespaces")).includes("old"));
  assert.deepEqual(await namesIn(sandbox), ["next"]);
  sandbox.step(30_000);
  const { metadata } = (await (await created).json()) as {
    metadata: { creationTimestamp: string };
  };
  assert.equal(metadata.creationTimestamp, "2030-01-01T00:00:30Z");
  assert.deepEqual(await namesIn(sandbox), ["late", "next"]);
  assert.equal(sandbox.now(), BEGAN + 30_000);
  assert.ok(!(await namesIn(sandbox, "/api/v1/namespaces")).includes("old"));
  sandbox.step(30_000);
  assert.deepEqual(await watch, ["ADDED", "ADDED"]);
  for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(
      () => sandbox.step(ms),
      /invalid step: ms .*: want 0 or more, up to the year 9999/,
    );
});

test("without a given time it passes, and a step adds to it", async (t) => {
  const sandbox = await started(t);
  const before = sandbox.now();
  assert.ok(Math.abs(before - Date.now()) < 60_000);
  sandbox.step(3_600_000);
  assert.ok(sandbox.now() - before >= 3_600_000);
  sandbox.load([{ kind: "Namespace", metadata: { name: "old" } }]);
  await fetch(`${sandbox.url}/api/v1/namespaces/old`, { method: "DELETE" });
  await eventually("the namespace ends by itself", async () => {
    return !(await namesIn(sandbox, "/api/v1/namespaces")).includes("old");
  });
});

test("an object that the API would refuse is refused, and what is no object too", async (t) => {
  const sandbox = await started(t);
  assert.throws(
    () => sandbox.load([{ apiVersion: "v1", kind: "Secret", metadata: { name: "Not_A_Name" } }]),
    /Not_A_Name/,
  );
  assert.throws(() => sandbox.load([{ kind: "Unicorn" }]), /cannot load an object of kind/);
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    ["- a\n", /^cannot load a list at 1: want an object of the API$/],
    ["a: b: cGFzcw==\n", /^cannot load YAML: bad indentation .* in line 1$/],
    [{ kind: "Namespace" }, /^cannot load a value of type object: want a list of objects, or YAML/],
    [
      [{ kind: "ConfigMap", metadata: { name: "a", resourceVersion: "1" } }],
      /^cannot load ConfigMap "a": resourceVersion/,
    ],
  ];
  for (const [given, says] of wrong)
    assert.throws(
      () => sandbox.load(given as string),
      ({ message }: Error) => says.test(message),
    );
});

test("a List is loaded as its items, as kubectl prints it", async (t) => {
  const sandbox = await started(t);
  const items = ["a", "b"].map((name) => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name },
  }));
  sandbox.load(
    JSON.stringify({ apiVersion: "v1", kind: "List", metadata: { resourceVersion: "" }, items }),
  );
  assert.deepEqual(await namesIn(sandbox), ["a", "b"]);
});

test("a request that is never answered hangs until the sandbox stops", async (t) => {
  for (const time of [undefined, BEGAN]) {
    const sandbox = await started(t, time);
    const effect = { kind: "delay", ms: Number.POSITIVE_INFINITY } as const;
    const faults = [effect, { ...effect, ms: 40 * 86_400_000 }].map((each, at) =>
      sandbox.inject({ nth: at + 1, effect: each }),
    );
    let answered = 0;
    const requests = [1, 2].map(() =>
      fetch(sandbox.url + SECRETS).then(
        () => answered++,
        () => "closed",
      ),
    );
    await eventually("both are there", () => faults.every(({ hits }) => hits === 1));
    // Another one is answered meanwhile, and after them.
    assert.deepEqual(await namesIn(sandbox), []);
    assert.equal(answered, 0);
    await Promise.all([sandbox.stop(), sandbox.stop()]);
    assert.deepEqual(await Promise.all(requests), ["closed", "closed"]);
  }
});

test("a start that cannot be is refused, with what it wants", async () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ time: "2030-01-01" }, /^invalid start: time '2030-01-01': want milliseconds since 1970/],
    [{ time: new Date(0) }, /time 1970.*: want milliseconds/],
    [{ time: Number.NaN }, /time NaN: want/],
    [{ port: "x" }, /port 'x': want 0 to 65535/],
    [{ historyLimit: 0 }, /historyLimit 0: want 1, 2, 3 …/],
    [{ tiem: 1 }, /"tiem" is not known: want port, time, historyLimit/],
  ];
  for (const [options, message] of wrong)
    await assert.rejects(startTestSandbox(options), { name: "RangeError", message });
});

/** As plain JavaScript may give it. */
const mistyped = (effect: unknown): Effect => effect as Effect;
const mismatched = (match: unknown): Omit<Fault, "effect"> => match as Omit<Fault, "effect">;

const WRONG: readonly (readonly [Omit<Fault, "effect">, Effect, RegExp])[] = [
  [{ resource: "secret" }, { kind: "reset" }, /resource 'secret': want secrets$/],
  [{ resource: "deployments.apps" }, { kind: "reset" }, /want deployments$/],
  [{ resource: "Widget" }, { kind: "reset" }, /want its plural, as in secrets/],
  [{ namespace: "" }, { kind: "reset" }, /namespace '': want a name/],
  [mismatched({ verb: "GET" }), { kind: "reset" }, /verb 'GET': want get, list, watch, /],
  [mismatched({ verbs: "get" }), { kind: "reset" }, /"verbs" is not known: want verb, /],
  [{}, mistyped({ kind: "hang" }), /effect.kind 'hang': want status, answer, reset, delay, cut/],
  [{}, mistyped("reset"), /effect 'reset': want \{ kind: /],
  [{}, mistyped(undefined), /effect undefined: want/],
  [{}, mistyped({ kind: "status", code: 429, retry: 1 }), /"retry" is not known: want kind, code/],
  [{}, mistyped({ kind: "answer", code: 200, body: {} }), /body \{\}: want text/],
  [{}, { kind: "answer", code: 200, headers: { "a b": "c" } }, /want headers of HTTP/],
  [{ nth: 0 }, { kind: "reset" }, /nth 0/],
  [{ nth: 1.5 }, { kind: "reset" }, /nth 1\.5/],
  [{ nth: Number.POSITIVE_INFINITY }, { kind: "reset" }, /nth Infinity/],
  [{ times: 0 }, { kind: "reset" }, /times 0/],
  [{}, { kind: "status", code: 200 }, /code 200: want 400 to 599/],
  [{}, { kind: "status", code: 429, retryAfter: -1 }, /retryAfter -1/],
  [{}, { kind: "answer", code: 99 }, /code 99: want 200 to 599/],
  [{}, { kind: "delay", ms: Number.NaN }, /ms NaN/],
  [{ verb: "list" }, { kind: "cut", afterEvents: 1 }, /the verb watch, not to list/],
  [{}, { kind: "expire", afterEvents: -1 }, /afterEvents -1/],
];

test("a fault that cannot happen is refused, with what it wants", async (t) => {
  const sandbox = await started(t);
  for (const [match, effect, says] of WRONG)
    assert.throws(() => sandbox.inject({ ...match, effect }), says);
});
