// An explanation as text: the rules as a table, with a mark at the deciding rule, and the commands below.
// Places with the same reason are grouped.
import { annotationKey } from "../../controller/annotations/vocabulary.ts";
import { printable } from "../../text/printable.ts";
import { listed } from "../../text/listed.ts";
import { refText } from "../../text/names.ts";
import { dueText, dueWordsOf } from "../../controller/settings/due-text.ts";
import type { ExplainedVerdict, PlaceAnswer, RuleAnswer } from "../explanation/answer.ts";
import { EXISTS, UNDERSTOOD } from "../explanation/explain-object.ts";
import type { Explanation } from "../explanation/explain.ts";
import { awaitsRemoval, type WaysOut } from "../explanation/ways-out.ts";
import { groupPlaces, type PlaceGroup } from "../explanation/place-groups.ts";
import { METRIC_STATE } from "../../controller/model/verdicts.ts";
import { STATE_COLOURS } from "../../inspect/cluster/state-colours.ts";
import type { KubectlFlags } from "../../inspect/kubectl/kubectl-flags.ts";
import { painter, tableLines, type Colour, type Column } from "../../inspect/kubectl/table.ts";
import type { Program } from "../../run/program-context.ts";

type Form = Pick<KubectlFlags, "headers" | "output">;
type Shown = Pick<Program, "env" | "stdout">;

export function* explanationLines(
  explanation: Explanation,
  form: Form,
  program: Shown,
): Generator<string> {
  const paint = painter(program);
  const { kind, subject, answers, places } = explanation;
  yield `${paint("bold", `${kind} ${refText(subject)}`)}: ${whatItIs(explanation)}\n`;
  const [only, ...others] = places;
  if (only && others.length === 0) {
    yield* placeLines(explanation, only, form, program);
    yield* wayLines(explanation.waysOut);
    return;
  }
  yield "\n";
  yield* ruleLines(answers, undefined, form, program);
  const groups = groupPlaces(places);
  if (groups.length > 0) yield "\n";
  yield* tableLines(groups, groupColumns(explanation, form.output === "wide"), form, paint);
  const changes = [
    ...answers.flatMap(({ holds, change }) => (holds || change === undefined ? [] : [change])),
    ...groups.flatMap((group) => changeOfGroup(explanation, group)),
  ];
  yield* changeLines(changes);
  yield* wayLines(explanation.waysOut);
}

function whatItIs({ is, answers, subject, places }: Explanation): string {
  const own = places.find(({ place }) => refText(place) === refText(subject));
  switch (is) {
    case "source":
      return answers.some(({ holds, rule }) => !holds && rule === UNDERSTOOD)
        ? "a source that is refused"
        : "a source";
    case "copy":
      return own ? `a copy of ${refText(own.source)}` : "a copy";
    case "pulling":
      return own ? `it pulls from ${refText(own.source)}` : "it pulls";
    case "other":
      return "neither a source nor a copy";
    case "absent":
      return "it is not there";
    case "unknown":
      return answers.find(({ rule }) => rule === EXISTS)?.answer ?? "unknown";
  }
}

function* placeLines(
  { subject, answers, is }: Explanation,
  only: PlaceAnswer,
  form: Form,
  program: Shown,
): Generator<string> {
  const { place, source, verdict, reason, decided, answers: there } = only;
  const paint = painter(program);
  const own = refText(place) === refText(subject);
  const of = refText(source) === refText(subject) ? "" : ` of ${refText(source)}`;
  const where = own ? "" : `${refText(place)}: `;
  const whose =
    own && (is === "other" || (is === "absent" && of !== ""))
      ? ` for a copy${of}`
      : own || of === ""
        ? ""
        : of;
  yield `${where}${paint(colourOf(verdict), verdict)}${whose}, because ${printable(reason)}${dueClause([only])}\n\n`;
  // The answers for a copy or a pulling object already contain the rules of its source.
  const about = is === "source" || is === "absent" || is === "unknown" ? answers : [];
  yield* ruleLines([...about, ...there], decided, form, program);
  yield* changeLines(decided.change === undefined || awaitsRemoval(only) ? [] : [decided.change]);
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

function groupColumns(explanation: Explanation, all: boolean): readonly Column<PlaceGroup>[] {
  return [
    {
      header: "VERDICT",
      cell: ({ verdict }) => verdict,
      colour: ({ verdict }) => colourOf(verdict),
    },
    { header: "PLACES", cell: ({ places }) => String(places.length) },
    { header: "WHERE", cell: (group) => whereOf(explanation, group, all) },
    { header: "WHY", cell: ({ reason, places }) => `${reason}${dueClause(places)}` },
  ];
}

/** When the first of the places with this reason changes by itself. Empty when nothing is due. */
function dueClause(places: PlaceGroup["places"]): string {
  const [{ verdict, pulling, due }] = places;
  const first = places.reduce(
    (least, { due: { dueAt = Infinity } }) => Math.min(least, dueAt),
    Infinity,
  );
  if (first === Infinity || verdict === "unknown") return "";
  return `; ${dueText(dueWordsOf({ verdict, pulling, ...due }), first, Date.now())}`;
}

const MOST_NAMED = 3;

function whereOf(explanation: Explanation, { places }: PlaceGroup, all: boolean): string {
  const names = places.map((place) => nameOf(explanation, place));
  return listed(names, all || names.length <= MOST_NAMED + 1 ? names.length : MOST_NAMED);
}

// A namespace where the copy has the name that all have.
function nameOf({ subject, places }: Explanation, { place, source, pulling }: PlaceAnswer): string {
  const of = refText(source) === refText(subject) ? "" : ` (of ${refText(source)})`;
  const usual = places.every((each) => each.place.name === place.name);
  return `${usual && of === "" && !pulling ? place.namespace : refText(place)}${of}`;
}

const MOST_CHANGES = 8;

function changeOfGroup(
  explanation: Explanation,
  { verdict, places }: PlaceGroup,
): readonly string[] {
  const [first] = places;
  if (awaitsRemoval(first)) return [];
  const { change } = first.decided;
  if (change === undefined || explanation.answers.some((answer) => answer.change === change))
    return [];
  return [`${verdict} in ${nameOf(explanation, first)}: ${change}`];
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

function colourOf(verdict: ExplainedVerdict): Colour {
  const state = verdict === "unknown" ? verdict : METRIC_STATE[verdict];
  return state === undefined ? "grey" : STATE_COLOURS[state];
}
