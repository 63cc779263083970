// `secretcast sandbox`: an in-memory Kubernetes API with an example in it, and the real controller
// on it through its kubeconfig. Prints what is copied as it happens, then a table, then what to try.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Outcome } from "../../writes/outcome.ts";
import { readConfig } from "../../config/config.ts";
import type { Action } from "../../core/model/verdicts.ts";
import { createClient, type ApiClient } from "../../kube/rest/client.ts";
import { systemClock } from "../../kube/time/clock.ts";
import { loadKubeConfig } from "../../kube/kubeconfig/kubeconfig.ts";
import { createLog } from "../../telemetry/log.ts";
import { startSandbox } from "../../sandbox/server.ts";
import { isAllCurrent } from "../../controller/sync.ts";
import { checkExample, loadExample, tableOf } from "./example.ts";
import type { Program } from "../run/program-context.ts";
import { runController } from "../run/run.ts";
import { refText } from "../../core/annotations/names.ts";

type Given = { readonly once: boolean; readonly port: number };

const CONVERGE_MS = 30_000;

const DONE: Readonly<Record<Action["kind"], string>> = {
  create: "copied  ",
  update: "updated ",
  replace: "replaced",
  adopt: "adopted ",
  delete: "deleted ",
  release: "released",
  fill: "filled  ",
  unfill: "emptied ",
  liveGet: "looked  ",
  confirm: "asked   ",
};

export async function sandbox(given: Given, program: Program): Promise<number> {
  const { stdout } = program;
  const api = await startSandbox({ port: given.port });
  const folder = mkdtempSync(join(tmpdir(), "secretcast-sandbox-"));
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, api.kubeconfig(), { mode: 0o600 });
  const kubeConfig = loadKubeConfig({ kubeconfig });
  const client = createClient(kubeConfig, { clock: systemClock, userAgent: "secretcast-sandbox" });
  try {
    stdout.write(`in-memory Kubernetes API on ${api.url}, kubeconfig ${kubeconfig}\n`);
    stdout.write(await loadExample(client));
    return await demonstrate(given, kubeconfig, kubeConfig, client, program);
  } finally {
    await client.close();
    await api.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the controller until it has converged (`once`) or until a signal. */
async function demonstrate(
  { once }: Given,
  kubeconfig: string,
  kubeConfig: ReturnType<typeof loadKubeConfig>,
  client: ApiClient,
  program: Program,
): Promise<number> {
  const { signal, stdout, version } = program;
  const config = readConfig(
    {
      kubeconfig,
      "http-address": "127.0.0.1:0",
      "status-address": "127.0.0.1:0",
      "log-level": "warn",
      "log-format": "pretty",
      "leader-elect": false,
    },
    { env: {}, clusterNamespace: undefined, terminal: false },
  );
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  let converged = (): void => undefined;
  let page = "";
  const firstTime = new Promise<void>((resolve) => (converged = resolve));
  const running = runController(
    config,
    kubeConfig,
    { signal: either, version },
    createLog(config, stdout),
    {
      onServing: (statusUrl) => (page = statusUrl),
      onOutcome: (outcome) => stdout.write(lineOf(outcome)),
      onPlan: (plan, { settled }) => {
        if (settled && isAllCurrent(plan)) converged();
      },
    },
  );
  try {
    await Promise.race([firstTime, running, timeout(either)]);
    const wrong = await checkExample(client);
    stdout.write(`\n${await tableOf(client)}`);
    for (const line of wrong) stdout.write(`wrong: ${line}\n`);
    if (once) return wrong.length === 0 ? 0 : 1;
    stdout.write(whatToTry(kubeconfig, page));
    await running;
    return 0;
  } finally {
    stop.abort();
    await running;
  }
}

function timeout(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, CONVERGE_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function lineOf(outcome: Outcome): string {
  const { action } = outcome;
  const from = refText(action.source);
  const to = refText(action.place);
  switch (outcome.kind) {
    case "done":
      return `${DONE[action.kind]}  ${from} -> ${to}\n`;
    case "removed":
      return `deleted   ${to}\n`;
    case "failed":
      return `failed    ${from} -> ${to}: ${outcome.message}\n`;
    case "moved":
    case "leaving":
    case "resolved":
    case "found":
    case "answered":
    case "stopped":
      return "";
  }
}

function whatToTry(kubeconfig: string, page: string): string {
  return `
The controller keeps running; Ctrl-C ends it all. Its status page: ${page}
In another terminal try:

  export KUBECONFIG=${kubeconfig}
  kubectl get secrets -A
  kubectl create namespace team-d            # gets its copy at once
  kubectl -n team-a delete secret registry   # comes back
  kubectl -n secretcast annotate secret registry secretcast.io/to='team-*,!team-b' --overwrite
  kubectl get secrets -A -w
`;
}
