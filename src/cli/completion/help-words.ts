// Reads the commands and flags from the help text, so completion needs no second list that could become
// outdated. It expects help that was printed without wrapping.

export type FlagWord = {
  /** With its dashes. */
  readonly name: string;
  readonly short: string | undefined;
  readonly about: string;
  readonly takesValue: boolean;
  /** Empty: any value. */
  readonly choices: readonly string[];
};

export type CommandWord = { readonly name: string; readonly about: string };

export type HelpWords = {
  readonly commands: readonly CommandWord[];
  readonly flags: readonly FlagWord[];
};

const COMMAND = /^ {2}secretcast ([a-z][-a-z]*)(?: [^ ]+)* {2,}(\S.*)$/;
const FLAG = /^ {2,6}(?:(-[A-Za-z]), )?(--[a-z][-a-z]*)(?: {2,}(\S.*?))?(?: {2,}(\[.*))?$/;

/** `help`: of one command, or of all. */
export function helpWords(help: string): HelpWords {
  const commands: CommandWord[] = [];
  const flags: FlagWord[] = [];
  let section = "";
  for (const line of help.split("\n")) {
    if (/^\S.*:$/.test(line)) section = line;
    if (section === "Examples:") continue;
    const [, command, aboutCommand = ""] = COMMAND.exec(line) ?? [];
    const [, short, flag, about = "", kind = ""] = FLAG.exec(line) ?? [];
    if (command !== undefined && section === "Commands:")
      commands.push({ name: command, about: withoutKind(aboutCommand) });
    else if (flag !== undefined)
      flags.push({
        name: flag,
        short,
        about,
        takesValue: /\[(string|number|choices)/.test(kind),
        choices: choicesOf(kind, about),
      });
  }
  return { commands, flags };
}

function withoutKind(text: string): string {
  return text.replace(/ {2,}\[.*$/, "");
}

/** A description that is nothing but its values: "one, two or three". */
const VALUES = /^[a-z-]+(?:, [a-z-]+)* or [a-z-]+$/;

function choicesOf(kind: string, about: string): readonly string[] {
  if (VALUES.test(about)) return about.split(/, | or /);
  const list = /\[choices: ([^\]]*)\]/.exec(kind)?.[1] ?? "";
  return [...list.matchAll(/"([^"]*)"/g)].flatMap(([, choice]) => choice ?? []);
}
