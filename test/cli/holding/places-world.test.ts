// Which places count: histories of a source, its copies, consents, pulls and Pods, played with the real planner and
// writer, and the command's own judges over what is there afterwards. What a Pod really holds is known.
import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../../../src/cli/explanation/explain.ts";
import { judgeRevocation } from "../../../src/cli/holding/revocation.ts";
import {
  rotationPlaces,
  unrecordedPlace,
  type ObservedObject,
} from "../../../src/cli/holding/rotation-places.ts";
import type { CachedObject } from "../../../src/controller/model/cluster.ts";
import { ObservedObjects } from "../../../src/cli/rotation/observed-objects.ts";
import { ClusterBuilder } from "../../../src/inspect/cluster/cluster-builder.ts";
import { dryPlanOf } from "../../../src/inspect/cluster/dry-plan.ts";
import { removalWaits } from "../../../src/controller/model/removal-holds.ts";
import { parseRef } from "../../../src/text/names.ts";
import { globs, settingsOf } from "../../support/planner/planner-cluster.ts";
import {
  PlaceHistory,
  SETTINGS,
  SYNC,
  type LivingPod,
} from "../../support/worlds/rotation/place-history.ts";
import { propertyRuns } from "../../../packages/kube/testing/extent.ts";
import { seeded } from "../../../packages/kube/testing/random.ts";
import { GRACE_MS, HOLD_MS } from "../../verify/subject.ts";

const SEED = 48;
const settings = settingsOf({
  namespacePolicy: SETTINGS.policy,
  sourceNamespaces: globs(SETTINGS.sourceNamespaces),
  namedSources: globs(SETTINGS.sourceNamespaces),
  deleteGraceMs: GRACE_MS,
  deleteHoldMs: HOLD_MS,
});
const SUBJECT = { namespace: "secretcast", name: "db" };

/** A rule that was wrong once, as a change of what is read. */
type Fault = {
  readonly observed?: (found: ObservedObject) => ObservedObject;
  readonly namesNothing?: boolean;
};

/** As `rotation` does, from what is there. Undefined: there is no source. */
async function isSafe(
  { objects, pods, now }: PlaceHistory,
  { observed: changed, namesNothing = false }: Fault,
): Promise<boolean | undefined> {
  const observed = new ObservedObjects();
  const builder = new ClusterBuilder({
    settings,
    kinds: ["Secret"],
    dataCacheBytes: 1024 * 1024,
    withShapes: false,
    onObject: observed.observe,
  });
  for (const [slot, raw] of objects) {
    if (slot.includes(" ")) builder.addObject("Secret", raw);
    else builder.addNamespace(raw);
  }
  const clusterStates = builder.states();
  const [clusterState] = clusterStates;
  const source = clusterState?.objectsIn(SUBJECT.namespace).get(SUBJECT.name);
  if (!clusterState || source?.role !== "source") return undefined;
  const { plan } = await dryPlanOf({
    builder,
    clusterStates,
    settings,
    readLive: (kind, { namespace, name }) =>
      Promise.resolve(objects.get(`${kind} ${namespace}/${name}`)),
  });
  const input = {
    clusterState,
    source,
    observed: (object: CachedObject) => {
      const found = observed.of(object);
      return found && changed ? changed(found) : found;
    },
    leftOut: [],
    unread: () => undefined,
    longestWait: removalWaits(settings).holdMs / 1000,
  };
  const { places: answers } = explain(clusterState, settings, plan, SUBJECT);
  const places = rotationPlaces({ ...input, answers, objects: builder.objects("Secret") });
  return judgeRevocation(
    places,
    { pods: pods.map(({ pod }) => pod), unread: new Set() },
    (place) => (namesNothing ? undefined : unrecordedPlace(place, input)),
    { now, syncPeriod: SYNC },
  ).isSafe;
}

/** docs/rotation.md, "Outside the proof". */
function isOutside({ objects, changedAt }: PlaceHistory, { pod }: LivingPod): boolean {
  const { namespace, createdAt = 0, uses } = pod;
  const [{ name, isOptional } = { name: "", isOptional: false }] = uses;
  const there = objects.get(`Secret ${namespace}/${name}`);
  const words = there?.metadata.annotations;
  const by = words?.["secretcast.io/source"] ?? words?.["secretcast.io/from"];
  const copyName =
    objects.get("Secret secretcast/db")?.metadata.annotations?.["secretcast.io/name"];
  const isName = name === "db" || name === copyName;
  if (!there && isOptional) {
    const lastKept = changedAt + HOLD_MS / 1000;
    if (createdAt > lastKept + SYNC) return true;
  }
  if (by !== undefined) return parseRef(by)?.name !== "db" && !isName;
  return !isName && words?.["secretcast.io/source-uid"] === undefined;
}

type Tally = { played: number; safe: number; held: number; needless: number };

/** `falseSafe`: the first history with one, as text. */
async function play(
  runs: number,
  fault: Fault = {},
): Promise<{ readonly tally: Tally; readonly falseSafe: string | undefined }> {
  const chance = seeded(SEED);
  const tally: Tally = { played: 0, safe: 0, held: 0, needless: 0 };
  for (let run = 0; run < runs; run++) {
    const history = new PlaceHistory(seeded(Math.floor(chance() * 2 ** 32)));
    await history.play();
    const answer = await isSafe(history, fault);
    if (answer === undefined) continue;
    const holding = history.pods.filter((one) => one.isHolding && !isOutside(history, one));
    tally.played++;
    if (answer) tally.safe++;
    if (holding.length > 0) tally.held++;
    else if (!answer) tally.needless++;
    if (!answer || holding.length === 0) continue;
    const pods = holding.map(({ pod }) => `${pod.namespace}/${pod.name}`).join();
    return { tally, falseSafe: `run ${run}: ${pods} hold it\n${history.log.join("\n")}` };
  }
  return { tally, falseSafe: undefined };
}

test("no history has a false safe", async (t) => {
  const { tally, falseSafe } = await play(propertyRuns);
  t.diagnostic(JSON.stringify(tally));
  assert.equal(falseSafe, undefined);
  assert.ok(tally.safe > 0 && tally.held > 0);
});

const FAULTS: Readonly<Record<string, Fault>> = {
  "a place without an object was never one": { namesNothing: true },
  "who filled it is not read": { observed: (found) => ({ ...found, filledBy: undefined }) },
  "whose entries it has is not read": {
    observed: (found) => ({ ...found, isWrittenByUs: false }),
  },
  "since when it has them is not read": { observed: (found) => ({ ...found, since: 0 }) },
};

for (const [title, fault] of Object.entries(FAULTS))
  test(`the histories find a planted fault: ${title}`, async () => {
    const { falseSafe } = await play(5000, fault);
    assert.notEqual(falseSafe, undefined);
  });
