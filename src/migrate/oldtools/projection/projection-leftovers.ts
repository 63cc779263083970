// What projection leaves behind: its resources, whose finalizers make it delete their copies, and their
// definitions.
import type { OldCustom } from "../old-objects.ts";
import { shellCommand } from "../../../text/shell-word.ts";

const MOST_NAMESPACES = 20;

/** The steps by hand, in their order. */
export function projectionLeftovers(customs: readonly OldCustom[]): readonly string[] {
  if (customs.length === 0) return [];
  const byPlace = Map.groupBy(customs, ({ kind, namespace }) => `${kind} ${namespace ?? ""}`);
  const parts = [...byPlace.values()].slice(0, MOST_NAMESPACES).flatMap(commandsOf);
  const rest = byPlace.size - MOST_NAMESPACES;
  return [
    "leave projection at zero replicas: while it runs, or when it starts again, it deletes the copies of each resource that is being deleted",
    ...parts,
    ...(rest > 0 ? [`${rest} more namespaces have resources: run this again to see them`] : []),
    "kubectl delete crd clusterprojections.projection.sh projections.projection.sh",
    "uninstall projection, with its Deployment, ClusterRoles and bindings",
  ];
}

// First the finalizers: without them nobody deletes the copies.
function commandsOf(customs: readonly OldCustom[]): readonly string[] {
  const [first] = customs;
  if (!first) return [];
  const scope = first.namespace === undefined ? [] : ["-n", first.namespace];
  const names = customs.map(({ name }) => name);
  const what = [...scope, `${first.kind.toLowerCase()}s.projection.sh`, ...names];
  const held = customs.some(({ finalizers }) => finalizers.length > 0);
  const change = ["--type=merge", "-p", '{"metadata":{"finalizers":null}}'];
  const patch = shellCommand("kubectl", "patch", ...what, ...change);
  const deletion = shellCommand("kubectl", "delete", ...what, "--ignore-not-found");
  return [...(held ? [patch] : []), deletion];
}
