// The planner's settings out of the configuration: globs understood, everything else as it is.
import { wrongValue, type Config } from "./config.ts";
import type { FlagName } from "./flags.ts";
import {
  matchesEveryName,
  NAMESPACE_GLOBS,
  parseGlobList,
  type GlobList,
} from "../../text/globs.ts";
import { parseCopyableKeys } from "../annotations/never-copied.ts";
import type { Result } from "../../text/result.ts";
import type { PlannerSettings } from "../model/cluster.ts";
import { isNamespaceName } from "../../text/names.ts";

/** Throws a UsageError that names the flag and the entry at fault. */
export function readPlannerSettings(config: Config): PlannerSettings {
  const { sourceNamespaces, onlyNames, copyableKeys } = config;
  const named = sourceNamespaces.filter((glob) => !matchesEveryName(glob));
  return {
    sourceNamespaces: globs("source-namespaces", sourceNamespaces),
    scope: scopeOf(config),
    excludeNamespaces: globsIfAny("exclude-namespaces", config.excludeNamespaces),
    otherSourceNamespaces: globsIfAny("other-source-namespaces", config.otherSourceNamespaces),
    includeSystemNamespaces: config.includeSystemNamespaces,
    ownNamespace: config.ownNamespace,
    sourceList: config.sourceList,
    namespacePolicy: config.namespacePolicy,
    deleteGraceMs: config.deleteGraceMs,
    deleteHoldMs: config.deleteHoldMs,
    fanoutLimitBytes: config.fanoutLimitBytes,
    onlyNames: onlyNames && new Set(onlyNames),
    copyableKeys: copyableKeys && understood("copyable-keys", parseCopyableKeys(copyableKeys)),
    // A list of "!" entries alone would start from every namespace.
    namedSources: named.every((entry) => entry.startsWith("!"))
      ? undefined
      : globs("source-namespaces", named),
  };
}

function scopeOf({ namespaces, sourceNamespaces }: Config): PlannerSettings["scope"] {
  if (!namespaces) return undefined;
  const wrong = namespaces.find((name) => !isNamespaceName(name));
  const expected = "the name of a namespace, no glob: each is watched for itself";
  if (wrong !== undefined) throw wrongValue("namespaces", wrong, expected);
  const targets = new Set(namespaces);
  return { targets, watched: new Set([...targets, ...sourceNamespaces.filter(isNamespaceName)]) };
}

function globsIfAny(flag: FlagName, entries: readonly string[]): GlobList | undefined {
  return entries.length > 0 ? globs(flag, entries) : undefined;
}

function globs(flag: FlagName, entries: readonly string[]): GlobList {
  return understood(flag, parseGlobList(entries.join(","), NAMESPACE_GLOBS));
}

function understood<T>(flag: FlagName, result: Result<T>): T {
  if (result.ok) return result.value;
  throw wrongValue(flag, result.fault.part, result.fault.expected);
}
