// `secretcast explain`: reads the cluster once, plans it as a run would, and tells of one object which
// rules decided. The answer goes to stdout, what was judged by and what is not known to stderr.
import { UsageError } from "../../config/config.ts";
import { isNamespaceName, isSecretName, type Ref } from "../../core/annotations/names.ts";
import { explain, type Explanation } from "../../core/explain/explain.ts";
import { KINDS } from "../../core/model/kinds.ts";
import { readKubectlFlags, texts, type Given } from "../kubectl/kubectl-flags.ts";
import { printListing } from "../kubectl/listing.ts";
import type { Program } from "../run/program-context.ts";
import { prospectIn, readJudged, tellUnknown, withJudging } from "../world/judged-world.ts";
import { planningFlags, settingsLine } from "../world/planning-settings.ts";
import { explanationItems, itemNameOf, type ExplanationItem } from "./explanation-items.ts";
import { explanationLines } from "./explanation-text.ts";

export async function printExplain(given: Given, program: Program): Promise<number> {
  const flags = readKubectlFlags(given, program.env);
  const name = subjectName(given["name"]);
  const namespace = onlyNamespace(texts(given, "in").at(-1));
  return withJudging(flags, planningFlags(given), program, async (judging) => {
    const { connection, planning } = judging;
    const subject = { namespace: connection.namespace, name };
    const read = await readJudged(judging, flags, program);
    const { plan } = await prospectIn(read, planning);
    const told = explain(read.world, planning.settings, plan, subject, namespace);
    const known = tellUnknown(read, program);
    if (told.is === "absent" && told.places.length === 0 && known) throw notFound(subject);
    print(told, flags, program);
    program.stderr.write(`${settingsLine(planning)}\n`);
    return known ? 0 : 1;
  });
}

function print(
  told: Explanation,
  flags: ReturnType<typeof readKubectlFlags>,
  program: Program,
): void {
  const { output } = flags;
  if (output === "table" || output === "wide") {
    for (const line of explanationLines(told, flags, program)) program.stdout.write(line);
    return;
  }
  const { kind, subject, is, answers } = told;
  printListing<ExplanationItem>(
    {
      kind: "ExplanationList",
      items: explanationItems(told),
      beside: { object: { resource: KINDS[kind].resource.plural, ...subject, is, rules: answers } },
      columns: [],
      nameOf: (item) => itemNameOf(kind, item),
    },
    flags,
    program,
  );
}

const SECRET: readonly string[] = ["secret", "secrets"];

/** NAME, or KIND/NAME. */
function subjectName(given: unknown): string {
  const text = typeof given === "string" ? given : "";
  const slash = text.indexOf("/");
  const [kind, name] = slash < 0 ? ["secret", text] : [text.slice(0, slash), text.slice(slash + 1)];
  if (!SECRET.includes(kind.toLowerCase()))
    throw new UsageError(
      `"${kind}" is no kind that is copied: write secret/NAME, and the namespace as -n`,
    );
  if (isSecretName(name)) return name;
  throw new UsageError(`"${name}" is not the name of a Secret`);
}

function onlyNamespace(name: string | undefined): string | undefined {
  if (name === undefined || isNamespaceName(name)) return name;
  throw new UsageError(`--in: "${name}" is not the name of a namespace`);
}

function notFound({ namespace, name }: Ref): UsageError {
  return new UsageError(
    `there is no Secret ${name} in namespace ${namespace}, and no copy of one (-n chooses the namespace)`,
  );
}
