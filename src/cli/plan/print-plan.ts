// Implements `secretcast plan`. It shows what a run would write in a cluster, or in the cluster that files
// describe. It uses the controller's planner and writes nothing. The list is written to stdout. The
// settings used and what is unknown are written to stderr.
import { listed } from "../../text/listed.ts";
import {
  lastText,
  otherwiseCode,
  readKubectlFlags,
  texts,
  type Args,
  type KubectlFlags,
} from "../../inspect/kubectl/kubectl-flags.ts";
import { kubectlName, printListing } from "../../inspect/kubectl/listing.ts";
import type { Program } from "../../run/program-context.ts";
import { UsageError } from "../../controller/settings/config.ts";
import { OBJECT_KINDS } from "../../controller/model/kinds.ts";
import { PREFIX } from "../../controller/annotations/vocabulary.ts";
import { secretTemplates } from "../../inspect/files/secret-templates.ts";
import { readFileObjects, type FileReading } from "../../inspect/files/file-objects.ts";
import {
  contradiction,
  readForPlanning,
  printUnknown,
  withClusterContext,
} from "../../inspect/cluster/cluster-context.ts";
import {
  planningFlags,
  readPlanningSettings,
  settingsLine,
  type PlanningSettings,
} from "../../inspect/cluster/planning-settings.ts";
import type { NamesNotRead } from "../../inspect/cluster/names-not-read.ts";
import { dryPlanOf } from "../../inspect/cluster/dry-plan.ts";
import type { ReadCluster } from "../../inspect/cluster/read-cluster.ts";
import { readFiles, type FileCluster } from "../../inspect/cluster/read-files.ts";
import {
  effectlessOf,
  withoutEffect,
  type Effectless,
} from "../../inspect/cluster/without-effect.ts";
import { readExpectation, unexpected, type ExpectedItem, type Unexpected } from "./expectation.ts";
import {
  planColumns,
  summaryLine,
  unlistedLine,
  changeColour,
  waitingLine,
} from "./plan-columns.ts";
import { ignoredInFiles } from "./ignored-in-files.ts";
import { isChange, planItems, type PlanItem } from "./plan-items.ts";
import { printReaders } from "./print-readers.ts";
import { say } from "../../inspect/kubectl/say.ts";

export async function printPlan(args: Args, program: Program): Promise<number> {
  const flags = readKubectlFlags(args, program.env, [MARKDOWN]);
  const files = texts(args, "filename");
  refuseWithoutBase(args, files);
  const expected = await expectationOf(args, program);
  if (files.length === 0) {
    if (args["recursive"] === true) throw contradiction("-R", "a cluster", "it is for -f FOLDER");
    return withClusterContext(flags, planningFlags(args), program, async (context) => {
      const read = await readForPlanning(context, { withShapes: true });
      const notRead = await context.readNotRead();
      const { planning, where } = context;
      return printPlanOf({ ...read, planning, where, notRead }, flags, expected, program);
    });
  }
  return planFiles(args, flags, files, expected, program);
}

const MARKDOWN = "markdown";

function refuseWithoutBase(args: Args, files: readonly string[]): void {
  const hasBase = texts(args, "base").length > 0;
  if (hasBase && files.length === 0)
    throw new UsageError("--base needs -f: the files after the change");
  if (hasBase && lastText(args, "expect") !== undefined)
    throw contradiction("--base", "--expect", "one compares readers, the other verdicts");
  const odd = [
    ...(lastText(args, "allow-readers") === undefined ? [] : ["--allow-readers"]),
    ...(lastText(args, "output") === MARKDOWN ? ["-o markdown"] : []),
  ];
  if (!hasBase && odd.length > 0)
    throw new UsageError(`${odd.join(" and ")}: only with --base, the files before the change`);
}

const OF_A_CLUSTER = ["kubeconfig", "context", "as", "as-group"];

async function planFiles(
  args: Args,
  flags: KubectlFlags,
  files: readonly string[],
  expected: readonly ExpectedItem[] | undefined,
  program: Program,
): Promise<number> {
  const odd = OF_A_CLUSTER.find((name) => texts(args, name).length > 0);
  if (odd !== undefined)
    throw contradiction("-f", `--${odd}`, "files are planned without a cluster");
  const planning = readPlanningSettings(planningFlags(args), program, { kind: "unasked" });
  const recursive = args["recursive"] === true;
  const base = texts(args, "base");
  if (base.length > 0)
    return printReaders(
      {
        base,
        files,
        recursive,
        allowed: lastText(args, "allow-readers"),
        markdown: lastText(args, "output") === MARKDOWN,
      },
      planning,
      flags,
      program,
    );
  const reading = await readFileObjects(files, { recursive, stdin: program.stdin });
  const { namespace } = flags;
  const read = readFiles(reading.objects, { ...planning, flags, namespace });
  printFiles(read, reading.passedOver, program);
  // For files, -n is the namespace of objects that name none, as for kubectl apply.
  const found = { ...read, planning, where: undefined };
  const code = await printPlanOf(found, { ...flags, namespace: undefined }, expected, program);
  const unread = [...reading.unread, ...read.unread];
  for (const line of unread) say(program.stderr, `not read: ${line}`);
  for (const line of unplannedSources(reading.objects)) say(program.stderr, `not planned: ${line}`);
  return unread.length > 0 ? 1 : code;
}

/** Secrets that something else creates are not in the files, and so are their data. */
function* unplannedSources(objects: FileReading["objects"]): Generator<string> {
  for (const { raw, where } of objects) {
    if (TAKING_PART.has(String(raw["kind"]))) continue;
    for (const { title, path } of secretTemplates(raw, [PREFIX]))
      yield `${where}: ${title}: the Secret that it creates gets annotations of secretcast from ${path}, and is not in the files; plan against a cluster shows its copies`;
  }
}

const TAKING_PART: ReadonlySet<string> = new Set<string>([...OBJECT_KINDS, "Namespace"]);

async function expectationOf(
  args: Args,
  program: Program,
): Promise<readonly ExpectedItem[] | undefined> {
  const file = lastText(args, "expect");
  if (file === undefined) return undefined;
  const { objects } = await readFileObjects([file], { stdin: program.stdin });
  return readExpectation(file, objects);
}

function printFiles(
  { builder, skipped, implied }: FileCluster,
  passedOver: FileReading["passedOver"],
  { stderr }: Program,
): void {
  const kinds = [...skipped, ...passedOver].map(([kind, count]) => `${count} ${kind}`).join(", ");
  const passed = kinds === "" ? "" : `; passed over: ${kinds}`;
  const counts = builder.kinds.map((kind) => `${builder.count(kind)} ${kind}s`).join(" and ");
  say(stderr, `read ${builder.namespaces.size - implied.length} Namespaces and ${counts}${passed}`);
  if (implied.length > 0)
    say(stderr, `not in the files, taken for namespaces without labels: ${listed(implied, 10)}`);
}

type Planned = ReadCluster & {
  readonly notRead: NamesNotRead;
  readonly planning: PlanningSettings;
  /** A line that names the cluster. Undefined for files. */
  readonly where: string | undefined;
};

async function printPlanOf(
  read: Planned,
  flags: KubectlFlags,
  expected: readonly ExpectedItem[] | undefined,
  program: Program,
): Promise<number> {
  const { planning, where, notRead } = read;
  const dryPlan = await dryPlanOf({ ...read, settings: planning.settings });
  const { namespace, selector } = flags;
  const nowMs = Date.now();
  const items = planItems(dryPlan, read, namespace, nowMs);
  const whole = namespace === undefined && selector === undefined;
  const beside = { settings: { from: planning.from, flags: planning.flags } };
  const different =
    expected === undefined
      ? items.some(isChange)
      : printDifferences(
          unexpected(items, expected, read.clusterStates, planning.settings, dryPlan.looks),
          flags,
          program,
        );
  if (expected === undefined)
    printListing<PlanItem>(
      { kind: "PlanList", items, beside, columns: planColumns(items), nameOf: kubectlName },
      flags,
      program,
    );
  const effectless = effectlessOf(dryPlan.plan, namespace);
  const ignored =
    where === undefined ? await ignoredInFiles(dryPlan.plan.ignored, read.readLive) : [];
  const summary = summaryLine(items, dryPlan.plan, whole);
  const lines = [
    read.unknown.length > 0 ? `${summary}, of what is known` : summary,
    whole ? unlistedLine(items, dryPlan.plan) : undefined,
    waitingLine(items, nowMs),
    ...notRead.lines,
    ...ignored,
    ...notRead.unknown,
    ...withoutEffect(
      where === undefined ? { ...effectless, ignored: NOTHING_IGNORED } : effectless,
    ),
    where,
    settingsLine(planning),
  ];
  for (const line of lines) if (line !== undefined) say(program.stderr, line);
  // Unknown objects may be changes, so neither 0 nor 2 would be correct.
  if (!printUnknown(read, program) || notRead.unknown.length > 0) return 1;
  // An expectation says itself what is missing.
  const isLeftOut = expected === undefined && (notRead.isMissing || ignored.length > 0);
  return different || isLeftOut ? otherwiseCode(flags) : 0;
}

/** Files: each object that is ignored has a line of its own. */
const NOTHING_IGNORED: Effectless["ignored"] = { reasons: [], objects: { shown: [] } };

function printDifferences(
  items: readonly Unexpected[],
  flags: KubectlFlags,
  program: Program,
): boolean {
  printListing<Unexpected>(
    {
      kind: "PlanDifferenceList",
      items,
      columns: [
        { header: "EXPECTED", cell: ({ expected }) => expected ?? "nothing" },
        {
          header: "VERDICT",
          cell: ({ verdict }) => verdict,
          colour: ({ verdict }) => changeColour(verdict),
        },
        { header: "NAMESPACE", cell: ({ namespace }) => namespace },
        { header: "NAME", cell: ({ name }) => name },
        { header: "SOURCE", cell: ({ source }) => source },
        { header: "REASON", cell: ({ reason }) => reason },
      ],
      nameOf: kubectlName,
    },
    flags,
    program,
  );
  program.stderr.write(
    items.length === 0
      ? "as expected\n"
      : `${items.length} verdict${items.length === 1 ? "" : "s"} other than expected\n`,
  );
  return items.length > 0;
}
