// An in-toto statement with SLSA's predicate: from what the files of a release were made. It has no
// signature: the job that publishes signs with its identity.
import { join } from "node:path";
import { ROOT, sha256OfFile } from "./files.ts";

export type Made = {
  readonly version: string;
  readonly commit: string;
  /** Where it is to be published; undefined in a dry run. */
  readonly registry: string | undefined;
  /** As it was given, for what was built elsewhere. */
  readonly image: string | undefined;
};

/** `files` below `out`. */
export function provenanceOf(out: string, files: readonly string[], made: Made): object {
  const { version, commit, registry, image } = made;
  const lock = sha256OfFile(join(ROOT, "package-lock.json"));
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: files.map((name) => ({ name, digest: { sha256: sha256OfFile(join(out, name)) } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:secretcast:release:v1",
        externalParameters: {
          version,
          ...(registry !== undefined && { registry }),
          ...(image !== undefined && { image }),
        },
        resolvedDependencies: [
          { name: "git", digest: { gitCommit: commit } },
          { name: "package-lock.json", digest: { sha256: lock } },
        ],
      },
      runDetails: { builder: { id: "urn:secretcast:tools/release.ts" } },
    },
  };
}
