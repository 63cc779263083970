// Finds the controller that is installed in a cluster, from its Deployment: its namespace and its flags of
// `run`. What cannot be read is reported and never guessed.
import {
  FLAGS,
  environmentName,
  type Flag,
  type FlagName,
} from "../../controller/settings/flags.ts";
import type { FlagValues } from "../../controller/settings/config.ts";
import { ApiError } from "../../kube/rest/api-error.ts";
import { DEPLOYMENTS } from "../../kube/rest/resource.ts";
import type { ApiClient } from "../../kube/rest/api-client.ts";
import { fieldsIn, recordsIn, type AnswerFields } from "../requests/fields.ts";
import { listPage } from "../requests/get.ts";
import { orRefusal } from "../requests/refusal.ts";

/** On the Deployment and its pods, in the manifests and in the chart. */
export const APP_LABEL = "app.kubernetes.io/name=secretcast";

export type InstalledController = {
  readonly namespace: string;
  readonly name: string;
  /** The user name of its pods, for RBAC. */
  readonly account: string;
  readonly flags: FlagValues;
  /** Flags whose values only the pod knows. */
  readonly unread: readonly string[];
};

export type Installed =
  | { readonly kind: "found"; readonly controller: InstalledController }
  /** The cluster was not asked, or there is none. */
  | { readonly kind: "unasked" }
  | { readonly kind: "none" }
  | { readonly kind: "several"; readonly names: readonly string[] }
  /** The API server does not allow it. */
  | { readonly kind: "unknown" };

/** `home`: the namespace to search when the whole cluster may not be searched. */
export async function findController(
  client: ApiClient,
  home: string,
  signal: AbortSignal,
): Promise<Installed> {
  const found =
    (await deployments(client, undefined, signal)) ?? (await deployments(client, home, signal));
  if (!found) return { kind: "unknown" };
  const controllers = found.flatMap((each) => controllerOf(each));
  const [first, ...others] = controllers;
  if (!first) return { kind: "none" };
  if (others.length === 0) return { kind: "found", controller: first };
  const atHome = controllers.filter(({ namespace }) => namespace === home);
  const [only] = atHome;
  if (only && atHome.length === 1) return { kind: "found", controller: only };
  return {
    kind: "several",
    names: controllers.map(({ namespace, name }) => `${namespace}/${name}`),
  };
}

/** Undefined when they may not be listed there. */
async function deployments(
  client: ApiClient,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<readonly AnswerFields[] | undefined> {
  const what = "look for the controller's Deployment";
  const query = { labelSelector: APP_LABEL, limit: 50 };
  const found = await orRefusal(listPage(client, DEPLOYMENTS, namespace, { query, what, signal }));
  if (!(found instanceof ApiError)) return found;
  // Not every API server has Deployments: the sandbox has none.
  return found.kind === "notFound" ? [] : undefined;
}

function controllerOf(deployment: AnswerFields): readonly InstalledController[] {
  const { namespace, name } = fieldsIn(deployment["metadata"]);
  const spec = fieldsIn(fieldsIn(fieldsIn(deployment["spec"])["template"])["spec"]);
  const containers = recordsIn(spec["containers"]);
  const container = containers.find((each) => each["name"] === "secretcast") ?? containers[0];
  if (typeof namespace !== "string" || typeof name !== "string" || !container) return [];
  const account = spec["serviceAccountName"];
  const words = texts(container["args"]);
  const byEnvironment = environmentFlags(container);
  return [
    {
      namespace,
      name,
      account: `system:serviceaccount:${namespace}:${typeof account === "string" ? account : "default"}`,
      flags: { ...byEnvironment.flags, ...flagsOf(words) },
      unread: byEnvironment.unread,
    },
  ];
}

/** The flags of `run` in a command line. Other arguments are skipped. */
function flagsOf(words: readonly string[]): FlagValues {
  const flags: Partial<Record<FlagName, string | boolean>> = {};
  for (const [index, word] of words.entries()) {
    const [, name = "", value] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const plain = flagCalled(name);
    const negated = name.startsWith("no-") ? flagCalled(name.slice(3)) : undefined;
    if (plain?.kind === "switch") flags[plain.name] = value ?? true;
    else if (plain) flags[plain.name] = value ?? words[index + 1] ?? "";
    else if (negated) flags[negated.name] = false;
  }
  return flags;
}

function flagCalled(name: string): Flag | undefined {
  return FLAGS.find((flag) => flag.name === name);
}

function environmentFlags(container: AnswerFields): Pick<InstalledController, "flags" | "unread"> {
  const flags: Partial<Record<FlagName, string>> = {};
  const unread: string[] = [];
  for (const { name, value, valueFrom } of recordsIn(container["env"])) {
    const flag = FLAGS.find((each) => environmentName(each.name) === name);
    // An empty variable counts as not set, as in the controller.
    if (!flag || value === "") continue;
    if (typeof value === "string" && !value.includes("$(")) flags[flag.name] = value;
    else if (valueFrom !== undefined || value !== undefined) unread.push(flag.name);
  }
  if (recordsIn(container["envFrom"]).length > 0) unread.push("envFrom");
  return { flags, unread };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
