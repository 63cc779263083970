// Objects of files that ask for something and that a run would ignore. Which namespaces publish depends on flags that
// a plan of files may not have, so the annotations are checked in any case.
import { IGNORED_REASONS, ignoredText } from "../../controller/annotations/ignored.ts";
import { parseSource } from "../../controller/annotations/parse.ts";
import { problemText } from "../../controller/annotations/rules.ts";
import { objectOf, stringsOf } from "../../controller/model/unstructured.ts";
import type { IgnoredObject, IgnoredReport } from "../../controller/model/verdicts.ts";
import type { FileCluster } from "../../inspect/cluster/read-files.ts";
import { printable } from "../../text/printable.ts";
import { refText } from "../../text/names.ts";

const MOST_SHOWN = 10;

/** A line for each of the first objects, and the number of the others. Empty where nothing is ignored. */
export async function ignoredInFiles(
  { counts, sample }: IgnoredReport,
  readLive: FileCluster["readLive"],
): Promise<readonly string[]> {
  const count = IGNORED_REASONS.filter((reason) => reason !== "flag" && reason !== "accept").reduce(
    (sum, reason) => sum + counts[reason],
    0,
  );
  const shown = sample.slice(0, MOST_SHOWN);
  const lines = await Promise.all(
    shown.map(async (each) => lineOf(each, await readLive(each.kind, each.object))),
  );
  const more = count - shown.length;
  return [...lines, ...(more > 0 ? [`ignored: ${more} more objects`] : [])].map(printable);
}

function lineOf({ kind, object, ignored }: IgnoredObject, raw: unknown): string {
  const annotations = stringsOf(objectOf(objectOf(raw).metadata).annotations);
  const { problems } = parseSource(annotations, object.name);
  const why = [ignoredText(kind, ignored), ...problems.map(problemText)];
  return `ignored: ${kind} ${refText(object)}: ${why.join("; ")}`;
}
