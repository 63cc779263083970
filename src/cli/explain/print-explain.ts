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
import { NOT_RECORDED } from "../explanation/records.ts";
import { asTheController, withLiveRows } from "./live-rows.ts";
import { readRecords, recordOnLease, type Records } from "./read-records.ts";
import { recordLines } from "./records-text.ts";
import { say } from "../../inspect/kubectl/say.ts";

export async function printExplain(args: Args, program: Program): Promise<number> {
  const flags = readKubectlFlags(args, program.env);
  const { kind, name } = namedObject(args["name"]);
  const namespace = onlyNamespace(texts(args, "in").at(-1));
  const sinceMs = spanOf(args, "since");
  return withClusterContext(flags, planningFlags(args), program, async (context) => {
    const { connection, planning } = context;
    const subject = { namespace: connection.namespace, name };
    const page = await readControllerPage(context, undefined);
    const read = asTheController(
      await readForPlanning(context, {
        fallback: [subject.namespace, ...(namespace === undefined ? [] : [namespace])],
      }),
      page,
      planning.settings,
    );
    const clusterState = stateOfKind(read, kind);
    const { waiting: plan } = await dryPlanOf({ ...read, settings: planning.settings });
    const live =
      page.kind === "read" ? withLiveRows(plan, clusterState, page.status, read.rights) : plan;
    const { rights } = read;
    const explanation = explain(clusterState, planning.settings, live, subject, {
      namespace,
      rights,
      formerRules: page.kind === "read" ? page.status.formerRules.shown : [],
    });
    const known = printUnknown(read, program);
    const since = sinceMs === undefined ? undefined : await recorded(explanation, sinceMs, context);
    const isAbsent = explanation.is === "absent" && explanation.places.length === 0;
    if (isAbsent && known && !since?.records.some(({ object }) => object === nameOf(explanation)))
      throw notFound(kind, subject, clusterState, await removedAs(context, subject));
    print(explanation, since, flags, program);
    if (page.kind === "read")
      say(program.stderr, `with the word of the controller ${page.pod} on failures and holds`);
    say(program.stderr, context.where);
    say(program.stderr, settingsLine(planning));
    return (since === undefined || printUnknown(since, program)) && known ? 0 : 1;
  });
}

type Since = Records & { readonly fromMs: number };

async function recorded(
  explanation: Explanation,
  sinceMs: number,
  { connection, nowMs, program: { signal } }: ClusterContext,
): Promise<Since> {
  const { kind, subject, places } = explanation;
  const fromMs = nowMs() - sinceMs;
  const isOwn = (place: Ref): boolean => refText(place) === refText(subject);
  // The namespaces of a source that is copied to many are asked for one by one, with --in.
  const [only] = places.length === 1 ? places : places.filter(({ place }) => isOwn(place));
  const sources = only && !isOwn(only.source) ? [only.source] : [];
  const copies = only && !isOwn(only.place) ? [only.place] : [];
  const query = { kind, subject, sources, copies, fromMs };
  return { ...(await readRecords(connection.client, query, signal)), fromMs };
}

function nameOf({ kind, subject }: Explanation): string {
  return `${kind} ${refText(subject)}`;
}

function print(
  explanation: Explanation,
  since: Since | undefined,
  flags: ReturnType<typeof readKubectlFlags>,
  program: Program,
): void {
  const { output } = flags;
  if (output === "table" || output === "wide") {
    for (const line of explanationLines(explanation, flags, program)) program.stdout.write(line);
    if (!since) return;
    for (const line of recordLines(since, since.fromMs, flags, program)) program.stdout.write(line);
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

/** Anybody who may write Events there could have written it, so it is said whose word it is. */
async function removedAs(
  { connection: { client }, lease, program: { signal } }: ClusterContext,
  subject: Ref,
): Promise<string> {
  const found = await recordOnLease(client, lease, subject, signal);
  return found === undefined ? "" : `; ${found}`;
}

function notFound(
  kind: ObjectKind,
  place: Ref,
  clusterState: ClusterState,
  removed: string,
): UsageError {
  const { namespace, name } = place;
  const [source] = sourcesNamed(clusterState, place);
  const why = source
    ? `; why ${refText(source)} has no copy there: secretcast explain ${source.name} -n ${source.namespace} --in ${namespace}`
    : "";
  return new UsageError(
    `there is no ${kind} ${name} in namespace ${namespace}, and no copy of one (-n chooses the namespace)${why}${removed}`,
  );
}
