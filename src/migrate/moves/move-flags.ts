// The controller flags that are needed after a move, with notes about them.
import type { MovedSource } from "./moved-source.ts";
import type { PlannerSettings } from "../../controller/model/cluster.ts";

/** `namespaces`: all entries of --source-namespaces, in order. */
export function flagsOfMove(
  namespaces: readonly string[],
  optIn: boolean,
  planner: PlannerSettings,
): readonly string[] {
  const flags = namespaces.length > 0 ? [`--source-namespaces=${namespaces.join(",")}`] : [];
  const policy = optIn ? "opt-in" : planner.namespacePolicy;
  const usual = namespaces.some((entry) => /^[*?]*\*[*?]*$/.test(entry)) ? "opt-in" : "opt-out";
  if (optIn || (namespaces.length > 0 && policy !== usual))
    flags.push(`--namespace-policy=${policy}`);
  if (planner.includeSystemNamespaces) flags.push("--include-system-namespaces");
  return flags;
}

const MANY = 20;

export function hintsOfMove(
  sources: readonly MovedSource[],
  namespaces: readonly string[],
  present: readonly string[] | undefined,
): readonly string[] {
  const hints: string[] = [];
  if (present === undefined && namespaces.length > 0)
    hints.push(
      "the --source-namespaces of the installed controller cannot be read: put its entries before the printed ones, or the copies of its sources freeze",
    );
  const system = new Set(
    sources.flatMap(({ lost }) =>
      lost.filter(({ why }) => why.includes("--include-system")).map(({ namespace }) => namespace),
    ),
  );
  if (system.size > 0) {
    const names = [...system].toSorted().join(", ");
    hints.push(
      `--include-system-namespaces keeps what would be lost in ${names}; without it their copies stay as they are and are kept current no more`,
    );
  }
  if (namespaces.length > MANY) {
    hints.push(
      `sources lie in ${namespaces.length} namespaces: --source-namespaces='*' names them all, and every other one; its policy is opt-in, so that each namespace needs an accept, unless --namespace-policy=opt-out is given as well`,
    );
  }
  return hints;
}
