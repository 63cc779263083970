import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkSize, expectedMemory } from "../../../src/cli/check/check-size.ts";
import { checkedServer, forbidden } from "../../support/cli/checked-server.ts";

const { signal } = new AbortController();
const MIB = 1024 * 1024;
const settings = { dataCacheBytes: 64 * MIB, kinds: ["Secret"] as const };

test("namespaces and Secrets are counted by reading one of each, without its values", async (t) => {
  const { client, sandbox } = await checkedServer(t);
  for (let at = 0; at < 3; at++)
    sandbox.load([
      { kind: "Namespace", metadata: { name: `n${at}` } },
      { kind: "Secret", metadata: { name: "s", namespace: `n${at}` }, data: { k: "aHVudGVyMg==" } },
    ]);
  const before = sandbox.requests.length;
  const findings = await checkSize(client, settings, signal);
  assert.deepEqual(
    findings.map(({ check, state, says }) => `${state} ${check}: ${says}`),
    [
      "ok namespaces: 7",
      "ok Secrets: 3",
      "ok memory: about 81 MiB, and up to 145 MiB with the data of large sources (--data-cache)",
    ],
  );
  assert.equal(sandbox.requests.length - before, 2);
});

test("every kind that takes part is counted, and takes its room", async (t) => {
  const { client } = await checkedServer(t);
  const kinds = ["Secret", "ConfigMap"] as const;
  assert.deepEqual(
    (await checkSize(client, { ...settings, kinds }, signal)).map(({ check }) => check),
    ["namespaces", "Secrets", "ConfigMaps", "memory"],
  );
});

test("what may not be listed is not counted, and no memory is made up", async (t) => {
  const { client } = await checkedServer(t, (_, path) =>
    path.endsWith("secrets") ? forbidden("list", "secrets") : undefined,
  );
  assert.deepEqual(
    (await checkSize(client, settings, signal)).map(({ check, state }) => `${state} ${check}`),
    ["ok namespaces", "unknown Secrets"],
  );
});

test("a cluster that needs more than the container's limit is told what to raise", () => {
  const large = expectedMemory(600_000, settings.dataCacheBytes);
  assert.equal(large.state, "warning");
  assert.match(large.advice ?? "", /raise the container's memory limit from 384 MiB to \d+ MiB/);
  const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
  assert.match(read("manifests/deployment.yaml"), /memory: 384Mi/);
  const figures = read("docs/performance.md");
  assert.match(figures, /\| RSS, idle +\|[^|]*\| 80 MiB/);
  assert.match(figures, /RSS above idle with 100,000 unmanaged Secrets of 2 KB +\|[^|]*\| 63 MiB/);
});
