// The inventory as a list: each source with its copies, the age of its value, and what is above a limit.
import { recordOn, type ValueTime } from "../../controller/model/cluster.ts";
import { KINDS, OBJECT_KINDS, placeKey } from "../../controller/model/kinds.ts";
import { isoTime } from "../../controller/settings/due-text.ts";
import { refText, type Ref } from "../../text/names.ts";
import type { Certificate, UnreadCertificate } from "./certificates.ts";
import { namedSource, type ObjectFacts, type Objects } from "./object-facts.ts";
import { objectOfItem, type ItemObject } from "../../inspect/kubectl/listing.ts";
import type { Reader } from "./readers.ts";

export type InventoryCopy = Ref & {
  /** When its data was last written, at the latest. Absent: not recorded. */
  readonly writtenAt?: string;
  /** Filled because its owner has set `from`. */
  readonly pulling?: true;
  /** It names the UID of an earlier object of that name. */
  readonly formerSource?: true;
};

/** The last change of the value is between the two times. */
export type InventoryValue = {
  readonly known: "exact" | "range" | "unknown";
  readonly notBefore?: string;
  readonly notAfter?: string;
  readonly ageAtLeastSeconds?: number;
  readonly ageAtMostSeconds?: number;
  readonly manager?: string;
};

export const LIMITS = ["max-age", "min-validity"] as const;
export type Limit = (typeof LIMITS)[number];

export type InventoryItem = ItemObject & {
  /** Whether it is a source now. Otherwise only copies name it. */
  readonly isSource: boolean;
  /** Key of the source list entry that makes it a source. */
  readonly entry?: string | undefined;
  readonly type?: string | undefined;
  readonly keys: readonly string[];
  /** Entries that no manager is recorded for, so their names are not known without reading data. */
  readonly unnamedKeys?: number;
  readonly value: InventoryValue;
  readonly certificate?: Certificate | UnreadCertificate;
  readonly lastCopyAt?: string;
  readonly copies: readonly InventoryCopy[];
  readonly readers?: readonly Reader[];
  /** Limits that are exceeded. */
  readonly over: readonly Limit[];
  /** Limits that may be exceeded: what is recorded does not say. */
  readonly unsure: readonly Limit[];
};

export function itemsOf({ sources, holders }: Objects, nowMs: number): readonly InventoryItem[] {
  const rest = new Map(holders);
  const items = sources.map((facts) => {
    const key = placeKey(facts.kind, facts.object);
    const copies = rest.get(key) ?? [];
    rest.delete(key);
    return itemOf(facts, copies, nowMs);
  });
  for (const copies of rest.values()) items.push(...withoutSource(copies));
  return items.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

function orderOf({ resource, namespace, name }: InventoryItem): string {
  const rank = OBJECT_KINDS.findIndex((kind) => KINDS[kind].resource.plural === resource);
  return `${rank} ${namespace}/${name}`;
}

function itemOf(
  { kind, object, type, keys, unnamedKeys, time }: ObjectFacts,
  copies: readonly ObjectFacts[],
  nowMs: number,
): InventoryItem {
  return {
    ...objectOfItem(kind, object),
    isSource: true,
    entry: object.role === "source" ? object.entry?.key : undefined,
    type: type || undefined,
    keys,
    ...(unnamedKeys > 0 && { unnamedKeys }),
    value: valueOf(time, nowMs),
    ...copiesOf(copies, object.uid),
    over: [],
    unsure: [],
  };
}

/** Copies that name a source which is none. */
function withoutSource(copies: readonly ObjectFacts[]): readonly InventoryItem[] {
  const [first] = copies;
  const source = first && first.object.role !== "source" ? namedSource(first.object) : undefined;
  if (!first || !source) return [];
  return [
    {
      ...objectOfItem(first.kind, source),
      isSource: false,
      type: first.type || undefined,
      keys: [],
      value: { known: "unknown" },
      ...copiesOf(copies, undefined),
      over: [],
      unsure: [],
    },
  ];
}

function copiesOf(
  copies: readonly ObjectFacts[],
  uid: string | undefined,
): Pick<InventoryItem, "copies" | "lastCopyAt"> {
  const shown = copies
    .map(({ object, time: { notAfter } }) => ({
      namespace: object.namespace,
      name: object.name,
      ...(notAfter !== undefined && { writtenAt: notAfter }),
      ...(object.role === "pull" && { pulling: true as const }),
      ...(object.role !== "source" &&
        uid !== undefined &&
        recordOn(object).sourceUid !== uid && { formerSource: true as const }),
    }))
    .toSorted((a, b) => (refText(a) < refText(b) ? -1 : 1));
  const lastCopyAt = shown.reduce(
    (last, { writtenAt = "" }) => (writtenAt > last ? writtenAt : last),
    "",
  );
  return { ...(lastCopyAt !== "" && { lastCopyAt }), copies: shown };
}

// The time of a manager has whole seconds, and may be read just after that of the creation.
const EXACT_MS = 1000;

export function valueOf(
  { notBefore, notAfter, manager }: ValueTime,
  nowMs: number,
): InventoryValue {
  const ageOf = (time: string): number =>
    Math.max(0, Math.floor((nowMs - Date.parse(time)) / 1000));
  const first = notBefore !== "" && { notBefore, ageAtMostSeconds: ageOf(notBefore) };
  if (notAfter === undefined) return { known: "unknown", ...first };
  const exact = notBefore !== "" && Date.parse(notAfter) - Date.parse(notBefore) <= EXACT_MS;
  return {
    known: exact ? "exact" : "range",
    ...first,
    notAfter,
    ageAtLeastSeconds: ageOf(notAfter),
    ...(manager !== undefined && { manager }),
  };
}

export type InventoryLimits = {
  readonly maxAgeMs: number | undefined;
  readonly minValidityMs: number | undefined;
};

/** Adds what the certificate says, also of the value: it is not older than its certificate. */
export function withCertificate(
  item: InventoryItem,
  certificate: Certificate | UnreadCertificate,
  nowMs: number,
): InventoryItem {
  const { value } = item;
  if ("unreadable" in certificate) return { ...item, certificate };
  const issued = certificate.notBefore.replace(".000Z", "Z");
  const { notBefore = "", notAfter = isoTime(nowMs).replace(/\.\d+Z$/, "Z"), manager } = value;
  const later = [notBefore, issued < notAfter ? issued : notAfter].toSorted().at(-1) ?? "";
  const known = value.notAfter;
  const narrowed = valueOf({ notBefore: later, notAfter: known, manager }, nowMs);
  return { ...item, certificate, value: narrowed };
}

export function withLimits(
  item: InventoryItem,
  { maxAgeMs, minValidityMs }: InventoryLimits,
  nowMs: number,
): InventoryItem {
  const { value, certificate } = item;
  const over: Limit[] = [];
  const unsure: Limit[] = [];
  if (maxAgeMs !== undefined) {
    const { ageAtLeastSeconds = 0, ageAtMostSeconds = Infinity } = value;
    if (ageAtLeastSeconds * 1000 > maxAgeMs) over.push("max-age");
    else if (value.known !== "exact" && ageAtMostSeconds * 1000 > maxAgeMs) unsure.push("max-age");
  }
  if (minValidityMs !== undefined && certificate) {
    if ("unreadable" in certificate) unsure.push("min-validity");
    else {
      const leftMs = Date.parse(certificate.earliestExpiry) - nowMs;
      const isValid = Date.parse(certificate.notBefore) <= nowMs;
      if (leftMs < minValidityMs || !isValid) over.push("min-validity");
    }
  }
  return over.length + unsure.length === 0 ? item : { ...item, over, unsure };
}
