// The controller flags that are needed after a move, with notes about them.
import type { JudgedCopy } from "./judge-copies.ts";
import type { MovedSource } from "./moved-source.ts";
import { copiedKind } from "../oldtools/old-objects.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import type { PlannerSettings } from "../../controller/model/cluster.ts";
import { matchesEveryName } from "../../text/globs.ts";

type MovedObjects = {
  readonly sources: readonly MovedSource[];
  readonly copies: readonly JudgedCopy[];
};

/** The kinds that the controller must read after the move. */
export function movedKinds({ sources, copies }: MovedObjects): ReadonlySet<ObjectKind> {
  const moving = sources.filter(
    ({ write, annotations }) => write !== "refused" && Object.keys(annotations).length > 0,
  );
  // A rule that moved may be deleted by now.
  const adopted = copies.filter(({ state }) => state === "adopted");
  return new Set([
    ...moving.map(({ place: { kind } }) => kind),
    ...adopted.map(({ object: { kind } }) => copiedKind(kind)),
  ]);
}

/** The names of the objects that move and that `onlyNames` does not contain. */
export function namesToAdd(
  { sources, copies }: MovedObjects,
  onlyNames: Iterable<string> | undefined,
): readonly string[] {
  if (onlyNames === undefined) return [];
  const present = new Set(onlyNames);
  const moving = sources.filter(
    ({ write, annotations }) => write !== "refused" && Object.keys(annotations).length > 0,
  );
  const ours = copies.filter(
    ({ pulls, state }) => state === "adopted" || (pulls && state === "adoptable"),
  );
  const names = [
    ...moving.flatMap(({ place, old }) => [place.name, old.copyName]),
    ...ours.map(({ object }) => object.name),
  ];
  return [...new Set(names)].filter((name) => !present.has(name)).toSorted();
}

/** `namespaces`: all entries of --source-namespaces, in order. */
export function flagsOfMove(
  namespaces: readonly string[],
  optIn: boolean,
  kinds: ReadonlySet<ObjectKind>,
  planner: PlannerSettings,
  unreadNames: readonly string[],
): readonly string[] {
  const flags = namespaces.length > 0 ? [`--source-namespaces=${namespaces.join(",")}`] : [];
  const policy = optIn ? "opt-in" : planner.namespacePolicy;
  const usual = namespaces.some(matchesEveryName) ? "opt-in" : "opt-out";
  if (optIn || (namespaces.length > 0 && policy !== usual))
    flags.push(`--namespace-policy=${policy}`);
  if (kinds.has("ConfigMap")) flags.push("--config-maps");
  if (planner.onlyNames) {
    flags.push(`--only-names=${[...planner.onlyNames, ...unreadNames].join(",")}`);
  }
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
      `--include-system-namespaces keeps what would be lost in ${names}; without it their copies stay as they are and are no longer kept current`,
    );
  }
  if (namespaces.length > MANY) {
    hints.push(
      `sources lie in ${namespaces.length} namespaces: --source-namespaces='*' names them all, and every other one; its policy is opt-in, so that each namespace needs an accept, unless --namespace-policy=opt-out is given as well`,
    );
  }
  return hints;
}
