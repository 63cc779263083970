// What is remembered of all kinds together, because they share it: the guard against mass deletion, what
// the API server was asked live, and since when writes have been due. Keys say of which kind each is.
import { Ages } from "./ages.ts";
import { DeleteGuard } from "./delete-guard.ts";
import { LiveReads } from "./live-reads.ts";

export class SharedState {
  readonly liveReads = new LiveReads();
  readonly deleteGuard = new DeleteGuard();
  /** Of places: since when their write has been due. */
  readonly due = new Ages();

  beginPass(now: number): void {
    this.due.beginPass();
    this.liveReads.beginPass(now);
  }

  endPass(): void {
    this.liveReads.endPass();
  }
}
