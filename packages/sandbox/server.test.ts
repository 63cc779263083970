// The sandbox as a server: it starts, serves what tests inject, and leaves nothing behind.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startSandbox } from "./server.ts";

async function send(url: string, method: string, body: unknown): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(url, { method, headers, body: JSON.stringify(body) });
}

test("a Secret is created, read, listed, watched and deleted", async () => {
  const sandbox = await startSandbox();
  try {
    const secrets = `${sandbox.url}/api/v1/namespaces/default/secrets`;
    const watch = await fetch(`${sandbox.url}/api/v1/secrets?watch=1&timeoutSeconds=1`);
    const created = await send(secrets, "POST", {
      metadata: { name: "a" },
      stringData: { k: "v" },
    });
    assert.equal(created.status, 201);
    const read = (await (await fetch(`${secrets}/a`)).json()) as { data: unknown; type: unknown };
    assert.deepEqual([read.data, read.type], [{ k: "dg==" }, "Opaque"]);
    const list = (await (await fetch(secrets)).json()) as { items: unknown[] };
    assert.equal(list.items.length, 1);
    assert.equal((await fetch(`${secrets}/a`, { method: "DELETE" })).status, 200);
    const events = (await watch.text()).trim().split("\n");
    const types = events.map((line) => (JSON.parse(line) as { type: string }).type);
    assert.deepEqual(types, ["ADDED", "DELETED"]);
  } finally {
    await sandbox.stop();
  }
});

test("a test answers in the server's place, or cuts the connection", async () => {
  const sandbox = await startSandbox();
  try {
    sandbox.beforeRequest = ({ method }) =>
      method === "POST" ? { status: 429, headers: { "retry-after": "1" } } : "reset";
    const refused = await send(`${sandbox.url}/api/v1/namespaces`, "POST", {});
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "1"]);
    await assert.rejects(fetch(`${sandbox.url}/api/v1/namespaces`));
    assert.deepEqual(
      sandbox.requests.map(({ method, code }) => [method, code]),
      [
        ["POST", 429],
        ["GET", 0],
      ],
    );
  } finally {
    await sandbox.stop();
  }
});
