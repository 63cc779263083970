// What is remembered of all kinds together, because they share it: the guard against mass deletion, what
// the API server was asked live, since when writes have been due, and what follows from namespaces and
// flags alone. Each key contains its kind.
import type { GlobList } from "../../text/globs.ts";
import type { PlannerSettings } from "../model/cluster.ts";
import { Ages } from "./ages.ts";
import { DeleteGuard } from "./delete-guard.ts";
import { LiveReads } from "./live-reads.ts";
import { Reservations } from "./reservations.ts";

/** A positive entry of a flag that lists namespaces. */
export type FlagEntry = {
  /** As the administrator wrote it. */
  readonly text: string;
  readonly list: GlobList;
  /** A namespace that it matched when it was last looked for. */
  witness: string | undefined;
};

export class SharedState {
  readonly liveReads = new LiveReads();
  readonly deleteGuard = new DeleteGuard();
  readonly reservations = new Reservations();
  /** Since when the write of each place has been due. */
  readonly due = new Ages();
  /** When the first sync began: what it found may have been so before. */
  beganAt: number | undefined;
  /** The entries of the last plan's settings. */
  flags: { readonly of: PlannerSettings; readonly entries: readonly FlagEntry[] } | undefined;

  beginPass(now: number): void {
    this.beganAt ??= now;
    this.due.beginPass();
    this.liveReads.beginPass(now);
  }

  endPass(): void {
    this.liveReads.endPass();
  }
}
