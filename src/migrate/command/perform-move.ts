// The two writing steps of a move: first the sources and the copies, and later, after a successful check,
// the clean-up of the old tool's data. Each step refuses while the old tool runs, asks for consent first,
// and reads the cluster again at the end.
import { applyMigration, isToAdopt, sendAll } from "./apply-migration.ts";
import { confirm, type MigrateOptions } from "./migrate-options.ts";
import { runningWorkload } from "./old-workloads.ts";
import { readCustoms, type Reading } from "./read-old-cluster.ts";
import { leftoverLines } from "./migration-text.ts";
import { showMove, printProblems, unmatchedNames, type MigrationView } from "./show-move.ts";
import { UsageError } from "../../controller/settings/config.ts";
import { refText } from "../../text/names.ts";
import type { Migration } from "../moves/migration.ts";
import { readOldCluster } from "../oldtools/read-old-objects.ts";
import type { MoveStepName, OldTool } from "../oldtools/old-tool.ts";
import { cleanupRequests } from "../moves/move-requests.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import type { KubectlFlags } from "../../inspect/kubectl/kubectl-flags.ts";
import { printable } from "../../text/printable.ts";
import { Progress } from "../../inspect/kubectl/progress.ts";
import type { Program } from "../../run/program-context.ts";
import { say } from "../../inspect/kubectl/say.ts";

/** A writing step with its options. */
export type MoveStep = {
  /** The cluster at the first read. */
  readonly first: MigrationView;
  /** Reads the cluster again without output. */
  readonly readAgain: () => Promise<MigrationView>;
  readonly options: MigrateOptions;
  readonly flags: KubectlFlags;
  readonly program: Program;
  /** Why what was written is not kept current by the installed controller. */
  readonly notKept: (migration: Migration) => readonly string[];
};

export async function performMove(step: MoveStep): Promise<number> {
  return step.options.cleanup ? cleanUp(step) : move(step);
}

async function move(step: MoveStep): Promise<number> {
  const { first, readAgain, options, flags, program } = step;
  const { migration, settings, client, unread } = first;
  showMove(first, options, flags, program);
  const obstacle = await noObstacle(step);
  const keeper = migration.list?.present?.keeper;
  const entering = migration.sources.filter(({ write }) => write === "enter");
  if (keeper !== undefined && entering.length > 0) {
    throw new UsageError(
      `the source list is made by ${keeper}, which would take new entries off, and their copies with them: put the entries into its own values, then run this again`,
    );
  }
  const toAdopt = migration.copies.filter((copy) => isToAdopt(copy, options.adoptDrifted));
  const toWrite = migration.sources.filter(({ write }) => write !== "none" && write !== "refused");
  const asked = `write ${toWrite.length} sources and adopt ${toAdopt.length} copies`;
  await confirm(asked, options, program);
  const progress = new Progress("written", program, systemClock);
  const result = await applyMigration(migration, {
    client,
    signal: program.signal,
    settings: settings.planner,
    digest: settings.digest,
    adoptDrifted: options.adoptDrifted,
    obstacle,
    onProgress: (_, total) => {
      progress.expect(total);
      progress.advance(1);
    },
  });
  progress.end();
  const { sources, namespaces, copies } = result.written;
  say(
    program.stderr,
    `written: ${sources} sources, ${namespaces} namespaces, ${copies} copies adopted`,
  );
  if (program.signal.aborted) return printProblems(result.failures, flags, program);
  const after = await readAgain();
  const wrong = verify(migration, after.migration, options, program);
  return printProblems(
    [
      ...result.failures,
      ...wrong,
      ...step.notKept(after.migration),
      ...after.migration.problems,
      ...unread,
      ...unmatchedNames(migration, options),
    ],
    flags,
    program,
  );
}

// Checks the current cluster and not the requests that were sent.
function verify(
  before: Migration,
  after: Migration,
  { adoptDrifted }: MigrateOptions,
  { stderr }: Program,
): readonly string[] {
  const now = new Map(after.copies.map((copy) => [copyText(copy), copy]));
  const wrong: string[] = [];
  let [ours, untouched] = [0, 0];
  for (const copy of before.copies) {
    const place = copyText(copy);
    const found = now.get(place);
    const same = found?.object.resourceVersion === copy.object.resourceVersion;
    if (isToAdopt(copy, adoptDrifted) || copy.state === "adopted") {
      const marked = found?.state === "adopted" && sameData(found, copy);
      if (marked) ours++;
      else wrong.push(`${place}: is not a copy of ours with the data that it had`);
    } else if (copy.state === "source" || same) untouched++;
    else wrong.push(`${place}: somebody else changed it meanwhile`);
  }
  const sources = after.sources.filter(({ write }) => write === "none").length;
  say(
    stderr,
    `verified: ${sources} of ${after.sources.length} sources are as they are to be, ${ours} copies are ours with the data that they had, ${untouched} others were not touched`,
  );
  return wrong;
}

type Copy = Migration["copies"][number];

function copyText({ object }: Copy): string {
  return `${object.kind} ${refText(object)}`;
}

function sameData({ object: a }: Copy, { object: b }: Copy): boolean {
  const [now, then] = [a.data.reveal(), b.data.reveal()];
  const keys = Object.keys(now);
  return keys.length === b.data.keys().length && keys.every((key) => now[key] === then[key]);
}

async function cleanUp(step: MoveStep): Promise<number> {
  const { first: view, readAgain, options, flags, program } = step;
  const { migration, client, unread } = view;
  const steps = cleanupRequests(migration);
  const requests = [...steps.copies, ...steps.sources];
  for (const { what } of requests) program.stdout.write(`${printable(what)}\n`);
  const first = requests.length > 0 ? migration.deletions : [];
  for (const line of first) program.stdout.write(`first: ${printable(line)}\n`);
  for (const line of leftoverLines(migration)) program.stdout.write(`${printable(line)}\n`);
  say(program.stderr, `${requests.length} objects bear traces of ${options.tool.name}`);
  if (!options.write || requests.length === 0) return printProblems(unread, flags, program);
  const obstacle = await noObstacle(step);
  if (first.length > 0 && !options.althoughRunning) {
    throw new UsageError(
      `rules of ${options.tool.name} that moved still exist and would undo the clean-up: do what is printed behind "first:", then run this again`,
    );
  }
  await confirm(
    `take the old tool's marks off ${requests.length} objects; there is no way back after it`,
    options,
    program,
  );
  const progress = new Progress("cleaned up", program, systemClock);
  const { signal } = program;
  progress.expect(requests.length);
  const sender = { client, signal, obstacle, onProgress: () => progress.advance(1) };
  const failures: string[] = [];
  for (const part of [steps.copies, steps.sources]) {
    if (failures.length === 0) failures.push(...(await sendAll(part, sender)));
  }
  progress.end();
  if (signal.aborted) return printProblems(failures, flags, program);
  const left = cleanupRequests((await readAgain()).migration);
  const count = left.copies.length + left.sources.length;
  say(program.stderr, `verified: ${count} objects bear traces still`);
  return printProblems([...failures, ...unread], flags, program);
}

type Obstacle = () => Promise<string | undefined>;

/** Checks for an obstacle to a write. Throws a UsageError when one exists already. */
async function noObstacle({ first, options, program }: MoveStep): Promise<Obstacle> {
  const obstacle: Obstacle = () => obstacleNow(first, options, program);
  const running = await obstacle();
  if (running !== undefined) throw new UsageError(running);
  return obstacle;
}

async function obstacleNow(
  view: MigrationView,
  { tool, althoughRunning, cleanup }: MigrateOptions,
  program: Program,
): Promise<string | undefined> {
  const { signal } = program;
  const reading = { client: view.client, signal, onRead: () => undefined };
  if (althoughRunning) return undefined;
  const running = await runningWorkload(tool, reading);
  if (running.kind === "none") return undefined;
  if (running.kind === "unknown") {
    return `whether ${tool.name} still runs is unknown, because Pods or CronJobs may not be listed: make sure that it does not, and set --although-running`;
  }
  const { title } = running;
  if (!tool.armed) {
    const stop = title.startsWith("CronJob") ? "suspend it" : "scale it to zero";
    return `${title} runs ${tool.name}, which deletes copies or writes them anew: ${stop} first (--although-running continues all the same)`;
  }
  const step = cleanup ? "clean-up" : "move";
  const armed = await armedRules(tool, view.migration, step, reading);
  for (const line of armed) say(program.stderr, `first: ${line}`);
  if (armed.length === 0) return undefined;
  return `${title} runs ${tool.name}, whose rules would undo the ${step} or delete copies: do what is printed behind "first:", then run this again`;
}

/** The rules as they are now, that are not harmless for this step. */
async function armedRules(
  tool: OldTool,
  { sources }: Migration,
  step: MoveStepName,
  reading: Reading,
): Promise<readonly string[]> {
  const { objects, unread } = await readCustoms(tool.resources, reading);
  const { customs } = readOldCluster(objects, undefined, tool.resources);
  const moving = sources.filter(({ write }) => write !== "refused").map(({ old }) => old);
  return [...unread, ...(tool.armed?.(customs, step, moving) ?? [])];
}
