// What the readers of the four roles are given: an object of the API as far as every role reads it, and
// what they ask and report on the way.
import type { Annotations } from "../annotations/parse.ts";
import type { ListEntry } from "../annotations/list-entry.ts";
import type { Ref } from "../../text/names.ts";
import type { CopyableSettings } from "../desired/namespace-rules.ts";
import type { CopyTemplate, Identity, SourceObject, SourcePayload } from "../model/cluster.ts";
import type { KindRules } from "../model/kinds.ts";
import type { Digest } from "../model/secret-data.ts";
import type { ValueTime } from "../model/cluster.ts";
import type { Intern, Share } from "../../text/intern.ts";
import type { StringMap } from "../../text/string-map.ts";

export type ReadContext = {
  /** The kind of the objects that are read. */
  readonly kind: KindRules;
  readonly digest: Digest;
  readonly intern: Intern;
  readonly share: Share<CopyTemplate>;
  isSourceNamespace(namespace: string): boolean;
  readonly copyable: CopyableSettings;
  /** Whether sources keep when their value was last changed. */
  readonly withValueTimes?: boolean;
  /** Keep the names of the entries of copies and of filled entries. Only receipts need them. */
  readonly keepsKeyNames?: boolean;
  /** What the source list says of an object. */
  readonly entryOf?: (object: Ref) => ListEntry | undefined;
  /** Keeps the data of sources, which the cache of Secrets does not keep. */
  keep(source: SourceObject, payload: SourcePayload): void;
};

/** What every role has, and what is read only where a role needs it. */
export type ReadingObject = {
  readonly identity: Identity;
  readonly createdAt: string;
  readonly type: string;
  readonly immutable: boolean;
  readonly labels: StringMap;
  readonly annotations: Annotations;
  data(): StringMap;
  /** Field manager of the newest change, if it is not ours and the API server's list of them was not too long. */
  changedBy(): string | undefined;
  valueTime(): ValueTime;
};

/** A longer list of names is cut. A tenant can forge any number of copies, each with names of its own. */
const LONGEST_NAMES = 1024;

/** Names of entries in one text, "," between them. If not all have room, the last word is "+" and their number. */
export function boundedNames(names: readonly string[]): string {
  let text = "";
  for (const [index, name] of names.entries()) {
    const longer = index === 0 ? name : `${text},${name}`;
    if (longer.length > LONGEST_NAMES)
      return `${text}${index === 0 ? "" : ","}+${names.length - index}`;
    text = longer;
  }
  return text;
}

// The API takes a type of any length, but no meaningful type is longer than a name.
export const LONGEST_TYPE = 253;

/** A type, or only its length if it is too long. */
export function boundedType(type: string): string {
  return type.length > LONGEST_TYPE ? `${type.length} characters` : type;
}
