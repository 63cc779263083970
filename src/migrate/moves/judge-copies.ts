// Decides which objects with a tool's mark may become copies of secretcast without changes. The tool must
// certainly have made the object from this source, in a namespace that the source names, with equal data
// and type. Marks alone prove little: some tools also mark Secrets of others when they merge entries into
// them.
import { listed } from "../../text/listed.ts";
import { copyType } from "../../controller/model/secret-types.ts";
import { marksOf } from "../../controller/observed/read-copy.ts";
import {
  toolOwners,
  type OldContent,
  type OldMark,
  type OldSource,
  type OldTool,
} from "../oldtools/old-tool.ts";
import { objectTitle, type OldObject } from "../oldtools/old-objects.ts";
import { annotationKey, unknownKeyOf } from "../../controller/annotations/vocabulary.ts";
import { parseRef, refText } from "../../text/names.ts";
import type { SecretData } from "../../controller/model/secret-data.ts";

/**
 * adoptable: ready as it is. adopted: by an earlier move. drifted: made by the tool, with changed data.
 * merged: also has entries of another writer. outside: no rule names its place. orphan: its source no
 * longer exists. doubtful: perhaps not made by the tool. source: marked as a copy of itself. unmanaged:
 * unmarked, in a place that is needed. other: of a kind that does not move.
 */
export type CopyState =
  | "adoptable"
  | "adopted"
  | "drifted"
  | "merged"
  | "outside"
  | "orphan"
  | "doubtful"
  | "source"
  | "unmanaged"
  | "other";

export type JudgedCopy = {
  readonly object: OldObject;
  readonly pulls: boolean;
  readonly source: OldSource | undefined;
  /** The source that the mark names, if it does not move. */
  readonly named: string | undefined;
  readonly state: CopyState;
  readonly why: string;
  /** Whether the tool keeps it current, as far as its rule says. */
  readonly isHealthy: boolean;
};

/** Whether the source names a namespace, for copies or for mirrors. A text says why that is unknown. */
export type Reach = (
  source: OldSource,
  what: "push" | "allow",
  namespace: string,
) => boolean | string;

export function judgeCopy(mark: OldMark, reaches: Reach, tool: OldTool): JudgedCopy {
  const { object, pulls, named } = mark;
  const isHealthy = mark.isStalled !== true;
  const verdict = (state: CopyState, why: string, source?: OldSource): JudgedCopy => {
    return { object, pulls, source: source ?? mark.sources[0], named, state, why, isHealthy };
  };
  const self = mark.sources.find(
    ({ object: own }) => own && objectTitle(own) === objectTitle(object),
  );
  if (self) return verdict("source", "it is the source, marked as a copy of itself", self);
  if (object.deleting) return verdict("doubtful", "it is being deleted");
  // Its rule may be deleted by then.
  const isOurs = !pulls && marksOf(object, object.labels, object.annotations) !== undefined;
  if (isOurs && mark.sources.length === 0) return verdict("adopted", "a copy of ours already");
  if (mark.ofUnmovedRule === true) {
    return verdict("doubtful", `it belongs to ${named ?? "a rule"}, which does not move`);
  }
  if (mark.sources.length === 0) {
    return verdict("orphan", `its source${named ? ` ${named}` : ""} is gone, or is none`);
  }
  return pulls ? judgePull(mark, reaches, verdict) : judgePush(mark, reaches, verdict, tool);
}

type Verdict = (state: CopyState, why: string, source?: OldSource) => JudgedCopy;

function judgePush(mark: OldMark, reaches: Reach, verdict: Verdict, tool: OldTool): JudgedCopy {
  const { object } = mark;
  const ours = marksOf(object, object.labels, object.annotations);
  const known = ours && mark.sources.find((source) => isSource(source, refText(ours.source)));
  // The tool may own a copy again that was adopted. The next adoption removes that owner too.
  const isOwned = toolOwners(tool, object).length > 0;
  if (known && !isOwned) return verdict("adopted", "a copy of ours already", known);
  const doubt = mark.doubt ?? doubtOfWords(mark);
  if (doubt !== undefined) return verdict("doubtful", doubt);
  if (mark.sources.every((source) => source.object?.namespace === object.namespace)) {
    return verdict("outside", "it is beside its source, where secretcast makes no copy");
  }
  const wanting: OldSource[] = [];
  let unknown: string | undefined;
  for (const source of mark.sources) {
    const reached = reaches(source, "push", object.namespace);
    if (typeof reached === "string") unknown = reached;
    else if (reached) wanting.push(source);
  }
  const [first] = wanting;
  if (!first) {
    if (unknown !== undefined) return verdict("doubtful", unknown);
    return verdict("outside", mark.unclaimed ?? "its source does not name this namespace any more");
  }
  const equal = wanting.filter(({ content }) => content && isEqualContent(object, content));
  const winner = equal.find((source) => mark.wroteLast(source)) ?? equal[0];
  if (!winner) return differing(object, first, verdict);
  if (winner.going !== undefined) return verdict("doubtful", winner.going, winner);
  const contested = wanting.length > 1 ? "; of several sources that want this place, its own" : "";
  const frozen =
    object.immutable && winner.content?.immutable === false
      ? "; immutable, which its source is not: made again once"
      : "";
  return verdict("adoptable", `equal data and type${contested}${frozen}`, winner);
}

function judgePull(mark: OldMark, reaches: Reach, verdict: Verdict): JudgedCopy {
  const { object, named } = mark;
  const [source] = mark.sources;
  if (source === undefined) return verdict("orphan", "its source is gone");
  const from = object.annotations[annotationKey("from")];
  if (from !== undefined) {
    return from === named
      ? verdict("adopted", "it pulls by our own annotation already", source)
      : verdict("doubtful", `it has ${annotationKey("from")} already, and names ${from}`, source);
  }
  const reached = reaches(source, "allow", object.namespace);
  if (typeof reached === "string") return verdict("doubtful", reached, source);
  if (!reached) {
    const why = "a mirror that its source does not allow: secretcast refuses it as well";
    return verdict("outside", why, source);
  }
  const doubt = mark.doubt ?? doubtOfWords(mark);
  if (doubt !== undefined) return verdict("doubtful", doubt, source);
  const { content } = source;
  if (!content) return verdict("doubtful", "its source cannot be read", source);
  if (isEncrypted(content.data)) {
    return verdict("drifted", "its source is encrypted by SOPS: nothing is compared", source);
  }
  const other = otherKeys(content.data, object.data);
  if (other.length > 0) {
    return verdict("drifted", `a mirror that is out of date in ${listed(other)}`, source);
  }
  const extra = extraKeys(content, object);
  if (extra.length > 0) {
    const why = `a mirror with entries of somebody else: ${listed(extra)}; it would lose them`;
    return verdict("merged", why, source);
  }
  const wanted = copiedType(content);
  if (object.type !== wanted && object.type !== "Opaque")
    return verdict("drifted", `a mirror of type ${object.type}, its source's is ${wanted}`, source);
  return verdict("adoptable", "a mirror with all entries of its source", source);
}

// After a move, such a copy would be frozen and such a mirror refused.
function doubtOfWords({ object }: OldMark): string | undefined {
  const key = unknownKeyOf(object.annotations);
  return key && `it carries ${key}, which secretcast does not know: correct it or take it off`;
}

function isSource(source: OldSource, place: string): boolean {
  if (source.object) return refText(source.object) === place;
  return parseRef(place)?.name === source.copyName;
}

/** In data and type. */
export function isEqualContent(object: OldObject, content: OldContent): boolean {
  const same = otherKeys(content.data, object.data).length === 0;
  return same && extraKeys(content, object).length === 0 && object.type === copiedType(content);
}

/** The type of a copy that holds these entries. */
export function copiedType({ type, data }: OldContent): string {
  return copyType(type, data.keys());
}

function differing(object: OldObject, source: OldSource, verdict: Verdict): JudgedCopy {
  const { content } = source;
  if (!content) return verdict("doubtful", "what its source holds is not known", source);
  const other = otherKeys(content.data, object.data);
  const extra = extraKeys(content, object);
  const wanted = copiedType(content);
  const type = object.type === wanted ? [] : [`type ${object.type}, its source's is ${wanted}`];
  const values = other.length > 0 ? [`other values than its source's in ${listed(other)}`] : [];
  const own = extra.length > 0 ? [`entries of somebody else: ${listed(extra)}`] : [];
  const merged = extra.length > 0 && other.length === 0;
  return verdict(merged ? "merged" : "drifted", [...values, ...own, ...type].join("; "), source);
}

/** A manifest that SOPS encrypted holds texts that begin so. */
function isEncrypted(data: SecretData): boolean {
  const values = Object.values(data.reveal());
  return values.some(
    (value) =>
      value.startsWith("ENC[") || Buffer.from(value, "base64").toString().startsWith("ENC["),
  );
}

/** Keys of the source that the copy lacks, or has with another value. */
function otherKeys(source: SecretData, copy: SecretData): readonly string[] {
  const [wanted, present] = [source.reveal(), copy.reveal()];
  return Object.keys(wanted).filter(
    (key) => !Object.hasOwn(present, key) || present[key] !== wanted[key],
  );
}

function extraKeys({ data }: OldContent, copy: OldObject): readonly string[] {
  const wanted = data.reveal();
  return copy.data.keys().filter((key) => !Object.hasOwn(wanted, key));
}
