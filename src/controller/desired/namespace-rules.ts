// What the settings say of a namespace: may it publish, may it receive.
import { because, type Reason } from "../model/reasons.ts";
import type { GlobList } from "../../text/globs.ts";
import type { PlannerSettings } from "../model/cluster.ts";
import type { Ref } from "../../text/names.ts";

const SYSTEM_NAMESPACES: readonly string[] = ["kube-system", "kube-public", "kube-node-lease"];

/** Whether the content of a namespace is known. Where namespaces are listed, only theirs is. */
export function isRead({ scope }: PlannerSettings, namespace: string): boolean {
  return scope?.watched.has(namespace) !== false;
}

/** Place of a namespace in `--source-namespaces`, the smaller the stronger, or -1: it may not publish. */
export function sourceRank(settings: PlannerSettings, namespace: string): number {
  if (!isRead(settings, namespace)) return -1;
  return settings.sourceNamespaces.rank(namespace);
}

/**
 * Whether a source of `namespace` belongs to another installation: --other-source-namespaces says so, and
 * it may not publish here.
 */
export function isOfOtherInstallation(settings: PlannerSettings, namespace: string): boolean {
  return (
    settings.otherSourceNamespaces?.matches(namespace) === true &&
    sourceRank(settings, namespace) < 0
  );
}

/** What an object records of the installation that made it. */
export type InstallationMarks = {
  readonly source: Ref;
  readonly entry?: string | undefined;
  /** The source list of that entry. */
  readonly list?: string | undefined;
};

/**
 * Whether another installation made what has these marks: its source is the other's. What an entry made, whose source
 * may be anywhere, is the other's by the mark of its list, where the flag says that there is another.
 */
export function isMadeByOther(
  settings: PlannerSettings,
  { source, entry, list }: InstallationMarks,
): boolean {
  const { ownNamespace, sourceList, otherSourceNamespaces } = settings;
  if (sourceRank(settings, source.namespace) >= 0) return false;
  if (entry === undefined || list === undefined)
    return isOfOtherInstallation(settings, source.namespace);
  return otherSourceNamespaces !== undefined && list !== `${ownNamespace}/${sourceList}`;
}

export type CopyableSettings = Pick<PlannerSettings, "copyableKeys" | "namedSources">;

/**
 * The never-copied keys that a source of `namespace` may have copied all the same.
 * `byEntry`: the source list names it, which is the administrator's own decision.
 */
export function copyableKeys(
  { copyableKeys: keys, namedSources }: CopyableSettings,
  namespace: string,
  byEntry = false,
): GlobList | undefined {
  return byEntry || namedSources?.matches(namespace) === true ? keys : undefined;
}

/** Why a namespace is never a target, and which flag says so. */
export type Exclusion = {
  readonly why: string;
  readonly flag: "--namespaces" | "--exclude-namespaces" | "--include-system-namespaces";
};

/** undefined where a namespace may be a target. */
export function excludedBy(settings: PlannerSettings, namespace: string): Exclusion | undefined {
  if (settings.scope?.targets.has(namespace) === false) {
    return { why: "is not listed", flag: "--namespaces" };
  }
  if (settings.excludeNamespaces?.matches(namespace)) {
    return { why: "is excluded", flag: "--exclude-namespaces" };
  }
  if (settings.includeSystemNamespaces) return undefined;
  const flag = "--include-system-namespaces";
  if (namespace === settings.ownNamespace) return { why: "is the controller's own", flag };
  if (SYSTEM_NAMESPACES.includes(namespace)) return { why: "is a system namespace", flag };
  return undefined;
}

export function exclusionReason({ why, flag }: Exclusion): Reason {
  return because("NamespaceExcluded", { why, flag });
}

export function exclusion(settings: PlannerSettings, namespace: string): Reason | undefined {
  const excluded = excludedBy(settings, namespace);
  return excluded && exclusionReason(excluded);
}
