// Implements `secretcast rotation`. It reads the copies first and the Pods afterwards, so that a Pod which
// started with an older value cannot appear between the two. With --wait it reads again.
import type {
  ClusterState,
  PlannerSettings,
  SourceObject,
} from "../../controller/model/cluster.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { removalWaits } from "../../controller/model/removal-holds.ts";
import { UsageError } from "../../controller/settings/config.ts";
import {
  readForPlanning,
  stateOfKind,
  printUnknown,
  withClusterContext,
  type ClusterContext,
} from "../../inspect/cluster/cluster-context.ts";
import { planningFlags, settingsLine } from "../../inspect/cluster/planning-settings.ts";
import { dryPlanOf } from "../../inspect/cluster/dry-plan.ts";
import type { ReadCluster } from "../../inspect/cluster/read-cluster.ts";
import {
  otherwiseCode,
  readDuration,
  readKubectlFlags,
  type Args,
} from "../../inspect/kubectl/kubectl-flags.ts";
import { kubectlName, objectOfItem, printListing } from "../../inspect/kubectl/listing.ts";
import { namedObject } from "../../inspect/cluster/named-object.ts";
import { readUntil, readWait } from "../../inspect/kubectl/waiting.ts";
import { leaderLines, type LiveLeader } from "../../inspect/cluster/live-leader.ts";
import type { Program } from "../../run/program-context.ts";
import { refText, type Ref } from "../../text/names.ts";
import type { Plan } from "../../controller/model/verdicts.ts";
import { withLiveRows } from "../explain/live-rows.ts";
import { readControllerPage } from "../status/controller-page.ts";
import { explain } from "../explanation/explain.ts";
import { leftOutText } from "../explanation/explain-object.ts";
import { judgeRevocation, type Revocation } from "../holding/revocation.ts";
import { rotationPlaces, unrecordedPlace, type PlacesInput } from "../holding/rotation-places.ts";
import { findOwners } from "./find-owners.ts";
import { readLeftOut } from "./left-out.ts";
import { ObservedObjects } from "./observed-objects.ts";
import { readPods } from "./read-pods.ts";
import { missingRightLines } from "./missing-rights.ts";
import {
  groupedItems,
  restartCommands,
  rotationItems,
  type RotationItem,
} from "./rotation-items.ts";
import { answerLine, holderLines, PLACE_COLUMNS } from "./rotation-text.ts";
import { say } from "../../inspect/kubectl/say.ts";

const USUAL_SYNC_PERIOD_MS = 120_000;
/** Each read lists the whole cluster. */
const AGAIN_MS = 5000;

type Question = {
  readonly kind: ObjectKind;
  readonly name: string;
  readonly syncPeriodMs: number;
};

type RotationView = {
  readonly items: readonly RotationItem[];
  readonly revocation: Revocation;
  readonly source: Ref;
  readonly read: ReadCluster;
  /** Rights that are missing beside those of `read`. */
  readonly missing: readonly string[];
  /** How much else than Pods could not be read. */
  readonly unknown: number;
  readonly leader: LiveLeader;
  readonly againMs: number;
};

export async function printRotation(args: Args, program: Program): Promise<number> {
  const flags = readKubectlFlags(args, program.env);
  const { kind, name } = namedObject(args["name"]);
  if (flags.selector !== undefined)
    throw new UsageError("--selector is for lists, and this is about one source: leave it out");
  const waitMs = readWait(args);
  const syncPeriodMs = readDuration(args, "sync-period") ?? USUAL_SYNC_PERIOD_MS;
  const question = { kind, name, syncPeriodMs };
  return withClusterContext(flags, planningFlags(args), program, async (context) => {
    const last = await readUntil(
      () => readView(context, question),
      isSafe,
      waitMs,
      program,
      (found) => printView(found, question, context),
    );
    if (last.unknown > 0 || last.revocation.unreadNamespaces > 0) return 1;
    return isSafe(last) ? 0 : otherwiseCode(flags);
  });
}

/** Without a controller, the next change of the source reaches no copy. */
function isSafe({ revocation, unknown, leader }: RotationView): boolean {
  return revocation.isSafe && unknown === 0 && leader.kind === "live";
}

async function readView(
  context: ClusterContext,
  { kind, name, syncPeriodMs }: Question,
): Promise<RotationView> {
  const { connection, planning, program } = context;
  const { client } = connection;
  const { signal } = program;
  const subject = { namespace: connection.namespace, name };
  const leader = await context.readLeader();
  const observed = new ObservedObjects();
  const read = await readForPlanning(context, {
    fallback: [subject.namespace],
    onObject: observed.observe,
  });
  const clusterState = stateOfKind(read, kind);
  const { settings } = planning;
  const source = sourceOf(clusterState, settings, subject, read, program);
  const { plan, looks } = await dryPlanOf({ ...read, settings });
  const leftOut = await readLeftOut({ client, settings, clusterState, source, signal });
  const input = {
    clusterState,
    source,
    observed: observed.of,
    leftOut: leftOut.objects,
    unread: read.rights.namespace,
    longestWait: removalWaits(settings).holdMs / 1000,
  };
  const inputBy = (made: Plan): PlacesInput => ({
    ...input,
    answers: explain(clusterState, settings, made, subject, { rights: read.rights, looks }).places,
    objects: read.builder.objects(kind),
  });
  const placesBy = (made: Plan) => rotationPlaces(inputBy(made));
  let places = placesBy(plan);
  if (!places.every(({ isCurrent }) => isCurrent)) {
    // The controller knows why a write fails or waits.
    const page = await readControllerPage(context, undefined);
    if (page.kind === "read")
      places = placesBy(withLiveRows(plan, clusterState, page.status, read.rights));
  }
  const names = new Set(places.map(refText));
  const unrecorded = (place: Ref) => unrecordedPlace(place, input);
  const podsRead = await readPods({
    client,
    kind,
    asked: (namespace, of) =>
      names.has(refText({ namespace, name: of })) ||
      of === source.name ||
      of === source.rule.copyName,
    namespaces: new Set([
      ...clusterState.namespaces.keys(),
      ...places.map(({ namespace }) => namespace),
    ]),
    signal,
  });
  const refresh = {
    now: Math.floor(context.nowMs() / 1000),
    syncPeriod: syncPeriodMs / 1000,
  };
  const revocation = judgeRevocation(places, podsRead, unrecorded, refresh);
  const holding = revocation.places.flatMap(({ holders }) => holders.map(({ pod }) => pod));
  const owners = await findOwners(holding, client, signal);
  return {
    items: rotationItems(kind, subject, revocation, owners.of),
    revocation,
    source: subject,
    read,
    missing: missingRightLines(podsRead, owners, leftOut),
    unknown: read.unknown.length + Number(leftOut.isUnread) + Number(leader.kind === "unknown"),
    leader,
    againMs: AGAIN_MS,
  };
}

function sourceOf(
  clusterState: ClusterState,
  settings: PlannerSettings,
  subject: Ref,
  read: ReadCluster,
  program: Program,
): SourceObject {
  const { namespace, name } = subject;
  const object = clusterState.objectsIn(namespace).get(name);
  if (object?.role === "source") return object;
  printUnknown(read, program);
  const what = `${clusterState.kind} ${name} in namespace ${namespace}`;
  const unread = leftOutText(subject, settings) ?? read.rights.namespace(namespace);
  if (!object && unread !== undefined) throw new UsageError(`${what}: ${unread}`);
  if (!object) throw new UsageError(`there is no ${what} (-n chooses the namespace)`);
  const of =
    object.role === "copy"
      ? object.template.source
      : object.role === "pull"
        ? object.from
        : undefined;
  if (of)
    throw new UsageError(
      `${what} is not a source, its source is ${refText(of)}: secretcast rotation ${of.name} -n ${of.namespace}`,
    );
  throw new UsageError(
    `${what} is not a source: secretcast explain ${name} -n ${namespace} says why`,
  );
}

function printView(
  view: RotationView,
  { kind, syncPeriodMs }: Question,
  { where, planning, flags, program }: ClusterContext,
): void {
  const { items, revocation, source, read, missing, unknown, leader } = view;
  const isTable = flags.output === "table" || flags.output === "wide";
  if (isTable) for (const line of holderLines(items, flags, program)) program.stdout.write(line);
  printListing<RotationItem>(
    {
      kind: "RotationList",
      items: flags.output === "table" ? groupedItems(items) : items,
      beside: {
        object: objectOfItem(kind, source),
        safe: isSafe(view),
        blockers: blockersOf(view),
        syncPeriodSeconds: syncPeriodMs / 1000,
        restart: restartCommands(items),
      },
      columns: PLACE_COLUMNS,
      nameOf: kubectlName,
    },
    flags,
    program,
  );
  printUnknown(read, program);
  for (const line of missing) say(program.stderr, `secretcast: ${line}`);
  for (const line of [
    ...leaderLines(leader),
    answerLine(revocation, { isKnown: unknown === 0, isLed: leader.kind === "live" }),
    OUTSIDE,
    where,
    settingsLine(planning),
  ])
    say(program.stderr, line);
}

const OUTSIDE =
  "outside the proof: former places that no Pod, mark or controller records, like deleted copies of a former name";

/** Codes that stay when a sentence changes. */
function blockersOf({ revocation, unknown, leader }: RotationView) {
  const { notCurrent, holdingPods, unreadNamespaces } = revocation;
  return [
    { code: "NoLeader", count: Number(leader.kind === "none") },
    { code: "NotCurrent", count: notCurrent },
    { code: "PodsHold", count: holdingPods },
    { code: "PodsNotListed", count: unreadNamespaces },
    { code: "NotAllRead", count: unknown },
  ].filter(({ count }) => count > 0);
}
