// The planner's settings out of the configuration: globs understood, everything else as it is.
import { UsageError, type Config } from "./config.ts";
import { NAMESPACE_GLOBS, parseGlobList, type GlobList } from "./core/match.ts";
import type { Settings } from "./core/model.ts";

/** Throws a UsageError that names the flag and the entry at fault. */
export function readSettings(config: Config): Settings {
  const { excludeNamespaces } = config;
  return {
    sourceNamespaces: globs("source-namespaces", config.sourceNamespaces),
    excludeNamespaces:
      excludeNamespaces.length > 0 ? globs("exclude-namespaces", excludeNamespaces) : undefined,
    includeSystemNamespaces: config.includeSystemNamespaces,
    ownNamespace: config.ownNamespace,
    namespacePolicy: config.namespacePolicy,
    deleteGraceMs: config.deleteGraceMs,
    deleteLimit: config.deleteLimit,
    deleteHoldMs: config.deleteHoldMs,
    fanoutLimitBytes: config.fanoutLimitBytes,
  };
}

/** Which namespaces may publish by more than `*`: only their tenants may read of other namespaces. */
export function namedSources({ sourceNamespaces }: Config): (namespace: string) => boolean {
  const named = sourceNamespaces.filter((glob) => glob !== "*");
  if (named.length === 0) return () => false;
  const list = globs("source-namespaces", named);
  return (namespace) => list.matches(namespace);
}

function globs(flag: string, entries: readonly string[]): GlobList {
  const list = parseGlobList(entries.join(","), NAMESPACE_GLOBS);
  if (list.ok) return list.value;
  throw new UsageError(`--${flag}: "${list.fault.part}" is wrong: want ${list.fault.expected}`);
}
