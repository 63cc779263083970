// One object on its way from the bytes of a watch into the cache, as the controller takes it in.
import { createDigest } from "../../../src/controller/model/secret-data.ts";
import { createIntern, createShare } from "../../../src/text/intern.ts";
import type { CopyTemplate } from "../../../src/controller/model/cluster.ts";
import {
  NAMESPACE_GLOBS,
  parseGlobList,
  type GlobAlphabet,
  type GlobList,
} from "../../../src/text/globs.ts";
import { parseCopyableKeys } from "../../../src/controller/annotations/never-copied.ts";
import { readNamespace } from "../../../src/controller/observed/read-namespace.ts";
import { readObject } from "../../../src/controller/observed/read-object.ts";
import { ALWAYS_READ } from "../../../src/controller/annotations/vocabulary.ts";
import { Store } from "../../../packages/kube/store/store.ts";
import type { Stored } from "../../../packages/kube/store/stored.ts";
import { LineSplitter, eventOf } from "../../../packages/kube/cache/watch-decoder.ts";
import type { Worst } from "./worst-objects.ts";
import { KINDS } from "../../../src/controller/model/kinds.ts";

const CHUNK_BYTES = 64 * 1024;

/**
 * The bytes of its line, and what takes them in, with `onTurn` called where others have their turn;
 * false where no object comes of it.
 */
export function intakeOf({ object }: Worst): {
  readonly bytes: number;
  readonly run: (onTurn?: () => void) => boolean;
} {
  const line = Buffer.from(`${asGoWrites({ type: "MODIFIED", object })}\n`);
  const context = {
    kind: KINDS[object.kind === "ConfigMap" ? "ConfigMap" : "Secret"],
    digest: createDigest(Buffer.from("k")),
    intern: createIntern(),
    share: createShare<CopyTemplate>(),
    isSourceNamespace: () => true,
    copyable: { copyableKeys: slowestFlag(), namedSources: listOf("*", NAMESPACE_GLOBS) },
    keep: () => {},
  };
  const run = (onTurn = () => {}): boolean => {
    const lines = new LineSplitter();
    for (let from = 0; from < line.length; from += CHUNK_BYTES) {
      for (const text of lines.push(line.subarray(from, from + CHUNK_BYTES))) {
        const reading = eventOf(text, ALWAYS_READ, object.kind, "a watch");
        let step = reading.next();
        for (; !step.done; step = reading.next()) onTurn();
        const event = step.value;
        if (event.kind !== "set") return false;
        const read =
          object.kind === "Namespace"
            ? readNamespace(event.object)
            : readObject(event.object, context);
        if (!read) return false;
        const store = new Store<Stored>({ monotonic: () => 0 });
        store.recordWrite(read);
        return store.size === 1;
      }
    }
    return false;
  };
  return { bytes: line.length, run };
}

// Its encoder escapes what HTML would: six bytes for one.
function asGoWrites(value: unknown): string {
  return JSON.stringify(value)
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("&", "\\u0026");
}

// Of --copyable-keys, as slow as it may be for 2,000 keys.
function slowestFlag(): GlobList {
  const keys = parseCopyableKeys(Array.from({ length: 11 }, (_, at) => `*${at}argoproj.io/*`));
  if (!keys.ok) throw new Error(`test: ${keys.fault.part}: expected ${keys.fault.expected}`);
  return keys.value;
}

function listOf(text: string, alphabet: GlobAlphabet): GlobList {
  const list = parseGlobList(text, alphabet);
  if (!list.ok) throw new Error(`test: bad globs ${text}`);
  return list.value;
}

/** The longest turn of one intake by the clock `now` (milliseconds); undefined: it did not arrive. */
export function longestTurn(
  run: (onTurn: () => void) => boolean,
  now: () => number,
): number | undefined {
  let [began, longest] = [now(), 0];
  const turn = (): void => {
    const at = now();
    longest = Math.max(longest, at - began);
    began = at;
  };
  if (!run(turn)) return undefined;
  turn();
  return longest;
}

const NAMES = JSON.stringify(Array.from({ length: 150_000 }, (_, at) => `name-${at}`));

/** 150,000 names parsed: about 10 ms on a quiet machine of 2 GHz, and what a busy one makes of that. */
export function reference(): unknown {
  return JSON.parse(NAMES);
}
