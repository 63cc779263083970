// The flags that every command except run and sandbox shares with kubectl: the cluster, the user, the
// objects and the output format. An invalid value is a UsageError that names the flag.
import type { Argv } from "yargs";
import { UsageError } from "../../controller/settings/config.ts";
import { environmentName, type FlagName } from "../../controller/settings/flags.ts";
import { parseDuration } from "../../controller/settings/units.ts";
import type { ConnectionOverrides } from "../../../packages/kube/kubeconfig/kubeconfig.ts";
import { isNamespaceName } from "../../text/names.ts";
import { parseSelector, type Selector } from "../../text/label-selector.ts";

export const OUTPUT_FORMS = ["table", "wide", "json", "yaml", "name"] as const;
export type OutputForm = (typeof OUTPUT_FORMS)[number];

export type KubectlFlags = {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** Undefined when not given, or overridden by `-A`. */
  readonly namespace: string | undefined;
  readonly as: string | undefined;
  readonly asGroups: readonly string[];
  readonly overrides: ConnectionOverrides;
  /** Time limit of each request. Undefined keeps the default of each request. */
  readonly requestTimeoutMs: number | undefined;
  readonly selector: Selector | undefined;
  readonly headers: boolean;
  readonly output: OutputForm;
  /** When false, exit code 2 becomes 0. */
  readonly exitCode: boolean;
};

/** What yargs read, by the names of the flags. */
export type Args = Readonly<Record<string, unknown>>;
type Env = Readonly<Record<string, string | undefined>>;

const CLUSTER = "Which cluster, and who asks:";
const PRINTING = "What is printed:";

/** Accepted, without an effect here. */
const ACCEPTED = ["disable-compression", "cache-dir"] as const;
export const OVERRIDES = [
  "as-uid",
  "cluster",
  "user",
  "server",
  "token",
  "certificate-authority",
  "client-certificate",
  "client-key",
  "insecure-skip-tls-verify",
  "tls-server-name",
  ...ACCEPTED,
] as const;

export function kubectlOptions(argv: Argv): Argv {
  return argv
    .options({
      kubeconfig: textFlag("path to a kubeconfig, as kubectl finds it"),
      context: textFlag("context of the kubeconfig to use"),
      as: textFlag("who to be for this: a user or service account"),
      "as-group": textFlag("group to be in for this; repeatable"),
      "as-uid": textFlag("UID to be for this"),
      cluster: textFlag("cluster of the kubeconfig to use"),
      user: textFlag("user of the kubeconfig to use"),
      server: textFlag("URL of the API server"),
      token: textFlag("bearer token for the API server"),
      "certificate-authority": textFlag("file with the certificates of the authority"),
      "client-certificate": textFlag("file with a client certificate"),
      "client-key": textFlag("file with the key of the client certificate"),
      "insecure-skip-tls-verify": switchFlag("do not verify the certificate of the API server"),
      "tls-server-name": textFlag("name that the certificate of the API server must have"),
      "disable-compression": switchFlag("accepted as in kubectl, without an effect"),
      "cache-dir": textFlag("accepted as in kubectl, without an effect"),
      "request-timeout": textFlag(
        "how long one request may take, like 30s; 0: as long as it does by itself",
      ),
      namespace: textFlag("only this namespace"),
      "all-namespaces": switchFlag("every namespace, whatever -n says"),
      selector: textFlag("only sources whose labels match, like app=web,tier!=test"),
      output: textFlag("wide, json, yaml or name; else a table"),
      "no-headers": switchFlag("no line of headers"),
      // yargs reads --no-headers as the opposite of this.
      headers: { type: "boolean", hidden: true },
      "exit-code": { ...switchFlag("--exit-code=false: 0 where it would be 2"), default: true },
    })
    .alias({ namespace: "n", "all-namespaces": "A", selector: "l", output: "o", server: "s" })
    .group(["kubeconfig", "context", "as", "as-group", ...OVERRIDES, "request-timeout"], CLUSTER)
    .group(
      ["namespace", "all-namespaces", "selector", "output", "no-headers", "exit-code"],
      PRINTING,
    );
}

/** A flag whose value is a text. */
export function textFlag(describe: string): {
  type: "string";
  describe: string;
  requiresArg: true;
} {
  return { type: "string", describe, requiresArg: true };
}

/** A flag that is given or not. */
export function switchFlag(describe: string): { type: "boolean"; describe: string } {
  return { type: "boolean", describe };
}

/** `formats`: further values of `-o` that the command prints by itself. They are read as a table. */
export function readKubectlFlags(
  args: Args,
  env: Env,
  formats: readonly string[] = [],
): KubectlFlags {
  const as = lastText(args, "as");
  const asGroups = texts(args, "as-group");
  const all = isSet(args, "all-namespaces");
  return {
    kubeconfig: textOrVariable(args, env, "kubeconfig"),
    context: textOrVariable(args, env, "context"),
    namespace: all ? undefined : namespaceOf(lastText(args, "namespace")),
    as,
    asGroups,
    overrides: overridesOf(args),
    requestTimeoutMs: timeoutOf(args),
    selector: selectorOf(lastText(args, "selector")),
    headers: args["headers"] !== false && !isSet(args, "no-headers"),
    output: outputOf(lastText(args, "output"), formats),
    exitCode: args["exit-code"] !== false,
  };
}

function overridesOf(args: Args): ConnectionOverrides {
  return {
    cluster: lastText(args, "cluster"),
    user: lastText(args, "user"),
    server: lastText(args, "server"),
    token: lastText(args, "token"),
    caFile: lastText(args, "certificate-authority"),
    certFile: lastText(args, "client-certificate"),
    keyFile: lastText(args, "client-key"),
    skipTLSVerify: isSet(args, "insecure-skip-tls-verify") || undefined,
    tlsServerName: lastText(args, "tls-server-name"),
    asUid: lastText(args, "as-uid"),
  };
}

/** As kubectl reads it: the last one counts. */
export function lastText(args: Args, name: string): string | undefined {
  return texts(args, name).at(-1);
}

// Only flags of `run` have a variable.
function textOrVariable(args: Args, env: Env, name: FlagName): string | undefined {
  return lastText(args, name) ?? (env[environmentName(name)] || undefined);
}

/** All values of a flag that may be repeated. */
export function texts(args: Args, name: string): readonly string[] {
  const value = args[name];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((each) => typeof each === "string");
}

function isSet(args: Args, name: string): boolean {
  const value = args[name];
  return (Array.isArray(value) ? value.at(-1) : value) === true;
}

function namespaceOf(name: string | undefined): string | undefined {
  if (name === undefined || isNamespaceName(name)) return name;
  throw new UsageError(`--namespace: "${name}" is not the name of a namespace`);
}

function selectorOf(selector: string | undefined): Selector | undefined {
  if (selector === undefined) return undefined;
  const parsed = parseSelector(selector);
  if (parsed.ok) return parsed.value;
  const { part, expected } = parsed.fault;
  throw new UsageError(`--selector: "${part}" is wrong: expected ${expected}`);
}

function outputOf(form: string | undefined, formats: readonly string[]): OutputForm {
  if (form === undefined || formats.includes(form)) return "table";
  const [, ...others] = OUTPUT_FORMS;
  const found = others.find((each) => each === form);
  if (found !== undefined) return found;
  throw new UsageError(`--output: "${form}" is not one of ${[...others, ...formats].join(", ")}`);
}

/** A flag's milliseconds. Undefined where it is not given. */
export function readDuration(args: Args, flag: string): number | undefined {
  const text = lastText(args, flag);
  if (text === undefined) return undefined;
  try {
    return parseDuration(text);
  } catch (error) {
    throw new UsageError(`--${flag}: ${error instanceof Error ? error.message : "is wrong"}`);
  }
}

// A bare number is seconds. 0 sets no limit.
function timeoutOf(args: Args): number | undefined {
  const flag = "request-timeout";
  const text = lastText(args, flag) ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : readDuration(args, flag);
  return ms === 0 ? undefined : ms;
}

/** The exit code when something is not as wanted. */
export function otherwiseCode({ exitCode }: Pick<KubectlFlags, "exitCode">): number {
  return exitCode ? 2 : 0;
}
