// Why the installed controller must get other flags before anything is written.
import type { MigrateOptions } from "./migrate-options.ts";
import type { Migration } from "../moves/migration.ts";
import { movedKinds } from "../moves/move-flags.ts";
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
