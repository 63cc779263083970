// Receipts by what the caches show: lost answers, changes by others, copies that exist, lines that were lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ReceiptJournal } from "../../src/receipts/receipt-journal.ts";
import { because } from "../../src/controller/model/reasons.ts";
import { CopyObject, type CachedObject } from "../../src/controller/model/cluster.ts";
import type { Action } from "../../src/controller/model/actions.ts";
import { RecentChanges } from "../../src/receipts/recent-changes.ts";
import { FakeClock } from "../../packages/kube/testing/fake-clock.ts";
import { parseReceipts, replayReceipts } from "../support/receipts/replay-receipts.ts";

const SOURCE = { namespace: "shared", name: "db" };

function copy(namespace: string, uid: string, version: string, changedBy?: string): CopyObject {
  const identity = { namespace, name: "db", uid, resourceVersion: version, deleting: false };
  return new CopyObject(identity, {
    source: SOURCE,
    sourceUid: "s1",
    sourceVersion: "5",
    type: "Opaque",
    immutable: false,
    dataDigest: "",
    fingerprint: "",
    onDelete: "delete",
    copiedKeys: "",
    entry: undefined,
    list: undefined,
    unknownMark: undefined,
    ignored: undefined,
    changedBy,
    keyNames: "password",
  });
}

function deletion(target: CopyObject): Action {
  const { namespace, name } = target;
  const place = { namespace, name };
  const why = {
    cause: "unwanted",
    reason: because("SourceUnannotated", { source: "shared/db" }),
  } as const;
  return {
    kind: "delete",
    objectKind: "Secret",
    place,
    source: SOURCE,
    ...why,
    decisionKey: "",
    target,
  };
}

class Rig {
  readonly clock = new FakeClock();
  readonly shown = new Map<string, CachedObject>();
  text = "";
  lost = 0;
  /** Lines are lost while it is set. */
  full = false;
  /** Nothing reads them any more. */
  ended = false;
  readonly journal = new ReceiptJournal({
    sink: this.#sink(),
    clock: this.clock,
    caches: () => [
      {
        kind: "Secret",
        list: () => [...this.shown.values()],
        get: ({ namespace }) => this.shown.get(namespace),
        read: () => undefined,
      },
    ],
    namespace: (name) => ({
      name,
      uid: "",
      resourceVersion: "",
      createdAt: "",
      labels: {},
      terminating: false,
      accept: { kind: "absent" },
    }),
    changes: new RecentChanges(),
    run: () => "run-1",
    term: () => undefined,
  });

  #sink() {
    const lost = (): number => this.lost;
    const isEnded = (): boolean => this.ended;
    return {
      write: (line: string) => {
        if (this.full) this.lost++;
        else this.text += line;
      },
      get lost() {
        return lost();
      },
      get isEnded() {
        return isEnded();
      },
      drained: true,
      whenDrained: () => Promise.resolve(),
    };
  }

  show(namespace: string, now: CachedObject | undefined): void {
    const old = this.shown.get(namespace);
    if (now) this.shown.set(namespace, now);
    else this.shown.delete(namespace);
    this.journal.onShown("Secret", old, now);
  }

  /** What was said since the last call: receipt, code and `found`. */
  said(): readonly string[] {
    const lines = parseReceipts(this.text);
    const from = this.#seen;
    this.#seen = lines.length;
    return lines
      .slice(from)
      .map(({ receipt, place, code, found }) =>
        [receipt, place, code, found && "found"].filter(Boolean).join(" "),
      );
  }
  #seen = 0;

  /** The places that a replay finds. */
  get replayed(): readonly string[] {
    return [...replayReceipts(parseReceipts(this.text)).holdings.keys()];
  }
}

async function began(...copies: readonly CopyObject[]): Promise<Rig> {
  const rig = new Rig();
  for (const each of copies) rig.show(each.namespace, each);
  rig.journal.onSync();
  await rig.clock.advance(1);
  return rig;
}

test("a process that begins states each copy that exists, and nothing before that", async () => {
  const rig = await began(copy("a", "u1", "1"), copy("b", "u2", "2"));
  assert.deepEqual(rig.said(), [
    "begin Started",
    "found a/db Present found",
    "found b/db Present found",
    "end",
  ]);
  assert.deepEqual(rig.replayed, ["Secret a/db", "Secret b/db"]);
});

test("what others do to a copy is found, with the code that says what", async () => {
  const rig = await began(copy("a", "u1", "1"), copy("b", "u2", "2"));
  rig.said();
  rig.show("a", undefined);
  rig.show("b", copy("b", "u3", "4"));
  rig.show("c", copy("c", "u4", "5"));
  const { namespace, name, uid } = copy("c", "u4", "5");
  rig.show("c", {
    role: "unmanaged",
    namespace,
    name,
    uid,
    resourceVersion: "6",
    deleting: false,
    adopt: undefined,
    ignored: undefined,
  });
  assert.deepEqual(rig.said(), [
    "gone a/db DeletedByOthers found",
    "found b/db Appeared found",
    "found c/db Appeared found",
    "gone c/db MarksRemoved found",
  ]);
  assert.deepEqual(rig.replayed, ["Secret b/db"]);
});

test("a change of a copy's labels by others has no line", async () => {
  const rig = await began(copy("a", "u1", "1"));
  rig.said();
  rig.show("a", copy("a", "u1", "2", "kubectl-label"));
  assert.deepEqual(rig.said(), []);
});

test("a delete whose answer was lost is found as ours, once", async () => {
  const target = copy("a", "u1", "1");
  const rig = await began(target);
  rig.said();
  const action = deletion(target);
  rig.journal.onBegin(action);
  const reason = "no answer";
  rig.journal.onOutcome({
    kind: "failed",
    action,
    error: "timeout",
    cause: "deadline",
    reason,
    retryAfterMs: undefined,
  });
  assert.deepEqual(rig.said(), [], "nothing is known yet");
  rig.show("a", undefined);
  assert.deepEqual(rig.said(), ["delete a/db AnswerLost found"]);
  rig.show("a", copy("a", "u2", "3"));
  rig.show("a", undefined);
  assert.deepEqual(rig.said(), ["found a/db Appeared found", "gone a/db DeletedByOthers found"]);
});

test("a copy that was deleted before our delete was deleted by others", async () => {
  const target = copy("a", "u1", "1");
  const rig = await began(target);
  rig.said();
  const action = deletion(target);
  rig.journal.onBegin(action);
  rig.show("a", undefined);
  rig.journal.onOutcome({ kind: "removed", action, absent: true });
  assert.deepEqual(rig.said(), ["gone a/db DeletedByOthers found"]);
});

test("a write that the watch reports before its answer has one line", async () => {
  const target = copy("a", "u1", "1");
  const rig = await began(target);
  rig.said();
  const action = deletion(target);
  rig.journal.onBegin(action);
  rig.show("a", undefined);
  rig.journal.onOutcome({ kind: "removed", action });
  assert.deepEqual(rig.said(), ["delete a/db SourceUnannotated"]);
  assert.deepEqual(rig.replayed, []);
});

test("after lost lines all copies are stated again, within a minute and not more often", async () => {
  const rig = await began(copy("a", "u1", "1"));
  rig.said();
  rig.full = true;
  rig.show("b", copy("b", "u2", "2"));
  rig.show("a", undefined);
  rig.full = false;
  assert.deepEqual(rig.replayed, ["Secret a/db"], "the stream does not know");
  await rig.clock.advance(60_000);
  assert.deepEqual(rig.said(), ["begin LinesLost", "found b/db Present found", "end"]);
  assert.deepEqual(rig.replayed, ["Secret b/db"]);
  await rig.clock.advance(600_000);
  assert.deepEqual(rig.said(), []);
  rig.journal.onStop();
});

test("lines without a reader are counted as lost", async () => {
  const rig = new Rig();
  rig.show("a", copy("a", "u1", "1"));
  rig.journal.onSync();
  await rig.clock.advance(1);
  [rig.full, rig.ended] = [true, true];
  rig.show("b", copy("b", "u2", "2"));
  await rig.clock.advance(600_000);
  assert.equal(rig.lost, 1);
  rig.journal.onStop();
});
