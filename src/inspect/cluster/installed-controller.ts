// Finds the controller that is installed in a cluster, from its Deployment: its namespace and its flags of
// `run`. What cannot be read is reported and never guessed.
import {
  FLAGS,
  environmentName,
  type Flag,
  type FlagName,
} from "../../controller/settings/flags.ts";
import type { FlagValues } from "../../controller/settings/config.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { DEPLOYMENTS, resourcePath } from "../../../packages/kube/rest/resource.ts";
import { stringOf } from "../../controller/model/unstructured.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { fieldsIn, recordsIn, type AnswerFields } from "../requests/fields.ts";
import { isAllowedTo } from "../requests/access-review.ts";
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
  readonly readyReplicas: number;
};

export type Installed =
  | { readonly kind: "found"; readonly controller: InstalledController }
  /** The cluster was not asked. */
  | { readonly kind: "unasked" }
  | { readonly kind: "none" }
  /** Deployments with the label, and nothing says which one is the controller. */
  | { readonly kind: "several"; readonly names: readonly string[] }
  /** The API server does not allow it. */
  | { readonly kind: "unknown" };

/** Namespaces to look in. Anybody can create a Deployment with the label in a namespace of their own. */
export type ControllerHome = {
  /** That of the Lease. */
  readonly lease: string;
  /** The user named it. No Deployment of another namespace is taken then. */
  readonly isNamed: boolean;
  /** That of -n or of the context. */
  readonly current: string;
};

export async function findController(
  client: ApiClient,
  { lease, isNamed, current }: ControllerHome,
  signal: AbortSignal,
): Promise<Installed> {
  const everywhere = await controllersIn(client, undefined, signal);
  if (everywhere) {
    const atHome = everywhere.filter(({ namespace }) => namespace === lease);
    if (atHome.length > 0 || everywhere.length === 0) return onlyOne(atHome);
    if (isNamed) return several(everywhere);
    const proven = await withClusterRights(client, everywhere, signal);
    if (proven.length === 1) return onlyOne(proven);
    const isNear = everywhere.every(({ namespace }) => namespace === current);
    return isNear ? onlyOne(everywhere) : several(everywhere);
  }
  for (const namespace of new Set(isNamed ? [lease] : [lease, current])) {
    const found = await controllersIn(client, namespace, signal);
    if (found && (found.length > 0 || isNamed)) return onlyOne(found);
  }
  return { kind: "unknown" };
}

function onlyOne(controllers: readonly InstalledController[]): Installed {
  const [first, ...others] = controllers;
  if (!first) return { kind: "none" };
  return others.length === 0 ? { kind: "found", controller: first } : several(controllers);
}

const MOST_NAMED = 5;

function several(controllers: readonly InstalledController[]): Installed {
  const names = controllers
    .slice(0, MOST_NAMED)
    .map(({ namespace, name }) => `${namespace}/${name}`);
  const more = controllers.length - names.length;
  return { kind: "several", names: more > 0 ? [...names, `${more} more`] : names };
}

/** Accounts to ask about. */
const MOST_ASKED = 20;

/** Those whose account may list Namespaces, which nobody can grant who owns a namespace only. */
async function withClusterRights(
  client: ApiClient,
  controllers: readonly InstalledController[],
  signal: AbortSignal,
): Promise<readonly InstalledController[]> {
  if (controllers.length > MOST_ASKED) return [];
  const right = { verb: "list", resource: "namespaces" };
  const what = "ask for the rights of the controller's account";
  const proven: InstalledController[] = [];
  for (const each of controllers) {
    const user = { user: each.account, groups: [] };
    if ((await orRefusal(isAllowedTo(client, user, right, what, signal))) === true)
      proven.push(each);
  }
  return proven;
}

/** Undefined when they may not be listed there. */
async function controllersIn(
  client: ApiClient,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<readonly InstalledController[] | undefined> {
  const what = "look for the controller's Deployment";
  const found: InstalledController[] = [];
  let next: string | undefined;
  do {
    const query = { labelSelector: APP_LABEL, limit: PAGE, ...(next && { continue: next }) };
    const path = resourcePath(DEPLOYMENTS, namespace);
    const page = client.request<unknown>({ method: "GET", path, query, what, signal });
    const list = await orRefusal(page);
    // Not every API server has Deployments: the sandbox has none.
    if (list instanceof ApiError) return list.kind === "notFound" ? [] : undefined;
    found.push(...recordsIn(fieldsIn(list)["items"]).flatMap((each) => controllerOf(each) ?? []));
    next = stringOf(fieldsIn(fieldsIn(list)["metadata"])["continue"]);
  } while (next);
  return found;
}

const PAGE = 500;

function controllerOf(deployment: AnswerFields): InstalledController | undefined {
  const { namespace, name } = fieldsIn(deployment["metadata"]);
  const spec = fieldsIn(fieldsIn(fieldsIn(deployment["spec"])["template"])["spec"]);
  const containers = recordsIn(spec["containers"]);
  const container = containers.find((each) => each["name"] === "secretcast") ?? containers[0];
  if (typeof namespace !== "string" || typeof name !== "string" || !container) return undefined;
  const account = spec["serviceAccountName"];
  const { readyReplicas } = fieldsIn(deployment["status"]);
  const words = texts(container["args"]);
  const byEnvironment = environmentFlags(container);
  return {
    namespace,
    name,
    account: `system:serviceaccount:${namespace}:${typeof account === "string" ? account : "default"}`,
    flags: { ...byEnvironment.flags, ...flagsOf(words) },
    unread: byEnvironment.unread,
    readyReplicas: typeof readyReplicas === "number" ? readyReplicas : 0,
  };
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
