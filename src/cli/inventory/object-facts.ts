// What an inventory keeps of each object, which was read without its data.
import {
  publishes,
  type CopyObject,
  type PullingObject,
  type ValueTime,
} from "../../controller/model/cluster.ts";
import { placeKey, type ObjectKind } from "../../controller/model/kinds.ts";
import { dataManagers, valueTime } from "../../controller/observed/value-time.ts";
import type { TakingPart } from "../../inspect/cluster/cluster-builder.ts";
import { fieldsIn } from "../../inspect/requests/fields.ts";
import { rowOf } from "../../inspect/requests/without-data.ts";
import { isDataKey, type Ref } from "../../text/names.ts";
import { CERTIFICATE_KEY } from "./certificates.ts";

/** What is kept of an object that was read without its data. */
export type ObjectFacts = {
  readonly kind: ObjectKind;
  readonly object: TakingPart;
  readonly type: string;
  readonly keys: readonly string[];
  readonly unnamedKeys: number;
  readonly mayHaveCertificate: boolean;
  readonly time: ValueTime;
};

export const TLS_TYPE = "kubernetes.io/tls";
const NO_NAMES = { keys: [], unnamedKeys: 0 } as const;

export function factsOf(kind: ObjectKind, object: TakingPart, raw: unknown): ObjectFacts {
  const { type, entryCount } = rowOf(raw);
  const metadata = fieldsIn(fieldsIn(raw)["metadata"]);
  const time = valueTime(metadata, entryCount);
  const managers = dataManagers(metadata["managedFields"]);
  const keys = [...new Set(managers.flatMap((manager) => manager.keys))].filter(isDataKey);
  const unnamedKeys = entryCount > keys.length ? entryCount - keys.length : 0;
  // A key that no manager is recorded for may be it.
  const mayHaveCertificate = type === TLS_TYPE || keys.includes(CERTIFICATE_KEY) || unnamedKeys > 0;
  // There may be a million copies: the names of their keys are those of the source.
  const names = object.role === "source" ? { keys: keys.toSorted(), unnamedKeys } : NO_NAMES;
  return { kind, object, type, ...names, mayHaveCertificate, time };
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
      if (publishes(object)) sources.push(each);
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

/** The source whose value it holds. */
export function namedSource(object: CopyObject | PullingObject): Ref | undefined {
  if (object.role === "copy") return object.template.source;
  return object.isFilled ? object.from : undefined;
}
