// Implements `secretcast rights`: prints the manifests that grant what a controller with the given flags
// needs, and nothing else. It asks no cluster, so the output depends only on the flags.
import { say } from "../../inspect/kubectl/say.ts";
import { UsageError } from "../../controller/settings/config.ts";
import { lastText, readKubectlFlags, type Args } from "../../inspect/kubectl/kubectl-flags.ts";
import { givenFlags, IN_CLUSTER_FLAGS } from "../../inspect/kubectl/run-flags.ts";
import { homeOf, readSettings, settingsLine } from "../../inspect/cluster/planning-settings.ts";
import type { Program } from "../../run/program-context.ts";
import { parseRef, refText, type Ref } from "../../text/names.ts";
import { neededRights, type NeededRight } from "./needed-rights.ts";
import { rightsJson, rightsYaml } from "./rights-manifests.ts";
import { scopesOf } from "./rights-rules.ts";

const FORMS = { yaml: rightsYaml, json: rightsJson };

export function printRights(args: Args, program: Program): number {
  const print = FORMS[formOf(lastText(args, "output"))];
  const own = givenFlags(args, IN_CLUSTER_FLAGS);
  const named = accountOf(lastText(args, "service-account"));
  const { namespace = named?.namespace ?? homeOf(own, program) } = readKubectlFlags(
    { namespace: args["namespace"] },
    {},
  );
  const account = named ?? { namespace, name: "secretcast" };
  const settings = readSettings(IN_CLUSTER_FLAGS, own, program, { kind: "unasked" }, namespace);
  const scopes = scopesOf(grantedRights(neededRights(settings.config), settings.config.namespaces));
  program.stdout.write(print(scopes, account));
  say(program.stderr, `rights of the account ${refText(account)}`);
  say(program.stderr, settingsLine(settings));
  return 0;
}

/** With a list of namespaces no cluster-scoped right is granted: the controller works without. */
export function grantedRights(
  rights: readonly NeededRight[],
  namespaces: readonly string[] | undefined,
): readonly NeededRight[] {
  if (namespaces === undefined) return rights;
  return rights.filter(({ namespace }) => namespace !== undefined);
}

function formOf(form: string | undefined): keyof typeof FORMS {
  if (form === undefined || form === "yaml") return "yaml";
  if (form === "json") return "json";
  throw new UsageError(`--output: "${form}" is not one of yaml, json`);
}

function accountOf(text: string | undefined): Ref | undefined {
  if (text === undefined) return undefined;
  const account = parseRef(text);
  if (account) return account;
  throw new UsageError(
    `--service-account: "${text}" is wrong: expected NAMESPACE/NAME of a service account, like secretcast/secretcast`,
  );
}
