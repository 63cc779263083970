import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { inspect } from "node:util";
import type { ApiClient, ApiRequest } from "./api-client.ts";
import type { ClientOptions } from "./client.ts";
import type { User } from "../kubeconfig/kubeconfig-file.ts";
import { resourcePath, SECRETS } from "./resource.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { failure } from "../testing/failure.ts";
import { answer, bodyOf, serve } from "../testing/http-server.ts";
import { kubeConfigFor } from "../testing/kubeconfig-text.ts";
import { clientFor } from "../testing/client-for.ts";
import { folderOf } from "../testing/folder.ts";

const HIDDEN = "aGlkZGVuLXZhbHVl";

function client(
  t: TestContext,
  url: string,
  user: Partial<User> = {},
  options: Partial<ClientOptions> = {},
): ApiClient {
  return clientFor(t, kubeConfigFor(url, user), { userAgent: "secretcast/test", ...options });
}

const get: ApiRequest = {
  method: "GET",
  path: resourcePath(SECRETS, "team-a", "registry"),
  what: "get secret team-a/registry",
};

test("a request carries method, path, query, body, credentials and our user agent", async (t) => {
  let seen: unknown;
  const server = await serve(t, (request, response) => {
    void bodyOf(request).then((body) => {
      const { authorization, accept } = request.headers;
      const headers = [
        authorization,
        accept,
        request.headers["content-type"],
        request.headers["user-agent"],
      ];
      seen = { url: request.url, method: request.method, headers, body };
      answer(response, 201, { kind: "Secret" });
    });
  });
  const result = await client(t, server.url, { token: "t1" }).request({
    method: "PATCH",
    path: resourcePath(SECRETS, "team-a", "registry"),
    query: { fieldManager: "secretcast", dryRun: undefined },
    body: { data: {} },
    contentType: "application/merge-patch+json",
    what: "patch secret team-a/registry",
  });
  assert.deepEqual(result, { kind: "Secret" });
  assert.deepEqual(seen, {
    url: "/api/v1/namespaces/team-a/secrets/registry?fieldManager=secretcast",
    method: "PATCH",
    headers: ["Bearer t1", "application/json", "application/merge-patch+json", "secretcast/test"],
    body: { data: {} },
  });
});

test("requests share their connections", async (t) => {
  const server = await serve(t, (_, response) => answer(response, 200, {}));
  const api = client(t, server.url, {}, { connections: 4 });
  for (let round = 0; round < 5; round++)
    await Promise.all(Array.from({ length: 10 }, () => api.request(get)));
  assert.ok(server.connections <= 4, `${server.connections} connections for 50 requests`);
});

test("basic credentials, impersonation and a path of the server's own are kept", async (t) => {
  const server = await serve(t, (request, response) =>
    answer(response, 200, {
      url: request.url,
      authorization: request.headers.authorization,
      as: request.headers["impersonate-user"],
    }),
  );
  const api = client(t, `${server.url}/clusters/one/`, {
    username: "u",
    password: "p",
    impersonateUser: "jane",
  });
  assert.deepEqual(await api.request(get), {
    url: "/clusters/one/api/v1/namespaces/team-a/secrets/registry",
    authorization: "Basic dTpw",
    as: "jane",
  });
});

const CASES: readonly (readonly [number, unknown, string, string])[] = [
  [400, { reason: "BadRequest" }, "badRequest", "400 BadRequest"],
  [401, { reason: "Unauthorized" }, "unauthorized", "401 Unauthorized"],
  [403, { reason: "Forbidden" }, "forbidden", "403 Forbidden"],
  [
    403,
    {
      reason: "Forbidden",
      details: { causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }] },
    },
    "terminating",
    "403 Forbidden",
  ],
  [404, { reason: "NotFound" }, "notFound", "404 NotFound"],
  [409, { reason: "AlreadyExists" }, "alreadyExists", "409 AlreadyExists"],
  [409, { reason: "Conflict" }, "conflict", "409 Conflict"],
  [410, { reason: "Expired" }, "gone", "410 Expired"],
  [413, "too big", "badRequest", "413 RequestEntityTooLarge"],
  [
    422,
    {
      reason: "Invalid",
      message: `Secret "x" is invalid: data: Invalid value: "${HIDDEN}"`,
      details: {
        causes: [{ reason: "FieldValueInvalid", field: "data[tls.crt]", message: HIDDEN }],
      },
    },
    "invalid",
    "422 Invalid (invalid: data[tls.crt] FieldValueInvalid)",
  ],
  [429, { reason: "TooManyRequests" }, "throttled", "429 TooManyRequests"],
  [500, `oops ${HIDDEN}`, "unavailable", "500 InternalError"],
  [503, "<html>", "unavailable", "503 ServiceUnavailable"],
  [504, { reason: "Timeout" }, "timeout", "504 Timeout"],
  [
    504,
    { reason: "Timeout", details: { causes: [{ reason: "ResourceVersionTooLarge" }] } },
    "tooLarge",
    "504 Timeout",
  ],
  [504, { reason: "Timeout", message: "Too large resource version: 9" }, "tooLarge", "504 Timeout"],
  [302, "", "malformed", "302 no known reason"],
];

for (const [status, body, kind, message] of CASES)
  test(`a ${status} is an ApiError of kind ${kind} that quotes nothing of the answer: ${message}`, async (t) => {
    const server = await serve(t, (_, response) =>
      answer(response, status, body, { "x-a": HIDDEN }),
    );
    const error = await failure(client(t, server.url).request(get));
    assert.equal(error.kind, kind);
    assert.equal(error.status, status);
    assert.equal(error.message, `get secret team-a/registry: ${message}`);
    assert.ok(!inspect(error, { showHidden: true, depth: null }).includes(HIDDEN));
  });

test("Retry-After is understood as seconds, as a date and in the Status, and is bounded", async (t) => {
  const clock = new FakeClock();
  const dated = new Date(clock.now() + 9000).toUTCString();
  const past = new Date(clock.now() - 9000).toUTCString();
  const values = ["7", "86400", dated, undefined, past, "soon", "9".repeat(30), "-5", "0"];
  const answers = values.map((value) => (value === undefined ? {} : { "retry-after": value }));
  const server = await serve(t, (_, response) =>
    answer(response, 429, { details: { retryAfterSeconds: 3 } }, answers.shift() ?? {}),
  );
  const waits = [];
  for (const _ of values)
    waits.push((await failure(client(t, server.url, {}, { clock }).request(get))).retryAfterMs);
  assert.deepEqual(waits, [7000, 300_000, 9000, 3000, 0, 3000, 3000, 0, 0]);
});

test("a success that is not JSON is malformed, whatever its text", async (t) => {
  const answers: readonly (readonly [string, string])[] = [
    ["text/html", "<html>login</html>"],
    ["application/json", "<html>"],
    ["application/json", '{"kind":'],
    ["application/json", '"text"'],
    ["application/json", ""],
  ];
  for (const [type, text] of answers) {
    const server = await serve(t, (_, response) =>
      answer(response, 200, text, { "content-type": type }),
    );
    const error = await failure(client(t, server.url).request(get));
    assert.equal(error.kind, "malformed", `${type} ${text}`);
    assert.equal(error.message, "get secret team-a/registry: 200 NotJSON");
  }
});

test("a server that does not exist is unavailable, with its URL and no credentials", async (t) => {
  const server = await serve(t, (request) => request.socket.destroy());
  const reset = await failure(client(t, `http://me:pw@127.0.0.1:${server.port}`).request(get));
  assert.equal(reset.kind, "unavailable");
  assert.equal(reset.status, 0);
  assert.ok(reset.message.includes(server.url) && !reset.message.includes("pw"));
  const refused = await failure(client(t, "http://127.0.0.1:1").request(get));
  assert.equal(refused.reason, "ECONNREFUSED");
  assert.equal(
    refused.message,
    "get secret team-a/registry: ECONNREFUSED, cannot reach http://127.0.0.1:1",
  );
});

test("a request ends by its time limit, before and after the answer's head", async (t) => {
  const clock = new FakeClock();
  for (const head of [false, true]) {
    let arrived = (): void => undefined;
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const server = await serve(t, (_, response) => {
      if (head) response.writeHead(200, { "content-type": "application/json" }).write("{");
      arrived();
    });
    const work = failure(client(t, server.url, {}, { clock }).request({ ...get, timeoutMs: 5000 }));
    await arrival;
    await clock.advance(5000);
    const error = await work;
    assert.equal(error.kind, "timeout");
    assert.match(error.message, /did not answer within 5000 ms$/);
    assert.equal(clock.timers, 0);
  }
});

test("a request that waits for a connection ends at its time limit unsent", async (t) => {
  const clock = new FakeClock();
  const held: (() => void)[] = [];
  const server = await serve(t, (_, response) => void held.push(() => answer(response, 200, {})));
  const api = client(t, server.url, {}, { clock, connections: 1 });
  const first = api.request({ ...get, timeoutMs: 9000 });
  const second = failure(api.request({ ...get, path: "/never", timeoutMs: 5000 }));
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(5000);
  assert.equal((await second).kind, "timeout");
  held[0]?.();
  await first;
  const third = api.request(get);
  while (held.length === 1) await new Promise((resolve) => setImmediate(resolve));
  held[1]?.();
  await third;
  assert.deepEqual(server.requests, [`GET ${get.path}`, `GET ${get.path}`]);
});

test("the caller's signal and closing the client cancel what is in flight", async (t) => {
  let arrived = (): void => undefined;
  const server = await serve(t, () => arrived());
  for (const how of ["signal", "close"]) {
    const arrival = new Promise<void>((resolve) => (arrived = resolve));
    const stop = new AbortController();
    const api = client(t, server.url);
    const work = failure(api.request({ ...get, signal: stop.signal }));
    await arrival;
    if (how === "signal") stop.abort();
    else await api.close();
    assert.equal((await work).kind, "cancelled");
  }
});

test("large answers to refused requests do not pin connections", async (t) => {
  const large = "x".repeat(300_000);
  const server = await serve(t, (_, response) => answer(response, 401, large));
  const api = client(t, server.url, {}, { connections: 2 });
  const kinds = await Promise.all(
    Array.from({ length: 12 }, async () => (await failure(api.request(get))).kind),
  );
  assert.deepEqual(kinds, Array(12).fill("unauthorized"));
});

test("a rotated token file is used at once after a 401", async (t) => {
  const folder = folderOf(t);
  const tokenFile = join(folder, "token");
  writeFileSync(tokenFile, "one\n");
  const clock = new FakeClock();
  const seen: string[] = [];
  let accepted = "one";
  const server = await serve(t, (request, response) => {
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    seen.push(token);
    answer(response, token === accepted ? 200 : 401, {});
  });
  const api = client(t, server.url, { tokenFile }, { clock });
  await api.request(get);
  writeFileSync(tokenFile, "two");
  accepted = "two";
  await api.request(get);
  assert.deepEqual(seen, ["one", "one", "two"]);
  writeFileSync(tokenFile, "three");
  accepted = "three";
  await clock.advance(10_000);
  await api.request(get);
  assert.deepEqual(seen, ["one", "one", "two", "three"]);
  accepted = "none";
  assert.equal((await failure(api.request(get))).kind, "unauthorized");
  assert.equal(seen.length, 6, "tried once more, not for ever");
});

test("an exec plugin runs once for many requests, and again after a 401", async (t) => {
  const folder = folderOf(t);
  const runs = join(folder, "runs");
  const script = `
    const fs = require("node:fs");
    fs.appendFileSync(${JSON.stringify(runs)}, "x");
    const token = "t" + fs.readFileSync(${JSON.stringify(runs)}, "utf8").length;
    if (token === "t3") { console.error("${HIDDEN}"); process.exit(1); }
    console.log(JSON.stringify({ status: { token } }));`;
  let accepted = "Bearer t1";
  const server = await serve(t, (request, response) =>
    answer(response, request.headers.authorization === accepted ? 200 : 401, {}),
  );
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1beta1",
    command: process.execPath,
    args: ["-e", script],
  };
  const api = client(t, server.url, { exec });
  await Promise.all(Array.from({ length: 10 }, () => api.request(get)));
  accepted = "Bearer t2";
  await Promise.all(Array.from({ length: 10 }, () => api.request(get)));
  accepted = "none";
  const error = await failure(api.request(get));
  assert.equal(error.kind, "unauthorized");
  assert.match(error.message, /credential plugin ".*" of user "tester" failed/);
  assert.ok(!error.message.includes(HIDDEN));
});

test("open hands on the answer as it comes and close ends the connection", async (t) => {
  let ended = (): void => undefined;
  const end = new Promise<void>((resolve) => (ended = resolve));
  const server = await serve(t, (request, response) => {
    request.socket.on("close", ended);
    response.writeHead(200, { "content-type": "application/json" }).write("one");
  });
  const stream = await client(t, server.url).open(get);
  const first = await stream.body[Symbol.asyncIterator]().next();
  assert.equal(Buffer.from(first.value as Uint8Array).toString(), "one");
  assert.equal(stream.contentType, "application/json");
  stream.close();
  stream.close();
  await end;
});

test("open refuses what is no success and no JSON, unless another type was asked for", async (t) => {
  const server = await serve(t, (_, response) =>
    answer(response, 200, "text", { "content-type": "text/plain" }),
  );
  const api = client(t, server.url);
  assert.equal((await failure(api.open(get))).kind, "malformed");
  const stream = await api.open({ ...get, accept: "text/plain" });
  let text = "";
  for await (const chunk of stream.body) text += Buffer.from(chunk).toString();
  assert.equal(text, "text");
});

test("a server that is not there is unavailable for open as well, not cancelled", async (t) => {
  const refused = await failure(client(t, "http://127.0.0.1:1").open(get));
  assert.deepEqual([refused.kind, refused.reason], ["unavailable", "ECONNREFUSED"]);
});

test("an opened answer that is cut fails as unavailable; one that is cancelled says so", async (t) => {
  const server = await serve(t, (request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).write("one");
    if (request.url?.includes("cut")) setImmediate(() => request.socket.destroy());
  });
  const api = client(t, server.url);
  const drain = async (path: string, onChunk: () => void, signal?: AbortSignal): Promise<void> => {
    const stream = await api.open({ ...get, path, signal });
    for await (const _ of stream.body) onChunk();
  };
  assert.equal((await failure(drain("/cut", () => undefined))).kind, "unavailable");
  const stop = new AbortController();
  const reading = drain("/quiet", () => stop.abort(), stop.signal);
  assert.equal((await failure(reading)).kind, "cancelled");
});

test("every answer is reported with method and code", async (t) => {
  const answers: string[] = [];
  const server = await serve(t, (_, response) => answer(response, 404, {}));
  const onAnswer = (method: string, code: string): void => void answers.push(`${method} ${code}`);
  await failure(client(t, server.url, {}, { onAnswer }).request(get));
  await failure(client(t, "http://127.0.0.1:1", {}, { onAnswer }).request(get));
  assert.deepEqual(answers, ["GET 404", "GET <error>"]);
});
