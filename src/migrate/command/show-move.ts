// Prints a move in the requested format, and what does not move.
import { isToAdopt, namedPlace } from "./apply-migration.ts";
import { besideItems, migrationItems } from "./migration-items.ts";
import { printMigration } from "./migration-text.ts";
import type { MigrateOptions } from "./migrate-options.ts";
import { printPatches } from "./print-patches.ts";
import type { Migration, MoveSettings } from "../moves/migration.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { otherwiseCode, type KubectlFlags } from "../../inspect/kubectl/kubectl-flags.ts";
import { printListing } from "../../inspect/kubectl/listing.ts";
import type { Program } from "../../run/program-context.ts";
import { say } from "../../inspect/kubectl/say.ts";

/** The current cluster, and the result of a move. */
export type MigrationView = {
  readonly migration: Migration;
  readonly unread: readonly string[];
  readonly settings: MoveSettings;
  readonly client: ApiClient;
};

export type ShownMove = Pick<MigrationView, "migration" | "unread"> & {
  readonly inFiles?: boolean;
  /** Patches of objects that create Secrets. */
  readonly patches?: readonly unknown[];
};

/** Prints the move in the requested format. The exit code says whether everything moves. */
export function showMove(
  { migration, unread, inFiles = false, patches = [] }: ShownMove,
  options: MigrateOptions,
  flags: KubectlFlags,
  program: Program,
): number {
  const items = migrationItems(migration, options.adoptDrifted);
  if (options.printPatches) printPatches(migration, { inFiles, patches }, program);
  else if (flags.output === "table" || flags.output === "wide") {
    printMigration(migration, items, flags, program);
  } else {
    const beside = besideItems(migration, unread);
    const listing = { kind: "MigrationList", items, beside, columns: [] };
    printListing({ ...listing, nameOf: ({ object }) => object.replace(" ", "/") }, flags, program);
  }
  const problems = [...unread, ...migration.problems, ...unmatchedNames(migration, options)];
  return printProblems(problems, flags, program);
}

/** The names in --adopt-drifted that are not adoptable copies, and those in --gain that are no sources. */
export function unmatchedNames(
  { copies, sources }: Migration,
  { adoptDrifted, gain }: Pick<MigrateOptions, "adoptDrifted" | "gain">,
): readonly string[] {
  const named = new Set(sources.map(({ place }) => namedPlace(place)));
  const unknown = [...gain]
    .filter((name) => !named.has(name))
    .map((name) => `--gain ${name}: no source of the move is there`);
  const adoptable = copies.filter(
    (copy) => copy.state === "adopted" || isToAdopt(copy, adoptDrifted),
  );
  const places = new Set(adoptable.map(({ object }) => namedPlace(object)));
  const unwanted = [...adoptDrifted]
    .filter((name) => !places.has(name))
    .map((name) => `--adopt-drifted ${name}: no copy that a source of the move wants is there`);
  return [...unwanted, ...unknown];
}

export function printProblems(
  problems: readonly string[],
  flags: KubectlFlags,
  { stderr }: Pick<Program, "stderr">,
): number {
  if (problems.length === 0) return 0;
  say(stderr, "not complete:");
  for (const problem of problems) say(stderr, `  ${problem}`);
  return otherwiseCode(flags);
}
