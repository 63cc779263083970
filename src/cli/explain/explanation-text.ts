// An explanation as text: the rules as a table, with a mark at the deciding rule, and the commands below.
// Places with the same reason are grouped.
import { annotationKey } from "../../controller/annotations/vocabulary.ts";
import { printable } from "../../text/printable.ts";
import { listed } from "../../text/listed.ts";
import { refText } from "../../text/names.ts";
import { dueText, dueWordsOf } from "../../controller/settings/due-text.ts";
import type { ExplainedVerdict, PlaceAnswer, RuleAnswer } from "../explanation/answer.ts";
import type { Explanation } from "../explanation/explain.ts";
import { awaitsRemoval, type WaysOut } from "../explanation/ways-out.ts";
import { VERDICTS } from "../../controller/model/verdicts.ts";
import { verdictColour } from "../../inspect/cluster/state-colours.ts";
import type { KubectlFlags } from "../../inspect/kubectl/kubectl-flags.ts";
import { painter, tableLines, type Column } from "../../inspect/kubectl/table.ts";
import type { Program } from "../../run/program-context.ts";

type Form = Pick<KubectlFlags, "headers" | "output">;
type Shown = Pick<Program, "env" | "stdout">;

export function* explanationLines(
  explanation: Explanation,
  form: Form,
  program: Shown,
): Generator<string> {
  const { kind, subject, what, places, waysOut } = explanation;
  yield `${painter(program)("bold", `${kind} ${refText(subject)}`)}: ${what}\n`;
  const [only, ...others] = places;
  if (only && others.length === 0) yield* placeLines(explanation, only, form, program);
  else yield* groupLines(explanation, form, program);
  yield* wayLines(waysOut);
}

function* placeLines(
  { subject, is }: Explanation,
  only: PlaceAnswer,
  form: Form,
  program: Shown,
): Generator<string> {
  const { place, source, verdict, reason, decided, answers } = only;
  const isOwn = refText(place) === refText(subject);
  const where = isOwn ? "" : `${refText(place)}: `;
  const whose =
    isOwn && is !== "copy" && is !== "pulling" ? ` for a copy of ${refText(source)}` : "";
  const word = painter(program)(verdictColour(verdict), verdict);
  yield `${where}${word}${whose}, because ${printable(reason)}${dueClause([only])}\n\n`;
  yield* ruleLines(answers, decided, form, program);
  yield* changeLines(decided.change === undefined || awaitsRemoval(only) ? [] : [decided.change]);
}

function* groupLines(explanation: Explanation, form: Form, program: Shown): Generator<string> {
  const { answers, places } = explanation;
  yield "\n";
  yield* ruleLines(answers, undefined, form, program);
  const groups = groupPlaces(places);
  if (groups.length > 0) yield "\n";
  const columns = groupColumns(explanation, form.output === "wide");
  yield* tableLines(groups, columns, form, painter(program));
  yield* changeLines([
    ...answers.flatMap(({ holds, change }) => (holds || change === undefined ? [] : [change])),
    ...groups.flatMap((group) => changeOfGroup(explanation, group)),
  ]);
}

type PlaceGroup = readonly [PlaceAnswer, ...PlaceAnswer[]];

const ORDER: readonly ExplainedVerdict[] = [...VERDICTS, "unknown"];

/** Places of one source with the same verdict and reason: in the order of the verdicts, the largest group first. */
function groupPlaces(places: readonly PlaceAnswer[]): readonly PlaceGroup[] {
  const groups = new Map<string, [PlaceAnswer, ...PlaceAnswer[]]>();
  for (const place of places) {
    const key = `${place.verdict} ${refText(place.source)} ${place.pulling} ${place.reason}`;
    const group = groups.get(key);
    if (group) group.push(place);
    else groups.set(key, [place]);
  }
  return [...groups.values()].toSorted(
    (a, b) => ORDER.indexOf(a[0].verdict) - ORDER.indexOf(b[0].verdict) || b.length - a.length,
  );
}

function* ruleLines(
  answers: readonly RuleAnswer[],
  decided: RuleAnswer | undefined,
  form: Form,
  program: Shown,
): Generator<string> {
  const columns: readonly Column<RuleAnswer>[] = [
    {
      header: "HOLDS",
      cell: ({ holds }) => (holds ? "yes" : "no"),
      colour: ({ holds }) => (holds ? "green" : "red"),
    },
    { header: "RULE", cell: ({ rule }) => rule },
    {
      header: "ANSWER",
      cell: (answer) => `${answer.answer}${answer === decided ? "  <- this decided" : ""}`,
      colour: (answer) => (answer === decided ? "bold" : undefined),
    },
  ];
  yield* tableLines(answers, columns, form, painter(program));
}

function groupColumns(explanation: Explanation, isWide: boolean): readonly Column<PlaceGroup>[] {
  return [
    {
      header: "VERDICT",
      cell: ([{ verdict }]) => verdict,
      colour: ([{ verdict }]) => verdictColour(verdict),
    },
    { header: "PLACES", cell: ({ length }) => String(length) },
    {
      header: "WHERE",
      cell: (group) => {
        const most = isWide || group.length <= MOST_NAMED + 1 ? group.length : MOST_NAMED;
        return listed(namesOf(explanation, group), most);
      },
    },
    { header: "WHY", cell: (group) => `${group[0].reason}${dueClause(group)}` },
  ];
}

/** When the first of the places with this reason changes by itself. Empty when nothing is due. */
function dueClause(places: PlaceGroup): string {
  const [{ verdict, pulling, due }] = places;
  const first = places.reduce(
    (least, { due: { dueAt = Infinity } }) => Math.min(least, dueAt),
    Infinity,
  );
  if (first === Infinity || verdict === "unknown") return "";
  return `; ${dueText(dueWordsOf({ verdict, pulling, ...due }), first, Date.now())}`;
}

const MOST_NAMED = 3;

/** Namespaces where the copies have the name that all have. */
function namesOf({ subject, places }: Explanation, group: PlaceGroup): readonly string[] {
  const isUsual = places.every(({ place }) => place.name === places[0]?.place.name);
  return group.map(({ place, source, pulling }) => {
    if (refText(source) !== refText(subject)) return `${refText(place)} (of ${refText(source)})`;
    return isUsual && !pulling ? place.namespace : refText(place);
  });
}

const MOST_CHANGES = 8;

function changeOfGroup(explanation: Explanation, group: PlaceGroup): readonly string[] {
  const [first] = group;
  const { change } = first.decided;
  if (change === undefined || awaitsRemoval(first)) return [];
  if (explanation.answers.some((answer) => answer.change === change)) return [];
  return [`${first.verdict} in ${namesOf(explanation, [first])[0]}: ${change}`];
}

function* changeLines(changes: readonly string[]): Generator<string> {
  if (changes.length === 0) return;
  yield "\nTo change this:\n";
  for (const change of changes.slice(0, MOST_CHANGES)) yield `  ${printable(change)}\n`;
  if (changes.length > MOST_CHANGES)
    yield `  and ${changes.length - MOST_CHANGES} more: --in NAMESPACE\n`;
}

const MOST_WAYS = 8;

const FOR_GOOD = `To remove copies for good: set ${annotationKey("to")}: "!*" on the source, wait until \`secretcast status\` lists no copy of it, then delete the source.`;

/** Commands whole, each on a line of its own. */
function* wayLines(ways: readonly WaysOut[]): Generator<string> {
  for (const { source, count, keep, remove, note } of ways.slice(0, MOST_WAYS)) {
    const copies = count === 1 ? "the copy" : `the ${count} copies`;
    if (keep.length > 0) yield `\nTo keep ${copies} of ${refText(source)}:\n`;
    for (const command of keep) yield `  ${printable(command)}\n`;
    yield `\nTo remove ${copies} of ${refText(source)} now:\n`;
    for (const command of remove) yield `  ${printable(command)}\n`;
    if (note !== undefined) yield `\nNote: ${printable(note)}\n`;
  }
  if (ways.length > 0) yield `\n${FOR_GOOD}\n`;
  if (ways.length > MOST_WAYS) yield `\nand ${ways.length - MOST_WAYS} more sources\n`;
}
