// A rotation for people: the Pods that hold an older value, the commands that restart them, the Pods that pull
// with it, the places, and the answer in one line.
import { verdictColour } from "../../inspect/cluster/state-colours.ts";
import { printable } from "../../text/printable.ts";
import type { KubectlFlags } from "../../inspect/kubectl/kubectl-flags.ts";
import { painter, tableLines, type Colour, type Column } from "../../inspect/kubectl/table.ts";
import type { Program } from "../../run/program-context.ts";
import { ownerText } from "../holding/restart-command.ts";
import type { Revocation } from "../holding/revocation.ts";
import type { RotationItem } from "./rotation-items.ts";
import { restartCommands, type HolderItem } from "./rotation-items.ts";

type Form = Pick<KubectlFlags, "headers" | "output">;
type Shown = Pick<Program, "env" | "stdout">;

export const PLACE_COLUMNS: readonly Column<RotationItem>[] = [
  { header: "NAMESPACE", cell: ({ namespace }) => namespace },
  { header: "NAME", cell: ({ name }) => name },
  { header: "ROLE", cell: ({ role }) => role },
  { header: "VALUE", cell: ({ value }) => value, colour: valueColour },
  { header: "SINCE", cell: sinceText },
  {
    header: "VERDICT",
    cell: ({ verdict }) => verdict,
    colour: ({ verdict }) => verdictColour(verdict),
  },
  { header: "HELD BY", cell: holderCount, colour: holderColour },
  { header: "REASON", cell: ({ reason }) => reason },
];

function valueColour({ value }: RotationItem): Colour {
  return value === "present" ? "green" : "yellow";
}

function sinceText({ value, since }: RotationItem): string {
  return since ?? (value === "present" ? "unknown" : "");
}

function holderCount({ podsRead, holders }: RotationItem): string {
  if (!podsRead) return "unknown";
  return holders.length === 1 ? "1 Pod" : `${holders.length} Pods`;
}

function holderColour({ podsRead, holders }: RotationItem): Colour | undefined {
  return podsRead && holders.length === 0 ? undefined : "red";
}

type PodLine = HolderItem & Pick<RotationItem, "namespace" | "name">;

const POD_COLUMNS: readonly Column<PodLine>[] = [
  { header: "NAMESPACE", cell: ({ namespace }) => namespace },
  { header: "POD", cell: ({ pod }) => pod },
  { header: "OWNER", cell: ({ owner }) => ownerText(owner) },
  { header: "STARTED", cell: ({ startedAt }) => startedAt ?? "unknown" },
  { header: "HOLDS", cell: holdsText },
  { header: "REASON", cell: reasonText },
];

function holdsText({ name, holds }: PodLine): string {
  const ways = holds.map(({ by, container }) =>
    container === undefined ? by : `${by} (${container})`,
  );
  return `${name} by ${[...new Set(ways)].join(", ")}`;
}

function reasonText({ holds }: PodLine): string {
  return [...new Set(holds.map(({ reason }) => reason))].join("; ");
}

type PullLine = Pick<RotationItem, "namespace" | "name" | "pulls">;

const PULL_COLUMNS: readonly Column<PullLine>[] = [
  { header: "NAMESPACE", cell: ({ namespace }) => namespace },
  { header: "PULL SECRET", cell: ({ name }) => name },
  { header: "PODS", cell: ({ pulls }) => String(pulls.length) },
  { header: "NAMES", wide: true, cell: ({ pulls }) => pulls.join(", ") },
];

/** All that comes before the table of places. */
export function* holderLines(
  items: readonly RotationItem[],
  form: Form,
  program: Shown,
): Generator<string> {
  const paint = painter(program);
  const pods = items.flatMap(({ namespace, name, holders }) =>
    holders.map((holder) => ({ ...holder, namespace, name })),
  );
  if (pods.length > 0) {
    yield "Pods that hold an older value:\n";
    yield* tableLines(pods, POD_COLUMNS, form, paint);
    yield "\nTo restart them:\n";
    for (const command of restartCommands(items)) yield `  ${printable(command)}\n`;
  }
  const pulls = items.filter((item) => item.pulls.length > 0);
  if (pods.length > 0) yield "\n";
  if (pulls.length === 0) return;
  yield "Pods that pull images with it, and read it again at each pull:\n";
  yield* tableLines(pulls, PULL_COLUMNS, form, paint);
  yield "\n";
}

/** `isKnown`: everything could be read. `isLed`: a controller keeps the copies current. */
export function answerLine(
  { isSafe, places, notCurrent, holdingPods, unreadNamespaces }: Revocation,
  { isKnown, isLed }: { readonly isKnown: boolean; readonly isLed: boolean },
): string {
  if (isSafe && isKnown && isLed)
    return `safe to revoke: ${plural(places.length, "place has", "places have")} the present value, and no Pod holds an older one`;
  const why = [
    ...(notCurrent > 0
      ? [plural(notCurrent, "place is not current", "places are not current")]
      : []),
    ...(holdingPods > 0
      ? [plural(holdingPods, "Pod holds an older value", "Pods hold an older value")]
      : []),
    ...(unreadNamespaces > 0
      ? [`the Pods of ${plural(unreadNamespaces, "namespace are", "namespaces are")} not known`]
      : []),
    ...(isKnown ? [] : ["not everything could be read"]),
    ...(isLed ? [] : ["no controller is known to keep the copies current"]),
  ];
  return `do not revoke the old value yet: ${why.join(", ")}`;
}

function plural(count: number, one: string, more: string): string {
  return `${count} ${count === 1 ? one : more}`;
}
