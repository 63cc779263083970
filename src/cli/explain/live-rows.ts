// Adds what only a running controller knows to a plan made here: failed writes, held actions, what they
// wait for, and copies that freeze for want of the controller's own rights. The rest of its page is older than the plan, because the cluster was read just now.
import { reportedReason } from "../../controller/model/reasons.ts";
import { parseRef, refText } from "../../text/names.ts";
import type { ClusterState, PlannerSettings } from "../../controller/model/cluster.ts";
import {
  METRIC_STATE,
  type Plan,
  type Row,
  type RowRemoval,
} from "../../controller/model/verdicts.ts";
import { ALL_RIGHTS, type ReaderRights } from "../../inspect/cluster/reader-rights.ts";
import { dueWordsOf } from "../../controller/settings/due-text.ts";
import type { ReadCluster } from "../../inspect/cluster/read-cluster.ts";
import type { Status } from "../../page/status.ts";

/**
 * What the controller may not read decides as it does there, whatever the user may read. Under --namespaces a name may
 * be denied in one namespace alone, and the page does not say in which: then the rows of the page are all that is known.
 */
export function asTheController(
  read: ReadCluster,
  status: Pick<Status, "unreadableNames"> | undefined,
  { scope }: Pick<PlannerSettings, "scope">,
): ReadCluster {
  if (!status || scope || status.unreadableNames.length === 0) return read;
  const clusterStates = read.clusterStates.map((clusterState) => {
    const names = new Set(
      status.unreadableNames.flatMap(({ kind, name }) =>
        kind === clusterState.kind ? [name] : [],
      ),
    );
    return { ...clusterState, unreadableNames: () => names };
  });
  return { ...read, clusterStates };
}

/** The plan with the controller's own rows in the place of ours where they say more. */
export function withLiveRows(
  plan: Plan,
  { kind, pulls }: ClusterState,
  { groups }: Pick<Status, "groups">,
  rights: ReaderRights = ALL_RIGHTS,
): Plan {
  const pulling = new Set(Array.from(pulls, (pull) => refText(pull)));
  const live = groups.shown.flatMap((group): readonly Row[] => {
    const source = parseRef(group.source);
    if (group.kind !== kind || !source) return [];
    // The page always has more information about objects that the user may not read.
    if (!saysMore(group) && rights.namespace(source.namespace) === undefined) return [];
    return group.places.shown.flatMap((text) => {
      const place = parseRef(text);
      if (!place) return [];
      const { verdict, code, cause, dueMs: dueAt, hold } = group;
      const reason = reportedReason(code, group.reason);
      const end = END_OF.get(group.dueWords) ?? (hold && "delete");
      const row = { kind, verdict, place, source, reason, dueAt, pulling: pulling.has(text) };
      const failure = cause === undefined ? undefined : { cause, triedAt: undefined };
      const removal = end && { end, hold };
      // The times of the page, except `dueAt`, are not those of this process.
      return [{ ...row, failure, removal, since: 0, differs: undefined, winner: undefined }];
    });
  });
  const shown = new Set(live.map(pairOf));
  return { ...plan, rows: [...plan.rows.filter((row) => !shown.has(pairOf(row))), ...live] };
}

/** The page has the end of a removal as words only. */
const END_OF = new Map<string | undefined, RowRemoval["end"]>(
  (["delete", "release", "takeover"] as const).map((end) => {
    const removal = { end, hold: undefined };
    return [dueWordsOf({ verdict: "delete", pulling: false, removal }).dueWords, end];
  }),
);

function saysMore({ verdict, dueMs }: Status["groups"]["shown"][number]): boolean {
  const state = METRIC_STATE[verdict];
  if (state === "failed" || state === "held" || state === "frozen") return true;
  return verdict === "wait" || dueMs !== undefined;
}

function pairOf({ kind, place, source }: Row): string {
  return `${kind} ${refText(place)} ${refText(source)}`;
}
