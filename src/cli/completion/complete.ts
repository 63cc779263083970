// Lists the candidates at the cursor: commands, flags, their values, namespaces and names. The answer uses
// the protocol of cobra's `__complete`, which kubectl requests from its plugins. Each line is a candidate,
// a tab and its description. The last line is `:4`, or `:0` where the shell completes files. Promises: it
// never fails and never writes to stderr. Names that the cluster does not return in time are not offered.
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { FLAGS } from "../../controller/settings/flags.ts";
import { OUTPUT_FORMS } from "../../inspect/kubectl/kubectl-flags.ts";
import { kindOfWord } from "../../inspect/kubectl/kind-words.ts";
import type { Program } from "../../run/program-context.ts";
import { SHELLS } from "./completion-script.ts";
import type { FlagWord, HelpWords } from "./help-words.ts";

/** The help of a command, or with "" of all. */
export type HelpOf = (command: string) => Promise<HelpWords>;

/** Names that only a cluster or a kubeconfig knows. The flags given so far select which one. */
export type ClusterWords = {
  namespaces(given: GivenWords): Promise<readonly string[]>;
  objects(kind: ObjectKind, given: GivenWords): Promise<readonly string[]>;
  contexts(given: GivenWords): Promise<readonly string[]>;
};

export type GivenWords = ReadonlyMap<string, string>;

type Candidate = { readonly value: string; readonly about: string };
type Offer = { readonly candidates: readonly Candidate[]; readonly files: boolean };

const NOTHING: Offer = { candidates: [], files: false };
const FILES: Offer = { candidates: [], files: true };

/** `words`: those after the program's name, the last one unfinished, perhaps empty or a blank. */
export async function complete(
  words: readonly string[],
  helpOf: HelpOf,
  cluster: ClusterWords,
  { stdout }: Pick<Program, "stdout">,
): Promise<number> {
  const { candidates, files } = await offer(joined(words), helpOf, cluster);
  const lines = candidates.map(({ value, about }) => (about === "" ? value : `${value}\t${about}`));
  stdout.write(`${[...lines, files ? ":0" : ":4"].join("\n")}\n`);
  return 0;
}

// bash splits `--namespace=team` into three arguments.
function joined(words: readonly string[]): readonly string[] {
  const whole: string[] = [];
  for (const word of words) {
    const last = whole.at(-1) ?? "";
    const isCut = word === "=" ? last.startsWith("--") : /^--[a-z-]+=$/.test(last);
    if (isCut) whole[whole.length - 1] = last + word;
    else whole.push(word);
  }
  return whole;
}

async function offer(
  words: readonly string[],
  helpOf: HelpOf,
  cluster: ClusterWords,
): Promise<Offer> {
  // Some shells pass no empty argument.
  const current = (words.at(-1) ?? "").trim();
  const before = words.slice(0, -1);
  const all = await helpOf("");
  const command = before.find((word) => all.commands.some(({ name }) => name === word));
  const help = command === undefined ? all : await helpOf(command);
  const given = givenOf(before, help.flags);
  const [, inline, start] = /^(--[a-z-]+)=(.*)$/s.exec(current) ?? [];
  if (inline !== undefined) {
    const flag = help.flags.find(({ name }) => name === inline);
    return flag ? starting(start ?? "", await valuesOf(flag, given.flags, cluster)) : NOTHING;
  }
  const flag = help.flags.find((each) => isWaiting(each, before.at(-1)));
  if (flag) return starting(current, await valuesOf(flag, given.flags, cluster));
  if (current.startsWith("-")) return starting(current, plain(help.flags));
  if (command === undefined) return starting(current, plain(all.commands));
  // The first argument is the command itself.
  if (given.others.length > 1) return NOTHING;
  if (OBJECT_COMMANDS.includes(command)) {
    const [prefix = "", word = "secret"] = /^([a-z]+)\//.exec(current) ?? [];
    const kind = kindOfWord(word);
    const names = kind ? await cluster.objects(kind, given.flags) : [];
    return starting(current, plain(names.map((name) => ({ name: prefix + name, about: "" }))));
  }
  if (command !== "completion") return NOTHING;
  return starting(current, plain(SHELLS.map((name) => ({ name, about: "" }))));
}

function plain(words: readonly { readonly name: string; readonly about: string }[]): Offer {
  return { candidates: words.map(({ name, about }) => ({ value: name, about })), files: false };
}

function starting(text: string, { candidates, files }: Offer): Offer {
  return { candidates: candidates.filter(({ value }) => value.startsWith(text)), files };
}

function isWaiting({ name, short, takesValue }: FlagWord, word: string | undefined): boolean {
  return takesValue && word !== undefined && (word === name || word === short);
}

/** The arguments before the cursor: values by flag, and all other arguments. */
function givenOf(
  words: readonly string[],
  flags: readonly FlagWord[],
): { readonly flags: GivenWords; readonly others: readonly string[] } {
  const given = new Map<string, string>();
  const others: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const [, inline, value = ""] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? [];
    const waiting = flags.find((flag) => isWaiting(flag, word));
    if (inline !== undefined) given.set(inline, value);
    else if (waiting) given.set(waiting.name, words[++at] ?? "");
    else if (!word.startsWith("-")) others.push(word);
  }
  return { flags: given, others };
}

/** Commands about one object. */
const OBJECT_COMMANDS: readonly string[] = ["explain", "rotation"];
/** Flags whose values are files, or folders. */
const FILE_FLAGS: readonly string[] = [
  "--kubeconfig",
  "--certificate-authority",
  "--client-certificate",
  "--client-key",
  "--cache-dir",
  "--filename",
  "--base",
  "--expect",
];
const NAMESPACE_FLAGS: readonly string[] = [
  "--namespace",
  "--in",
  "--namespaces",
  "--source-namespaces",
  "--exclude-namespaces",
  "--other-source-namespaces",
  "--lease-namespace",
  "--new-sources-in",
];
/** The first is the form without the flag. */
const [, ...OUTPUTS] = OUTPUT_FORMS;

async function valuesOf(flag: FlagWord, given: GivenWords, cluster: ClusterWords): Promise<Offer> {
  const { name, choices } = flag;
  if (FILE_FLAGS.includes(name)) return FILES;
  const words = async (): Promise<readonly string[]> => {
    if (NAMESPACE_FLAGS.includes(name)) return cluster.namespaces(given);
    if (name === "--context") return cluster.contexts(given);
    if (choices.length > 0) return choices;
    if (name === "--output") return OUTPUTS;
    return FLAGS.find((each) => `--${each.name}` === name)?.choices ?? [];
  };
  return plain((await words()).map((each) => ({ name: each, about: "" })));
}
