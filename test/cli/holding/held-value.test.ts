// Whether a use of a Pod holds an older value: never "no" where that is not certain.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  HELD_CODES,
  heldCode,
  type HeldCode,
  type ObjectValue,
} from "../../../src/cli/holding/held-value.ts";
import type { ContainerStart, UseKind, UsingPod } from "../../../src/cli/holding/using-pod.ts";
import { tableRows, uncoded } from "../../support/documents/markdown.ts";

const SINCE = 1000;
const PRESENT: ObjectValue = { kind: "present", since: SINCE, isImmutable: false };
/** Long after every volume was refreshed. */
const LATER = { now: SINCE + 500, syncPeriod: 120 };
const SOON = { now: SINCE + 119, syncPeriod: 120 };
const NOTHING: ContainerStart = { kind: "unreported" };

type Given = {
  readonly by?: UseKind;
  readonly start?: ContainerStart;
  readonly pod?: Partial<UsingPod>;
  readonly value?: ObjectValue;
  readonly refresh?: typeof LATER;
};

function codeOf({ by = "environment", start = NOTHING, pod, ...rest }: Given) {
  const { value = PRESENT, refresh = LATER } = rest;
  const use = { name: "db", by, container: "app", start };
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
  ["a variable of a Pod that started afterwards", { pod: { startedAt: 1001 } }, undefined],
  [
    "a variable of a container that started again",
    { pod: { startedAt: 900 }, start: started(1001) },
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
    undefined,
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
    { pod: { ...PENDING, createdAt: 1001 }, refresh: SOON },
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
    { pod: { startedAt: 900 }, start: started(901), value: { kind: "former", since: SINCE } },
    "FormerCopy",
  ],
  [
    "a former copy, and a container that started long afterwards",
    { pod: { startedAt: 900 }, start: started(1200), value: { kind: "former", since: SINCE } },
    undefined,
  ],
  [
    "a volume of a former copy, and a container that started again",
    {
      by: "volume",
      pod: { startedAt: 900 },
      start: started(1200),
      value: { kind: "former", since: SINCE },
    },
    "FormerCopy",
  ],
  [
    "a Secret that is not there, and no proof of a start",
    { pod: { startedAt: 900 }, value: { kind: "former", since: SINCE } },
    undefined,
  ],
  [
    "a former copy of a source without a time",
    { pod: { startedAt: 9000 }, start: started(9000), value: { kind: "former", since: undefined } },
    "FormerCopy",
  ],
];

for (const [rule, given, code] of CASES)
  test(`${rule}: ${code ?? "nothing older"}`, () => assert.equal(codeOf(given), code));

test("docs/reference.md has every code with its sentence, and each of them occurs", () => {
  const reference = readFileSync(new URL("../../../docs/reference.md", import.meta.url), "utf8");
  const section = reference.slice(reference.indexOf("### Codes of rotation"));
  const rows = tableRows(section, ["code", "meaning"]).map(([code = "", says = ""]) => [
    uncoded(code),
    says,
  ]);
  assert.deepEqual(Object.fromEntries(rows), HELD_CODES);
  const seen = new Set(CASES.map(([, , code]) => code));
  assert.deepEqual(
    Object.keys(HELD_CODES).filter((code) => !seen.has(code as HeldCode)),
    [],
  );
});
