// What an inventory keeps of each object, which was read without its data.
import type {
  CopyObject,
  PullingObject,
  SourceObject,
  ValueTime,
} from "../../controller/model/cluster.ts";
import { placeKey, type ObjectKind } from "../../controller/model/kinds.ts";
import { dataManagers, valueTime } from "../../controller/observed/value-time.ts";
import type { TakingPart } from "../../inspect/cluster/cluster-builder.ts";
import { rowOf } from "../../inspect/requests/without-data.ts";
import { isRecord } from "../../kube/json.ts";
import { isDataKey, type Ref } from "../../text/names.ts";

/** What is kept of an object that was read without its data. */
export type ObjectFacts = {
  readonly kind: ObjectKind;
  readonly object: TakingPart;
  readonly type: string;
  readonly keys: readonly string[];
  readonly unnamedKeys: number;
  readonly time: ValueTime;
};

export function factsOf(kind: ObjectKind, object: TakingPart, raw: unknown): ObjectFacts {
  const { type, entryCount } = rowOf(raw);
  const metadata = isRecord(raw) && isRecord(raw["metadata"]) ? raw["metadata"] : {};
  const time = valueTime(metadata, entryCount);
  // There may be a million copies: the names of their keys are those of the source.
  if (object.role !== "source") return { kind, object, type, keys: [], unnamedKeys: 0, time };
  const managers = dataManagers(metadata["managedFields"]);
  const keys = [...new Set(managers.flatMap((manager) => manager.keys))].filter(isDataKey);
  const unnamedKeys = entryCount > keys.length ? entryCount - keys.length : 0;
  return { kind, object, type, keys: keys.toSorted(), unnamedKeys, time };
}

export type Objects = {
  readonly sources: readonly ObjectFacts[];
  /** Copies and filled pulling objects, by the `placeKey` of their source. */
  readonly holders: ReadonlyMap<string, readonly ObjectFacts[]>;
};

export function objectsOf(facts: Iterable<ObjectFacts>): Objects {
  const sources: ObjectFacts[] = [];
  const holders = new Map<string, ObjectFacts[]>();
  for (const each of facts) {
    const { object } = each;
    if (object.role === "source") {
      if (isSource(object)) sources.push(each);
      continue;
    }
    const source = namedSource(object);
    if (!source) continue;
    const key = placeKey(each.kind, source);
    const those = holders.get(key);
    if (those) those.push(each);
    else holders.set(key, [each]);
  }
  return { sources, holders };
}

// Without `to` and `allow` it is no source, whatever else it carries under our prefix.
function isSource({ rule, problems }: SourceObject): boolean {
  return rule.to !== undefined || rule.allow !== undefined || problems.length > 0;
}

/** The source whose value it holds. */
export function namedSource(object: CopyObject | PullingObject): Ref | undefined {
  if (object.role === "copy") return object.template.source;
  return object.sourceUid !== undefined && object.filled > 0 ? object.from : undefined;
}
