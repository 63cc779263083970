// Implements `secretcast status`. It reads the page of the running controller. Where this is impossible, it
// makes its own plan and says so. It runs once, repeatedly (-w), or until everything is current (--wait).
import { isoTime } from "../../controller/settings/due-text.ts";
import { formatDuration } from "../../controller/settings/units.ts";
import { sleep, systemClock } from "../../../packages/kube/time/clock.ts";
import { readStatus, type Status } from "../../page/status.ts";
import {
  otherwiseCode,
  readKubectlFlags,
  type Args,
  type KubectlFlags,
} from "../../inspect/kubectl/kubectl-flags.ts";
import { kubectlName, printListing } from "../../inspect/kubectl/listing.ts";
import { linesOfFirstScreen } from "../../inspect/kubectl/first-screen.ts";
import { painter, tableLines } from "../../inspect/kubectl/table.ts";
import { readUntil, readWait } from "../../inspect/kubectl/waiting.ts";
import { effectlessOf, withoutEffect } from "../../inspect/cluster/without-effect.ts";
import { leaderLines, writesNothing, type LiveLeader } from "../../inspect/cluster/live-leader.ts";
import type { Program } from "../../run/program-context.ts";
import {
  contradiction,
  readForPlanning,
  printUnknown,
  withClusterContext,
  type ClusterContext,
} from "../../inspect/cluster/cluster-context.ts";
import { dryPlanOf } from "../../inspect/cluster/dry-plan.ts";
import { planningFlags, settingsLine } from "../../inspect/cluster/planning-settings.ts";
import { readControllerPage } from "./controller-page.ts";
import { statusColumns, troubleColumns, troublesOf } from "./status-columns.ts";
import {
  isCurrent,
  isFailing,
  statusItems,
  withoutUnread,
  type StatusItem,
} from "./status-items.ts";
import { say } from "../../inspect/kubectl/say.ts";

type StatusView = {
  readonly items: readonly StatusItem[];
  /** About everything that was requested, including what --failing hides. */
  readonly allCurrent: boolean;
  /** Something could not be read. */
  readonly unknown: boolean;
  readonly leader: LiveLeader;
  /** The origin of the status and the settings used. */
  readonly lines: readonly string[];
  /** Time until the next read is useful. */
  readonly againMs: number;
};

type Mode = {
  readonly failing: boolean;
  readonly watch: boolean;
  readonly waitMs: number | undefined;
};

// A page costs its controller almost nothing. A plan made here lists the whole cluster.
const PAGE_AGAIN_MS = 1000;
const PLAN_AGAIN_MS = 5000;

export async function printStatus(args: Args, program: Program): Promise<number> {
  const flags = readKubectlFlags(args, program.env);
  const mode = modeOf(args);
  return withClusterContext(flags, planningFlags(args), program, async (context) => {
    const readView = (): Promise<StatusView> => readOnce(context, mode);
    const first = await readUntil(
      readView,
      ({ allCurrent }) => allCurrent,
      mode.waitMs,
      program,
      (last) => printView(last, flags, program),
    );
    if (!mode.watch) return codeOf(first, flags);
    return follow(first, readView, flags, program);
  });
}

function modeOf(args: Args): Mode {
  const watch = args["watch"] === true;
  if (watch && args["wait"] === true)
    throw contradiction("-w", "--wait", "one goes on, the other ends");
  return { failing: args["failing"] === true, watch, waitMs: readWait(args) };
}

async function readOnce(context: ClusterContext, { failing }: Mode): Promise<StatusView> {
  const { program } = context;
  const { namespace, selector } = context.flags;
  const notRead = await context.readNotRead();
  const page =
    selector === undefined
      ? await readControllerPage(context, namespace)
      : ({ kind: "unreachable", why: "it shows no labels, and -l asks for them" } as const);
  if (page.kind === "read") {
    const all = statusItems(page.status);
    const { version, leader, dryRun } = page.status;
    return {
      items: failing ? all.filter(isFailing) : all,
      allCurrent:
        all.every(isCurrent) &&
        !dryRun &&
        page.status.outdated === undefined &&
        page.status.troubles.length === 0 &&
        !notRead.isMissing &&
        (namespace !== undefined || isWholeCurrent(page.status)),
      unknown: notRead.unknown.length > 0,
      // A stand-by has no plan. So the page is the leader's.
      leader: dryRun ? writesNothing(page.pod) : { kind: "live", says: page.pod },
      lines: [
        context.where,
        `read from the controller ${page.pod} (${version}, ${leader.state})`,
        ...notRead.lines,
        ...notRead.unknown,
        ...unlisted(page.status),
        ...withoutEffect(page.status),
        ...outdated(page.status),
        ...page.status.troubles.map((trouble) => `the controller: ${trouble}`),
      ],
      // Under --only-names, each read lists the metadata of the whole cluster.
      againMs: context.planning.settings.onlyNames ? PLAN_AGAIN_MS : PAGE_AGAIN_MS,
    };
  }
  const leader = await context.readLeader();
  const read = await readForPlanning(context);
  const { waiting: plan } = await dryPlanOf({ ...read, settings: context.planning.settings });
  const { builder, clusterStates } = read;
  const status = await statusOfPlan(clusterStates, plan, namespace, program.version);
  const listed = statusItems(status, (kind, of) => builder.isSelected(kind, of));
  const all = listed.map((item) => withoutUnread(item, read.rights));
  return {
    items: failing ? all.filter(isFailing) : all,
    allCurrent: all.every(isCurrent) && leader.kind === "live" && !notRead.isMissing,
    unknown:
      !printUnknown(read, program) || leader.kind === "unknown" || notRead.unknown.length > 0,
    leader,
    lines: [
      context.where,
      `planned from the cluster, since the controller's page is not at hand: ${page.why}`,
      ...notRead.lines,
      ...notRead.unknown,
      ...withoutEffect(effectlessOf(plan, namespace)),
      settingsLine(context.planning),
    ],
    againMs: PLAN_AGAIN_MS,
  };
}

function statusOfPlan(
  clusterStates: Parameters<typeof readStatus>[0]["clusterStates"],
  plan: NonNullable<Parameters<typeof readStatus>[0]["plan"]>,
  within: string | undefined,
  version: string,
): Promise<Status> {
  const nobody = {
    dryRun: true,
    convergedMs: undefined,
    offsetMs: Date.now(),
    leader: { state: "alone", holder: undefined, command: undefined },
    watches: [],
    outdated: undefined,
    serverAwayMs: undefined,
    troubles: [],
    unreadableNames: [],
  } as const;
  const every = {
    source: "",
    namespace: "",
    in: within,
    state: undefined,
    kind: undefined,
    limit: Number.POSITIVE_INFINITY,
  };
  return readStatus({ ...nobody, clusterStates, plan }, { version, plannedMs: undefined }, every);
}

// Its list may be cut, its totals are not. A source that lost a place is among the worst, so it is listed.
function isWholeCurrent({ totals }: Pick<Status, "totals">): boolean {
  if (!totals || totals.refused > 0) return false;
  const { current: _current, paused: _paused, ...others } = totals.states;
  return Object.values(others).every((count) => count === 0);
}

function unlisted({ sources }: Pick<Status, "sources">): readonly string[] {
  const rest = sources.total - sources.shown.length;
  return rest > 0 ? [`${rest} more sources are not listed: narrow it with -n`] : [];
}

function outdated(status: Pick<Status, "outdated">): readonly string[] {
  if (!status.outdated) return [];
  const { asOfMs } = status.outdated;
  const age = formatDuration(Math.max(0, Math.round((Date.now() - asOfMs) / 1000)) * 1000);
  return [`the controller does not follow the cluster: this is as of ${age} ago`];
}

function printView(view: StatusView, flags: KubectlFlags, program: Program): void {
  show(view.items, flags, program);
  for (const line of [...currentLines(view), ...view.lines]) say(program.stderr, line);
}

function currentLines({ allCurrent, items, unknown, leader }: StatusView): readonly string[] {
  const isLed = leader.kind === "live";
  const equal = isLed ? "all current" : "every copy equals its source";
  const current = (isLed ? allCurrent : items.every(isCurrent)) ? equal : "not all is current";
  const known = unknown ? `${current}, of what is known` : current;
  return isLed ? [known] : [...leaderLines(leader), known];
}

/**
 * A terminal gets one screen, the worst items first. Every other output, and formats for programs, get
 * everything.
 */
function show(items: readonly StatusItem[], flags: KubectlFlags, program: Program): void {
  const forPeople = flags.output === "table" || flags.output === "wide";
  const troubles = forPeople ? troublesOf(items) : [];
  const [lines, troubleLines] = linesOfFirstScreen(items.length, troubles.length, program);
  printListing<StatusItem>(
    {
      kind: "StatusList",
      items: forPeople ? items.slice(0, lines) : items,
      columns: statusColumns(items),
      nameOf: kubectlName,
    },
    flags,
    program,
  );
  if (!forPeople) return;
  if (troubles.length > 0) program.stdout.write("\n");
  const shown = troubles.slice(0, troubleLines);
  const columns = troubleColumns(flags.output === "wide" || program.stdout.isTTY !== true);
  for (const line of tableLines(shown, columns, flags, painter(program)))
    program.stdout.write(line);
  const left = moreLine(items.length - lines, troubles.length - troubleLines);
  if (left !== undefined) say(program.stderr, left);
}

/** Undefined where nothing is left out. */
function moreLine(items: number, troubles: number): string | undefined {
  const left = [
    [items, "sources"],
    [troubles, "reasons"],
  ] as const;
  const words = left
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count.toLocaleString("en-US")} more ${what}`);
  if (words.length === 0) return undefined;
  return `… and ${words.join(" and ")}: -n NAMESPACE or --failing shows fewer; a pipe, or -o json, has all`;
}

function codeOf({ allCurrent, unknown }: StatusView, flags: KubectlFlags): number {
  if (unknown) return 1;
  return allCurrent ? 0 : otherwiseCode(flags);
}

/** Prints what changes until a signal comes. */
async function follow(
  first: StatusView,
  readAgain: () => Promise<StatusView>,
  flags: KubectlFlags,
  program: Program,
): Promise<number> {
  let last = first;
  const quiet = { ...flags, headers: false };
  for (;;) {
    await sleep(systemClock, last.againMs, program.signal);
    if (program.signal.aborted) return codeOf(last, flags);
    const before = new Map(last.items.map((item) => [keyOf(item), JSON.stringify(item)]));
    last = await readAgain();
    const changed = last.items.filter((item) => before.get(keyOf(item)) !== JSON.stringify(item));
    if (changed.length === 0) continue;
    if (flags.output === "table" || flags.output === "wide")
      program.stdout.write(`${isoTime(Date.now())}\n`);
    show(changed, quiet, program);
  }
}

function keyOf({ resource, source }: StatusItem): string {
  return `${resource} ${source}`;
}
