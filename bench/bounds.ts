// Memory under the limit that the manifests set, whatever is written: the process must live, and every
// copy be right. On the sandbox, which keeps all that is written and answers as the real server does.
import { setTimeout as delay } from "node:timers/promises";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../packages/kube/rest/client.ts";
import { systemClock } from "../packages/kube/time/clock.ts";
import { loadKubeConfig } from "../packages/kube/kubeconfig/kubeconfig.ts";
import { startSandbox } from "../packages/sandbox/server.ts";
import { Api } from "../test/support/scenes/api.ts";
import { eventually } from "../packages/kube/testing/eventually.ts";
import { FLAGS, inParallel, numbered, realCluster } from "./cluster.ts";
import { Program } from "./program.ts";
import { runParts, type Bench, type How, type Part } from "./scorecard.ts";

const LIMIT_MIB = 384;
const KIB = 1024;
const TO = "secretcast.io/to";
const CONCURRENCY = 8;

const PARTS: Readonly<Record<string, Part>> = { pulling, large, wide, escaped, forged };

export const bounds: Bench = {
  name: "bounds",
  parts: Object.keys(PARTS),
  about: "memory under 384 MiB, whatever is written",
  run: (how) => runParts(how, PARTS),
};

type Stage = { readonly api: Api; readonly run: (flags: Flags) => Program };
type Flags = Readonly<Record<string, string>>;

async function stage(how: How): Promise<Stage> {
  const sandbox = await startSandbox({});
  how.after(() => sandbox.stop());
  const folder = mkdtempSync(join(tmpdir(), "secretcast-bench-"));
  how.after(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, sandbox.kubeconfig());
  const client = createClient(loadKubeConfig({ kubeconfig }), {
    clock: systemClock,
    userAgent: "bench",
  });
  how.after(() => client.close());
  const run = (flags: Flags): Program =>
    new Program(how, kubeconfig, { "log-level": "info", ...flags }, LIMIT_MIB);
  return { api: new Api(client), run };
}

async function settled(program: Program, state: string, count: number): Promise<void> {
  const converged = async (): Promise<boolean> =>
    (await program.metric("secretcast_copies", `state="${state}"`)) === count &&
    (await program.metric("secretcast_copies", 'state="pending"')) === 0;
  await eventually(`${count} places are ${state}`, converged, 900_000);
}

function judge(how: How, name: string, program: Program): void {
  const { rssMiB, peakMiB } = program.memory;
  how.say(`${name}: ${rssMiB.toFixed(0)} MiB now`);
  how.figure(`RSS at the peak, ${name}`, peakMiB, "MiB", { atMost: LIMIT_MIB });
}

/** Tenants' Secrets that pull from nowhere, with data and with text. */
async function pulling(how: How): Promise<void> {
  const { api, run } = await stage(how);
  const namespaces = numbered("team", 20);
  for (const name of ["shared", ...namespaces]) await api.createNamespace(name);
  const count = how.quick ? 40 : 2000;
  const value = "x".repeat(250 * KIB);
  const keys = Array.from({ length: 8000 }, (_, at) => `key-${at}`).join();
  const create = (at: number): Promise<unknown> =>
    api.createSecret(namespaces[at % 20] ?? "", `pull-${at}`, {
      data: { key: value },
      annotations: { "secretcast.io/from": "nowhere/nothing", "secretcast.io/pulled-keys": keys },
    });
  const half = Array.from({ length: count / 2 }, (_, at) => at);
  await inParallel(half, CONCURRENCY, async (at) => void (await create(at)));
  await api.createSecret("shared", "ca", { annotations: { [TO]: "team-*" }, data: { a: "b" } });
  const program = run({ "source-namespaces": "shared" });
  await settled(program, "current", 20);
  // The rest comes while it runs.
  await inParallel(half, CONCURRENCY, async (at) => void (await create(at + count / 2)));
  await delay(2000);
  judge(how, `${count} pulling Secrets of 250 KB`, program);
}

/** Sources of 1 MiB that any namespace publishes. */
async function large(how: How): Promise<void> {
  const { api, run } = await stage(how);
  const namespaces = numbered("team", 4);
  for (const name of ["tenant", ...namespaces]) await api.createNamespace(name);
  const count = how.quick ? 4 : 500;
  const value = (at: number): string => `${at}.`.padEnd(1024 * KIB, "x");
  const all = Array.from({ length: count }, (_, at) => at);
  await inParallel(all, CONCURRENCY, async (at) => {
    const annotations = { [TO]: "team-*" };
    await api.createSecret("tenant", `large-${at}`, { annotations, data: { key: value(at) } });
  });
  const flags = { "source-namespaces": "*", "namespace-policy": "opt-out" };
  const program = run(flags);
  await settled(program, "current", count * namespaces.length);
  judge(how, `${count} sources of 1 MiB, ${count * namespaces.length} copies`, program);
  const reads = await program.metric("secretcast_source_reads_total");
  how.say(`sources read again: ${reads}`);
  let right = 0;
  for (const namespace of namespaces)
    await inParallel(all, CONCURRENCY, async (at) => {
      const found = await api.secret(namespace, `large-${at}`);
      if (found?.data?.["key"] === value(at)) right++;
    });
  const expected = count * namespaces.length;
  how.count("copies right", right, { atLeast: expected });
}

/** One source into very many namespaces, updated, ended and made again. */
async function wide(how: How): Promise<void> {
  const { api, run } = await stage(how);
  const namespaces = numbered("team", how.quick ? 50 : 10_000);
  await inParallel(["shared", ...namespaces], CONCURRENCY, async (name) => {
    await api.createNamespace(name);
  });
  const program = run({
    "source-namespaces": "shared",
    "delete-grace": "500ms",
    "delete-hold": "0",
  });
  const publish = (word: string): Promise<unknown> =>
    api.createSecret("shared", "ca", { annotations: { [TO]: "team-*" }, data: { key: word } });
  await publish("one");
  await settled(program, "current", namespaces.length);
  await api.setData("shared", "ca", { key: "two" });
  await delay(1000);
  await settled(program, "current", namespaces.length);
  await api.deleteSecret("shared", "ca");
  await delay(1000);
  await settled(program, "current", 0);
  await publish("three");
  await settled(program, "current", namespaces.length);
  judge(how, `${namespaces.length} copies made, updated, ended and made again`, program);
  const reads = await program.metric("secretcast_source_reads_total");
  how.count("sources read again", reads, { atMost: 0 });
  const right = (await api.secrets()).filter(
    ({ metadata, data }) => metadata.namespace !== "shared" && data?.["key"] === btoa("three"),
  );
  how.count("copies right", right.length, { atLeast: namespaces.length });
}

/**
 * ConfigMaps of 1 MiB of "<" with one character beyond Latin-1, on a real API server: it writes six bytes for each
 * "<", and V8 takes two bytes for each of these.
 */
async function escaped(how: How): Promise<void> {
  const cluster = await realCluster(how);
  if (!cluster) return;
  const namespaces = numbered("team", how.quick ? 3 : 40);
  await cluster.createNamespaces(namespaces);
  const count = how.quick ? 2 : 30;
  const value = `\u0436${"<".repeat(1024 * KIB - 4 * KIB)}`;
  await inParallel(numbered("page", count), 2, async (name) => {
    const metadata = { name, annotations: { [TO]: "team-*" } };
    await cluster.send("POST", "/api/v1/namespaces/shared/configmaps", {
      metadata,
      data: { value },
    });
  });
  const began = performance.now();
  const flags = { ...FLAGS, "config-maps": "true" };
  const program = new Program(how, cluster.kubeconfig, flags, LIMIT_MIB);
  const copies = count * namespaces.length;
  await settled(program, "current", copies);
  const name = `${count} ConfigMaps of 1 MiB of "<" in ${namespaces.length} namespaces`;
  how.say(`${copies} copies in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  judge(how, name, program);
}

/**
 * Copies that a tenant forged, each with another mark of 240 KB: half are there when the process starts, half come
 * while it runs, and a second process finds all of them.
 */
async function forged(how: How): Promise<void> {
  const { api, run } = await stage(how);
  const namespaces = numbered("team", 20);
  for (const name of ["shared", ...namespaces]) await api.createNamespace(name);
  const { metadata } = await api.createSecret("shared", "ca", {
    annotations: { [TO]: "team-*" },
    data: { a: "b" },
  });
  const count = how.quick ? 60 : 1060;
  const marks = ["entry", "list", "copied-keys", "on-delete", "source-version"];
  const create = async (at: number): Promise<void> => {
    const [namespace = "", name] = [namespaces[at % namespaces.length], `forged-${at}`];
    const annotations = {
      "secretcast.io/source": "shared/ca",
      "secretcast.io/source-uid": metadata.uid ?? "",
      "secretcast.io/source-version": "1",
      "secretcast.io/placed-at": `${namespace}/${name}`,
      [`secretcast.io/${marks[at % marks.length]}`]: `${at}.`.padEnd(240 * KIB, "x"),
    };
    const labels = { "app.kubernetes.io/managed-by": "secretcast" };
    await api.createSecret(namespace, name, { labels, annotations, data: { a: "forged" } });
  };
  const half = Array.from({ length: count / 2 }, (_, at) => at);
  await inParallel(half, CONCURRENCY, create);
  // None of them is removed meanwhile.
  const begin = (): Program => run({ "source-namespaces": "shared", "delete-grace": "1h" });
  const finds = async (program: Program, left: number): Promise<void> => {
    const isFound = async (): Promise<boolean> => {
      const of = (state: string): Promise<number> =>
        program.metric("secretcast_copies", `state="${state}"`);
      const all = (await of("held")) + (await of("frozen")) + (await of("pending"));
      return all === left && (await of("current")) === namespaces.length;
    };
    await eventually(`${left} forged copies are found`, isFound, 300_000);
  };
  const first = begin();
  await finds(first, count / 2);
  await inParallel(half, CONCURRENCY, (at) => create(at + count / 2));
  await finds(first, count);
  judge(how, `${count} forged copies with a mark of 240 KB`, first);
  await first.kill();
  const second = begin();
  await finds(second, count);
  judge(how, "a process that starts beside them", second);
}
