// Entries of flags that match no namespace there is: mostly a typo of the administrator's, which freezes
// copies (--source-namespaces) or protects nothing (--exclude-namespaces). A `!` entry guards against
// what need not be there, and is not asked.
import type { ClusterState, PlannerSettings } from "../model/cluster.ts";
import type { FlagEntry, SharedState } from "../state/planner-state.ts";
import { NAMESPACE_GLOBS, parseGlobList, type GlobList } from "../../text/globs.ts";

const NAMES_PER_TURN = 4096;

/** `--FLAG ENTRY` of each. */
export function* unmatchedFlags(
  clusterState: ClusterState,
  settings: PlannerSettings,
  shared: SharedState,
): Generator<undefined, readonly string[]> {
  const { namespaces } = clusterState;
  if (shared.flags?.of !== settings)
    shared.flags = { of: settings, entries: readEntries(settings) };
  const unmatched: string[] = [];
  let asked = 0;
  for (const entry of shared.flags.entries) {
    if (entry.witness !== undefined && namespaces.has(entry.witness)) continue;
    entry.witness = undefined;
    for (const name of namespaces.keys()) {
      if (++asked % NAMES_PER_TURN === 0) yield;
      if (!entry.list.matches(name)) continue;
      entry.witness = name;
      break;
    }
    if (entry.witness === undefined) unmatched.push(entry.text);
  }
  for (const name of settings.scope?.targets ?? [])
    if (!namespaces.has(name) && clusterState.isUnreadable?.(name) !== true)
      unmatched.push(`--namespaces ${name}`);
  return unmatched;
}

function readEntries(settings: PlannerSettings): readonly FlagEntry[] {
  const { sourceNamespaces, excludeNamespaces, otherSourceNamespaces, scope } = settings;
  return [
    ...positives("source-namespaces", sourceNamespaces),
    ...(excludeNamespaces ? positives("exclude-namespaces", excludeNamespaces) : []),
    // With --namespaces, those of another installation need not be read.
    ...(otherSourceNamespaces && !scope
      ? positives("other-source-namespaces", otherSourceNamespaces)
      : []),
  ];
}

function positives(flag: string, { text }: GlobList): readonly FlagEntry[] {
  return text.split(",").flatMap((raw) => {
    const entry = raw.trim();
    const list = parseGlobList(entry, NAMESPACE_GLOBS);
    if (entry.startsWith("!") || !list.ok) return [];
    return [{ text: `--${flag} ${entry}`, list: list.value, witness: undefined }];
  });
}
