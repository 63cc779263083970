// The clients and observers that the parts of a controller share.
import type { ApiClient } from "../../packages/kube/rest/api-client.ts";
import type { Clock } from "../../packages/kube/time/clock.ts";
import type { Log } from "../controller/report/log.ts";
import type { Metrics } from "../controller/report/metrics.ts";
import type { ReceiptSink } from "../receipts/receipt-journal.ts";
import type { SyncHooks } from "../controller/report/sync-log.ts";
import type { StatusFeed } from "../page/status-feed.ts";

export type Dependencies = {
  readonly client: ApiClient;
  /** Leases have a connection of their own: a renewal must never queue behind a fan-out. */
  readonly leaseApi: ApiClient;
  readonly clock: Clock;
  /** CPU time of this thread in ms. The clock, if it is undefined. */
  readonly cpuMs?: (() => number) | undefined;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly observer: SyncHooks;
  /** Where receipts are sent. Undefined if there are none. */
  readonly receipts?: ReceiptSink | undefined;
  /** The source of the status page, if there is one. */
  readonly statusFeed?: StatusFeed;
};
