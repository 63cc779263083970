// Receipts of a run: the stream that --receipts names, and the journal that writes to it.
import type { Config } from "../controller/settings/config.ts";
import { failureLines } from "../controller/report/failure-lines.ts";
import type { Log } from "../controller/report/log.ts";
import type { SyncHooks } from "../controller/report/sync-log.ts";
import { ReceiptJournal, type JournalCache } from "../receipts/receipt-journal.ts";
import { ReceiptOutput } from "../receipts/receipt-output.ts";
import { RecentChanges } from "../receipts/recent-changes.ts";
import { systemClock } from "../../packages/kube/time/clock.ts";
import type { ClusterWatch } from "./cluster-watch.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Leadership } from "./leadership.ts";
import type { Program } from "./program-context.ts";
import { openReceiptFile } from "../receipts/receipt-file.ts";
import { receiptStdout } from "../receipts/receipt-stdout.ts";

/** The value of --receipts for the standard output. The log is then on stderr. */
export const TO_STDOUT = "stdout";

/** Undefined without receipts. A dry run changes nothing, so it has none. Throws a UsageError for a wrong file. */
export async function openReceipts(
  { receipts, dryRun }: Pick<Config, "receipts" | "dryRun">,
  stdout: Program["stdout"],
  log: Log,
): Promise<ReceiptOutput | undefined> {
  if (receipts === undefined || dryRun) return undefined;
  const { failed, worked } = failureLines(log, systemClock, "receipts not written").of(receipts);
  const reports = {
    onFailed: (code: string): void => failed(new Error(code)),
    onWorked: worked,
  };
  const target =
    receipts === TO_STDOUT
      ? receiptStdout(stdout, reports)
      : await openReceiptFile(receipts, systemClock, reports);
  return new ReceiptOutput(target, systemClock);
}

export type JournalParts = {
  readonly cluster: () => ClusterWatch;
  readonly leadership: () => Leadership;
};

/** Undefined without receipts. `hooks`: what follows the syncs for it. */
export function createJournal(
  { clock, receipts: sink }: Dependencies,
  { cluster, leadership }: JournalParts,
): { readonly journal: ReceiptJournal; readonly hooks: readonly SyncHooks[] } | undefined {
  if (!sink) return undefined;
  let views: readonly JournalCache[] | undefined;
  const changes = new RecentChanges();
  const journal = new ReceiptJournal({
    sink,
    clock,
    changes,
    // Asked at every change, and the caches of a cluster do not change.
    caches: () =>
      (views ??= cluster().caches.kinds.map(({ kind, written, list }) => ({
        ...written,
        kind,
        list,
      }))),
    namespace: (name) => cluster().caches.written.namespace(name),
    run: () => leadership().identity,
    term: () => leadership().elector?.transitions,
  });
  return { journal, hooks: [changes, journal] };
}
