// Implements `plan --base OLD -f NEW`: which namespaces a change of files gives a credential, and from which it takes
// it. The exit code is 2 for a new reader outside --allow-readers, for a source that the change makes invalid, and
// for a source in the files that has no effect.
import { UsageError } from "../../controller/settings/config.ts";
import { NAMESPACE_GLOBS, parseGlobList, type GlobList } from "../../text/globs.ts";
import { listed } from "../../text/listed.ts";
import { dryPlanOf } from "../../inspect/cluster/dry-plan.ts";
import type { PlanningSettings } from "../../inspect/cluster/planning-settings.ts";
import { readFiles } from "../../inspect/cluster/read-files.ts";
import { effectlessOf, withoutEffect } from "../../inspect/cluster/without-effect.ts";
import { readFileObjects } from "../../inspect/files/file-objects.ts";
import { otherwiseCode, type KubectlFlags } from "../../inspect/kubectl/kubectl-flags.ts";
import { kubectlName, objectColumns, printListing } from "../../inspect/kubectl/listing.ts";
import type { Program } from "../../run/program-context.ts";
import { isChange, planItems, type PlanItem } from "./plan-items.ts";
import { readerChanges, type ReaderChange } from "./reader-changes.ts";
import { readersMarkdown } from "./readers-markdown.ts";
import { say } from "../../inspect/kubectl/say.ts";

export type ReadersAsked = {
  /** The files as they were, and as they are after the change. */
  readonly base: readonly string[];
  readonly files: readonly string[];
  readonly recursive: boolean;
  /** Globs of --allow-readers. */
  readonly allowed: string | undefined;
  readonly markdown: boolean;
};

export async function printReaders(
  { base, files, recursive, allowed, markdown }: ReadersAsked,
  planning: PlanningSettings,
  flags: KubectlFlags,
  program: Program,
): Promise<number> {
  const globs = allowed === undefined ? undefined : allowedReaders(allowed);
  const [before, after] = [
    await itemsOf(base, recursive, planning, flags, program),
    await itemsOf(files, recursive, planning, flags, program),
  ];
  const changes = readerChanges(before.items, after.items, globs);
  if (markdown) program.stdout.write(readersMarkdown(changes));
  else printTable(changes, flags, program);
  for (const line of [...before.unread, ...after.unread]) say(program.stderr, `not read: ${line}`);
  for (const line of after.ineffective) say(program.stderr, line);
  const outside = changes.filter((change) => change.outside.length > 0);
  for (const { namespace, name, outside: readers } of outside)
    say(
      program.stderr,
      `${namespace}/${name}: new readers outside --allow-readers: ${listed(readers, NAMES)}`,
    );
  if (before.unread.length + after.unread.length > 0) return 1;
  const wrong =
    outside.length > 0 || changes.some(({ refused }) => refused) || after.ineffective.length > 0;
  return wrong ? otherwiseCode(flags) : 0;
}

const NAMES = 10;

function allowedReaders(text: string): GlobList {
  const parsed = parseGlobList(text, NAMESPACE_GLOBS);
  if (parsed.ok) return parsed.value;
  const { part, expected } = parsed.fault;
  throw new UsageError(`--allow-readers: "${part}" is wrong: expected ${expected}`);
}

type Read = {
  readonly items: readonly PlanItem[];
  readonly unread: readonly string[];
  readonly ineffective: readonly string[];
};

async function itemsOf(
  files: readonly string[],
  recursive: boolean,
  planning: PlanningSettings,
  flags: KubectlFlags,
  { stdin }: Program,
): Promise<Read> {
  const reading = await readFileObjects(files, { recursive, stdin });
  const { namespace } = flags;
  const read = readFiles(reading.objects, { ...planning, flags, namespace });
  const dryPlan = await dryPlanOf({ ...read, settings: planning.settings });
  const items = planItems(dryPlan, read, undefined);
  const listedCount = items.filter(isChange).length;
  if (dryPlan.plan.states.pending > listedCount)
    throw new UsageError(
      `--base compares at most ${listedCount} places, and these files have ${dryPlan.plan.states.pending}: name fewer files, or select sources with -l`,
    );
  return {
    items,
    unread: [...reading.unread, ...read.unread],
    ineffective: withoutEffect(effectlessOf(dryPlan.plan, undefined)),
  };
}

function printTable(items: readonly ReaderChange[], flags: KubectlFlags, program: Program): void {
  printListing<ReaderChange>(
    {
      kind: "ReaderChangeList",
      items,
      columns: [
        ...objectColumns(items),
        { header: "GAINS", cell: ({ gained }) => listed(gained, NAMES), colour: () => "red" },
        { header: "LOSES", cell: ({ lost }) => listed(lost, NAMES) },
        {
          header: "NOTE",
          cell: ({ refused, outside }) =>
            refused ? "refused" : outside.length > 0 ? `${outside.length} not allowed` : "",
        },
      ],
      nameOf: kubectlName,
    },
    flags,
    program,
  );
  if (items.length === 0) say(program.stderr, "no namespace gains or loses a copy");
}
