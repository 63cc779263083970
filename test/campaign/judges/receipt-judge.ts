// Judges receipts: all lines of all processes, replayed, must be the copies that the world holds at rest; no
// line without `found` may report a write that the API server did not carry out; no line tells a value.
import type { Clock } from "../../../packages/kube/time/clock.ts";
import {
  parseReceipts,
  replayReceipts,
  type ReceiptLine,
} from "../../support/receipts/replay-receipts.ts";
import {
  dataOf,
  isHidden,
  placeOf,
  isFilled,
  wordOf,
  type Flags,
  type Raw,
  type World,
} from "../model/raw.ts";
import { isRead } from "../model/namespaces.ts";
import { isOurs, isPull } from "../model/standing.ts";
import { openStream, type ReceiptStream } from "./receipt-stream.ts";
import { tellsValue } from "../actors/actors.ts";
import type { Write } from "../controllers/deployment.ts";

export class ReceiptJudge {
  readonly #clock: Clock;
  readonly #chance: () => number;
  readonly #onWrong: (what: string) => void;
  readonly #lines: ReceiptLine[] = [];
  /** In the order in which they began. */
  readonly #runs = new Set<string>();
  /** "UID VERSION" of what was written, and UIDs of what was deleted. */
  readonly #written = new Set<string>();
  readonly #deleted = new Set<string>();
  /** Lines of the stream that can be judged only when the write was told. */
  readonly #claims: ReceiptLine[] = [];

  constructor(clock: Clock, chance: () => number, onWrong: (what: string) => void) {
    this.#clock = clock;
    this.#chance = chance;
    this.#onWrong = onWrong;
  }

  stream(): ReceiptStream {
    return openStream(
      this.#clock,
      this.#chance,
      (text) => this.#take(text),
      (run) => this.#runs.add(run),
    );
  }

  written({ request, answer }: Pick<Write, "request" | "answer">): void {
    const { uid, resourceVersion } = (answer as Partial<Raw> | undefined)?.metadata ?? {};
    if (request.method !== "DELETE") this.#written.add(`${uid} ${resourceVersion}`);
    const body = request.body as { readonly preconditions?: { readonly uid?: string } } | undefined;
    const deleted = body?.preconditions?.uid;
    if (request.method === "DELETE" && deleted !== undefined) this.#deleted.add(deleted);
  }

  /** What is missing, invented or otherwise in the receipts. */
  wrongAtRest(worlds: readonly World[], flags: Flags): readonly string[] {
    const { holdings, complete } = replayReceipts(this.#lines, [...this.#runs].at(-1));
    if (!complete) return ["receipts: the newest statement of all copies has no end"];
    const held = new Map<string, Raw>(
      worlds.flatMap(({ kind, objects }) =>
        Array.from(objects.values(), (raw) => [`${kind} ${placeOf(raw)}`, raw] as const).filter(
          ([, raw]) => isSeen(kind, raw, flags) && holds(raw),
        ),
      ),
    );
    const missing = [...held.keys()].filter((slot) => !holdings.has(slot));
    const invented = [...holdings.keys()].filter((slot) => !held.has(slot));
    const other = [...held].flatMap(([slot, raw]) => {
      const line = holdings.get(slot);
      return line ? differences(line, raw).map((what) => `${slot} (${what})`) : [];
    });
    return [
      ...missing.map((slot) => `receipts: ${slot} is missing`),
      ...invented.map((slot) => `receipts: ${slot} is invented`),
      ...other.map((what) => `receipts: ${what}`),
      ...this.#falseClaims(),
    ];
  }

  #take(text: string): void {
    if (tellsValue(text)) this.#onWrong("a value is in a receipt");
    for (const line of parseReceipts(text)) {
      this.#lines.push(line);
      if (line.found !== true && line.place !== undefined) this.#claims.push(line);
    }
  }

  #falseClaims(): readonly string[] {
    return this.#claims.flatMap(({ receipt, kind, place, before, after }) => {
      const isTrue =
        receipt === "delete"
          ? this.#deleted.has(before?.uid ?? "")
          : this.#written.has(`${after?.uid} ${after?.version}`);
      return isTrue ? [] : [`receipts: ${receipt} of ${kind} ${place} was never carried out`];
    });
  }
}

function holds(raw: Raw): boolean {
  if (!isPull(raw)) return isOurs(raw);
  return isFilled(raw) && FROM.test(wordOf(raw, "from") ?? "");
}

const FROM = /^[-a-z0-9]+\/[-.a-z0-9]+$/;

function isSeen(kind: World["kind"], raw: Raw, flags: Flags): boolean {
  const takesPart = kind === "Secret" || flags.configMaps;
  return takesPart && !isHidden(raw) && isRead(raw.metadata.namespace ?? "", flags);
}

function differences(line: ReceiptLine, raw: Raw): readonly string[] {
  const pulls = isPull(raw);
  const names = Object.keys(dataOf(raw));
  const expected = {
    uid: raw.metadata.uid,
    pulling: pulls,
    deleting: raw.metadata.deletionTimestamp !== undefined,
    source: wordOf(raw, pulls ? "from" : "source"),
    sourceUid: wordOf(raw, "source-uid"),
    sourceVersion: wordOf(raw, "source-version"),
    entry: wordOf(raw, "entry"),
    keys: [...new Set(names)].toSorted().join(),
  };
  const said = {
    uid: line.after?.uid,
    pulling: line.pulling === true,
    deleting: line.deleting === true,
    source: line.source,
    sourceUid: line.sourceUid,
    sourceVersion: line.sourceVersion,
    entry: line.entry,
    keys: line.moreKeys === undefined ? line.keys?.toSorted().join() : expected.keys,
  };
  const words = Object.keys(expected) as (keyof typeof expected)[];
  return words
    .filter((word) => (expected[word] ?? "") !== (said[word] ?? ""))
    .map((word) => `${word}: ${String(said[word])} for ${String(expected[word])}`);
}
