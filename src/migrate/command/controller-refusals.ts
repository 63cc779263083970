// Why the installed controller must get other flags before anything is written.
import type { MigrateOptions } from "./migrate-options.ts";
import type { Migration } from "../moves/migration.ts";
import { movedKinds, namesToAdd } from "../moves/move-flags.ts";
import { publishingEntry } from "../moves/source-namespaces.ts";
import { listed } from "../../text/listed.ts";
import { MOST_NAMES } from "../../controller/annotations/name-scope.ts";
import { UsageError } from "../../controller/settings/config.ts";
import type { ClusterContext } from "../../inspect/cluster/cluster-context.ts";

// When namespaces ask for copies, a source names all of them and each namespace accepts its sources with
// `accept`.
export function refuseBroadcast(
  { tool }: MigrateOptions,
  { installed, planning }: ClusterContext,
): void {
  if (tool.optIn !== true || installed.kind !== "found") return;
  if (planning.settings.namespacePolicy === "opt-in") return;
  const { namespace, name } = installed.controller;
  throw new UsageError(
    `the controller ${namespace}/${name} runs with --namespace-policy=opt-out and would copy into every namespace: give it the printed flags first, or stop it`,
  );
}

// The copies would be ours, and nothing would keep them current.
export function refuseUnreadKind(
  migration: Migration,
  { installed, planning: { theirs } }: ClusterContext,
): void {
  if (installed.kind !== "found" || theirs?.kinds.includes("ConfigMap") === true) return;
  const { namespace, name, unread } = installed.controller;
  if (unread.includes("envFrom") || unread.includes("config-maps")) return;
  if (!movedKinds(migration).has("ConfigMap")) return;
  throw new UsageError(
    `the controller ${namespace}/${name} runs without --config-maps, so that no copy of a ConfigMap would follow its source: give it that flag and the rights for ConfigMaps first, or stop it`,
  );
}

// The controller could not read the copies, and nothing would tell.
export function refuseUnreadNames(migration: Migration, context: ClusterContext): void {
  const fault = nameFault(migration, context);
  if (fault !== undefined) throw new UsageError(`${fault}: give it that flag first, or stop it`);
}

function nameFault(
  migration: Migration,
  { installed, planning: { theirs } }: ClusterContext,
): string | undefined {
  if (installed.kind !== "found") return undefined;
  const { namespace, name, unread } = installed.controller;
  if (unread.includes("only-names")) {
    return `the controller ${namespace}/${name} runs with --only-names, and which names it reads is not known`;
  }
  const names = theirs?.onlyNames ?? [];
  const missing = namesToAdd(migration, theirs?.onlyNames);
  if (missing.length === 0) return undefined;
  const union = [...names, ...missing];
  const most = union.length > MOST_NAMES ? ` (more than the ${MOST_NAMES} that it takes)` : "";
  return `the controller ${namespace}/${name} does not read ${listed(missing)}, so that nothing would keep these copies current: it needs --only-names=${union.join(",")}${most}`;
}

/** Why the installed controller does not keep current what was written. Without one, nothing is said. */
export function keptFaults(context: ClusterContext): (migration: Migration) => readonly string[] {
  const { installed, planning } = context;
  const { theirs } = planning;
  return (migration) => {
    if (installed.kind === "several")
      return [
        `several controllers are installed (${installed.names.join(", ")}), so that it is not known which one keeps the copies current: --lease-namespace chooses one`,
      ];
    if (installed.kind !== "found" || !theirs) return [];
    const { namespace, name, unread } = installed.controller;
    const faults = [nameFault(migration, context)].filter((fault) => fault !== undefined);
    if (unread.includes("envFrom") || unread.includes("source-namespaces")) return faults;
    const moved = migration.sources.filter(
      ({ write, entry, annotations }) =>
        write === "none" && !entry && Object.keys(annotations).length > 0,
    );
    const homes = [...new Set(moved.map(({ place }) => place.namespace))];
    const silent = homes.filter(
      (home) => publishingEntry(theirs.sourceNamespaces, home) === undefined,
    );
    if (silent.length === 0) return faults;
    return [
      ...faults,
      `the controller ${namespace}/${name} does not publish from ${listed(silent)} yet, so that it keeps no copy of these sources current: give it the printed flags`,
    ];
  };
}
