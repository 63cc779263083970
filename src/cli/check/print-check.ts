// `secretcast check`: asks the cluster what a controller with these settings needs of it, and prints a
// line for each answer with what to do about it. It writes nothing.
import { connect, serverLine } from "../kubectl/connection.ts";
import { readKubectlFlags, type Given } from "../kubectl/kubectl-flags.ts";
import { printListing } from "../kubectl/listing.ts";
import type { Colour, Column } from "../kubectl/table.ts";
import type { Program } from "../run/program-context.ts";
import { givenFlags } from "../kubectl/run-flags.ts";
import { findController } from "../world/installed-controller.ts";
import { checkAdmission } from "./check-admission.ts";
import { checkOthers } from "./check-others.ts";
import { checkRights } from "./check-rights.ts";
import { checkGroups, checkStreaming, serverVersion, versionFinding } from "./check-server.ts";
import { checkSize } from "./check-size.ts";
import { homeOf, settingsLine } from "../world/planning-settings.ts";
import { CHECKED_FLAGS, checkedSettings } from "./checked-settings.ts";
import { isSound, type CheckFinding, type FindingState } from "./finding.ts";
import { neededRights } from "./needed-rights.ts";

export async function printCheck(given: Given, program: Program): Promise<number> {
  const flags = readKubectlFlags(given, program.env);
  const own = givenFlags(given, CHECKED_FLAGS);
  const home = flags.namespace ?? homeOf(own, program);
  // Wrong values are told before anything is asked.
  checkedSettings(own, program, { kind: "unasked" }, home);
  const { signal, version } = program;
  const connection = connect(flags, program);
  const { client } = connection;
  try {
    const server = await serverVersion(client, signal);
    const installed = await findController(client, home, signal);
    const checked = checkedSettings(own, program, installed, home);
    const { config } = checked;
    const findings: readonly CheckFinding[] = [
      versionFinding(server),
      await checkStreaming(client, signal),
      ...(await checkGroups(client, signal)),
      ...(await checkRights(client, neededRights(config), signal)),
      ...(await checkAdmission(client, version, signal)),
      ...(await checkOthers(client, signal)),
      ...(await checkSize(client, config, signal)),
    ];
    printListing<CheckFinding>(
      { kind: "CheckList", items: findings, columns: COLUMNS, nameOf: ({ check }) => check },
      flags,
      program,
    );
    for (const line of [
      serverLine(connection),
      settingsLine(checked),
      `rights: ${flags.as === undefined ? "yours; the controller's by --as" : `those of ${flags.as}`}`,
      summary(findings),
    ])
      program.stderr.write(`${line}\n`);
    if (flags.as !== undefined && findings.some(({ state }) => state === "unknown"))
      program.stderr.write(
        `what is unknown is what ${flags.as} may not see: ask again without --as\n`,
      );
    return isSound(findings) ? 0 : 1;
  } finally {
    await client.close();
  }
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
  { header: "ANSWER", cell: ({ says }) => says },
  { header: "DO", cell: ({ advice }) => advice ?? "" },
];
