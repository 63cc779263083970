// The command line: yargs wiring, help, and the only place that turns an error into a line on stderr and an
// exit code. Commands are loaded on demand, so --help needs no Kubernetes client.
import yargs, { type Argv } from "yargs";
import { UsageError, type FlagValues } from "../controller/settings/config.ts";
import { environmentName } from "../controller/settings/flags.ts";
import { guarded } from "../inspect/kubectl/say.ts";
import type { Program } from "../run/program-context.ts";
import { textFlag } from "../inspect/kubectl/kubectl-flags.ts";
import { FLAG_NAMES, givenFlags, runOptions } from "../inspect/kubectl/run-flags.ts";
import type { ClusterCommand } from "../inspect/kubectl/cluster-command.ts";
import { migrateCommand } from "../migrate/command/migrate-command.ts";
import { portOf, refuseOtherThanSwitches, refuseWordsAfterEnd } from "./argument-checks.ts";
import { checkCommand } from "./check/check-command.ts";
import { completionCommand } from "./completion/completion-command.ts";
import type { HelpOf } from "./completion/complete.ts";
import { explainCommand } from "./explain/explain-command.ts";
import { inventoryCommand } from "./inventory/inventory-command.ts";
import { planCommand } from "./plan/plan-command.ts";
import { rightsCommand } from "./rights/rights-command.ts";
import { rotationCommand } from "./rotation/rotation-command.ts";
import { SANDBOX_DEFAULTS } from "./sandbox/sandbox-defaults.ts";
import { statusCommand } from "./status/status-command.ts";

const OWN_CLUSTER = "it is a cluster of its own, and `secretcast run` takes yours";
const ONE_CONTROLLER = "one controller runs in it";
/** Flags of `run` that the sandbox refuses, and why. */
const MEANINGLESS: FlagValues = {
  kubeconfig: OWN_CLUSTER,
  context: OWN_CLUSTER,
  "leader-elect": ONE_CONTROLLER,
  "lease-namespace": ONE_CONTROLLER,
  "lease-name": ONE_CONTROLLER,
  "dry-run": "nothing in it is worth keeping",
};

/** Commands that read a cluster, in the order of the help. */
const CLUSTER_COMMANDS: readonly ClusterCommand[] = [
  planCommand,
  statusCommand,
  explainCommand,
  checkCommand,
  rightsCommand,
  rotationCommand,
  inventoryCommand,
  migrateCommand,
  completionCommand,
];

/** Exit code that shells report for a program ended by Ctrl-C. */
const INTERRUPTED = 130;

/** Runs one command line. It resolves with the exit code and never rejects. */
export async function runProgram(argv: readonly string[], given: Program): Promise<number> {
  const { stdout, stderr } = given;
  const program = { ...given, stdout: guarded(stdout), stderr: guarded(stderr) };
  try {
    return await dispatch(argv, program);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    program.stderr.write(`secretcast: ${message.split("\n", 1)[0]}\n`);
    return 1;
  }
}

async function dispatch(argv: readonly string[], program: Program): Promise<number> {
  const [first, ...rest] = argv;
  if (first === COMPLETE) return completed(rest, program);
  const parser = parserOf(program)
    .wrap(100)
    .check((given) => {
      refuseOtherThanSwitches(argv, given);
      return true;
    });
  // Without a command, `run` in a cluster. Elsewhere the help.
  const words = argv.length === 0 && program.clusterNamespace !== undefined ? ["run"] : argv;
  if (words.length === 0) {
    program.stdout.write(`${await parser.getHelp()}\n`);
    return 0;
  }
  refuseWordsAfterEnd(words);
  try {
    await parser.parseAsync(words, {}, (_error, _given, output) => {
      if (output) program.stdout.write(`${output}\n`);
    });
  } catch (error) {
    if (error instanceof Chosen) return error.command();
    if (error instanceof UnknownWords) throw new UsageError(await explained(error, words, program));
    throw error;
  }
  return 0;
}

/**
 * The command that the arguments select. It is thrown, because yargs formats the help of a command whose
 * handler returns: 12 ms of a start that takes 240.
 */
class Chosen extends Error {
  readonly command: () => Promise<number>;

  constructor(command: () => Promise<number>) {
    super("a command was chosen");
    this.command = command;
  }
}

/** The arguments that yargs does not know, as yargs prints them. */
class UnknownWords extends Error {
  readonly words: readonly string[];

  constructor(words: readonly string[]) {
    super(`unknown: ${words.join(", ")}`);
    this.words = words;
  }
}

async function explained(
  { words }: UnknownWords,
  argv: readonly string[],
  program: Program,
): Promise<string> {
  const { unknownWord } = await import("./completion/unknown-words.ts");
  return unknownWord(words, argv, helpOf(program));
}

/** Translates yargs' error about invalid arguments. */
function refusalOf(said: string): Error {
  const [, unknown] = /^Unknown arguments?: (.*)$/s.exec(said) ?? [];
  if (unknown !== undefined) return new UnknownWords(unknown.split(", "));
  const [, flag] = /^Not enough arguments following: (\S+)$/.exec(said) ?? [];
  const dashes = flag?.length === 1 ? "-" : "--";
  const line = flag === undefined ? said : `${dashes}${flag} wants a value`;
  return new UsageError(`${line} (see secretcast --help)`);
}

/** Its handlers throw the command that the arguments select, as Chosen. */
function parserOf(program: Program): Argv {
  const parser = yargs()
    .scriptName("secretcast")
    .usage("$0 <command>\n\nWrite a Secret once, have it in every namespace that should have it.")
    .command(
      "run",
      "Run the controller",
      (options) =>
        runOptions(options).epilogue(
          `Each flag can be set in the environment, for example ${environmentName("resync")}=1h. An empty variable counts as not set, so only the flag --source-list='' turns the source list off.`,
        ),
      (given) => {
        throw new Chosen(async () =>
          (await import("../run/run.ts")).run(givenFlags(given, FLAG_NAMES), program),
        );
      },
    )
    .command(
      "sandbox",
      "Run an in-memory Kubernetes API on loopback with an example and the controller on it",
      (options) =>
        runOptions(options, MEANINGLESS, SANDBOX_DEFAULTS)
          .option("once", {
            type: "boolean",
            default: false,
            describe: "exit once the example has converged and was checked",
          })
          .option("empty", {
            type: "boolean",
            default: false,
            describe: "only the API: without the example and the controller, for your own tests",
          })
          .option("port", {
            ...textFlag("port of the API on 127.0.0.1; 0 takes a free one"),
            default: "0",
            defaultDescription: "0",
          })
          .epilogue(
            "Flags of `run` mean here what they mean there, but for those about the cluster.",
          ),
      ({ once, port: text, empty, ...given }) => {
        const port = portOf(text);
        const flags = givenFlags(given, FLAG_NAMES);
        if (empty && once)
          throw new UsageError("--empty and --once contradict each other: nothing converges");
        const [unused] = Object.keys(flags);
        if (empty && unused !== undefined)
          throw new UsageError(`--empty runs no controller: leave out --${unused}`);
        for (const [name, why] of Object.entries(MEANINGLESS))
          if (Object.hasOwn(flags, name))
            throw new UsageError(`--${name} means nothing in the sandbox: ${why}; leave it out`);
        throw new Chosen(async () =>
          (await import("./sandbox/sandbox.ts")).sandbox({ once, port, empty, flags }, program),
        );
      },
    )
    .version(versionText(program))
    .help()
    .alias("h", "help")
    .strict()
    .exitProcess(false)
    .fail((message, error) => {
      // yargs reports its own errors as a message or as an error object.
      throw error === undefined || error.name === "YError" ? refusalOf(message) : error;
    });
  for (const { words, about, options, run } of CLUSTER_COMMANDS)
    parser.command(words, about, options, (given) => {
      throw new Chosen(() => interruptible(run(given, program), program.signal));
    });
  return parser;
}

function versionText({ version, executable }: Program): string {
  return executable === undefined ? version : `${version} (executable, ${executable})`;
}

/** Hidden command that a shell or kubectl runs for completion. */
const COMPLETE = "__complete";

async function completed(words: readonly string[], program: Program): Promise<number> {
  const [{ complete }, { clusterWords }] = await Promise.all([
    import("./completion/complete.ts"),
    import("./completion/cluster-words.ts"),
  ]);
  return complete(words, helpOf(program), clusterWords(program), program);
}

function helpOf(program: Program): HelpOf {
  return async (command) => {
    const { helpWords } = await import("./completion/help-words.ts");
    const words = command === "" ? ["--help"] : [command, "--help"];
    let help = "";
    const parser = parserOf(program).wrap(null);
    await parser.parseAsync(words, {}, (_error, _given, output) => {
      help = output;
    });
    return helpWords(help);
  };
}

/** A command that was stopped by a signal prints no error. */
async function interruptible(running: Promise<number>, signal: AbortSignal): Promise<number> {
  try {
    return await running;
  } catch (error) {
    if (signal.aborted) return INTERRUPTED;
    throw error;
  }
}
