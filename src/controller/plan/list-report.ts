// What a sync found of the source list beyond the sources that it makes: entries that are refused before
// there is a source, and entries whose object is not there.
import { reasonText } from "../model/reasons.ts";
import { misnamed, type Sources } from "../desired/sources.ts";
import type { ClusterState } from "../model/cluster.ts";
import type { ListReport } from "../model/verdicts.ts";
import { problemText } from "../annotations/rules.ts";
import type { ListEntry } from "../annotations/list-entry.ts";

const NOTHING: ListReport = {
  state: "off",
  reason: undefined,
  ref: undefined,
  uid: undefined,
  entries: 0,
  refused: [],
  absent: [],
};

export function reportList(clusterState: ClusterState, { list }: Sources): ListReport {
  if (!list) return NOTHING;
  if (list.state !== "read") return { ...NOTHING, state: list.state, reason: list.reason };
  const refused: ListReport["refused"][number][] = [];
  const absent: ListReport["absent"][number][] = [];
  let entries = 0;
  for (const entry of list.entries()) {
    const { key, object, problems } = entry;
    // The plan of another kind reports the objects of that kind. The Secrets' plan reports those without a kind.
    if (object ? object.kind !== clusterState.kind : clusterState.kind !== "Secret") continue;
    entries++;
    const cached = object && clusterState.objectsIn(object.namespace).get(object.name);
    if (problems.length > 0 && (cached?.role !== "source" || !isOnly(entry, list))) {
      refused.push({ key, reason: problems.map(problemText).join("; ") });
    } else if (cached?.role === "copy" || cached?.role === "pull") {
      refused.push({ key, reason: reasonText(misnamed(entry, cached)) });
    } else if (object && !cached) {
      absent.push({ key, object: { namespace: object.namespace, name: object.name } });
    }
  }
  const { ref, uid } = list;
  return { state: "read", reason: undefined, ref, uid, entries, refused, absent };
}

/** The reports of all kinds in one. */
export function mergedLists(reports: readonly ListReport[]): ListReport {
  const [first = NOTHING] = reports;
  return {
    ...first,
    entries: reports.reduce((sum, { entries }) => sum + entries, 0),
    refused: reports.flatMap(({ refused }) => refused),
    absent: reports.flatMap(({ absent }) => absent),
  };
}

// If several entries name one object, only the first reports it.
function isOnly(
  entry: ListEntry,
  list: { of: (object: NonNullable<ListEntry["object"]>) => ListEntry | undefined },
): boolean {
  return entry.object !== undefined && list.of(entry.object) === entry;
}
