// What happens to the sources of the program while they are loaded: private fields of what the process
// remembers become readable, so that a state can be copied and compared, and a planted fault replaces one
// text in one file.
import { registerHooks } from "node:module";
import type { SourceFault } from "./faults.ts";

/** Files whose private fields are memory. */
const REMEMBERS =
  /\/(?:src\/controller\/(?:state|desired)\/|packages\/kube\/lru\.ts|src\/text\/hash-times\.ts)/;
const PRIVATE = /#([a-z]\w*)/gi;

/** Call before the program is imported. Throws where a planted text is not in its file exactly once. */
export function prepareSources(fault?: SourceFault): void {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!/\/(?:src|packages)\//.test(url) || typeof loaded.source === "undefined") return loaded;
      const text =
        loaded.source === null ? "" : Buffer.from(loaded.source as Uint8Array).toString();
      const changed = fault && url.endsWith(`/src/${fault.file}`) ? plant(text, fault) : text;
      const source = REMEMBERS.test(url) ? changed.replaceAll(PRIVATE, "__$1") : changed;
      return { ...loaded, source };
    },
  });
}

function plant(text: string, { file, find, put }: SourceFault): string {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(`Cannot plant in ${file}: found ${parts.length - 1} times: ${find}`);

  return parts.join(put);
}
