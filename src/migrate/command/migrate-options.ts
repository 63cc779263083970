// The options of a move, read from its flags. An invalid value is a UsageError that names the flag.
import { UsageError } from "../../controller/settings/config.ts";
import { isNamespaceName, parseRef } from "../../text/names.ts";
import { OLD_TOOLS, RETIRED_TOOLS, type OldTool } from "../oldtools/old-tool.ts";
import { OLD_TOOL } from "../oldtools/old-tools.ts";
import type { Program } from "../../run/program-context.ts";
import { lastText, texts, type Args } from "../../inspect/kubectl/kubectl-flags.ts";
import { contradiction } from "../../inspect/cluster/cluster-context.ts";

export type MigrateOptions = {
  readonly tool: OldTool;
  readonly write: boolean;
  readonly yes: boolean;
  readonly cleanup: boolean;
  readonly printPatches: boolean;
  readonly althoughRunning: boolean;
  readonly adoptDrifted: ReadonlySet<string>;
  /** Sources that may serve namespaces without a copy of now, as --adopt-drifted names copies. */
  readonly gain: ReadonlySet<string>;
  /** Sources that another tool creates are entered into the source list. */
  readonly byList: boolean;
  readonly oldArgs: string | undefined;
  readonly newSourcesIn: string | undefined;
};

/** Before the place of a ConfigMap. */
const CONFIG_MAP = /^configmap\/(?=.*\/)/i;

export function readOptions(args: Args): MigrateOptions {
  const from = lastText(args, "from");
  const name = [...OLD_TOOLS, ...RETIRED_TOOLS].find((one) => one === from);
  if (!name)
    throw new UsageError(
      `--from: ${from === undefined ? "is missing" : `"${from}" is unknown`}: expected one of ${OLD_TOOLS.join(", ")}`,
    );
  const is = (flag: string): boolean => args[flag] === true;
  const newSourcesIn = lastText(args, "new-sources-in");
  if (newSourcesIn !== undefined && !isNamespaceName(newSourcesIn)) {
    throw new UsageError(`--new-sources-in: "${newSourcesIn}" is not the name of a namespace`);
  }
  if (is("cleanup") && is("print-patches")) {
    throw contradiction("--cleanup", "--print-patches", "patches are for the first step");
  }
  return {
    tool: OLD_TOOL[name],
    write: is("write"),
    yes: is("yes"),
    cleanup: is("cleanup"),
    printPatches: is("print-patches"),
    althoughRunning: is("although-running"),
    adoptDrifted: placesIn(args, "adopt-drifted", "a copy"),
    gain: placesIn(args, "gain", "a source"),
    byList: is("by-list"),
    oldArgs: lastText(args, "old-args"),
    newSourcesIn,
  };
}

/** NAMESPACE/NAME, or configmap/NAMESPACE/NAME. */
function placesIn(args: Args, flag: string, what: string): ReadonlySet<string> {
  const places = texts(args, flag)
    .flatMap((text) => text.split(","))
    .map((text) => text.replace(CONFIG_MAP, "configmap/"));
  const odd = places.find((place) => !parseRef(place.replace(CONFIG_MAP, "")));
  if (odd === undefined) return new Set(places);
  throw new UsageError(
    `--${flag}: "${odd}" is not NAMESPACE/NAME of ${what} (of a ConfigMap: configmap/NAMESPACE/NAME)`,
  );
}

/** Requires consent before anything is written: from the user at the terminal, or with --yes. */
export async function confirm(
  what: string,
  { yes }: MigrateOptions,
  program: Program,
): Promise<void> {
  if (yes) return;
  const { stdin, stdout, stderr } = program;
  if (!stdin || stdout.isTTY !== true) {
    throw new UsageError(`nobody can be asked here whether to ${what}: --yes says so`);
  }
  stderr.write(`${what}? [y/N] `);
  for await (const chunk of stdin) {
    if (/^y(es)?$/i.test(Buffer.from(chunk).toString().trim())) return;
    break;
  }
  throw new UsageError("nothing was written");
}
