// A pulling object: from where, and what is ours in it already. It is its owner's, and never a copy.
import { parsePull } from "../annotations/parse.ts";
import { ignoredOnPull } from "../annotations/ignored.ts";
import { invalid } from "../../text/result.ts";
import { NO_ANNOTATION, type Problem } from "../annotations/rules.ts";
import { annotationKey } from "../annotations/vocabulary.ts";
import { marksOf } from "./read-copy.ts";
import { keysHeld, recordedFill } from "../desired/pull-fill.ts";
import { refText } from "../../text/names.ts";
import type { PullingObject } from "../model/cluster.ts";
import type { KindRules } from "../model/kinds.ts";
import { digestData, SecretData } from "../model/secret-data.ts";
import { boundedNames, boundedType, type ReadContext, type ReadingObject } from "./read-context.ts";
import { dataExcess, everywhereRefusals, refusals } from "./refusals.ts";

// Nobody reads more of them, and each is kept as long as the Secret is.
const MOST_PULL_PROBLEMS = 3;
/** A longer `keys` is read again when the Secret is to be filled. */
const LONGEST_KEPT_KEYS = 4096;

export function readPull(
  reading: ReadingObject,
  { digest, intern, kind, keepsKeyNames }: ReadContext,
): PullingObject {
  const { identity, type, immutable, annotations } = reading;
  const text = parsePull(annotations);
  const data = reading.data();
  const problems = [
    ...refusals(reading, kind),
    ...everywhereRefusals(kind, "name", identity.name),
    ...excesses(kind, data),
    ...forgeries(reading, kind),
    ...text.problems,
  ];
  return {
    role: "pull",
    kind: kind.kind,
    ...identity,
    type: intern(boundedType(type)),
    immutable,
    from: text.from && { namespace: intern(text.from.namespace), name: intern(text.from.name) },
    problems: problems.slice(0, MOST_PULL_PROBLEMS),
    keys: (text.keys.text?.length ?? 0) > LONGEST_KEPT_KEYS ? undefined : text.keys,
    onDelete: text.onDelete,
    bytes: new SecretData(kind, data).bytes(),
    dataDigest: intern(digestData(digest, data)),
    content: intern(keysHeld(kind, type, data)),
    ...(keepsKeyNames && { keyNames: intern(boundedNames(Object.keys(data))) }),
    ...recordedFill(identity, annotations),
    ignored: ignoredOnPull(annotations),
  };
}

function excesses(kind: KindRules, data: Readonly<Record<string, string>>): Problem[] {
  const excess = dataExcess(kind, data);
  return excess ? [{ annotation: "data", ...excess }] : [];
}

// A fill records source-uid and placed-at. With the label and `source` there already, the Secret would be a copy as
// soon as its owner takes `from` off, and could be deleted.
function forgeries(
  { identity, labels, annotations }: ReadingObject,
  { kind }: KindRules,
): Problem[] {
  const filled = {
    [annotationKey("source-uid")]: "of a fill",
    [annotationKey("placed-at")]: refText(identity),
  };
  if (!marksOf(identity, labels, { ...annotations, ...filled })) return [];
  const annotation = annotationKey("source");
  const expected = `${NO_ANNOTATION}, or no ${annotationKey("from")}: a pulling ${kind} is no copy`;
  return [{ annotation, ...invalid(annotations[annotation] ?? "", expected).fault }];
}
