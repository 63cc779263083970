// Computes what a run would finally write in this cluster state, with the controller's own planner and no
// waiting. Grace and hold have passed. The planner's live reads before a removal are answered from the
// cluster state, which was just read. A live read decides what is written into a pulling Secret, as in a
// run.
import { setImmediate } from "node:timers/promises";
import { KINDS, placeKey } from "../../controller/model/kinds.ts";
import { PlannerMemory } from "../../controller/state/planner-memory.ts";
import { plan } from "../../controller/plan/plan.ts";
import { fillFor, readPullState, emptyingFill } from "../../controller/desired/pull-fill.ts";
import { refText } from "../../text/names.ts";
import type { Action, Fill } from "../../controller/model/actions.ts";
import type { ClusterState, PlannerSettings } from "../../controller/model/cluster.ts";
import type { Plan } from "../../controller/model/verdicts.ts";
import type { ReadCluster } from "./read-cluster.ts";

export type DryPlan = {
  readonly plan: Plan;
  /** What pulling objects get, by kind and place. */
  readonly fills: ReadonlyMap<string, Fill>;
};

type DryPlanParts = Pick<ReadCluster, "builder" | "clusterStates" | "readLive"> & {
  readonly settings: PlannerSettings;
};

// Each round answers the requests of the previous round. A changed answer causes one more request.
const MOST_ROUNDS = 50;
/** Live reads at a time. */
const LOOKS = 16;
// The planner's clock does not advance, so nothing becomes due by waiting.
const NOW = 0;

/** The settings of a plan that does not wait. */
function withoutWaiting(settings: PlannerSettings): PlannerSettings {
  return { ...settings, deleteGraceMs: 0, sourceGraceMs: 0, deleteHoldMs: 0 };
}

export async function dryPlanOf(parts: DryPlanParts): Promise<DryPlan> {
  const { clusterStates } = parts;
  const settings = withoutWaiting(parts.settings);
  const memory = new PlannerMemory();
  const fills = new Map<string, Fill>();
  for (let round = 0; ; round++) {
    const made = await planned(clusterStates, settings, memory);
    const answered = answerQuestions(made.actions, memory);
    const pulls = await readPulls(made.actions, memory, fills, parts);
    if ((!answered && !pulls) || round === MOST_ROUNDS) return { plan: timeless(made), fills };
  }
}

/** Removes the times, because those of a stopped clock mean nothing to a reader. */
function timeless(made: Plan): Plan {
  if (made.rows.every(({ dueAt }) => dueAt === undefined)) return made;
  return { ...made, rows: made.rows.map((row) => ({ ...row, dueAt: undefined })) };
}

async function planned(
  clusterStates: readonly ClusterState[],
  settings: PlannerSettings,
  memory: PlannerMemory,
): Promise<Plan> {
  const planning = plan(clusterStates, settings, memory, NOW, new Set());
  for (;;) {
    const step = planning.next();
    if (step.done) return step.value;
    // Signals are processed here.
    await setImmediate();
  }
}

function answerQuestions(actions: readonly Action[], { shared }: PlannerMemory): boolean {
  let asked = false;
  for (const action of actions) {
    if (action.kind !== "confirm") continue;
    for (const question of action.liveReads)
      shared.liveReads.found(question, question.shown, NOW, 0);
    asked = true;
  }
  return asked;
}

type PullAction = Extract<Action, { kind: "fill" | "clear" }>;

/** Whether a live read found something that the planner did not know. */
async function readPulls(
  actions: readonly Action[],
  memory: PlannerMemory,
  fills: Map<string, Fill>,
  parts: DryPlanParts,
): Promise<boolean> {
  const due = actions.filter(
    (action): action is PullAction =>
      (action.kind === "fill" || action.kind === "clear") &&
      !fills.has(placeKey(action.objectKind, action.place)),
  );
  let resolved = false;
  for (let from = 0; from < due.length; from += LOOKS) {
    const some = due.slice(from, from + LOOKS);
    const learned = await Promise.all(
      some.map((action) => readPullLive(action, memory, fills, parts)),
    );
    resolved ||= learned.includes(true);
  }
  return resolved;
}

async function readPullLive(
  action: PullAction,
  memory: PlannerMemory,
  fills: Map<string, Fill>,
  { builder, readLive }: DryPlanParts,
): Promise<boolean> {
  const { objectKind, place, target, decisionKey } = action;
  const raw = await readLive(objectKind, place);
  if (raw === undefined) return false;
  const pull = readPullState(KINDS[objectKind], raw);
  if (action.kind === "clear") {
    fills.set(placeKey(objectKind, place), emptyingFill(pull));
    return false;
  }
  const { source } = action.content;
  const payload = await builder.payloadOf(source, () => readLive(objectKind, source));
  if (!payload) return false;
  const filling = fillFor(pull, source, payload);
  const fill = "code" in filling ? undefined : filling.fill;
  if (fill) {
    fills.set(placeKey(objectKind, place), fill);
    return false;
  }
  const conflict = "code" in filling ? filling : filling.shadowed;
  const { uid, resourceVersion } = target;
  memory
    .of(objectKind)
    .pullResults.note(refText(place), { uid, resourceVersion, decisionKey, conflict });
  return true;
}
