// The final output of the demo: how to connect, four things to try, and how to see their results. Each is a
// shell command that works with the given flags.
import type { Config, FlagValues } from "../../controller/settings/config.ts";
import { PLANNING_FLAGS } from "../../controller/settings/flags.ts";
import { readPlannerSettings } from "../../controller/settings/planner-settings.ts";
import { matchesEveryName } from "../../text/globs.ts";

const EXAMPLE_HOME = "secretcast";

/** `flags`: those that the demo was given. */
export function whatToTry(config: Config, flags: FlagValues, page: string): string {
  const home = homeOf(config);
  const first = [`export KUBECONFIG=${config.kubeconfig ?? ""}`];
  if (home !== EXAMPLE_HOME) first.push(`kubectl create namespace ${home}`);
  const optIn = config.namespacePolicy === "opt-in";
  if (optIn) first.push("kubectl annotate namespace --all secretcast.io/accept=true");
  const judged = PLANNING_FLAGS.filter((name) => flags[name] !== undefined)
    .map((name) => ` --${name}='${String(flags[name])}'`)
    .join("");
  return `
The controller keeps running; Ctrl-C ends it all. Its status page: ${page}
In another terminal${optIn ? " (under opt-in a namespace takes what it says it takes)" : ""}:

${indented(first)}
Then try a Secret of your own, a typo, a conflict, a pull:

${indented(triesIn(home))}
And see what came of it, and why:

${indented([
  "kubectl get secrets,events --all-namespaces",
  `secretcast status${judged}`,
  `secretcast explain typo -n ${home}${judged}`,
])}`;
}

const indented = (lines: readonly string[]): string => lines.map((line) => `  ${line}\n`).join("");

/** A namespace whose Secrets are sources: the example's where it is one. */
function homeOf(config: Config): string {
  if (readPlannerSettings(config).sourceNamespaces.matches(EXAMPLE_HOME)) return EXAMPLE_HOME;
  const named = config.sourceNamespaces.find(
    (entry) => !entry.startsWith("!") && !matchesEveryName(entry),
  );
  return named?.replaceAll(/[*?]/g, "x") ?? EXAMPLE_HOME;
}

function triesIn(home: string): readonly string[] {
  const empty = (name: string, namespace: string): string =>
    `kubectl create secret generic ${name} -n ${namespace}`;
  const secret = (name: string, namespace: string, entry: string): string =>
    `${empty(name, namespace)} --from-literal=${entry}`;
  const annotate = (name: string, namespace: string, ...annotations: readonly string[]): string =>
    `kubectl annotate secret ${name} -n ${namespace} ${annotations.join(" ")}`;
  return [
    `${secret("mine", home, "k=v")} && ${annotate("mine", home, "secretcast.io/to='team-*'")}`,
    `${secret("typo", home, "k=v")} && ${annotate("typo", home, "secretcast.io/too='team-*'")}`,
    `${secret("mine", "legacy", "k=theirs")} && ${annotate("mine", home, "--overwrite secretcast.io/to='*'")}`,
    `${annotate("mine", home, "secretcast.io/allow=legacy")} && ${empty("pulled", "legacy")} && ${annotate("pulled", "legacy", `secretcast.io/from=${home}/mine`)}`,
  ];
}
