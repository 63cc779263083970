// Computes what a run would finally write in this cluster state, with the controller's own planner and no
// waiting. First it plans for a controller that has just seen the cluster state, which says how long each removal
// waits. Then it plans for the time when all waits are over. The planner's live reads before a removal are answered from the
// cluster state, which was just read. A live read decides what is written into a pulling Secret, as in a
// run.
import { setImmediate } from "node:timers/promises";
import { KINDS, placeKey } from "../../controller/model/kinds.ts";
import { PlannerMemory } from "../../controller/state/planner-memory.ts";
import { plan } from "../../controller/plan/plan.ts";
import { fillFor, readPullState, emptyingFill } from "../../controller/desired/pull-fill.ts";
import { refText } from "../../text/names.ts";
import type { Action, Fill } from "../../controller/model/actions.ts";
import type { PlannerSettings } from "../../controller/model/cluster.ts";
import type { Plan } from "../../controller/model/verdicts.ts";
import type { PullLooks } from "./decisions.ts";
import type { ReadCluster } from "./read-cluster.ts";

export type DryPlan = {
  /** Once all waits are over. */
  readonly plan: Plan;
  /** As a controller has it that sees the cluster state now: removals wait, and their times are not known. */
  readonly waiting: Plan;
  /** What pulling objects get, by kind and place. */
  readonly fills: ReadonlyMap<string, Fill>;
  /** What was seen of pulling objects that need no fill. */
  readonly looks: PullLooks;
  /** How long each removal waits, by kind and place. */
  readonly waits: ReadonlyMap<string, DryWait>;
};

export type DryWait = {
  readonly ms: number;
  readonly flag: "--delete-grace" | "--delete-hold";
};

type DryPlanParts = Pick<ReadCluster, "builder" | "clusterStates" | "readLive"> & {
  readonly settings: PlannerSettings;
};

// Each round answers the requests of the previous round. A changed answer causes one more request.
const MOST_ROUNDS = 50;
/** Live reads at a time. */
const LOOKS = 16;

export async function dryPlanOf(parts: DryPlanParts): Promise<DryPlan> {
  const memory = new PlannerMemory();
  // A controller that has been running found none of this when it started.
  memory.shared.beganAt = Number.NEGATIVE_INFINITY;
  const fills = new Map<string, Fill>();
  const first = await answered(parts, memory, fills, 0);
  const waits = waitsOf(first);
  const latest = Math.max(0, ...new Set([...waits.values()].map(({ ms }) => ms)));
  const plan = latest === 0 ? first : await answered(parts, memory, fills, latest);
  const looks = looksIn(memory, parts);
  return { plan: timeless(plan), waiting: timeless(first), fills, looks, waits };
}

function looksIn(memory: PlannerMemory, { clusterStates }: DryPlanParts): PullLooks {
  return new Map(
    clusterStates.flatMap(({ kind, pulls }) =>
      Array.from(pulls).flatMap((pull) => {
        const result = memory.of(kind).pullResults.get(refText(pull));
        return result ? [[placeKey(kind, pull), result] as const] : [];
      }),
    ),
  );
}

function waitsOf({ rows }: Plan): DryPlan["waits"] {
  const waits = new Map<string, DryWait>();
  for (const { kind, place, removal, dueAt } of rows)
    if (removal !== undefined && dueAt !== undefined)
      waits.set(placeKey(kind, place), {
        ms: dueAt,
        flag: removal.hold === undefined ? "--delete-grace" : "--delete-hold",
      });
  return waits;
}

/** The plan at `now`, once nothing is asked any more. */
async function answered(
  parts: DryPlanParts,
  memory: PlannerMemory,
  fills: Map<string, Fill>,
  now: number,
): Promise<Plan> {
  for (let round = 0; ; round++) {
    const made = await planned(parts, memory, now);
    const isAnswered = answerQuestions(made.actions, memory, now);
    const pulls = await readPulls(made.actions, memory, fills, parts);
    if ((!isAnswered && !pulls) || round === MOST_ROUNDS) return made;
  }
}

/** Removes the times, because those of a stopped clock mean nothing to a reader. */
function timeless(made: Plan): Plan {
  if (made.rows.every(({ dueAt }) => dueAt === undefined)) return made;
  return { ...made, rows: made.rows.map((row) => ({ ...row, dueAt: undefined })) };
}

async function planned(
  { clusterStates, settings }: DryPlanParts,
  memory: PlannerMemory,
  now: number,
): Promise<Plan> {
  const planning = plan(clusterStates, settings, memory, now, new Set());
  for (;;) {
    const step = planning.next();
    if (step.done) return step.value;
    // Signals are processed here.
    await setImmediate();
  }
}

function answerQuestions(
  actions: readonly Action[],
  { shared }: PlannerMemory,
  now: number,
): boolean {
  let asked = false;
  for (const action of actions) {
    if (action.kind !== "confirm") continue;
    for (const question of action.liveReads)
      shared.liveReads.found(question, question.shown, now, 0);
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
  const conflict = "code" in filling ? filling : undefined;
  const { uid, resourceVersion } = target;
  memory
    .of(objectKind)
    .pullResults.note(refText(place), { uid, resourceVersion, decisionKey, conflict });
  return true;
}
