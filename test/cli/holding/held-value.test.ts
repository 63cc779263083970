// Whether a use of a Pod holds an older value: never "no" where that is not certain.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  HELD_CODES,
  heldCode,
  type HeldCode,
  type ObjectValue,
} from "../../../src/cli/holding/held-value.ts";
import type { ContainerStart, Use, UseKind, UsingPod } from "../../../src/cli/holding/using-pod.ts";

const SINCE = 1000;
const PRESENT: ObjectValue = { kind: "present", since: SINCE, isImmutable: false };
const FORMER: ObjectValue = { kind: "former", until: SINCE };
const OTHER = { kind: "other", since: SINCE, isImmutable: false } as const;
/** Long after every volume was refreshed. */
const LATER = { now: SINCE + 500, syncPeriod: 120 };
const SOON = { now: SINCE + 119, syncPeriod: 120 };
const NOTHING: ContainerStart = { kind: "unreported" };

type Given = {
  readonly by?: UseKind;
  readonly start?: ContainerStart;
  readonly use?: Pick<Use, "isOptional" | "required" | "isOfSeveral">;
  readonly pod?: Partial<UsingPod>;
  readonly value?: ObjectValue;
  readonly refresh?: typeof LATER;
};

function codeOf({ by = "environment", start = NOTHING, use: more, pod, ...rest }: Given) {
  const { value = PRESENT, refresh = LATER } = rest;
  const use = { name: "db", by, container: "app", start, ...more };
  const whole: UsingPod = {
    namespace: "team-a",
    name: "web",
    owner: undefined,
    createdAt: undefined,
    startedAt: undefined,
    isScheduled: true,
    isRunning: true,
    isDeleting: false,
    uses: [use],
    ...pod,
  };
  return heldCode(use, whole, value, refresh);
}

const started = (at: number): ContainerStart => ({ kind: "started", at });
const WAITING: ContainerStart = { kind: "waiting" };
const PENDING = { isRunning: false };

const CASES: readonly (readonly [rule: string, given: Given, code: HeldCode | undefined])[] = [
  ["a variable of a Pod that started before", { pod: { startedAt: 999 } }, "StartedBefore"],
  [
    "a variable of a Pod that started in the same second",
    { pod: { startedAt: 1000 } },
    "StartedBefore",
  ],
  ["a variable of a Pod that started afterwards", { pod: { startedAt: 1121 } }, undefined],
  [
    "a variable of a container that started one second after the write",
    { pod: { startedAt: 995 }, start: started(1001) },
    "StartedBefore",
  ],
  [
    "a subPath of a Pod within the sync period",
    { by: "subPath", pod: { startedAt: 1120 } },
    "StartedBefore",
  ],
  [
    "a variable of a container that started again",
    { pod: { startedAt: 900 }, start: started(1121) },
    undefined,
  ],
  [
    "a variable of a container that has ended, while its Pod runs",
    { pod: { startedAt: 900 }, start: started(950) },
    "StartedBefore",
  ],
  [
    "a subPath mount of a container that started again",
    { by: "subPath", pod: { startedAt: 900 }, start: started(1001) },
    "StartedBefore",
  ],
  ["a mount with credentials", { by: "mount", pod: { startedAt: 900 } }, "StartedBefore"],
  ["a pull secret", { by: "pull", pod: { startedAt: 900 } }, undefined],
  ["a pull secret that is old itself", { by: "pull", value: { kind: "older" } }, undefined],
  [
    "a volume within the sync period",
    { by: "volume", pod: { startedAt: 900 }, refresh: SOON },
    "VolumeNotRefreshed",
  ],
  ["a volume after the sync period", { by: "volume", pod: { startedAt: 900 } }, undefined],
  [
    "a volume of a newer Pod within the sync period",
    { by: "volume", pod: { startedAt: 1001 }, refresh: SOON },
    "VolumeNotRefreshed",
  ],
  [
    "a volume of an immutable object",
    { by: "volume", pod: { startedAt: 900 }, value: { ...PRESENT, isImmutable: true } },
    "VolumeImmutable",
  ],
  [
    "a volume of a Pod that is being deleted",
    { by: "volume", pod: { startedAt: 900, isDeleting: true } },
    "VolumeOfDeletedPod",
  ],
  ["a Pod that runs and says not since when", { pod: {} }, "StartUnknown"],
  ["a volume of a Pod that runs and says not since when", { by: "volume" }, undefined],
  [
    "a volume of such a Pod within the sync period",
    { by: "volume", refresh: SOON },
    "VolumeNotRefreshed",
  ],
  ["a Pod that no node has", { pod: { ...PENDING, isScheduled: false } }, undefined],
  ["a Pod that a node has had long enough", { pod: PENDING }, undefined],
  ["a Pod that a node has just got", { pod: PENDING, refresh: SOON }, "StartNotReported"],
  [
    "a Pod that was created afterwards",
    { pod: { ...PENDING, createdAt: 1121 }, refresh: { now: SINCE + 130, syncPeriod: 120 } },
    undefined,
  ],
  [
    "a container that waits, just now",
    { pod: { startedAt: 900 }, start: WAITING, refresh: SOON },
    "StartNotReported",
  ],
  ["a container that waits for long", { pod: { startedAt: 900 }, start: WAITING }, undefined],
  [
    "a subPath mount of a container that waits",
    { by: "subPath", pod: { startedAt: 900 }, start: WAITING },
    "StartedBefore",
  ],
  [
    "an object with an older value",
    { pod: { startedAt: 5000 }, value: { kind: "older" } },
    "CopyNotCurrent",
  ],
  [
    "a volume of an object with an older value",
    { by: "volume", pod: { startedAt: 1 }, value: { kind: "older" } },
    "CopyNotCurrent",
  ],
  [
    "an object whose time is not known",
    { pod: { startedAt: 5000 }, value: { kind: "untimed" } },
    "TimeUnknown",
  ],
  [
    "a container that waits, of an object whose time is not known",
    { pod: { startedAt: 1 }, start: WAITING, value: { kind: "untimed" } },
    "TimeUnknown",
  ],
  [
    "a former copy that a container started with",
    { pod: { startedAt: 900 }, start: started(901), value: FORMER },
    "FormerCopy",
  ],
  [
    "a former copy, and a container that started long afterwards",
    { pod: { startedAt: 900 }, start: started(1200), value: FORMER },
    "FormerCopy",
  ],
  [
    "a former copy, and an optional use that started long afterwards",
    { start: started(1200), use: { isOptional: true }, value: FORMER },
    undefined,
  ],
  [
    "a former copy, and an optional use that started soon afterwards",
    { start: started(1120), use: { isOptional: true }, value: FORMER },
    "FormerCopy",
  ],
  [
    "a Secret that is not there, and no proof of a start",
    { pod: { startedAt: 900, createdAt: 900 }, value: FORMER },
    undefined,
  ],
  [
    "a Secret that is not there, and a new Pod of which nothing is reported",
    { pod: { createdAt: SINCE + 450 }, value: FORMER },
    "StartNotReported",
  ],
  [
    "a former copy of a source without a time, used optionally",
    {
      start: started(9000),
      use: { isOptional: true },
      value: { kind: "former", until: undefined },
    },
    "FormerCopy",
  ],
  [
    "another object, and a container that is older",
    { start: started(900), value: OTHER },
    "FormerContent",
  ],
  [
    "another object, and a container that is newer",
    { start: started(1121), value: OTHER },
    undefined,
  ],
  [
    "another object, and a volume that was refreshed with it",
    { by: "volume", pod: { startedAt: 900 }, start: started(901), value: OTHER },
    undefined,
  ],
  [
    "another object without a time",
    { start: started(9000), value: { ...OTHER, since: undefined } },
    "FormerContent",
  ],
  [
    "a volume with an entry that is not there any more",
    { by: "volume", pod: { startedAt: 900 }, use: { required: ["password"] } },
    "VolumeLacksEntry",
  ],
  [
    "a volume with an entry that is there",
    {
      by: "volume",
      pod: { startedAt: 900 },
      use: { required: ["password"] },
      value: { ...PRESENT, keys: new Set(["password"]) },
    },
    undefined,
  ],
  [
    "a projected volume that needs other objects",
    { by: "volume", pod: { startedAt: 900 }, use: { isOfSeveral: true } },
    "VolumeOfSeveral",
  ],
];

for (const [rule, given, code] of CASES)
  test(`${rule}: ${code ?? "nothing older"}`, () => assert.equal(codeOf(given), code));

test("each code occurs", () => {
  const seen = new Set(CASES.map(([, , code]) => code));
  assert.deepEqual(
    Object.keys(HELD_CODES).filter((code) => !seen.has(code as HeldCode)),
    [],
  );
});
