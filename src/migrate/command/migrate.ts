// Implements `secretcast migrate`. It reads what another tool left in a cluster or in files, shows the move
// and, with --write, makes it. What does not move is reported, also by the exit code.
import { listed } from "../../text/listed.ts";
import { randomBytes } from "node:crypto";
import {
  differingWorkloads,
  oldWorkloads,
  workloadsIn,
  type OldWorkload,
} from "./old-workloads.ts";
import { readOldObjects } from "./read-old-cluster.ts";
import { refusedEdits, writeManifests } from "./manifests/write-manifests.ts";
import { namedPlace } from "./apply-migration.ts";
import { performMove } from "./perform-move.ts";
import { planMove } from "./plan-move.ts";
import { readOptions, type MigrateOptions } from "./migrate-options.ts";
import { showMove, type MigrationView } from "./show-move.ts";
import {
  keptFaults,
  refuseBroadcast,
  refuseUnreadKind,
  refuseUnreadNames,
} from "./controller-refusals.ts";
import { templateRules } from "./manifests/template-problems.ts";
import { usableObjects } from "./manifests/usable-objects.ts";
import { UsageError } from "../../controller/settings/config.ts";
import type { Ref } from "../../text/names.ts";
import type { Migration, MoveSettings } from "../moves/migration.ts";
import { movesKind, type OldTool } from "../oldtools/old-tool.ts";
import { mirrorsAlone, typedMirrors } from "../moves/mirror-advice.ts";
import { fields, type OldAccess } from "../oldtools/old-objects.ts";
import {
  givenSettings,
  hiddenSettings,
  oldFlags,
  wideningSettings,
  WITHOUT_SETTINGS,
  wordsAlone,
  type OldFlags,
} from "../oldtools/old-settings.ts";
import { createDigest } from "../../controller/model/secret-data.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import {
  readKubectlFlags,
  texts,
  type Args,
  type KubectlFlags,
} from "../../inspect/kubectl/kubectl-flags.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { isAllowedTo } from "../../inspect/requests/access-review.ts";
import { Progress } from "../../inspect/kubectl/progress.ts";
import type { Program } from "../../run/program-context.ts";
import { readFileObjects } from "../../inspect/files/file-objects.ts";
import type { Installed } from "../../inspect/cluster/installed-controller.ts";
import {
  contradiction,
  withClusterContext,
  type ClusterContext,
} from "../../inspect/cluster/cluster-context.ts";
import {
  planningFlags,
  readPlanningSettings,
  settingsLine,
  type PlanningSettings,
} from "../../inspect/cluster/planning-settings.ts";
import { say } from "../../inspect/kubectl/say.ts";

export async function migrate(args: Args, program: Program): Promise<number> {
  const flags = readKubectlFlags(args, program.env);
  const options = readOptions(args);
  if (flags.selector) throw new UsageError("--selector: a move is of everything that a tool left");
  const files = texts(args, "filename");
  if (files.length > 0) return migrateFiles(args, options, flags, files, program);
  if (flags.namespace !== undefined) {
    throw new UsageError(
      "--namespace: a move is of a whole cluster; with -f it is where objects are that name none",
    );
  }
  return withClusterContext(flags, planningFlags(args), program, async (context) => {
    const { planning, where } = context;
    if (options.write && !options.cleanup) refuseBroadcast(options, context);
    const first = await readMigration(options, context, program);
    say(program.stderr, where);
    say(program.stderr, settingsLine(planning));
    if (options.write) {
      refuseUnreadKind(first.migration, context);
      refuseUnreadNames(first.migration, context);
    }
    const silent = { ...program, stderr: { write: () => true } };
    const readAgain = (): Promise<MigrationView> => readMigration(options, context, silent);
    if (options.write || options.cleanup)
      return performMove({
        first,
        readAgain,
        options,
        flags,
        program,
        notKept: keptFaults(context),
      });
    return showMove(first, options, flags, program);
  });
}

async function readMigration(
  options: MigrateOptions,
  { connection: { client }, planning, installed, readNotRead }: ClusterContext,
  program: Program,
): Promise<MigrationView> {
  const { tool } = options;
  const progress = new Progress("objects read", program, systemClock);
  const reading = {
    client,
    signal: program.signal,
    onRead: (count: number) => progress.advance(count),
  };
  try {
    const { objects, unread } = await readOldObjects(tool, reading);
    const asked = options.oldArgs === undefined && tool.settings.length > 0;
    const workloads = asked ? await oldWorkloads(tool, reading) : [];
    const old = oldSettings(options, workloads, program);
    const settings = settingsOf(options, planning, installed.kind);
    const mayRead = readingRight(client, program.signal);
    const migration = await planMove(tool, objects, old.flags, settings, mayRead);
    const { lines, isMissing, unknown } = await readNotRead();
    // What a user of one namespace can make alone changes no exit code.
    if (!isMissing) for (const line of lines) say(program.stderr, line);
    const missing = [...unread, ...old.unread, ...unknown, ...(isMissing ? lines : [])];
    return { migration, unread: missing, settings, client };
  } finally {
    progress.end();
  }
}

/** Whether an account of the old tool may read a Secret. Without the right to ask, it is taken to be refused. */
function readingRight(
  client: ApiClient,
  signal: AbortSignal,
): (access: OldAccess) => Promise<boolean> {
  return async ({ user, secret: { namespace, name } }) => {
    const attributes = { verb: "get", resource: "secrets", namespace, name };
    const what = `ask what ${user} may read`;
    try {
      return await isAllowedTo(client, { user, groups: [] }, attributes, what, signal);
    } catch (error) {
      if (error instanceof ApiError && ["forbidden", "notFound"].includes(error.kind)) return false;
      throw error;
    }
  };
}

type OldSettings = { readonly flags: OldFlags; readonly unread: readonly string[] };

function oldSettings(
  { tool, oldArgs, write, yes }: MigrateOptions,
  workloads: readonly OldWorkload[],
  program: Program,
): OldSettings {
  const { settings } = tool;
  if (oldArgs !== undefined) {
    return { flags: oldFlags(settings, wordsAlone(wordsOf(oldArgs))), unread: [] };
  }
  if (settings.length === 0) return { flags: WITHOUT_SETTINGS, unread: [] };
  const [first] = workloads;
  if (first) {
    const { title, container } = first;
    const flags = oldFlags(settings, container);
    const given = givenSettings(settings, flags);
    const shown = given.length === 0 ? "no settings" : given.join(" ");
    say(program.stderr, `settings of ${tool.name}: ${shown}, from ${title}`);
    const unread = hiddenSettings(settings, container).map(
      (name) => `${title}: ${name} may be set from a ConfigMap or Secret; give it as --old-args`,
    );
    const differing = differingWorkloads(workloads);
    if (differing.length > 0) {
      const fault = `${differing.join(" and ")} run with different settings; give --old-args`;
      // Users of a namespace can create a workload with the image of the tool.
      if (write) throw new UsageError(fault);
      unread.push(fault);
    }
    const widening = wideningSettings(settings, flags);
    if (write && yes && widening.length > 0)
      throw new UsageError(
        `${title} sets ${widening.join(", ")}, which allows more copies: if it is the workload of ${tool.name}, confirm that with --old-args`,
      );
    return { flags, unread };
  }
  const names = settings.map(({ name }) => name).join(", ");
  say(
    program.stderr,
    `no workload of ${tool.name} was found: it is taken to run without ${names} (--old-args)`,
  );
  return { flags: WITHOUT_SETTINGS, unread: [] };
}

// Quoted arguments may contain spaces, which one of the tools uses.
function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"),
  );
}

function settingsOf(
  { newSourcesIn, byList, gain, write, cleanup }: MigrateOptions,
  planning: PlanningSettings,
  installed: Installed["kind"],
): MoveSettings {
  const { settings, config } = planning;
  return {
    planner: settings,
    present: presentOf(planning, installed),
    newSourcesIn: newSourcesIn ?? config.ownNamespace,
    mayGain: (source) => gain.has(namedPlace(source)),
    writing: write && !cleanup,
    list: listOf(config, byList),
    byList,
    digest: createDigest(randomBytes(32)),
  };
}

/** The namespaces that publish now. The printed flags must keep them. */
function presentOf(
  { own, config, theirs }: PlanningSettings,
  installed: Installed["kind"],
): readonly string[] | undefined {
  const namespaces = own.includes("source-namespaces") ? config.sourceNamespaces : [];
  if (theirs) return [...new Set([...theirs.sourceNamespaces, ...namespaces])];
  const isHidden = installed === "several" || installed === "unknown";
  return isHidden && namespaces.length === 0 ? undefined : namespaces;
}

function listOf(
  { sourceList, ownNamespace }: PlanningSettings["config"],
  byList: boolean,
): Ref | undefined {
  if (sourceList !== undefined) return { namespace: ownNamespace, name: sourceList };
  if (!byList) return undefined;
  throw new UsageError("--by-list: the source list is turned off (--source-list)");
}

async function migrateFiles(
  args: Args,
  options: MigrateOptions,
  flags: KubectlFlags,
  files: readonly string[],
  program: Program,
): Promise<number> {
  if (options.cleanup) throw contradiction("-f", "--cleanup", "it is for a cluster");
  if (options.write && files.includes("-")) {
    throw contradiction("-f -", "--write", "there is no file to write to");
  }
  const planning = readPlanningSettings(planningFlags(args), program, { kind: "unasked" });
  const recursive = args["recursive"] === true;
  const reading = await readFileObjects(files, { recursive, stdin: program.stdin });
  const { namespace } = flags;
  const {
    objects: found,
    problems: faults,
    layered,
  } = usableObjects(reading.objects, options.tool, namespace);
  const passedOver = [...reading.passedOver].map(([what, count]) => `${count} ${what}`);
  if (passedOver.length > 0) say(program.stderr, `passed over: ${passedOver.join(", ")}`);
  say(program.stderr, settingsLine(planning));
  const objects = found.map(({ raw }) => raw);
  const old = oldSettings(options, workloadsIn(objects, options.tool.images), program);
  const implied = impliedNamespaces(objects, options.tool);
  if (implied.length > 0) {
    say(
      program.stderr,
      `not in the files, taken for namespaces without labels: ${listed(implied, 10)}`,
    );
  }
  const settings = settingsOf(options, planning, "unasked");
  const planned = await planMove(
    options.tool,
    [...objects, ...implied.map((name) => ({ kind: "Namespace", metadata: { name } }))],
    old.flags,
    settings,
  );
  const templates = await templateRules(found, reading.others, {
    tool: options.tool,
    flags: old.flags,
    settings,
    namespaces: objects.filter(({ kind }) => kind === "Namespace"),
  });
  const problems = [
    ...planned.problems,
    ...old.unread,
    ...reading.unread,
    ...faults,
    ...(asksNamespaces(planned) ? layered : []),
    ...templates.problems,
    ...mirrorsAlone(planned.copies),
  ];
  const hints = [...planned.hints, ...typedMirrors(planned.copies)];
  const migration = { ...planned, problems, hints };
  const isIncomplete = migration.sources.some(({ incomplete }) => incomplete.length > 0);
  if (isIncomplete && !objects.some(({ kind }) => kind === "Namespace")) {
    say(
      program.stderr,
      "the files contain no Namespace, so no pattern was compared with one: run the command without -f as well",
    );
  }
  if (options.write) return writeManifests(found, migration, options, flags, program);
  const unread = refusedEdits(found, migration, flags);
  const { patches } = templates;
  return showMove({ migration, unread, inFiles: true, patches }, options, flags, program);
}

/** Whether labels or annotations of Namespaces decide where a source is copied. */
function asksNamespaces({ tool, sources }: Migration): boolean {
  return (
    tool.optIn === true ||
    sources.some(({ annotations }) =>
      Object.keys(annotations).some((key) => key.endsWith("-selector")),
    )
  );
}

type Raw = Readonly<Record<string, unknown>>;

function impliedNamespaces(objects: readonly Raw[], tool: OldTool): readonly string[] {
  const named = new Set<string>();
  const described = new Set<string>();
  for (const raw of objects) {
    const { name, namespace } = fields(raw["metadata"]);
    if (raw["kind"] === "Namespace") described.add(String(name));
    else if (movesKind(tool, raw["kind"])) named.add(String(namespace));
  }
  return [...named].filter((name) => !described.has(name)).toSorted();
}
