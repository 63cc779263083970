// Limits for the content of an object that takes part. The size of a result is known before it is built.
// Renames can use one value many times, so a few bytes of text could request gigabytes of data.
import { invalid, type Invalid } from "./result.ts";
import type { StringMap } from "./string-map.ts";

/** Data entries of a source, of its copies and of a pulling Secret. */
export const MOST_DATA_ENTRIES = 1000;
/** Decoded bytes of all values together: kube-apiserver's MaxSecretSize, of ConfigMaps too. */
const MOST_DATA_BYTES = 1_048_576;

/** Which limit these entries exceed, if any. `bytesOf`: the size of one entry. */
export function excessOf(
  entries: StringMap,
  bytesOf: (entry: string) => number,
): Invalid | undefined {
  const values = Object.values(entries);
  if (values.length > MOST_DATA_ENTRIES)
    return invalid(`${values.length} entries`, `at most ${MOST_DATA_ENTRIES} data entries`).fault;
  let bytes = 0;
  for (const value of values) bytes += bytesOf(value);
  if (bytes <= MOST_DATA_BYTES) return undefined;
  return invalid(`${bytes} bytes`, `at most ${MOST_DATA_BYTES} bytes (1 MiB) of data`).fault;
}

/** Bytes that a base64 text encodes. */
export function decodedLength(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, (base64.length / 4) * 3 - padding);
}
