// Prints the new annotations as kustomize patches, for users with sources in Git, where a write to the
// cluster would be undone. Where a Certificate creates the Secret, the patch changes the Certificate.
import type { Migration } from "../moves/migration.ts";
import type { MovedSource } from "../moves/moved-source.ts";
import { annotationKey } from "../../controller/annotations/vocabulary.ts";
import { apiVersionOf } from "../../text/names.ts";
import { KINDS } from "../../controller/model/kinds.ts";
import { copiedKind, objectTitle } from "../oldtools/old-objects.ts";
import { yamlText } from "../../inspect/kubectl/listing.ts";
import { printable } from "../../text/printable.ts";
import type { Program } from "../../run/program-context.ts";

export function printPatches(
  migration: Migration,
  { inFiles, patches }: { readonly inFiles: boolean; readonly patches: readonly unknown[] },
  { stdout }: Pick<Program, "stdout">,
): void {
  const { sources, namespaces, copies, flags, preparations } = migration;
  for (const step of preparations) stdout.write(`# Before --write: ${printable(step)}\n`);
  stdout.write(`# Flags of the controller: ${flags.join(" ")}\n`);
  for (const source of sources) {
    if (source.write === "create") {
      stdout.write(
        `# ${objectTitle(source.place)} is new and holds data, so that it is not printed: ${printable(source.old.title)} has them.\n`,
      );
    } else if (source.write === "annotate") stdout.write(document(patchOf(source)));
  }
  for (const patch of patches) stdout.write(document(patch));
  for (const { namespace, accept, done } of namespaces) {
    if (done) continue;
    const metadata = { name: namespace.name, annotations: { [annotationKey("accept")]: accept } };
    stdout.write(document({ apiVersion: "v1", kind: "Namespace", metadata }));
  }
  for (const { object, pulls, state, named } of copies) {
    // In a repository a mirror is empty, so it differs from its source.
    const isMirror = pulls && (state === "adoptable" || (inFiles && state === "drifted"));
    if (!isMirror || named === undefined) continue;
    const { namespace, name } = object;
    const metadata = { name, namespace, annotations: { [annotationKey("from")]: named } };
    stdout.write(document(patchFor(object, metadata)));
  }
}

function patchOf({ place, object, annotations }: MovedSource): unknown {
  const certificate = object?.annotations["cert-manager.io/certificate-name"];
  const { namespace, name } = place;
  if (certificate === undefined) return patchFor(place, { name, namespace, annotations });
  return {
    apiVersion: "cert-manager.io/v1",
    kind: "Certificate",
    metadata: { name: certificate, namespace },
    spec: { secretTemplate: { annotations } },
  };
}

function patchFor({ kind }: { readonly kind: string }, metadata: object): object {
  return { apiVersion: apiVersionOf(KINDS[copiedKind(kind)].resource), kind, metadata };
}

function document(patch: unknown): string {
  return `---\n${yamlText(patch)}`;
}
