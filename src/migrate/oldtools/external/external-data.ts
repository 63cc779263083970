// What an ExternalSecret makes of its source's data, in the words of `keys`. Each rule is tried with
// secretcast's own filter on the data of now, and what does not come out equal is not expressed.
import { fields, objectsIn, type OldObject, type RawFields } from "../old-objects.ts";
import type { ExternalStore, ExternalStores } from "./external-stores.ts";
import { KINDS } from "../../../controller/model/kinds.ts";
import { SecretData } from "../../../controller/model/secret-data.ts";
import { stringOf } from "../../../controller/model/unstructured.ts";
import { filterKeys, parseKeys, recordOf } from "../../../text/key-filter.ts";
import type { Ref } from "../../../text/names.ts";

type StoreHere = Extract<ExternalStore, { kind: "here" }>;

/** One entry of a copy: its key, and the key of the source. */
type Renaming = { readonly to: string; readonly from: string };

export type ExternalData = {
  readonly store: StoreHere;
  readonly source: Ref;
  /** All entries of the source come along. */
  readonly whole: boolean;
  readonly renamings: readonly Renaming[];
  readonly incomplete: readonly string[];
};

/** What a rule reads. `left`: its store is left as it is. A text says why it cannot be expressed. */
export type ReadData =
  | { readonly kind: "data"; readonly data: ExternalData }
  | { readonly kind: "left"; readonly store: Extract<ExternalStore, { kind: "left" }> }
  | { readonly kind: "refused"; readonly store: StoreHere | undefined; readonly why: string };

export function readExternalData(
  spec: RawFields,
  stores: ExternalStores,
  namespace: string | undefined,
): ReadData {
  const entries = objectsIn(spec["data"]);
  const groups = objectsIn(spec["dataFrom"]);
  const refs = [
    ...groups.map(({ sourceRef }) => sourceRef),
    ...entries.map(({ sourceRef }) => sourceRef),
  ];
  const found = refs.map((ref) =>
    stores.storeOf(storeRef(ref) ?? spec["secretStoreRef"], namespace),
  );
  const left = found.find((store) => store.kind === "left");
  const [store, ...others] = found.filter((one) => one.kind === "here");
  const refused = (why: string): ReadData => ({ kind: "refused", store, why });
  if (refs.some((ref) => fields(ref)["generatorRef"] !== undefined)) {
    return refused("a generator makes its values");
  }
  if (!store) {
    if (left) return { kind: "left", store: left };
    return refused("it reads nothing");
  }
  if (left || others.some(({ title }) => title !== store.title)) {
    return refused("it gathers the values of several stores");
  }
  const problem = [...groups.map(problemOfGroup), ...entries.map(problemOfEntry)].find(
    (one) => one !== undefined,
  );
  if (problem !== undefined) return refused(problem);
  const references = [
    ...groups.map(({ extract }) => fields(extract)),
    ...entries.map(({ remoteRef }) => fields(remoteRef)),
  ];
  const names = new Set(references.map(({ key }) => stringOf(key)));
  const [name = ""] = names;
  if (names.size > 1) return refused(`it gathers ${names.size} Secrets into one`);
  const strict = references.some(({ nullBytePolicy }) => nullBytePolicy === "Fail");
  return {
    kind: "data",
    data: {
      store,
      source: { namespace: store.namespace, name },
      whole: groups.length > 0,
      renamings: entries.map(({ secretKey, remoteRef }) => ({
        to: stringOf(secretKey),
        from: stringOf(fields(remoteRef)["property"]),
      })),
      incomplete: strict
        ? ["values with null bytes are copied as well (nullBytePolicy: Fail cannot be expressed)"]
        : [],
    },
  };
}

function storeRef(sourceRef: unknown): unknown {
  return fields(sourceRef)["storeRef"];
}

function problemOfGroup({ find, extract, rewrite }: RawFields): string | undefined {
  if (find !== undefined) return "it finds Secrets by a pattern or by labels (find)";
  if (objectsIn(rewrite).length > 0) return "it rewrites keys (rewrite)";
  const reference = fields(extract);
  if (stringOf(reference["property"]) !== "") {
    return `it extracts the JSON of one entry (property: ${stringOf(reference["property"])})`;
  }
  return problemOfReference(reference);
}

function problemOfEntry({ remoteRef }: RawFields): string | undefined {
  const reference = fields(remoteRef);
  if (stringOf(reference["property"]) === "") {
    return "it writes a whole Secret as JSON into one entry (remoteRef without property)";
  }
  return problemOfReference(reference);
}

function problemOfReference({ decodingStrategy, metadataPolicy }: RawFields): string | undefined {
  const decoding = stringOf(decodingStrategy);
  if (decoding !== "" && decoding !== "None") {
    return `it decodes values (decodingStrategy: ${decoding})`;
  }
  if (metadataPolicy === "Fetch")
    return "it copies labels and annotations as values (metadataPolicy: Fetch)";
  return undefined;
}

export type ChosenData = {
  readonly keys: readonly string[] | undefined;
  /** Undefined when they cannot be expressed, or the source is not there. */
  readonly data: SecretData | undefined;
  readonly problems: readonly string[];
};

/** The entries of `object` that a copy holds, and `keys` for them. */
export function chooseData(
  object: OldObject | undefined,
  { whole, renamings }: ExternalData,
): ChosenData {
  const present = object?.data.reveal() ?? {};
  const keys = keysFor(whole, renamings, present);
  if (!object) return { keys, data: undefined, problems: [] };
  const refused = (why: string): ChosenData => ({ keys, data: undefined, problems: [why] });
  const wanted = new Map(whole ? Object.entries(present) : []);
  for (const { to, from } of renamings) {
    const value = Object.hasOwn(present, from) ? present[from] : undefined;
    if (value === undefined) {
      const path = from.includes(".") ? ": a path into a JSON value cannot be expressed" : "";
      return refused(`its source has no entry ${from}${path}`);
    }
    wanted.set(to, value);
  }
  const filter = keys && parseKeys(keys.join(","));
  if (filter && !filter.ok) {
    return refused(`its keys cannot be expressed: expected ${filter.fault.expected}`);
  }
  const chosen = filter ? filterKeys(filter.value, present) : { ok: true as const, value: present };
  if (!chosen.ok || !isSame(chosen.value, wanted)) return refused("its keys cannot be expressed");
  return { keys, data: new SecretData(KINDS.Secret, recordOf(wanted)), problems: [] };
}

// An entry that is renamed and kept is named twice.
function keysFor(
  whole: boolean,
  renamings: readonly Renaming[],
  present: RawFields,
): readonly string[] | undefined {
  const real = whole ? renamings.filter(({ to, from }) => to !== from) : renamings;
  if (real.length === 0) return undefined;
  const renamed = new Set(real.filter(({ to, from }) => to !== from).map(({ from }) => from));
  const words = real.map(({ to, from }) =>
    to === from && !renamed.has(from) ? to : `${to}=${from}`,
  );
  if (!whole) return words;
  const filled = new Set(real.map(({ to }) => to));
  const hidden = [...filled].filter((key) => Object.hasOwn(present, key) && !renamed.has(key));
  const kept = [...renamed].filter((key) => !filled.has(key));
  return ["*", ...hidden.map((key) => `!${key}`), ...words, ...kept.map((key) => `${key}=${key}`)];
}

function isSame(
  chosen: Readonly<Record<string, string>>,
  wanted: ReadonlyMap<string, string>,
): boolean {
  const keys = Object.keys(chosen);
  return keys.length === wanted.size && keys.every((key) => chosen[key] === wanted.get(key));
}
