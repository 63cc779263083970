// Leaves out exclusions that change nothing, so that the annotations stay readable.
import type { MoveContext } from "./move-context.ts";
import type { PatternUse } from "../oldtools/patterns/old-patterns.ts";
import type { OldTargets } from "../oldtools/old-tool.ts";
import { excludedBy } from "../../controller/desired/namespace-rules.ts";
import { hasWildcard } from "../../text/glob.ts";
import { NAMESPACE_GLOBS, parseGlobList } from "../../text/globs.ts";

// An exclusion of a namespace to which the controller copies nothing anyway.
export function withoutSystem(
  targets: OldTargets,
  { settings }: MoveContext,
): { readonly targets: OldTargets; readonly dropped: ReadonlySet<string> } {
  const isNeedless = ({ engine, pattern }: PatternUse): boolean =>
    engine === "glob" && excludedBy(settings, pattern)?.flag === "--include-system-namespaces";
  const dropped = new Set(targets.except.filter(isNeedless).map(({ pattern }) => pattern));
  const except = targets.except.filter((use) => !isNeedless(use));
  return { targets: { ...targets, except }, dropped };
}

// An exclusion is needless beside a list in which nothing matches it.
export function needless(
  globs: readonly string[],
  selector: string | undefined,
  out: string,
): boolean {
  if (selector !== undefined || globs.length === 0) return false;
  const matches = (list: string, name: string): boolean => {
    const parsed = parseGlobList(list, NAMESPACE_GLOBS);
    return parsed.ok && parsed.value.matches(name);
  };
  if (!hasWildcard(out)) return !matches(globs.join(","), out);
  return globs.every((glob) => !hasWildcard(glob) && !matches(out, glob));
}
