// The process itself: signals, a lost lease and what nobody expects, by exit code.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import type { FlagValues } from "../src/controller/settings/config.ts";
import { configKey, FLAGS, PLANNING_FLAGS } from "../src/controller/settings/flags.ts";
import { LEASES, resourcePath } from "../packages/kube/rest/resource.ts";
import { eventually } from "../packages/kube/testing/eventually.ts";
import { runWords } from "./support/programs/controller-process.ts";
import { openScene, type Scene } from "./support/scenes/scene.ts";
import { readManifest } from "./support/programs/packed-project.ts";

function program(
  t: TestContext,
  scene: Scene,
  { flags = {}, env = {}, preload }: { flags?: FlagValues; env?: object; preload?: string } = {},
) {
  const words = runWords(scene.kubeconfig, { ...scene.flags(), ...flags });
  const ahead = preload === undefined ? [] : ["--import", preload];
  const child = spawn(process.execPath, [...ahead, "bin/secretcast.js", ...words], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = once(child, "close").then(() => child.exitCode);
  t.after(() => void child.kill("SIGKILL"));
  return { child, ended, stdout: () => stdout, stderr: () => stderr };
}

type Stuck = { readonly scene: Scene; readonly writing: () => boolean };

/** A source for one team, and a server that never answers the write of its copy. */
async function unanswered(t: TestContext): Promise<Stuck> {
  const scene = await openScene(t);
  await scene.namespace("team-a");
  await scene.api.createSecret(scene.source, "registry", {
    annotations: { "secretcast.io/to": scene.name("team-*") },
    data: { password: "one" },
  });
  let writing = false;
  assert.ok(scene.sandbox);
  scene.sandbox.beforeRequest = ({ method, path }) => {
    if (method !== "POST" || !path.endsWith("/secrets")) return undefined;
    writing = true;
    return new Promise(() => {});
  };
  return { scene, writing: () => writing };
}

for (const [what, lose] of [
  ["stdout is a closed pipe", "destroy"],
  ["nobody reads stdout", "pause"],
] as const)
  test(`where ${what} a controller continues, counts lost lines and ends on SIGTERM`, async (t) => {
    const scene = await openScene(t);
    const flags = { "http-address": "127.0.0.1:0", "log-level": "debug" };
    const { child, ended, stdout } = program(t, scene, { flags });
    const address = await eventually(
      "it serves metrics",
      () => /"address":"(127[^"]+)".*serving probes/.exec(stdout())?.[1],
    );
    child.stdout[lose]();
    const target = await scene.namespace("team-a");
    await scene.api.createSecret(scene.source, "registry", {
      annotations: { "secretcast.io/to": target },
      data: { k: "v" },
    });
    await scene.holds(target, "registry", { k: "v" });
    const lost = async (): Promise<number> => {
      const text = await (await fetch(`http://${address}/metrics`)).text();
      return Number(/^secretcast_log_lines_lost_total (\d+)$/m.exec(text)?.[1]);
    };
    if (lose === "destroy") await eventually("a line is lost", async () => (await lost()) > 0);
    else assert.equal(await lost(), 0);
    child.kill("SIGTERM");
    assert.equal(await ended, 0);
  });

test("CL-20 a signal lets the write in flight land, a second one exits 1 at once", async (t) => {
  const { scene, writing } = await unanswered(t);
  const { child, ended, stdout } = program(t, scene);
  await eventually("a write is under way", writing);
  child.kill("SIGTERM");
  await eventually("it has heard", () => stdout().includes("shutting down"));
  const from = performance.now();
  child.kill("SIGINT");
  assert.equal(await ended, 1);
  assert.ok(performance.now() - from < 5000, "not after the time for landing");
});

test("CL-21 CL-24 probes are served first, and a lost Lease ends the program with code 1", async (t) => {
  const { scene } = await unanswered(t);
  const { ended, stdout } = program(t, scene, {
    flags: { "leader-elect": true, "lease-namespace": scene.source },
  });
  const { client } = scene.api;
  const path = resourcePath(LEASES, scene.source, "secretcast");
  await eventually("it leads", () => stdout().includes("started worker"));
  const body = { spec: { holderIdentity: "another" } };
  const contentType = "application/merge-patch+json";
  await client.request({ method: "PATCH", path, body, contentType, what: "take the lease" });
  assert.equal(await ended, 1);
  const said = /serving probes.*starting informers.*waiting for the lease.*the lease is lost/s;
  assert.match(stdout(), said);
});

test("the first line of the log has the version and every setting about copies", async (t) => {
  const { scene } = await unanswered(t);
  const flags = { "source-list": "mine", "fanout-limit": "1Mi", "delete-hold": "7m" };
  const { child, ended, stdout } = program(t, scene, { flags });
  await eventually("it starts", () => stdout().includes("\n"));
  const line: unknown = JSON.parse(stdout().split("\n")[0] ?? "");
  const { version } = readManifest();
  const wanted = {
    msg: "starting secretcast",
    version,
    sourceNamespaces: [scene.source],
    sourceList: "mine",
    configMaps: false,
    namespaces: "all",
    otherSourceNamespaces: [],
    onlyNames: "all",
    namespacePolicy: "opt-out",
    deleteGraceMs: 100,
    deleteHoldMs: 420_000,
    fanoutLimitBytes: 1024 * 1024,
    dryRun: false,
  };
  assert.partialDeepStrictEqual(line, wanted);
  const planning = FLAGS.filter(({ name }) => PLANNING_FLAGS.includes(name)).map(configKey);
  // Of --lease-namespace the line has the Lease.
  const known = [...Object.keys(line ?? {}), "leaseNamespace"];
  assert.deepEqual(
    planning.filter((key) => !known.includes(key)),
    [],
  );
  child.kill("SIGTERM");
  await ended;
});

for (const crash of ["exception", "rejection"])
  test(`CL-10 an unexpected ${crash} is one line without its text, and exit code 1`, async (t) => {
    const { scene } = await unanswered(t);
    const env = { CRASH: crash };
    const { ended, stdout, stderr } = program(t, scene, {
      env,
      preload: "./test/support/programs/crash.ts",
    });
    assert.equal(await ended, 1);
    assert.match(stderr(), /^secretcast: unexpected TypeError at crash\.ts:\d+:\d+\n$/);
    assert.doesNotMatch(stdout() + stderr(), /hunter2/);
  });
