// Implements `secretcast explain`. It reads the cluster once, plans it like a run, and reports the rules
// that decided about one object. The answer is written to stdout. The settings used and what is unknown are
// written to stderr.
import { UsageError } from "../../controller/settings/config.ts";
import { isoTime } from "../../controller/settings/due-text.ts";
import { isNamespaceName, refText, type Ref } from "../../text/names.ts";
import type { ClusterState } from "../../controller/model/cluster.ts";
import { explain, sourcesNamed, type Explanation } from "../explanation/explain.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { readKubectlFlags, texts, type Args } from "../../inspect/kubectl/kubectl-flags.ts";
import { spanOf } from "../../inspect/kubectl/span-flag.ts";
import { kubectlName, objectOfItem, printListing } from "../../inspect/kubectl/listing.ts";
import { namedObject } from "../../inspect/cluster/named-object.ts";
import type { Program } from "../../run/program-context.ts";
import { readControllerPage } from "../status/controller-page.ts";
import {
  readForPlanning,
  stateOfKind,
  printUnknown,
  withClusterContext,
  type ClusterContext,
} from "../../inspect/cluster/cluster-context.ts";
import { dryPlanOf } from "../../inspect/cluster/dry-plan.ts";
import { planningFlags, settingsLine } from "../../inspect/cluster/planning-settings.ts";
import { explanationItems, type ExplanationItem } from "./explanation-items.ts";
import { explanationLines } from "./explanation-text.ts";
import { asTheController, withLiveRows } from "./live-rows.ts";
import { readRecords, recordOnLease } from "./read-records.ts";
import { NOT_RECORDED, recordLines, type Records } from "./records.ts";
import { say } from "../../inspect/kubectl/say.ts";

export async function printExplain(args: Args, program: Program): Promise<number> {
  const flags = readKubectlFlags(args, program.env);
  const { kind, name } = namedObject(args["name"]);
  const namespace = onlyNamespace(texts(args, "in").at(-1));
  const sinceMs = spanOf(args, "since");
  return withClusterContext(flags, planningFlags(args), program, async (context) => {
    const { connection, planning } = context;
    const subject = { namespace: connection.namespace, name };
    const { settings } = planning;
    const page = await readControllerPage(context, undefined);
    const status = page.kind === "read" ? page.status : undefined;
    const fallback = [subject.namespace, ...(namespace === undefined ? [] : [namespace])];
    const read = asTheController(await readForPlanning(context, { fallback }), status, settings);
    const { rights } = read;
    const clusterState = stateOfKind(read, kind);
    const { waiting: plan, looks } = await dryPlanOf({ ...read, settings });
    const live = status ? withLiveRows(plan, clusterState, status, rights) : plan;
    const formerRules = status?.formerRules.shown;
    const options = { namespace, rights, looks, ...(formerRules && { formerRules }) };
    const explanation = explain(clusterState, settings, live, subject, options);
    const known = printUnknown(read, program);
    const since = sinceMs === undefined ? undefined : await recorded(explanation, sinceMs, context);
    const isAbsent = explanation.is === "absent" && explanation.places.length === 0;
    const object = `${kind} ${refText(subject)}`;
    if (isAbsent && known && !since?.records.some((record) => record.object === object))
      throw await notFound(kind, subject, clusterState, context);
    print(explanation, since, flags, program);
    if (page.kind === "read")
      say(program.stderr, `with the word of the controller ${page.pod} on failures and holds`);
    say(program.stderr, context.where);
    say(program.stderr, settingsLine(planning));
    return (since === undefined || printUnknown(since, program)) && known ? 0 : 1;
  });
}

/** The namespaces of a source that is copied to many are asked for one by one, with --in. */
function recorded(
  { kind, subject, places }: Explanation,
  sinceMs: number,
  { connection, nowMs, program: { signal } }: ClusterContext,
): Promise<Records> {
  const own = places.filter(({ place }) => refText(place) === refText(subject));
  const [about = { place: subject, source: subject }] = places.length === 1 ? places : own;
  return readRecords(connection.client, kind, subject, about, nowMs() - sinceMs, signal);
}

function print(
  explanation: Explanation,
  since: Records | undefined,
  flags: ReturnType<typeof readKubectlFlags>,
  program: Program,
): void {
  const { output } = flags;
  if (output === "table" || output === "wide") {
    for (const line of explanationLines(explanation, flags, program)) program.stdout.write(line);
    if (!since) return;
    for (const line of recordLines(since, flags, program)) program.stdout.write(line);
    return;
  }
  const { kind, subject, is, answers, waysOut } = explanation;
  const ways = waysOut.map((way) => ({ ...way, source: refText(way.source) }));
  printListing<ExplanationItem>(
    {
      kind: "ExplanationList",
      items: explanationItems(explanation),
      beside: {
        object: { ...objectOfItem(kind, subject), is, rules: answers },
        waysOut: ways,
        ...(since && {
          recorded: { since: isoTime(since.fromMs), mark: since.mark, records: since.records },
          notRecorded: NOT_RECORDED,
        }),
      },
      columns: [],
      nameOf: kubectlName,
    },
    flags,
    program,
  );
}

function onlyNamespace(name: string | undefined): string | undefined {
  if (name === undefined || isNamespaceName(name)) return name;
  throw new UsageError(`--in: "${name}" is not the name of a namespace`);
}

/** What the Lease records is said with its origin, because others may write Events there. */
async function notFound(
  kind: ObjectKind,
  place: Ref,
  clusterState: ClusterState,
  { connection, lease, program: { signal } }: ClusterContext,
): Promise<UsageError> {
  const { namespace, name } = place;
  const [source] = sourcesNamed(clusterState, place);
  const record = await recordOnLease(connection.client, lease, place, signal);
  const parts = [
    `there is no ${kind} ${name} in namespace ${namespace}, and no copy of one (-n chooses the namespace)`,
    source &&
      `why ${refText(source)} has no copy there: secretcast explain ${source.name} -n ${source.namespace} --in ${namespace}`,
    record,
  ];
  return new UsageError(parts.filter((part) => part !== undefined).join("; "));
}
