import assert from "node:assert/strict";
import { test } from "node:test";
import {
  checkGroups,
  checkStreaming,
  serverVersion,
  versionFinding,
} from "../../../src/cli/check/check-server.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { checkedServer, forbidden } from "../../support/cli/checked-server.ts";

const { signal } = new AbortController();

test("the server's version is reported, and one that is too old does not do", async (t) => {
  const { client } = await checkedServer(t);
  const version = await serverVersion(client, signal);
  assert.equal(versionFinding(version).state, "ok");
  assert.match(versionFinding(version).says, /^v1\.37\.\d+.* \(tested with 1\.35 to 1\.37\)$/);
  const old = versionFinding({ text: "v1.20.15", minor: 20 });
  assert.deepEqual(
    [old.state, old.says, old.advice],
    ["missing", "v1.20.15: too old", "Kubernetes 1.21 or newer is needed"],
  );
});

test("a server that does not say its version is unknown, whatever it says instead", async (t) => {
  for (const body of [{}, { gitVersion: "v1.36.0\u001b[31m" }, { gitVersion: 3 }, []]) {
    const { client } = await checkedServer(t, () => [200, body]);
    assert.equal(versionFinding(await serverVersion(client, signal)).state, "unknown");
  }
  const { client } = await checkedServer(t, () => forbidden("get", "version"));
  assert.equal(versionFinding(await serverVersion(client, signal)).state, "unknown");
});

test("groups that are not served are named with what is missing then", async (t) => {
  const { client } = await checkedServer(t);
  assert.deepEqual(
    (await checkGroups(client, signal)).map(({ state, check }) => `${state} ${check}`),
    ["ok Leases", "ok Events"],
  );
  const none = await checkedServer(t, () => [
    404,
    { kind: "Status", code: 404, reason: "NotFound" },
  ]);
  assert.deepEqual(
    (await checkGroups(none.client, signal)).map(({ state, says }) => `${state} ${says}`),
    ["warning coordination.k8s.io/v1 is not served", "warning events.k8s.io/v1 is not served"],
  );
});

test("streaming lists are tried: had, refused, forbidden", async (t) => {
  const { client } = await checkedServer(t);
  assert.match((await checkStreaming(client, signal)).says, /filled by a stream/);
  const invalid = { kind: "Status", code: 422, reason: "Invalid", message: "sendInitialEvents" };
  const old = await checkedServer(t, () => [422, invalid]);
  assert.match((await checkStreaming(old.client, signal)).says, /filled in pages/);
  const denied = await checkedServer(t, () => forbidden("watch", "namespaces"));
  const finding = await checkStreaming(denied.client, signal);
  assert.equal(
    `${finding.state}: ${finding.says}`,
    "warning: it could not be tried: no right to watch namespaces",
  );
});

test("a server that is not there fails the check, and is no finding", async (t) => {
  const { client, sandbox } = await checkedServer(t);
  await sandbox.stop();
  for (const ask of [serverVersion, checkGroups, checkStreaming])
    await assert.rejects(ask(client, signal), ApiError);
});
