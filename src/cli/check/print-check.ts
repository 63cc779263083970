// Implements `secretcast check`. It asks the cluster what a controller with these settings needs, and
// prints a line for each answer with advice. It writes nothing.
import { connect, serverLine } from "../../inspect/kubectl/connection.ts";
import {
  otherwiseCode,
  readKubectlFlags,
  type Args,
  type KubectlFlags,
} from "../../inspect/kubectl/kubectl-flags.ts";
import { printListing } from "../../inspect/kubectl/listing.ts";
import type { Colour, Column } from "../../inspect/kubectl/table.ts";
import type { Program } from "../../run/program-context.ts";
import { givenFlags, IN_CLUSTER_FLAGS } from "../../inspect/kubectl/run-flags.ts";
import { findController, type Installed } from "../../inspect/cluster/installed-controller.ts";
import { checkAdmission } from "./check-admission.ts";
import { checkLeader } from "./check-leader.ts";
import { checkNames } from "./check-names.ts";
import { checkNotRead } from "./check-not-read.ts";
import { checkOthers } from "./check-others.ts";
import { checkRights, type CheckedAccount } from "./check-rights.ts";
import {
  checkGroups,
  checkStreaming,
  clockFindings,
  serverVersion,
  versionFinding,
} from "./check-server.ts";
import { checkSize } from "./check-size.ts";
import { checkWidth } from "./check-width.ts";
import {
  controllerHome,
  homeOf,
  readSettings,
  settingsLine,
  type PlanningSettings,
} from "../../inspect/cluster/planning-settings.ts";
import { isGuessed } from "./guessed-rights.ts";
import { checkCode, type CheckFinding, type FindingState } from "./finding.ts";
import { neededRights } from "../rights/needed-rights.ts";
import { rightsOfAccount, rightsOfUser } from "./whose-rights.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { say } from "../../inspect/kubectl/say.ts";

export async function printCheck(args: Args, program: Program): Promise<number> {
  const flags = readKubectlFlags(args, program.env);
  const own = givenFlags(args, IN_CLUSTER_FLAGS);
  const home = flags.namespace ?? homeOf(own, program);
  const settingsFor = (installed: Installed): PlanningSettings =>
    readSettings(IN_CLUSTER_FLAGS, own, program, installed, home);
  // Wrong values are reported before anything is asked.
  settingsFor({ kind: "unasked" });
  const { signal, version } = program;
  // As the user: only the rights are those of another account.
  let clockAheadMs = 0;
  const connection = connect(
    flags.as === undefined ? flags : { ...flags, as: undefined, asGroups: [] },
    program,
    (offsetMs) => (clockAheadMs = offsetMs),
  );
  const { client } = connection;
  let impersonating: ApiClient | undefined;
  try {
    const server = await serverVersion(client, signal);
    const installed = await findController(
      client,
      { ...controllerHome(own, program, connection.namespace), lease: home },
      signal,
    );
    const checked = settingsFor(installed);
    const { config } = checked;
    const usual = installed.kind === "found" ? installed.controller.account : undefined;
    const account = flags.as ?? usual;
    if (account !== undefined) impersonating = connect({ ...flags, as: account }, program).client;
    const judged = judgedBy(client, impersonating, account, flags);
    const guessed = isGuessed(own, program, installed);
    const needed = neededRights(config);
    const findings: readonly CheckFinding[] = [
      versionFinding(server),
      ...clockFindings(clockAheadMs),
      await checkLeader({
        client,
        installed,
        elects: config.leaderElect,
        lease: { namespace: config.leaseNamespace, name: config.leaseName },
        nowMs: () => Date.now() - clockAheadMs,
        signal,
      }),
      await checkStreaming(client, signal),
      ...(await checkGroups(client, signal)),
      ...(await checkRights({ ...judged, guessed }, needed, signal)),
      ...(account === undefined || guessed
        ? []
        : await checkWidth(judged.rightsOf, needed, signal)),
      ...(await checkNames(client, checked, program)),
      ...(await checkNotRead({ client, settings: checked.settings, kinds: config.kinds, signal })),
      ...(await checkAdmission(client, version, signal, {
        onlyNames: config.onlyNames,
        account: usual,
      })),
      ...(await checkOthers(client, signal)),
      ...(await checkSize(client, config, signal)),
    ];
    printListing<CheckFinding>(
      {
        kind: "CheckList",
        items: findings,
        columns: COLUMNS.filter(({ header }) => header !== "YOURS" || judged.yours !== undefined),
        nameOf: ({ check }) => check,
      },
      flags,
      program,
    );
    for (const line of [
      serverLine(connection),
      settingsLine(checked),
      `rights: ${whose(account, flags)}`,
      summary(findings),
    ])
      say(program.stderr, line);
    const code = checkCode(findings);
    return code === 2 ? otherwiseCode(flags) : code;
  } finally {
    await Promise.all([client.close(), impersonating?.close()]);
  }
}

function judgedBy(
  client: ApiClient,
  impersonating: ApiClient | undefined,
  account: string | undefined,
  { as, asGroups: groups }: KubectlFlags,
): Omit<CheckedAccount, "guessed"> {
  const yours = rightsOfUser(client);
  if (account === undefined || impersonating === undefined)
    return {
      rightsOf: yours,
      yours: undefined,
      unasked: "let this user create selfsubjectaccessreviews, as system:basic-user does",
    };
  return {
    rightsOf: rightsOfAccount(client, impersonating, { user: account, groups }),
    yours: as === undefined ? yours : undefined,
    unasked: `ask as a user who may impersonate ${account}, or create subjectaccessreviews`,
  };
}

function whose(account: string | undefined, { as }: KubectlFlags): string {
  if (account === undefined) return "yours; those of the controller's account by --as";
  return as === undefined
    ? `those of ${account}; in the column YOURS whether you have them too`
    : `those of ${account}`;
}

function summary(findings: readonly CheckFinding[]): string {
  const count = (state: FindingState): number =>
    findings.filter((finding) => finding.state === state).length;
  const bad = (["missing", "unknown", "warning"] as const).flatMap((state) =>
    count(state) > 0 ? [`${count(state)} ${state}`] : [],
  );
  return bad.length === 0 ? `${findings.length} ok` : `${bad.join(", ")}, ${count("ok")} ok`;
}

const COLOURS: Readonly<Record<FindingState, Colour>> = {
  ok: "green",
  warning: "yellow",
  missing: "red",
  unknown: "yellow",
};

const COLUMNS: readonly Column<CheckFinding>[] = [
  { header: "STATE", cell: ({ state }) => state, colour: ({ state }) => COLOURS[state] },
  { header: "CHECK", cell: ({ check }) => check },
  { header: "YOURS", cell: ({ yours }) => yours ?? "-" },
  { header: "ANSWER", cell: ({ says }) => says },
  { header: "DO", cell: ({ advice }) => advice ?? "" },
];
