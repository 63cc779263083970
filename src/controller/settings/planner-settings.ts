// The planner's settings out of the configuration: globs understood, everything else as it is.
import { matchesEveryName, UsageError, type Config } from "./config.ts";
import { NAMESPACE_GLOBS, parseGlobList, type GlobList } from "../../text/globs.ts";
import { parseCopyableKeys } from "../annotations/never-copied.ts";
import type { Invalid } from "../../text/result.ts";
import type { PlannerSettings } from "../model/cluster.ts";
import { isNamespaceName } from "../../text/names.ts";

/** Throws a UsageError that names the flag and the entry at fault. */
export function readPlannerSettings(config: Config): PlannerSettings {
  const { excludeNamespaces, otherSourceNamespaces } = config;
  return {
    sourceNamespaces: globs("source-namespaces", config.sourceNamespaces),
    scope: scopeOf(config),
    excludeNamespaces:
      excludeNamespaces.length > 0 ? globs("exclude-namespaces", excludeNamespaces) : undefined,
    otherSourceNamespaces:
      otherSourceNamespaces.length > 0
        ? globs("other-source-namespaces", otherSourceNamespaces)
        : undefined,
    includeSystemNamespaces: config.includeSystemNamespaces,
    ownNamespace: config.ownNamespace,
    sourceList: config.sourceList,
    namespacePolicy: config.namespacePolicy,
    deleteGraceMs: config.deleteGraceMs,
    sourceGraceMs: config.sourceGraceMs,
    deleteLimit: config.deleteLimit,
    deleteHoldMs: config.deleteHoldMs,
    fanoutLimitBytes: config.fanoutLimitBytes,
    onlyNames: config.onlyNames && new Set(config.onlyNames),
    copyableKeys: copyableKeysOf(config),
    namedSources: namedSourcesOf(config),
  };
}

function scopeOf({ namespaces, sourceNamespaces }: Config): PlannerSettings["scope"] {
  if (!namespaces) return undefined;
  const wrong = namespaces.find((name) => !isNamespaceName(name));
  if (wrong !== undefined)
    throw new UsageError(
      `--namespaces: "${wrong}" is wrong: expected the name of a namespace, no glob: each is watched for itself`,
    );
  const targets = new Set(namespaces);
  return { targets, watched: new Set([...targets, ...sourceNamespaces.filter(isNamespaceName)]) };
}

/** Which namespaces may publish by more than `*`: only their tenants may read of other namespaces. */
export function namedSources(config: Config): (namespace: string) => boolean {
  const list = namedSourcesOf(config);
  return (namespace) => list?.matches(namespace) === true;
}

function namedSourcesOf({ sourceNamespaces }: Config): GlobList | undefined {
  const named = sourceNamespaces.filter((glob) => !matchesEveryName(glob));
  // A list of "!" entries alone would start from every namespace.
  if (named.every((entry) => entry.startsWith("!"))) return undefined;
  return globs("source-namespaces", named);
}

function copyableKeysOf({ copyableKeys }: Config): GlobList | undefined {
  if (!copyableKeys) return undefined;
  const list = parseCopyableKeys(copyableKeys);
  if (list.ok) return list.value;
  throw wrongEntry("copyable-keys", list.fault);
}

function globs(flag: string, entries: readonly string[]): GlobList {
  const list = parseGlobList(entries.join(","), NAMESPACE_GLOBS);
  if (list.ok) return list.value;
  throw wrongEntry(flag, list.fault);
}

function wrongEntry(flag: string, { part, expected }: Invalid): UsageError {
  return new UsageError(`--${flag}: "${part}" is wrong: expected ${expected}`);
}
