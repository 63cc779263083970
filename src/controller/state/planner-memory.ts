// All that is remembered beside the plan: of each kind by itself, and of all together.
import { OBJECT_KINDS, type ObjectKind } from "../model/kinds.ts";
import { type Fight, PlannerState, SharedState } from "./planner-state.ts";

export class PlannerMemory {
  readonly shared = new SharedState();
  readonly #states = new Map(
    OBJECT_KINDS.map((kind) => [kind, new PlannerState(this.shared)] as const),
  );

  of(kind: ObjectKind): PlannerState {
    const state = this.#states.get(kind);
    if (!state)
      throw new Error(`Cannot remember anything of ${kind}: it is not in the table of kinds`);
    return state;
  }

  /** The API server answers again after an outage: what failed for want of it is due now. */
  serverIsBack(): void {
    this.shared.liveReads.serverIsBack();
    for (const state of this.#states.values()) state.serverIsBack();
  }

  /** A failed write may recover by itself. */
  get mayRecover(): boolean {
    return [...this.#states.values()].some(({ backoff }) => backoff.mayRecover);
  }

  /** A Namespace was changed: failed writes in it are tried sooner. */
  namespaceChanged(name: string): void {
    for (const state of this.#states.values()) state.backoff.namespaceChanged(name);
  }

  /** Fights since the last call. */
  takeFights(): readonly Fight[] {
    return [...this.#states.values()].flatMap((state) => state.takeFights());
  }
}
