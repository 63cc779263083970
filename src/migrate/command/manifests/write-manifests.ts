// Moves manifests in a repository: adds the new annotations to the files and reports them as a diff.
import { readFileSync, writeFileSync } from "node:fs";
import { editManifest, type EditedManifest } from "./edit-manifests.ts";
import { confirm, type MigrateOptions } from "../migrate-options.ts";
import { printProblems } from "../show-move.ts";
import { objectTitle } from "../../oldtools/old-objects.ts";
import { refText } from "../../../text/names.ts";
import { annotationKey } from "../../../controller/annotations/vocabulary.ts";
import type { Migration } from "../../moves/migration.ts";
import type { KubectlFlags } from "../../../inspect/kubectl/kubectl-flags.ts";
import { printable, printableLines } from "../../../text/printable.ts";
import type { Program } from "../../../run/program-context.ts";
import { textOf } from "../../../inspect/files/folder-files.ts";
import { AS_WRITTEN } from "../../../inspect/files/file-places.ts";
import { fileOf, type FileObject } from "../../../inspect/files/file-objects.ts";
import type { StringMap } from "../../../text/string-map.ts";
import { say } from "../../../inspect/kubectl/say.ts";

type EditedFile = EditedManifest & { readonly file: string };

export async function writeManifests(
  objects: readonly FileObject[],
  migration: Migration,
  options: MigrateOptions,
  flags: KubectlFlags,
  program: Program,
): Promise<number> {
  const { stdout, stderr } = program;
  const files = editedFiles(objects, migration, flags);
  const edited = files.filter(({ done }) => done.length > 0);
  for (const { file, diff } of edited)
    stdout.write(`--- ${printable(file)}\n+++ ${printable(file)}\n${printableLines(diff)}`);
  const count = edited.reduce((sum, { done }) => sum + done.length, 0);
  if (edited.length > 0) {
    await confirm(`change ${count} objects in ${edited.length} files`, options, program);
    for (const { file, text } of edited) writeFileSync(file, text);
  }
  say(stderr, `changed: ${count} objects in ${edited.length} files`);
  for (const flag of migration.flags) say(stderr, `flag of the controller: ${flag}`);
  for (const hint of migration.hints) say(stderr, `to know: ${hint}`);
  const unwritten = migration.sources.flatMap(({ write, place, entry, old: { title } }) => {
    if (write === "create")
      return [`${title}: its new source ${refText(place)} is not put into files`];
    if (write !== "enter" || !entry) return [];
    return [`${title}: its entry ${entry.key} of the source list is not put into files`];
  });
  return printProblems(
    [...migration.problems, ...unwritten, ...refusals(files, migration)],
    flags,
    program,
  );
}

/** The edits that --write refuses, with the reason. They are known before anything is written. */
export function refusedEdits(
  objects: readonly FileObject[],
  migration: Migration,
  flags: KubectlFlags,
): readonly string[] {
  if (objects.some(({ where }) => where.startsWith("stdin:"))) return [];
  return refusals(editedFiles(objects, migration, flags), migration);
}

function refusals(files: readonly EditedFile[], migration: Migration): readonly string[] {
  const found = new Set(files.flatMap((file) => file.found));
  const absent = [...editsOf(migration)].flatMap(([name, annotations]) => {
    if (found.has(name)) return [];
    const lines = Object.entries(annotations).map(([key, value]) => `${key}: ${value}`);
    return [
      `${name.replace(" /", " ")}: no file contains it; add ${lines.join(", ")} where it is created`,
    ];
  });
  return [...files.flatMap(({ refused }) => refused), ...absent];
}

function editedFiles(
  objects: readonly FileObject[],
  migration: Migration,
  flags: KubectlFlags,
): readonly EditedFile[] {
  const edits = editsOf(migration);
  if (edits.size === 0) return [];
  const places = new Map(objects.map(({ where, place }) => [fileOf(where), place]));
  return [...places].map(([file, place]) => {
    const bytes = readFileSync(file);
    const text = textOf(bytes);
    const placement = {
      namespace: flags.namespace,
      place: place === "several" ? AS_WRITTEN : place,
    };
    const edited = editManifest(file, text, edits, placement);
    if (edited.done.length === 0 || Buffer.from(text).equals(bytes)) return { file, ...edited };
    const why = "is in a file that is not UTF-8, so that an edit would change other bytes";
    const refused = edited.done.map(
      (name) => `${file}: ${name} ${why}; add the annotations by hand (--print-patches)`,
    );
    return { file, ...edited, text, done: [], refused: [...edited.refused, ...refused] };
  });
}

function editsOf({ sources, namespaces, copies }: Migration): ReadonlyMap<string, StringMap> {
  const edits = new Map<string, StringMap>();
  for (const { write, place, annotations } of sources) {
    if (write === "annotate") edits.set(objectTitle(place), annotations);
  }
  for (const { namespace, accept, done } of namespaces) {
    if (!done) edits.set(`Namespace /${namespace.name}`, { [annotationKey("accept")]: accept });
  }
  for (const { object, pulls, state, named } of copies) {
    // A mirror in a repository is empty. The first fill adds its entries.
    const allowed = state === "adoptable" || state === "drifted";
    if (!pulls || !allowed || named === undefined) continue;
    edits.set(objectTitle(object), { [annotationKey("from")]: named });
  }
  return edits;
}
