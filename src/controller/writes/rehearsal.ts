// Whether the API server would take the successor of a copy that cannot be updated, told from the error
// that a create with `dryRun=All` meets while the old copy is still there. The name is checked last of
// all, after every webhook, policy and quota: that it is taken means that nothing else was in the way.
// A quota may be full only because of the old copy. Whatever is not plainly a yes is a no.
import type { ApiError } from "../../kube/rest/api-error.ts";
import type { QuotaFigure } from "../../kube/rest/own-words.ts";

/** `resource`: the plural of the copy's kind. */
export function wouldTake({ ownWords }: ApiError, resource: string, name: string): boolean {
  if (ownWords?.resource !== resource || ownWords.name !== name) return false;
  if (ownWords.kind === "alreadyExists") return true;
  if (ownWords.kind !== "exceededQuota") return false;
  return ownWords.figures.every((figure) => fitsWithoutOne(resource, figure));
}

// The old copy counts as one in each of these, and as nothing in any other.
function fitsWithoutOne(
  plural: string,
  { resource, requested, used, limited }: QuotaFigure,
): boolean {
  return [plural, `count/${plural}`].includes(resource) && used - 1 + requested <= limited;
}
