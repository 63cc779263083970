// Implements `secretcast sandbox`: an in-memory Kubernetes API with an example, and the real controller
// connected by a kubeconfig, with the flags of `run` that apply there. It prints copies as they are made,
// then a table, then commands to try.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Outcome } from "../../controller/writes/outcome.ts";
import { readConfig, type Config, type FlagValues } from "../../controller/settings/config.ts";
import { readPlannerSettings } from "../../controller/settings/planner-settings.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { createClient } from "../../../packages/kube/rest/client.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { loadKubeConfig } from "../../../packages/kube/kubeconfig/kubeconfig.ts";
import { createLog } from "../../controller/report/log.ts";
import { startSandbox } from "../../../packages/sandbox/server.ts";
import { isAllCurrent } from "../../controller/sync/sync-result.ts";
import { checkExample, installController, loadExample, tableOf } from "./example.ts";
import type { Program } from "../../run/program-context.ts";
import { openReceipts } from "../../run/receipts.ts";
import { LAST_RECEIPTS_MS, runController } from "../../run/run.ts";
import { refText } from "../../text/names.ts";
import { QUICK, SANDBOX_DEFAULTS } from "./sandbox-defaults.ts";
import { whatToTry } from "./what-to-try.ts";
import type { Action } from "../../controller/model/actions.ts";

type SandboxArgs = {
  readonly once: boolean;
  readonly port: number;
  /** Only the API. */
  readonly empty: boolean;
  readonly flags: FlagValues;
};

const HOW_TO_CALL =
  'The commands below begin with "secretcast". In a clone, type "npm start --silent --" in its place.\n';

const CONVERGE_MS = 30_000;

const DONE: Readonly<Record<Action["kind"], string>> = {
  create: "copied  ",
  update: "updated ",
  replace: "replaced",
  adopt: "adopted ",
  delete: "deleted ",
  release: "released",
  fill: "filled  ",
  clear: "emptied ",
  liveGet: "looked  ",
  confirm: "asked   ",
};

export async function sandbox(args: SandboxArgs, program: Program): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-sandbox-"));
  try {
    const kubeconfig = join(folder, "kubeconfig");
    const config = configOf(kubeconfig, args.flags);
    // Invalid globs are reported before anything starts.
    readPlannerSettings(config);
    return await inSandbox(kubeconfig, config, args, program);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function configOf(kubeconfig: string, flags: FlagValues): Config {
  const args: FlagValues = {
    ...SANDBOX_DEFAULTS,
    ...flags,
    kubeconfig,
    "leader-elect": true,
  };
  return readConfig(args, { env: {}, clusterNamespace: undefined, terminal: false });
}

async function inSandbox(
  kubeconfig: string,
  config: Config,
  args: SandboxArgs,
  program: Program,
): Promise<number> {
  const { stdout } = program;
  const api = await startSandbox({ port: args.port, shallowKinds: true });
  writeFileSync(kubeconfig, api.kubeconfig(), { mode: 0o600 });
  const where = `in-memory Kubernetes API on ${api.url}, kubeconfig ${kubeconfig}\n`;
  if (args.empty) {
    stdout.write(where);
    await aborted(program.signal);
    await api.stop();
    return 0;
  }
  const kubeConfig = loadKubeConfig({ kubeconfig });
  const client = createClient(kubeConfig, { clock: systemClock, userAgent: "secretcast-sandbox" });
  try {
    stdout.write(where);
    stdout.write(HOW_TO_CALL);
    stdout.write(await loadExample(client));
    await installController(client, { ...QUICK, ...args.flags });
    return await demonstrate(args, config, kubeConfig, client, program);
  } finally {
    await client.close();
    await api.stop();
  }
}

/** Runs the controller until it has converged (`once`) or until a signal. */
async function demonstrate(
  { once, flags }: SandboxArgs,
  config: Config,
  kubeConfig: ReturnType<typeof loadKubeConfig>,
  client: ApiClient,
  program: Program,
): Promise<number> {
  const { signal, stdout, version } = program;
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  let converged = (): void => undefined;
  let wrong: readonly string[] = [`not all is current after ${CONVERGE_MS / 1000} s`];
  let page = "";
  const firstTime = new Promise<void>((resolve) => (converged = resolve));
  const log = createLog(config, stdout);
  const receipts = await openReceipts(config, stdout, log);
  const running = runController(config, kubeConfig, { signal: either, version }, log, {
    receipts,
    onServing: (statusUrl) => (page = statusUrl),
    onOutcome: (outcome) => stdout.write(lineOf(outcome)),
    onPlan: (plan, { settled }) => {
      if (!settled || !isAllCurrent(plan)) return;
      wrong = [];
      converged();
    },
  });
  try {
    await Promise.race([
      firstTime,
      running,
      delay(CONVERGE_MS, undefined, { signal: either }).catch(() => undefined),
    ]);
    // The example's promises only hold without flags.
    if (Object.keys(flags).length === 0) wrong = await checkExample(client);
    stdout.write(`\n${await tableOf(client)}`);
    for (const line of wrong) stdout.write(`wrong: ${line}\n`);
    if (once) return wrong.length === 0 ? 0 : 1;
    stdout.write(whatToTry(config, flags, page));
    await running;
    return 0;
  } finally {
    stop.abort();
    await running;
    await receipts?.close(LAST_RECEIPTS_MS);
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
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
      return `failed    ${from} -> ${to}: ${outcome.reason}\n`;
    case "moved":
    case "leaving":
    case "resolved":
    case "found":
    case "answered":
    case "stopped":
      return "";
  }
}
