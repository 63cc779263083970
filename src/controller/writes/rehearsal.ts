// Decides whether the API server would accept the successor of a copy that cannot be updated. The input is the
// error of a create with `dryRun=All` while the old copy exists. The API server checks the name last, after
// every webhook, policy and quota. "Already exists" therefore means that nothing else prevents the create. A
// quota may be full only because of the old copy. Every unclear answer counts as no.
import type { ApiError } from "../../kube/rest/api-error.ts";
import type { QuotaFigure } from "../../kube/rest/own-words.ts";

/** `resource`: the plural of the copy's kind. */
export function wouldTake({ ownWords }: ApiError, resource: string, name: string): boolean {
  if (ownWords?.resource !== resource || ownWords.name !== name) return false;
  if (ownWords.kind === "alreadyExists") return true;
  if (ownWords.kind !== "exceededQuota") return false;
  return ownWords.figures.every((figure) => fitsWithoutOne(resource, figure));
}

// The old copy counts as one in each of these, and as zero in any other.
function fitsWithoutOne(
  plural: string,
  { resource, requested, used, limited }: QuotaFigure,
): boolean {
  return [plural, `count/${plural}`].includes(resource) && used - 1 + requested <= limited;
}
